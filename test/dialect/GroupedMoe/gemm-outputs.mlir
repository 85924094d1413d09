// RUN: %gmoe-opt %s | FileCheck %s

// Every kind of output, pairs of accumulators, inputs and outputs, and norm_const.

// CHECK-LABEL: @every_kind
// CHECK: norm_const(%{{.*}} : memref<2xf32>)
// CHECK-SAME: as column_group_scales_rceil, {{.*}} as quantized, {{.*}} as row_scales_nearest, {{.*}} as row_sum, {{.*}} as group_column_sum, {{.*}} as group_amax) attributes {nondeterministic} epilogue
func.func @every_kind(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x192x64xf8E4M3FN>,
    %sb: memref<2x2x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %nc: memref<2xf32>, %d0: memref<?x192xbf16>, %d1: memref<?x192xf8E5M2>, %d2: memref<?x2x32x4x4xf8E8M0FNU>, %d3: memref<?x192xf8E4M3FN>, %d4: memref<2x?x32x4x4xf8E8M0FNU>, %d5: memref<?x192xf8E4M3FN>, %d6: memref<?x32x4x4xf8E8M0FNU>, %d7: memref<?x192xf4E2M1FN>, %d8: memref<?x3x32x4x4xf8E4M3FN>, %d9: memref<?xf32>, %d10: memref<2x192xbf16>, %d11: memref<2xf32>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x192x64xf8E4M3FN> scales %sb : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) norm_const(%nc : memref<2xf32>) outs(%d0 : memref<?x192xbf16> as plain, %d1 : memref<?x192xf8E5M2> as quantized, %d2 : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_floor, %d3 : memref<?x192xf8E4M3FN> as quantized, %d4 : memref<2x?x32x4x4xf8E8M0FNU> as column_scales_floor, %d5 : memref<?x192xf8E4M3FN> as quantized, %d6 : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil, %d7 : memref<?x192xf4E2M1FN> as quantized, %d8 : memref<?x3x32x4x4xf8E4M3FN> as row_scales_nearest, %d9 : memref<?xf32> as row_sum, %d10 : memref<2x192xbf16> as group_column_sum, %d11 : memref<2xf32> as group_amax) attributes {nondeterministic} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc, %acc, %acc, %acc, %acc, %acc, %acc, %acc : f32, f32, f32, f32, f32, f32, f32, f32
  }
  return
}

// CHECK-LABEL: @pairs
// CHECK: attributes {paired} epilogue
// CHECK-NEXT: ^bb0(%gate: f32, %up: f32,
func.func @pairs(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %c: memref<?x128xbf16>, %bias: memref<2x64xf32>, %d0: memref<?x128xbf16>, %d1: memref<?x64xf8E4M3FN>, %d2: memref<?x1x32x4x4xf8E8M0FNU>, %d3: memref<2x2xf32>, %d4: memref<2x128xf32>, %d5: memref<?xf32>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%c : memref<?x128xbf16> as per_element, %bias : memref<2x64xf32> as per_group_column) outs(%d0 : memref<?x128xbf16> as plain, %d1 : memref<?x64xf8E4M3FN> as quantized, %d2 : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil, %d3 : memref<2x2xf32> as group_amax, %d4 : memref<2x128xf32> as group_column_sum, %d5 : memref<?xf32> as row_sum) attributes {paired} epilogue {
  ^bb0(%g: f32, %u: f32, %cg: f32, %cu: f32, %bi: f32):
    grouped_moe.yield %g, %u, %cg, %g, %u, %cu, %bi, %g : f32, f32, f32, f32, f32, f32, f32, f32
  }
  return
}
