// One training step of an expert layer in MXFP8, forward and backward, from f32 tensors: what torchao's four grouped ops
// compute together (docs/guides/from_torchao.md).
//
//   z = x w13^T             gate and up of each row, in blocks of 32 columns that alternate
//   h = prob * up * gate * sigmoid(gate)
//   y = h w2^T
//   r = dy w2,              dz and dprob: the gradients of h, with z
//   dx = dz w13,            dw13[g] = dz^T x,   dw2[g] = dy^T h   over the rows of expert g
//
// A product sums over blocks that were quantized along the summed extent. So x, h, dy and dz are quantized twice: along rows
// for products with weights, down columns, expert by expert, for the gradients of weights; and weights are quantized along
// rows for the forward pass and down columns for the backward pass, where they are read as they lie.
//
// Arguments: x [R, 256], w13 [4, 512, 256] (blocks of 32 rows: gate, up, gate, ...), w2 [4, 256, 256],
//            offsets [4] (cumulative ends, multiples of 128), prob [R], dy [R, 256]
// Results: y [R, 256], dx [R, 256], dw13 [4, 512, 256], dw2 [4, 256, 256], dprob [R], z [R, 512]. Rows past the last offset
// are undefined; the gradients of an expert without rows are 0.
func.func @moe_training_step(%x: tensor<?x256xf32>, %w13: tensor<4x512x256xf32>, %w2: tensor<4x256x256xf32>,
    %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %dy: tensor<?x256xf32>)
    -> (tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<4x512x256xbf16>, tensor<4x256x256xbf16>, tensor<?xf32>,
        tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf32>
  // Atoms of 128 rows by 4 scales. Down columns: of 128 columns by 128 rows, so 2 or 4 times as many.
  %atoms = arith.ceildivui %rows, %c128 : index
  %atoms2 = arith.muli %atoms, %c2 : index
  %atoms4 = arith.muli %atoms, %c4 : index

  // Forward.
  %x_row0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_x_row0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %x_row, %sf_x_row = grouped_moe.quantize ins(%x : tensor<?x256xf32>)
      outs(%x_row0, %sf_x_row0 : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %w13_row0 = tensor.empty() : tensor<4x512x256xf8E4M3FN>
  %sf_w13_row0 = tensor.empty() : tensor<4x4x2x32x4x4xf8E8M0FNU>
  %w13_row, %sf_w13_row = grouped_moe.quantize ins(%w13 : tensor<4x512x256xf32>)
      outs(%w13_row0, %sf_w13_row0 : tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>
  %z0 = tensor.empty(%rows) : tensor<?x512xbf16>
  %h_row0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_h_row0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %h_col0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_h_col0 = tensor.empty(%atoms2) : tensor<?x32x4x4xf8E8M0FNU>
  %z, %h_row, %sf_h_row, %h_col, %sf_h_col = grouped_moe.gemm_swiglu
      lhs(%x_row : tensor<?x256xf8E4M3FN> scales %sf_x_row : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w13_row : tensor<4x512x256xf8E4M3FN> scales %sf_w13_row : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      ins(%prob : tensor<?xf32> as prob)
      outs(%z0 : tensor<?x512xbf16> as of preactivation,
           %h_row0 : tensor<?x256xf8E4M3FN> as quantized, %sf_h_row0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %h_col0 : tensor<?x256xf8E4M3FN> as quantized, %sf_h_col0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
      attributes {m_aligned = 128 : i64}
      -> tensor<?x512xbf16>, tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  %w2_row0 = tensor.empty() : tensor<4x256x256xf8E4M3FN>
  %sf_w2_row0 = tensor.empty() : tensor<4x2x2x32x4x4xf8E8M0FNU>
  %w2_row, %sf_w2_row = grouped_moe.quantize ins(%w2 : tensor<4x256x256xf32>)
      outs(%w2_row0, %sf_w2_row0 : tensor<4x256x256xf8E4M3FN>, tensor<4x2x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<4x256x256xf8E4M3FN>, tensor<4x2x2x32x4x4xf8E8M0FNU>
  %y0 = tensor.empty(%rows) : tensor<?x256xbf16>
  %y = grouped_moe.gemm_quant
      lhs(%h_row : tensor<?x256xf8E4M3FN> scales %sf_h_row : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2_row : tensor<4x256x256xf8E4M3FN> scales %sf_w2_row : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      outs(%y0 : tensor<?x256xbf16>)
      attributes {m_aligned = 128 : i64} -> tensor<?x256xbf16>

  // Backward through w2 and the activation. w2 [4, K, N] is read as it lies.
  %dy_row0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_dy_row0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %dy_row, %sf_dy_row = grouped_moe.quantize ins(%dy : tensor<?x256xf32>)
      outs(%dy_row0, %sf_dy_row0 : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %w2_col0 = tensor.empty() : tensor<4x256x256xf8E4M3FN>
  %sf_w2_col0 = tensor.empty() : tensor<4x2x2x32x4x4xf8E8M0FNU>
  %w2_col, %sf_w2_col = grouped_moe.quantize ins(%w2 : tensor<4x256x256xf32>)
      outs(%w2_col0, %sf_w2_col0 : tensor<4x256x256xf8E4M3FN>, tensor<4x2x2x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<4x256x256xf8E4M3FN>, tensor<4x2x2x32x4x4xf8E8M0FNU>
  %dz_row0 = tensor.empty(%rows) : tensor<?x512xf8E4M3FN>
  %sf_dz_row0 = tensor.empty(%atoms) : tensor<?x4x32x4x4xf8E8M0FNU>
  %dz_col0 = tensor.empty(%rows) : tensor<?x512xf8E4M3FN>
  %sf_dz_col0 = tensor.empty(%atoms4) : tensor<?x32x4x4xf8E8M0FNU>
  %dprob0 = tensor.empty(%rows) : tensor<?xf32>
  %dz_row, %sf_dz_row, %dz_col, %sf_dz_col, %dprob = grouped_moe.gemm_dswiglu
      lhs(%dy_row : tensor<?x256xf8E4M3FN> scales %sf_dy_row : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2_col : tensor<4x256x256xf8E4M3FN> scales %sf_w2_col : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      ins(%prob : tensor<?xf32> as prob, %z : tensor<?x512xbf16> as c)
      outs(%dz_row0 : tensor<?x512xf8E4M3FN> as quantized, %sf_dz_row0 : tensor<?x4x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %dz_col0 : tensor<?x512xf8E4M3FN> as quantized, %sf_dz_col0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %dprob0 : tensor<?xf32> as row_sum)
      attributes {m_aligned = 128 : i64}
      -> tensor<?x512xf8E4M3FN>, tensor<?x4x32x4x4xf8E8M0FNU>, tensor<?x512xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>, tensor<?xf32>

  // Backward through w13.
  %w13_col0 = tensor.empty() : tensor<4x512x256xf8E4M3FN>
  %sf_w13_col0 = tensor.empty() : tensor<4x2x4x32x4x4xf8E8M0FNU>
  %w13_col, %sf_w13_col = grouped_moe.quantize ins(%w13 : tensor<4x512x256xf32>)
      outs(%w13_col0, %sf_w13_col0 : tensor<4x512x256xf8E4M3FN>, tensor<4x2x4x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<4x512x256xf8E4M3FN>, tensor<4x2x4x32x4x4xf8E8M0FNU>
  %dx0 = tensor.empty(%rows) : tensor<?x256xbf16>
  %dx = grouped_moe.gemm_quant
      lhs(%dz_row : tensor<?x512xf8E4M3FN> scales %sf_dz_row : tensor<?x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w13_col : tensor<4x512x256xf8E4M3FN> scales %sf_w13_col : tensor<4x2x4x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      outs(%dx0 : tensor<?x256xbf16>)
      attributes {m_aligned = 128 : i64} -> tensor<?x256xbf16>

  // Gradients of the weights: sums over the rows of each expert.
  %x_col0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_x_col0 = tensor.empty(%atoms2) : tensor<?x32x4x4xf8E8M0FNU>
  %x_col, %sf_x_col = grouped_moe.quantize ins(%x : tensor<?x256xf32>) offsets(%offsets : tensor<4xi32>)
      outs(%x_col0, %sf_x_col0 : tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64}
      -> tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  %dw13_0 = tensor.empty() : tensor<4x512x256xbf16>
  %dw13 = grouped_moe.wgrad
      lhs(%dz_col : tensor<?x512xf8E4M3FN> scales %sf_dz_col : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x_col : tensor<?x256xf8E4M3FN> scales %sf_x_col : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      outs(%dw13_0 : tensor<4x512x256xbf16>)
      attributes {m_aligned = 128 : i64} -> tensor<4x512x256xbf16>
  %dy_col0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sf_dy_col0 = tensor.empty(%atoms2) : tensor<?x32x4x4xf8E8M0FNU>
  %dy_col, %sf_dy_col = grouped_moe.quantize ins(%dy : tensor<?x256xf32>) offsets(%offsets : tensor<4xi32>)
      outs(%dy_col0, %sf_dy_col0 : tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64}
      -> tensor<?x256xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  %dw2_0 = tensor.empty() : tensor<4x256x256xbf16>
  %dw2 = grouped_moe.wgrad
      lhs(%dy_col : tensor<?x256xf8E4M3FN> scales %sf_dy_col : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%h_col : tensor<?x256xf8E4M3FN> scales %sf_h_col : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      outs(%dw2_0 : tensor<4x256x256xbf16>)
      attributes {m_aligned = 128 : i64} -> tensor<4x256x256xbf16>
  return %y, %dx, %dw13, %dw2, %dprob, %z
      : tensor<?x256xbf16>, tensor<?x256xbf16>, tensor<4x512x256xbf16>, tensor<4x256x256xbf16>, tensor<?xf32>, tensor<?x512xbf16>
}
