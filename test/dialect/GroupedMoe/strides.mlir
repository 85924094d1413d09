// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

// Padding behind the rows of matrices.

!a = memref<?x64xf8E4M3FN, strided<[80, 1]>>
!sa = memref<?x1x32x4x4xf8E8M0FNU>
!d = memref<?x64xf8E4M3FN, strided<[64, 1]>>

// CHECK-LABEL: @gemm
// CHECK: grouped_moe.gemm lhs(%{{.*}} : memref<?x64xf8E4M3FN, strided<[80, 1]>>
func.func @gemm(%a: !a, %sa: !sa, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %c: memref<?x64xf32, strided<[68, 1]>>, %d: !d, %sd: !sa, %e: memref<?x64xbf16, strided<[4096, 1]>>) {
  grouped_moe.gemm lhs(%a : !a scales %sa : !sa layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%c : memref<?x64xf32, strided<[68, 1]>> as per_element)
      outs(%d : !d as quantized, %sd : !sa as row_scales_rceil, %e : memref<?x64xbf16, strided<[4096, 1]>>) epilogue {
  ^bb0(%acc: f32, %x: f32):
    %y = arith.addf %acc, %x : f32
    grouped_moe.yield %y, %y : f32, f32
  }
  return
}

// CHECK-LABEL: @wgrad
// CHECK: grouped_moe.wgrad
func.func @wgrad(%dy: memref<64x?xf8E4M3FN, strided<[4096, 1]>>, %x: memref<?x48xf8E4M3FN, strided<[64, 1]>>,
    %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d: memref<2x64x48xf32, strided<[4000, 52, 1]>>) {
  grouped_moe.wgrad
      lhs(%dy : memref<64x?xf8E4M3FN, strided<[4096, 1]>> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x48xf8E4M3FN, strided<[64, 1]>> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<2x64x48xf32, strided<[4000, 52, 1]>>) attributes {lhs_transposed}
  return
}
