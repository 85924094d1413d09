// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// Scales down columns and groups of rows: one refusal for each error of quantize and dequantize.

func.func @no_offsets(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op layout #grouped_moe.scale_layout<column, per_group, block = 32> needs offsets (quantize_c6); give the ends of the groups}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @offsets_of_whole(%x: tensor<?x64xf32>, %o: tensor<2xi32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op layout #grouped_moe.scale_layout<column, whole, block = 32> takes no offsets (quantize_c6); drop them, or use a per_group layout}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @offsets_type(%x: tensor<?x64xf32>, %o: tensor<?xi32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op offsets: type is 'tensor<?xi32>', expected a static number of i32, one cumulative end for each group (quantize_c6)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<?xi32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @rank_3(%x: tensor<2x128x64xf32>, %o: tensor<2xi32>, %d: tensor<2x128x64xf8E4M3FN>, %s: tensor<2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op offsets divide the rows of a matrix, but the rank is 3 (quantize_c6); use a whole layout}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<2x128x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%d, %s : tensor<2x128x64xf8E4M3FN>, tensor<2x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil -> tensor<2x128x64xf8E4M3FN>, tensor<2x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @aligned(%x: tensor<?x64xf32>, %o: tensor<2xi32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op m_aligned is 64 rows, expected 1, 32, 128 or 256 (quantize_c6); promise the largest of them that divides every offset}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 64 : i64}
      -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @nearest(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op rounding is nearest, expected rceil or floor for f8E8M0FNU scales (quantize_c7)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding nearest -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @column_shape(%x: tensor<300x160xf32>, %d: tensor<300x160xf8E4M3FN>, %s: tensor<3x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is 3x2x32x4x4, expected 2x3x32x4x4 for layout #grouped_moe.scale_layout<column, whole, block = 32> of a matrix of shape 300x160 (quantize_c4)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<300x160xf32>)
      outs(%d, %s : tensor<300x160xf8E4M3FN>, tensor<3x2x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<300x160xf8E4M3FN>, tensor<3x2x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @group_shape(%x: tensor<300x160xf32>, %o: tensor<2xi32>, %d: tensor<300x160xf8E4M3FN>, %s: tensor<4x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is 4x32x4x4, expected 6x32x4x4 for layout #grouped_moe.scale_layout<column, per_group, block = 32> of a matrix of shape 300x160 (quantize_c4)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<300x160xf32>) offsets(%o : tensor<2xi32>)
      outs(%d, %s : tensor<300x160xf8E4M3FN>, tensor<4x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil -> tensor<300x160xf8E4M3FN>, tensor<4x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @dequantize_no_offsets(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>, %y: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op layout #grouped_moe.scale_layout<column, per_group, block = 32> needs offsets (dequantize_c6)}}
  %r = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU>)
      outs(%y : tensor<?x64xf32>) layout <column, per_group, block = 32> -> tensor<?x64xf32>
  return
}

// -----

// The column scales of a product lie whole over its rows; the reader expects atoms of each group.
func.func @column_scales_of_gemm(%a: tensor<?x32xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x32x32xf8E4M3FN>, %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>,
    %d0: tensor<?x32xf8E4M3FN>, %s0: tensor<1x?x32x4x4xf8E8M0FNU>, %y0: tensor<?x32xf32>) {
  // expected-note @below {{the scales are made here}}
  %d, %s = grouped_moe.gemm
      lhs(%a : tensor<?x32xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x32x32xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>)
      outs(%d0 : tensor<?x32xf8E4M3FN> as quantized, %s0 : tensor<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil)
      epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x32xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.dequantize' op scales: layout is #grouped_moe.scale_layout<column, per_group, block = 32> but the scales were written as #grouped_moe.scale_layout<column, whole, block = 32> (dequantize_c7)}}
  %y = grouped_moe.dequantize ins(%d : tensor<?x32xf8E4M3FN> scales %s : tensor<1x?x32x4x4xf8E8M0FNU>)
      offsets(%o : tensor<2xi32>) outs(%y0 : tensor<?x32xf32>)
      layout <column, per_group, block = 32> -> tensor<?x32xf32>
  return
}
