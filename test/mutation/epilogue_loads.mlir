// Loads by every thread of the epilogue, between tensor memory loads.
func.func @loads_in_the_epilogue(%a: tensor<?x896xf8E4M3FN>, %b: tensor<2x128x896xf8E4M3FN>,
    %sfa: tensor<?x7x32x4x4xf8E8M0FNU>, %sfb: tensor<2x1x7x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>,
    %bias: tensor<2x128xf32>, %prob: tensor<?xf32>, %c: tensor<?x128xbf16>) -> tensor<?x128xf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x896xf8E4M3FN>
  %d0 = tensor.empty(%rows) : tensor<?x128xf16>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x896xf8E4M3FN> scales %sfa : tensor<?x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x128x896xf8E4M3FN> scales %sfb : tensor<2x1x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      ins(%bias : tensor<2x128xf32> as per_group_column, %prob : tensor<?xf32> as per_row,
          %c : tensor<?x128xbf16> as per_element)
      outs(%d0 : tensor<?x128xf16>)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %bi: f32, %p: f32, %ce: f32):
    %scale = arith.constant 0.015625 : f32
    %low = arith.constant -4.0 : f32
    %high = arith.constant 4.0 : f32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %slope = arith.constant -1.5 : f32
    %small = arith.mulf %acc, %scale : f32
    %v = arith.addf %small, %bi : f32
    %above = arith.maximumf %v, %low : f32
    %u = arith.minimumf %above, %high : f32
    %shifted = arith.addf %u, %half : f32
    %quadratic = arith.mulf %u, %shifted : f32
    %exponent = arith.mulf %u, %slope : f32
    %e = math.exp %exponent : f32
    %denominator = arith.addf %one, %e : f32
    %y = arith.divf %quadratic, %denominator : f32
    %weighted = arith.mulf %y, %p : f32
    %r = arith.addf %weighted, %ce : f32
    grouped_moe.yield %r : f32
  } -> tensor<?x128xf16>
  return %d : tensor<?x128xf16>
}
