// The gradient of FP4 operands; the second group is divided into parts, the last one half a stage.
func.func @fp4_gradient(%dy: memref<512x?xf4E2M1FN>, %sdy: memref<?x32x4x4xf8E4M3FN>, %x: memref<128x?xf4E2M1FN>,
    %sx: memref<?x32x4x4xf8E4M3FN>, %offsets: memref<2xi32>, %dw: memref<2x512x128xf32>) {
  grouped_moe.wgrad
      lhs(%dy : memref<512x?xf4E2M1FN> scales %sdy : memref<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>)
      rhs(%x : memref<128x?xf4E2M1FN> scales %sx : memref<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>)
      offsets(%offsets : memref<2xi32>) outs(%dw : memref<2x512x128xf32>)
      attributes {m_aligned = 128 : i64, lhs_transposed, rhs_transposed, schedule = #grouped_moe.schedule<tile = [128, 128, 256],
        stages = 2, accumulators = 2, cluster = [1, 1], scheduler = static_persistent, split = [2, 128]>}
  return
}
