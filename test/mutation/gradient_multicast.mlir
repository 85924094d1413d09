// A weight gradient in clusters that send slices along K; a group has no rows, one is divided, N and K end within a cluster.
func.func @gradient(%dy: memref<?x384xf8E4M3FN>, %sdy: memref<?x32x4x4xf8E8M0FNU>, %x: memref<?x384xf8E4M3FN>,
    %sx: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<3xi32>, %dw: memref<3x384x384xf32>) {
  grouped_moe.wgrad
      lhs(%dy : memref<?x384xf8E4M3FN> scales %sdy : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x384xf8E4M3FN> scales %sx : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<3xi32>) outs(%dw : memref<3x384x384xf32>)
      attributes {m_aligned = 32 : i64, schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 2,
        accumulators = 2, cluster = [2, 2], scheduler = static_persistent, split = [2, 128]>}
  return
}
