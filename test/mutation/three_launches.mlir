// Quantizers and the product in one entry: each kernel reads what the one before wrote.
func.func @three_launches(%x: tensor<?x896xf32>, %w: tensor<2x128x896xf32>, %offsets: tensor<2xi32>,
    %prob: tensor<?xf32>, %alpha: tensor<2xf32>) -> tensor<?x128xbf16> {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x896xf32>

  // Activations: one scale for every 32 elements of a row, in atoms of 128 rows by 4 scales.
  %atoms = arith.ceildivui %rows, %c128 : index
  %a0 = tensor.empty(%rows) : tensor<?x896xf8E4M3FN>
  %sfa0 = tensor.empty(%atoms) : tensor<?x7x32x4x4xf8E8M0FNU>
  %a, %sfa = grouped_moe.quantize ins(%x : tensor<?x896xf32>)
      outs(%a0, %sfa0 : tensor<?x896xf8E4M3FN>, tensor<?x7x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x896xf8E4M3FN>, tensor<?x7x32x4x4xf8E8M0FNU>

  // Weights: the same for each of the 2 experts.
  %b0 = tensor.empty() : tensor<2x128x896xf8E4M3FN>
  %sfb0 = tensor.empty() : tensor<2x1x7x32x4x4xf8E8M0FNU>
  %b, %sfb = grouped_moe.quantize ins(%w : tensor<2x128x896xf32>)
      outs(%b0, %sfb0 : tensor<2x128x896xf8E4M3FN>, tensor<2x1x7x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<2x128x896xf8E4M3FN>, tensor<2x1x7x32x4x4xf8E8M0FNU>

  %d0 = tensor.empty(%rows) : tensor<?x128xbf16>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x896xf8E4M3FN> scales %sfa : tensor<?x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x128x896xf8E4M3FN> scales %sfb : tensor<2x1x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      ins(%prob : tensor<?xf32> as per_row, %alpha : tensor<2xf32> as per_group)
      outs(%d0 : tensor<?x128xbf16>) epilogue {
  ^bb0(%acc: f32, %p: f32, %al: f32):
    %scaled = arith.mulf %acc, %al : f32
    %weighted = arith.mulf %scaled, %p : f32
    grouped_moe.yield %weighted : f32
  } -> tensor<?x128xbf16>
  return %d : tensor<?x128xbf16>
}
