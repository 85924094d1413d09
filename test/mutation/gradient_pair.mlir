// A weight gradient of pairs, of groups that start at any row: its maps end with each group and are built on the device.
func.func @gradient(%dy: memref<?x384xf8E4M3FN>, %sdy: memref<?x32x4x4xf8E8M0FNU>, %x: memref<?x384xf8E4M3FN>,
    %sx: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<3xi32>, %dw: memref<3x384x384xf32>) {
  grouped_moe.wgrad
      lhs(%dy : memref<?x384xf8E4M3FN> scales %sdy : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x384xf8E4M3FN> scales %sx : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<3xi32>) outs(%dw : memref<3x384x384xf32>)
      attributes {m_aligned = 1 : i64, schedule = #grouped_moe.schedule<tile = [256, 128, 128], stages = 2,
        accumulators = 2, cluster = [2, 1], scheduler = static_persistent, split = [2, 128]>}
  return
}
