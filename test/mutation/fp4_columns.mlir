// FP4 down columns, in blocks of 16, of groups that end within atoms and tiles.
func.func @fp4_columns(%a: memref<?x768xf4E2M1FN>, %sa: memref<?x32x4x4xf8E4M3FN>, %b: memref<2x128x768xf4E2M1FN>,
    %sb: memref<2x1x12x32x4x4xf8E4M3FN>, %offsets: memref<2xi32>, %alpha: memref<1xf32>, %h: memref<128x?xf4E2M1FN>, %sh: memref<?x32x4x4xf8E4M3FN>) {
  grouped_moe.gemm_quant
      lhs(%a : memref<?x768xf4E2M1FN> scales %sa : memref<?x32x4x4xf8E4M3FN> layout <row, per_group, block = 16>)
      rhs(%b : memref<2x128x768xf4E2M1FN> scales %sb : memref<2x1x12x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      offsets(%offsets : memref<2xi32>) ins(%alpha : memref<1xf32> as alpha)
      outs(%h : memref<128x?xf4E2M1FN> as quantized, %sh : memref<?x32x4x4xf8E4M3FN> as column_group_scales_nearest)
      attributes {m_aligned = 32 : i64, schedule = #grouped_moe.schedule<tile = [128, 128, 256], stages = 2, accumulators = 2,
        cluster = [1, 1], scheduler = static_persistent>}
  return
}
