// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s
// RUN: %gmoe-opt %s --grouped-moe-generalize | FileCheck %s --check-prefix=GENERIC
// RUN: %gmoe-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s --check-prefix=BUFFERS

!a = tensor<?x64xf8E4M3FN>
!sa = tensor<?x1x32x4x4xf8E8M0FNU>
!p = tensor<2xi64>

// CHECK-LABEL: @k_major
// CHECK: rhs(%{{.*}} : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %{{.*}} : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
// BUFFERS-LABEL: @k_major
// BUFFERS: rhs(%{{.*}} : memref<2xi64> of tensor<48x64xf8E4M3FN> scales %{{.*}} : memref<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU>
func.func @k_major(%a: !a, %sa: !sa, %p: !p, %q: !p, %o: tensor<2xi32>, %d: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = grouped_moe.gemm lhs(%a : !a scales %sa : !sa layout <row, whole, block = 32>)
      rhs(%p : !p of tensor<48x64xf8E4M3FN> scales %q : !p of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// CHECK-LABEL: @n_major
// CHECK: of tensor<64x48xf8E5M2> scales %{{.*}} : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
// GENERIC-LABEL: @n_major
// GENERIC: grouped_moe.gemm lhs{{.*}} rhs(%{{.*}} : tensor<2xi64> of tensor<64x48xf8E5M2> scales %{{.*}} : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU>
func.func @n_major(%a: !a, %sa: !sa, %p: !p, %q: !p, %o: tensor<2xi32>, %d: tensor<?x48xf32>) -> tensor<?x48xf32> {
  %r = grouped_moe.gemm_quant lhs(%a : !a scales %sa : !sa layout <row, whole, block = 32>)
      rhs(%p : !p of tensor<64x48xf8E5M2> scales %q : !p of tensor<1x1x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// CHECK-LABEL: @nvfp4
// CHECK: of tensor<48x64xf4E2M1FN> scales %{{.*}} : memref<2xi64> of tensor<1x1x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
func.func @nvfp4(%a: memref<?x64xf4E2M1FN>, %sa: memref<?x1x32x4x4xf8E4M3FN>, %p: memref<2xi64>, %o: memref<2xi32>,
    %d: memref<?x48xf32>) {
  // Equal bytes of data and scales are one array: nobody writes them.
  grouped_moe.gemm lhs(%a : memref<?x64xf4E2M1FN> scales %sa : memref<?x1x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      rhs(%p : memref<2xi64> of tensor<48x64xf4E2M1FN> scales %p : memref<2xi64> of tensor<1x1x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
