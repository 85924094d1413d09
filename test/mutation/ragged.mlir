// Groups that start at any row: bulk copies and stores of threads side by side, reductions over rows that exist.
func.func @ragged(%a: memref<?x896xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<3x128x896xf8E4M3FN>,
    %sb: memref<3x1x7x32x4x4xf8E8M0FNU>, %offsets: memref<3xi32>, %prob: memref<?xf32>, %d: memref<?x128xbf16>,
    %q: memref<?x128xf8E4M3FN>, %sq: memref<?x32x4x4xf8E8M0FNU>, %sum: memref<3x128xf32>, %amax: memref<3xf32>) {
  grouped_moe.gemm_quant
      lhs(%a : memref<?x896xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<3x128x896xf8E4M3FN> scales %sb : memref<3x1x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<3xi32>) ins(%prob : memref<?xf32> as prob)
      outs(%d : memref<?x128xbf16>, %q : memref<?x128xf8E4M3FN> as quantized, %sq : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %sum : memref<3x128xf32> as group_column_sum, %amax : memref<3xf32> as group_amax)
      attributes {m_aligned = 1 : i64}
  return
}
