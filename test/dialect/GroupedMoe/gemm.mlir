// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --mlir-print-op-generic | %gmoe-opt | FileCheck %s

// CHECK-LABEL: func.func @tensors
func.func @tensors(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x512x256xf8E4M3FN>,
    %sfb: tensor<4x4x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %alpha: tensor<4xf32>,
    %d0: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  // CHECK: grouped_moe.gemm lhs(%{{.*}} : tensor<?x256xf8E4M3FN> scales %{{.*}} : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
  // CHECK-SAME: rhs(%{{.*}} : tensor<4x512x256xf8E4M3FN> scales
  // CHECK-SAME: offsets(%{{.*}} : tensor<4xi32>)
  // CHECK-SAME: ins(%{{.*}} : tensor<?xf32> as per_row, %{{.*}} : tensor<4xf32> as per_group)
  // CHECK-SAME: outs(%{{.*}} : tensor<?x512xbf16>)
  // CHECK-SAME: attributes {m_aligned = 128 : i64} epilogue {
  // CHECK: ^bb0(%[[ACC:.*]]: f32, %[[P:.*]]: f32, %[[AL:.*]]: f32):
  // CHECK: grouped_moe.yield %{{.*}} : f32
  // CHECK: } -> tensor<?x512xbf16>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      ins(%prob : tensor<?xf32> as per_row, %alpha : tensor<4xf32> as per_group)
      outs(%d0 : tensor<?x512xbf16>)
      attributes {m_aligned = 128 : i64}
      epilogue {
  ^bb0(%acc: f32, %p: f32, %al: f32):
    %x = arith.mulf %acc, %al : f32
    %y = arith.mulf %x, %p : f32
    grouped_moe.yield %y : f32
  } -> tensor<?x512xbf16>
  return %d : tensor<?x512xbf16>
}

// CHECK-LABEL: func.func @memrefs
func.func @memrefs(%a: memref<?x64xf8E5M2>, %sfa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E5M2>,
    %sfb: memref<2x1x1x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %c: memref<?x48xf16>, %bias: memref<2x48xbf16>,
    %d: memref<?x48xf32>) {
  // CHECK: grouped_moe.gemm
  // CHECK-SAME: ins(%{{.*}} : memref<?x48xf16> as per_element, %{{.*}} : memref<2x48xbf16> as per_group_column)
  // CHECK-NOT: m_aligned
  // CHECK: }{{$}}
  grouped_moe.gemm
      lhs(%a : memref<?x64xf8E5M2> scales %sfa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E5M2> scales %sfb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      ins(%c : memref<?x48xf16> as per_element, %bias : memref<2x48xbf16> as per_group_column)
      outs(%d : memref<?x48xf32>)
      epilogue {
  ^bb0(%acc: f32, %ce: f32, %be: f32):
    %x = arith.addf %acc, %ce : f32
    %y = arith.addf %x, %be : f32
    grouped_moe.yield %y : f32
  }
  return
}
