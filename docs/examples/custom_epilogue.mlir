// An activation that no library has, written where it is used. For each element of the product:
//
//   v = acc / 64 + bias[g, n]
//   u = min(max(v, -4), 4)                        clamp
//   y = u * (u + 0.5) / (1 + exp(-1.5 * u))       shifted quadratic under a smooth gate
//   d = y * prob[m] + c[m, n]                     routing weight, residual in bf16
//
//   a [R, 256] e4m3 with scales, b [4, 512, 256] e4m3 with scales, offsets [4] i32 (cumulative ends, multiples of 128),
//   bias [4, 512] f32, prob [R] f32, c [R, 512] bf16
//   result [R, 512] f16
func.func @custom_epilogue(%a: tensor<?x256xf8E4M3FN>, %b: tensor<4x512x256xf8E4M3FN>,
    %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %sfb: tensor<4x4x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>,
    %bias: tensor<4x512xf32>, %prob: tensor<?xf32>, %c: tensor<?x512xbf16>) -> tensor<?x512xf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x256xf8E4M3FN>
  %d0 = tensor.empty(%rows) : tensor<?x512xf16>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      ins(%bias : tensor<4x512xf32> as per_group_column, %prob : tensor<?xf32> as per_row,
          %c : tensor<?x512xbf16> as per_element)
      outs(%d0 : tensor<?x512xf16>)
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
  } -> tensor<?x512xf16>
  return %d : tensor<?x512xf16>
}
