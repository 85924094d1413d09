// A product with every reduction: slots, counters and their last arrivals.
func.func @backward(%a: memref<?x640xf8E4M3FN>, %sa: memref<?x5x32x4x4xf8E8M0FNU>, %b: memref<2x192x640xf8E4M3FN>, %sb: memref<2x2x5x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %alpha: memref<2xf32>, %prob: memref<?xf32>, %c: memref<?x192xbf16>, %d0: memref<?x192xf8E4M3FN>, %d1: memref<?x2x32x4x4xf8E8M0FNU>, %d2: memref<?x192xf8E4M3FN>, %d3: memref<?x32x4x4xf8E8M0FNU>, %d4: memref<?xf32>, %d5: memref<2x192xbf16>, %d6: memref<2xf32>) {
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x640xf8E4M3FN> scales %sa : memref<?x5x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x192x640xf8E4M3FN> scales %sb : memref<2x2x5x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      ins(%alpha : memref<2xf32> as alpha, %prob : memref<?xf32> as prob, %c : memref<?x192xbf16> as c)
      outs(%d0 : memref<?x192xf8E4M3FN> as quantized,
           %d1 : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %d2 : memref<?x192xf8E4M3FN> as quantized,
           %d3 : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %d4 : memref<?xf32> as row_sum,
           %d5 : memref<2x192xbf16> as group_column_sum,
           %d6 : memref<2xf32> as group_amax)
      attributes {m_aligned = 128 : i64}
  return
}
