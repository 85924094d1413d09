// A weight gradient that is added to, in f32: the second group is divided into two parts, one operand is stored transposed.
func.func @weight_gradient(%dy: memref<?x512xf8E4M3FN>, %sdy: memref<?x32x4x4xf8E8M0FNU>, %x: memref<128x?xf8E4M3FN>,
    %sx: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %dw: memref<2x512x128xf32>) {
  grouped_moe.wgrad
      lhs(%dy : memref<?x512xf8E4M3FN> scales %sdy : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<128x?xf8E4M3FN> scales %sx : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%dw : memref<2x512x128xf32>)
      attributes {m_aligned = 32 : i64, accumulate, rhs_transposed, schedule = #grouped_moe.schedule<tile = [128, 128, 128],
        stages = 2, accumulators = 2, cluster = [1, 1], scheduler = static_persistent, split = [2, 128]>}
  return
}
