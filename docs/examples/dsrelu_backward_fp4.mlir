// The call on the documentation page of cuDNN front-end's grouped_gemm_dsrelu: FP4 operands, bf16 D, a tile of 256 x 256 on a
// cluster of two CTAs along M, groups of multiples of 256 rows.
//
//   G = alpha_g * A B_g^T,   D = prob * 2 * C * relu(G),   dprob_m = sum over n of C * relu(G)^2
//
// Arguments: a, b, c, sfa, sfb, padded_offsets, alpha, prob. D is not block-scaled: there is no norm_const, d_col, sfd_row or
// sfd_col. Results: d_row, dprob, dbias, amax (docs/guides/from_cudnn_dsrelu.md maps every parameter).
#two_ctas = #grouped_moe.schedule<tile = [256, 256, 256], stages = 3, accumulators = 1, cluster = [2, 1], scheduler = static_persistent>

func.func @dsrelu_backward_fp4(
    %a: tensor<?x512xf4E2M1FN>, %b: tensor<4x512x512xf4E2M1FN>, %c: tensor<?x512xbf16>,
    %sfa: tensor<?x4x32x4x4xf8E8M0FNU>, %sfb: tensor<4x4x4x32x4x4xf8E8M0FNU>,
    %padded_offsets: tensor<4xi32>, %alpha: tensor<4xf32>, %prob: tensor<?xf32>)
    -> (tensor<?x512xbf16>, tensor<?xf32>, tensor<4x512xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x512xf4E2M1FN>
  %d_row0 = tensor.empty(%rows) : tensor<?x512xbf16>
  %dprob0 = tensor.empty(%rows) : tensor<?xf32>
  %dbias0 = tensor.empty() : tensor<4x512xf32>
  %amax0 = tensor.empty() : tensor<4xf32>
  %d_row, %dprob, %dbias, %amax = grouped_moe.gemm_dsrelu
      lhs(%a : tensor<?x512xf4E2M1FN> scales %sfa : tensor<?x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<4x512x512xf4E2M1FN> scales %sfb : tensor<4x4x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%padded_offsets : tensor<4xi32>)
      ins(%alpha : tensor<4xf32> as alpha, %prob : tensor<?xf32> as prob, %c : tensor<?x512xbf16> as c)
      outs(%d_row0 : tensor<?x512xbf16>, %dprob0 : tensor<?xf32> as row_sum, %dbias0 : tensor<4x512xf32> as group_column_sum,
           %amax0 : tensor<4xf32> as group_amax)
      attributes {m_aligned = 256 : i64, schedule = #two_ctas}
      -> tensor<?x512xbf16>, tensor<?xf32>, tensor<4x512xf32>, tensor<4xf32>
  return %d_row, %dprob, %dbias, %amax : tensor<?x512xbf16>, tensor<?xf32>, tensor<4x512xf32>, tensor<4xf32>
}
