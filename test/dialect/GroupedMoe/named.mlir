// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --grouped-moe-generalize | FileCheck %s --check-prefix=GENERIC

// The textual form of named ops, and what they become: an absent operand drops out, and so does what no output needs.

// CHECK-LABEL: @swiglu
// CHECK: grouped_moe.gemm_swiglu lhs
// CHECK-SAME: ins(%{{.*}} : memref<?xf32> as prob) outs(%{{.*}} : memref<?x128xbf16> as of preactivation, %{{.*}} : memref<?x64xf8E4M3FN> as quantized, %{{.*}} : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil)
// GENERIC-LABEL: @swiglu
// GENERIC: grouped_moe.gemm lhs
// GENERIC-SAME: attributes {paired} epilogue
// GENERIC-NEXT: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32, %[[PROB:.*]]: f32):
// GENERIC-NEXT: %[[S:.*]] = grouped_moe.sigmoid %[[GATE]] : f32
// GENERIC-NEXT: %[[T:.*]] = arith.mulf %[[GATE]], %[[S]] : f32
// GENERIC-NEXT: %[[H:.*]] = arith.mulf %[[UP]], %[[T]] : f32
// GENERIC-NEXT: %[[W:.*]] = arith.mulf %[[H]], %[[PROB]] : f32
// GENERIC-NEXT: grouped_moe.yield %[[GATE]], %[[UP]], %[[W]] : f32, f32, f32
func.func @swiglu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %z: memref<?x128xbf16>,
    %h: memref<?x64xf8E4M3FN>, %s: memref<?x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as prob)
      outs(%z : memref<?x128xbf16> as of preactivation, %h : memref<?x64xf8E4M3FN> as quantized,
           %s : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil)
  return
}

// CHECK-LABEL: @dsrelu
// CHECK: grouped_moe.gemm_dsrelu
// CHECK-SAME: as row_sum, {{.*}} as quantized of activation, {{.*}} as column_group_scales_rceil) attributes {preactivation = #grouped_moe<preactivation_form c>}
// GENERIC-LABEL: @dsrelu
// GENERIC: ^bb0(%[[ACC:.*]]: f32, %[[ALPHA:.*]]: f32, %[[BIAS:.*]]: f32, %[[C:.*]]: f32, %[[PROB:.*]]: f32):
// GENERIC-DAG: %[[G:.*]] = math.fma %[[ACC]], %[[ALPHA]], %[[BIAS]] : f32
// GENERIC-DAG: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// GENERIC: %[[R:.*]] = arith.maximumf %[[C]], %[[ZERO]] : f32
// GENERIC: %[[GR:.*]] = arith.mulf %[[G]], %[[R]] : f32
// GENERIC: %[[D:.*]] = arith.mulf %{{.*}}, %[[PROB]] : f32
// GENERIC: %[[DP:.*]] = arith.mulf %[[GR]], %[[R]] : f32
// GENERIC: grouped_moe.yield %[[D]], %[[DP]], %{{.*}} : f32, f32, f32
func.func @dsrelu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>,
    %c: memref<?x64xbf16>, %p: memref<?xf32>, %d: memref<?x64xbf16>, %dp: memref<?xf32>, %h: memref<?x64xf8E4M3FN>,
    %s: memref<?x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm_dsrelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %c : memref<?x64xbf16> as c,
          %p : memref<?xf32> as prob)
      outs(%d : memref<?x64xbf16>, %dp : memref<?xf32> as row_sum, %h : memref<?x64xf8E4M3FN> as quantized of activation,
           %s : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
      attributes {preactivation = #grouped_moe<preactivation_form c>}
  return
}
