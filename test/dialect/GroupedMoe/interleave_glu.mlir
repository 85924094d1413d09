// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --mlir-print-op-generic | %gmoe-opt | FileCheck %s
// RUN: %gmoe-opt %s --resolve-ranked-shaped-type-result-dims | FileCheck %s --check-prefix=REIFY
// RUN: %gmoe-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s --check-prefix=BUFFERS
// RUN: %gmoe-opt %s --cse | FileCheck %s --check-prefix=CSE

// CHECK-LABEL: func.func @weights
// CHECK-SAME: (%[[W:.*]]: tensor<4x512x256xf8E4M3FN>, %[[S:.*]]: tensor<4x4x2x32x4x4xf8E8M0FNU>)
// CHECK: grouped_moe.interleave_glu ins(%[[W]] : tensor<4x512x256xf8E4M3FN> scales %[[S]] : tensor<4x4x2x32x4x4xf8E8M0FNU>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>)
// CHECK-SAME: layout <row, whole, block = 32> -> tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>
// BUFFERS-LABEL: func.func @weights
// BUFFERS-NOT: memref.copy
// BUFFERS: grouped_moe.interleave_glu ins(%{{.*}} : memref<4x512x256xf8E4M3FN> scales %{{.*}} : memref<4x4x2x32x4x4xf8E8M0FNU>)
// BUFFERS-SAME: layout <row, whole, block = 32>{{$}}
func.func @weights(%w: tensor<4x512x256xf8E4M3FN>, %s: tensor<4x4x2x32x4x4xf8E8M0FNU>)
    -> (tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>) {
  %w0 = tensor.empty() : tensor<4x512x256xf8E4M3FN>
  %s0 = tensor.empty() : tensor<4x4x2x32x4x4xf8E8M0FNU>
  %w1, %s1 = grouped_moe.interleave_glu ins(%w : tensor<4x512x256xf8E4M3FN> scales %s : tensor<4x4x2x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> -> tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>
  return %w1, %s1 : tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>
}

// A destination that is used again is not copied: nothing of it is read.
// CHECK-LABEL: func.func @bias
// CHECK: grouped_moe.interleave_glu ins(%[[B:.*]] : tensor<4x64xf32>) outs(%{{.*}} : tensor<4x64xf32>) -> tensor<4x64xf32>
// BUFFERS-LABEL: func.func @bias
// BUFFERS-NOT: memref.copy
// BUFFERS: return
func.func @bias(%b: tensor<4x64xf32>, %b0: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %b1 = grouped_moe.interleave_glu ins(%b : tensor<4x64xf32>) outs(%b0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %b1, %b0 : tensor<4x64xf32>, tensor<4x64xf32>
}

// A tensor may be its own destination: it becomes two buffers.
// CHECK-LABEL: func.func @same_tensor
// BUFFERS-LABEL: func.func @same_tensor
// BUFFERS-SAME: (%[[SAME:.*]]: memref<4x64xf32>)
// BUFFERS: %[[OTHER:.*]] = memref.alloc() {{.*}} : memref<4x64xf32>
// BUFFERS: grouped_moe.interleave_glu ins(%[[SAME]] : memref<4x64xf32>) outs(%[[OTHER]] : memref<4x64xf32>)
func.func @same_tensor(%b: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %b1 = grouped_moe.interleave_glu ins(%b : tensor<4x64xf32>) outs(%b : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %b1 : tensor<4x64xf32>
}

// Every type of elements, weights without scales, and views.
// CHECK-LABEL: func.func @memrefs
// CHECK-COUNT-5: grouped_moe.interleave_glu ins
func.func @memrefs(%a: memref<1x64x3xf16>, %a0: memref<1x64x3xf16>, %b: memref<2x192xbf16>, %b0: memref<2x192xbf16>,
    %c: memref<2x64x7xf8E5M2>, %c0: memref<2x64x7xf8E5M2>, %d: memref<2x128xf8E4M3FN>, %d0: memref<2x128xf8E4M3FN>,
    %e: memref<2x64x32xf32, strided<[4096, 64, 1], offset: ?>>, %e0: memref<2x64x32xf32>) {
  grouped_moe.interleave_glu ins(%a : memref<1x64x3xf16>) outs(%a0 : memref<1x64x3xf16>)
  grouped_moe.interleave_glu ins(%b : memref<2x192xbf16>) outs(%b0 : memref<2x192xbf16>)
  grouped_moe.interleave_glu ins(%c : memref<2x64x7xf8E5M2>) outs(%c0 : memref<2x64x7xf8E5M2>)
  grouped_moe.interleave_glu ins(%d : memref<2x128xf8E4M3FN>) outs(%d0 : memref<2x128xf8E4M3FN>)
  grouped_moe.interleave_glu ins(%e : memref<2x64x32xf32, strided<[4096, 64, 1], offset: ?>>) outs(%e0 : memref<2x64x32xf32>)
  return
}

// The extents of a result are those of its destination.
// REIFY-LABEL: func.func @rows
// REIFY-NOT: interleave_glu
// REIFY: return
func.func @rows(%b: tensor<4x64xf32>, %b0: tensor<4x64xf32>) -> index {
  %c1 = arith.constant 1 : index
  %b1 = grouped_moe.interleave_glu ins(%b : tensor<4x64xf32>) outs(%b0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %n = tensor.dim %b1, %c1 : tensor<4x64xf32>
  return %n : index
}

// Without a use the op on tensors is gone; the one on buffers is not.
// CSE-LABEL: func.func @effects
// CSE-NOT: -> tensor
// CSE: grouped_moe.interleave_glu ins(%{{.*}} : memref<4x64xf32>) outs(%{{.*}} : memref<4x64xf32>)
// CSE: return
func.func @effects(%b: memref<4x64xf32>, %b0: memref<4x64xf32>, %t: tensor<4x64xf32>, %t0: tensor<4x64xf32>) {
  grouped_moe.interleave_glu ins(%b : memref<4x64xf32>) outs(%b0 : memref<4x64xf32>)
  %t1 = grouped_moe.interleave_glu ins(%t : tensor<4x64xf32>) outs(%t0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  return
}
