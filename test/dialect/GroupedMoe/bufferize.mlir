// RUN: %gmoe-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// Destinations made by tensor.empty become allocations; each op writes its own in place, and nothing is copied.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x64xf32>
// CHECK-NOT: memref.copy
// CHECK-DAG: %[[Q:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x64xf8E4M3FN>
// CHECK-DAG: %[[S:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x1x32x4x4xf8E8M0FNU>
// CHECK: grouped_moe.quantize ins(%[[X]] : memref<?x64xf32>) outs(%[[Q]], %[[S]] : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32> rounding rceil{{$}}
// CHECK: %[[D:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x48xbf16>
// CHECK: grouped_moe.gemm lhs(%[[Q]] : memref<?x64xf8E4M3FN> scales %[[S]]
// CHECK-SAME: ins(%{{.*}} : memref<?xf32> as per_row) outs(%[[D]] : memref<?x48xbf16>)
// CHECK-SAME: attributes {m_aligned = 128 : i64}
// CHECK: grouped_moe.yield
// CHECK-NOT: memref.copy
// CHECK: return %[[D]]
func.func @chain(%x: tensor<?x64xf32>, %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %p: tensor<?xf32>) -> tensor<?x48xbf16> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x64xf32>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x64xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %d0 = tensor.empty(%rows) : tensor<?x48xbf16>
  %d = grouped_moe.gemm lhs(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%p : tensor<?xf32> as per_row) outs(%d0 : tensor<?x48xbf16>)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %pe: f32):
    %v = arith.mulf %acc, %pe : f32
    grouped_moe.yield %v : f32
  } -> tensor<?x48xbf16>
  return %d : tensor<?x48xbf16>
}

// A destination that is used again must not be overwritten: rows past the last offset keep its bytes, so it is copied.
// CHECK-LABEL: func.func @copied
// CHECK: %[[Y0:.*]] = memref.alloc
// CHECK: memref.copy %{{.*}}, %[[Y0]]
// CHECK: grouped_moe.dequantize ins({{.*}}) outs(%[[Y0]] : memref<?x64xf32>)
func.func @copied(%q: tensor<?x64xf8E5M2>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E5M2> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  return %y, %y0 : tensor<?x64xf32>, tensor<?x64xf32>
}
