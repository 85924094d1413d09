// A product of pairs with one accumulator, staged stores and both kinds of scales.
func.func @forward(%a: memref<?x512xf8E4M3FN>, %sa: memref<?x4x32x4x4xf8E8M0FNU>, %b: memref<2x256x512xf8E4M3FN>, %sb: memref<2x2x4x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %prob: memref<?xf32>, %d0: memref<?x256xbf16>, %d1: memref<?x128xf8E5M2>, %d2: memref<?x1x32x4x4xf8E8M0FNU>, %d3: memref<?x128xf8E4M3FN>, %d4: memref<1x?x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm_swiglu
      lhs(%a : memref<?x512xf8E4M3FN> scales %sa : memref<?x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x512xf8E4M3FN> scales %sb : memref<2x2x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      ins(%prob : memref<?xf32> as prob)
      outs(%d0 : memref<?x256xbf16> as of preactivation,
           %d1 : memref<?x128xf8E5M2> as quantized,
           %d2 : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_floor,
           %d3 : memref<?x128xf8E4M3FN> as quantized,
           %d4 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil)
      attributes {m_aligned = 128 : i64, concatenated,
          schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 3, accumulators = 1, cluster = [1, 1], scheduler = static_persistent>}
  return
}
