// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

// FP4 down columns is stored columns first: what gemm and quantize write, and wgrad reads.

// CHECK-LABEL: @output
// CHECK: memref<64x?xf4E2M1FN> as quantized, %{{.*}} : memref<?x32x4x4xf8E4M3FN> as column_group_scales_nearest
func.func @output(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<?x32x4x4xf8E4M3FN>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<?x32x4x4xf8E4M3FN> as column_group_scales_nearest) attributes {m_aligned = 32 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// CHECK-LABEL: @output_0
// CHECK: as column_scales_nearest)
func.func @output_0(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<1x?x32x4x4xf8E4M3FN>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<1x?x32x4x4xf8E4M3FN> as column_scales_nearest) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// CHECK-LABEL: @output_1
// CHECK: as column_scales_rceil)
func.func @output_1(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<1x?x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// CHECK-LABEL: @output_2
// CHECK: as column_scales_floor_block16)
func.func @output_2(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<1x?x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_floor_block16) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// CHECK-LABEL: @output_3
// CHECK: as column_group_scales_rceil_block16)
func.func @output_3(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<?x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil_block16) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// CHECK-LABEL: @rows_of_16
// CHECK: as row_scales_rceil_block16)
func.func @rows_of_16(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf4E2M1FN>, %d1: memref<?x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf4E2M1FN> as quantized, %d1 : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil_block16) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// CHECK-LABEL: @quantize
// CHECK: layout <column, per_group, block = 16> rounding nearest {m_aligned = 32 : i64}
func.func @quantize(%x: tensor<?x96xf32>, %q: tensor<96x?xf4E2M1FN>, %s: tensor<?x32x4x4xf8E4M3FN>, %o: tensor<2xi32>) {
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x96xf32>) offsets(%o : tensor<2xi32>)
      outs(%q, %s : tensor<96x?xf4E2M1FN>, tensor<?x32x4x4xf8E4M3FN>) layout <column, per_group, block = 16> rounding nearest {m_aligned = 32 : i64} -> tensor<96x?xf4E2M1FN>, tensor<?x32x4x4xf8E4M3FN>
  return
}

// CHECK-LABEL: @quantize_static
func.func @quantize_static(%x: tensor<96x32xf32>, %q: tensor<32x96xf4E2M1FN>, %s: tensor<1x1x32x4x4xf8E8M0FNU>) {
  %r:2 = grouped_moe.quantize ins(%x : tensor<96x32xf32>)
      outs(%q, %s : tensor<32x96xf4E2M1FN>, tensor<1x1x32x4x4xf8E8M0FNU>) layout <column, whole, block = 32> rounding floor -> tensor<32x96xf4E2M1FN>, tensor<1x1x32x4x4xf8E8M0FNU>
  return
}

// CHECK-LABEL: @wgrad
// CHECK: layout <column, per_group, block = 16>
func.func @wgrad(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E4M3FN>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E4M3FN>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed, m_aligned = 128 : i64} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// One value of all groups.
// CHECK-LABEL: @second_scale
// CHECK: ins(%{{.*}} : tensor<1xf32> as per_group)
func.func @second_scale(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %al: tensor<1xf32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>) ins(%al : tensor<1xf32> as per_group)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} epilogue {
  ^bb0(%acc: f32, %s: f32):
    %y = arith.mulf %acc, %s : f32
    grouped_moe.yield %y : f32
  } -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}
