// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// Scales along rows, by groups.

func.func @shape(%x: tensor<300x192xf32>, %o: tensor<2xi32>, %d: tensor<300x192xf8E4M3FN>, %s: tensor<6x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is 6x32x4x4, expected 8x32x4x4 for layout #grouped_moe.scale_layout<row, per_group, block = 32> of a matrix of shape 300x192 (quantize_c4)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<300x192xf32>) offsets(%o : tensor<2xi32>)
      outs(%d, %s : tensor<300x192xf8E4M3FN>, tensor<6x32x4x4xf8E8M0FNU>)
      layout <row, per_group, block = 32> rounding rceil {m_aligned = 32 : i64} -> tensor<300x192xf8E4M3FN>, tensor<6x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @rank_3(%q: tensor<2x128x64xf4E2M1FN>, %o: tensor<2xi32>, %s: tensor<2x32x4x4xf8E4M3FN>, %y: tensor<2x128x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op offsets divide the rows of a matrix, but the rank is 3 (dequantize_c6); use a whole layout}}
  %r = grouped_moe.dequantize ins(%q : tensor<2x128x64xf4E2M1FN> scales %s : tensor<2x32x4x4xf8E4M3FN>) offsets(%o : tensor<2xi32>)
      outs(%y : tensor<2x128x64xf32>) layout <row, per_group, block = 16> -> tensor<2x128x64xf32>
  return
}

// -----

func.func @block_16(%x: tensor<?x64xf32>, %o: tensor<2xi32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: block is 16 elements, but FP8 data has one scale every 32 elements (quantize_c3)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <row, per_group, block = 16> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  return
}
