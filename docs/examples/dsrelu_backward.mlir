// The backward pass of a squared ReLU, fused behind the grouped product: the FP8 form of cuDNN front-end's
// grouped_gemm_dsrelu.
//
//   G = alpha_g * A B_g^T,   D = prob * 2 * C * relu(G),   dprob_m = sum over n of C * relu(G)^2
//
// Arguments: a, b, c, sfa, sfb, padded_offsets, alpha, prob, norm_const.
// Results: d_row, d_col, dprob, dbias, sfd_row, sfd_col. Of the wrapper's seven results amax is left out: it exists where D
// is f16 or bf16 only (docs/guides/from_cudnn_dsrelu.md maps every parameter).
func.func @dsrelu_backward(
    %a: tensor<?x256xf8E4M3FN>, %b: tensor<4x256x256xf8E4M3FN>, %c: tensor<?x256xbf16>,
    %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %sfb: tensor<4x2x2x32x4x4xf8E8M0FNU>,
    %padded_offsets: tensor<4xi32>, %alpha: tensor<4xf32>, %prob: tensor<?xf32>, %norm_const: tensor<1xf32>)
    -> (tensor<?x256xf8E4M3FN>, tensor<?x256xf8E4M3FN>, tensor<?xf32>, tensor<4x256xf32>,
        tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x256xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %column_atoms = arith.muli %atoms, %c2 : index
  %d_row0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sfd_row0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %d_col0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sfd_col0 = tensor.empty(%column_atoms) : tensor<?x32x4x4xf8E8M0FNU>
  %dprob0 = tensor.empty(%rows) : tensor<?xf32>
  %dbias0 = tensor.empty() : tensor<4x256xf32>
  %d_row, %sfd_row, %d_col, %sfd_col, %dprob, %dbias = grouped_moe.gemm_dsrelu
      lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sfb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%padded_offsets : tensor<4xi32>) norm_const(%norm_const : tensor<1xf32>)
      ins(%alpha : tensor<4xf32> as alpha, %prob : tensor<?xf32> as prob, %c : tensor<?x256xbf16> as c)
      outs(%d_row0 : tensor<?x256xf8E4M3FN> as quantized, %sfd_row0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %d_col0 : tensor<?x256xf8E4M3FN> as quantized, %sfd_col0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %dprob0 : tensor<?xf32> as row_sum, %dbias0 : tensor<4x256xf32> as group_column_sum)
      -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>, tensor<?xf32>, tensor<4x256xf32>
  return %d_row, %d_col, %dprob, %dbias, %sfd_row, %sfd_col
      : tensor<?x256xf8E4M3FN>, tensor<?x256xf8E4M3FN>, tensor<?xf32>, tensor<4x256xf32>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x32x4x4xf8E8M0FNU>
}
