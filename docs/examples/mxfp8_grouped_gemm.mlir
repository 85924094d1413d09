// One expert layer in MXFP8: both operands are quantized in IR, every row is multiplied by the weights of its expert,
// scaled by its expert's alpha and by its routing probability, and stored as bf16.
//
//   x [R, 256] f32, w [4, 512, 256] f32, offsets [4] i32 (cumulative ends, multiples of 256), prob [R] f32, alpha [4] f32
//   result [R, 512] bf16
func.func @mxfp8_grouped_gemm(%x: tensor<?x256xf32>, %w: tensor<4x512x256xf32>, %offsets: tensor<4xi32>,
    %prob: tensor<?xf32>, %alpha: tensor<4xf32>) -> tensor<?x512xbf16> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xf32>

  // Activations: one scale for every 32 elements of a row, in atoms of 128 rows by 4 scales.
  %atoms = arith.ceildivui %rows, %c128 : index
  %a0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %sfa0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %a, %sfa = grouped_moe.quantize ins(%x : tensor<?x256xf32>)
      outs(%a0, %sfa0 : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>

  // Weights: the same for each of the 4 experts.
  %b0 = tensor.empty() : tensor<4x512x256xf8E4M3FN>
  %sfb0 = tensor.empty() : tensor<4x4x2x32x4x4xf8E8M0FNU>
  %b, %sfb = grouped_moe.quantize ins(%w : tensor<4x512x256xf32>)
      outs(%b0, %sfb0 : tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>

  %d0 = tensor.empty(%rows) : tensor<?x512xbf16>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<4xi32>)
      ins(%prob : tensor<?xf32> as per_row, %alpha : tensor<4xf32> as per_group)
      outs(%d0 : tensor<?x512xbf16>) epilogue {
  ^bb0(%acc: f32, %p: f32, %al: f32):
    %scaled = arith.mulf %acc, %al : f32
    %weighted = arith.mulf %scaled, %p : f32
    grouped_moe.yield %weighted : f32
  } -> tensor<?x512xbf16>
  return %d : tensor<?x512xbf16>
}
