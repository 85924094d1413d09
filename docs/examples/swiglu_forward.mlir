// FC1 of a Mixture-of-Experts layer, forward: rows times the gate and up weights of their expert, SwiGLU, and the result
// quantized along rows for FC2 and along columns for the weight gradient, all in one kernel. z is saved for the backward
// pass. Weights hold gate and up in blocks of 32 rows that alternate (grouped_moe.interleave_glu packs them so).
//
// Arguments: x, sf_x, w13, sf_w13, offsets, prob. Results: z, h_row, sf_row, h_col, sf_col.
// Gates for which the sigmoid is exact make every byte comparable: see the tests for how to give them.
func.func @swiglu_forward(
    %x: tensor<?x256xf8E4M3FN>, %sf_x: tensor<?x2x32x4x4xf8E8M0FNU>,
    %w13: tensor<4x512x256xf8E4M3FN>, %sf_w13: tensor<4x4x2x32x4x4xf8E8M0FNU>,
    %offsets: tensor<4xi32>, %prob: tensor<?xf32>)
    -> (tensor<?x512xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>,
        tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  // Two atoms of 128 columns for each 128 rows.
  %column_atoms = arith.muli %atoms, %c2 : index
  %z0 = tensor.empty(%rows) : tensor<?x512xbf16>
  %h_row0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_row0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %h_col0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_col0 = tensor.empty(%column_atoms) : tensor<?x32x4x4xf8E8M0FNU>
  %z, %h_row, %sf_row, %h_col, %sf_col = grouped_moe.gemm_swiglu
      lhs(%x : tensor<?x256xf8E4M3FN> scales %sf_x : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w13 : tensor<4x512x256xf8E4M3FN> scales %sf_w13 : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      ins(%prob : tensor<?xf32> as prob)
      outs(%z0 : tensor<?x512xbf16> as of preactivation,
           %h_row0 : tensor<?x256xf8E4M3FN> as quantized, %sf_row0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %h_col0 : tensor<?x256xf8E4M3FN> as quantized, %sf_col0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
      attributes {m_aligned = 128 : i64}
      -> tensor<?x512xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  return %z, %h_row, %sf_row, %h_col, %sf_col
      : tensor<?x512xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
}
