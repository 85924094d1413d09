// The discrete call on the documentation page of cuDNN front-end's grouped_gemm_dsrelu: the weights of each expert, FP4, and
// their scales are arrays of their own, whose addresses are in b_ptrs and sfb_ptrs.
//
//   G = alpha_g * A B_g^T,   D = prob * 2 * C * relu(G),   dprob_m = sum over n of C * relu(G)^2
//
// Arguments: a, c, sfa, padded_offsets, alpha, prob, b_ptrs, sfb_ptrs. What n, b_dtype and b_major tell there is the type behind
// `of` and the layout. Results: d_row, dprob, dbias, amax.
#two_ctas = #grouped_moe.schedule<tile = [256, 256, 256], stages = 3, accumulators = 1, cluster = [2, 1], scheduler = static_persistent>

func.func @dsrelu_backward_discrete(
    %a: tensor<?x512xf4E2M1FN>, %c: tensor<?x512xbf16>, %sfa: tensor<?x4x32x4x4xf8E8M0FNU>,
    %padded_offsets: tensor<4xi32>, %alpha: tensor<4xf32>, %prob: tensor<?xf32>,
    %b_ptrs: tensor<4xi64>, %sfb_ptrs: tensor<4xi64>)
    -> (tensor<?x512xbf16>, tensor<?xf32>, tensor<4x512xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x512xf4E2M1FN>
  %d_row0 = tensor.empty(%rows) : tensor<?x512xbf16>
  %dprob0 = tensor.empty(%rows) : tensor<?xf32>
  %dbias0 = tensor.empty() : tensor<4x512xf32>
  %amax0 = tensor.empty() : tensor<4xf32>
  %d_row, %dprob, %dbias, %amax = grouped_moe.gemm_dsrelu
      lhs(%a : tensor<?x512xf4E2M1FN> scales %sfa : tensor<?x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b_ptrs : tensor<4xi64> of tensor<512x512xf4E2M1FN>
          scales %sfb_ptrs : tensor<4xi64> of tensor<4x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%padded_offsets : tensor<4xi32>)
      ins(%alpha : tensor<4xf32> as alpha, %prob : tensor<?xf32> as prob, %c : tensor<?x512xbf16> as c)
      outs(%d_row0 : tensor<?x512xbf16>, %dprob0 : tensor<?xf32> as row_sum, %dbias0 : tensor<4x512xf32> as group_column_sum,
           %amax0 : tensor<4xf32> as group_amax)
      attributes {m_aligned = 256 : i64, schedule = #two_ctas}
      -> tensor<?x512xbf16>, tensor<?xf32>, tensor<4x512xf32>, tensor<4xf32>
  return %d_row, %dprob, %dbias, %amax : tensor<?x512xbf16>, tensor<?xf32>, tensor<4x512xf32>, tensor<4xf32>
}
