// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// FP4 data: one refusal for each error of quantize and dequantize that FP8 data has not.

func.func @columns(%x: tensor<?x96xf32>, %d: tensor<?x96xf4E2M1FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: last extent is 96, expected a static positive multiple of 64 elements of f4E2M1FN (quantize_c1); pad the columns with zeros}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x96xf32>)
      outs(%d, %s : tensor<?x96xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x96xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @element(%x: tensor<?x64xf32>, %d: tensor<?x64xf4E2M1FN>, %s: tensor<?x1x32x4x4xf8E5M2>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: element type is 'f8E5M2', expected f8E8M0FNU or f8E4M3FN for f4E2M1FN data (quantize_c3)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E5M2>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E5M2>
  return
}

// -----

func.func @e4m3_of_32(%x: tensor<?x64xf32>, %d: tensor<?x64xf4E2M1FN>, %s: tensor<?x1x32x4x4xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: block is 32 elements, expected 16 for f8E4M3FN scales (quantize_c3); blocks of 32 have f8E8M0FNU scales}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>)
      layout <row, whole, block = 32> rounding nearest -> tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>
  return
}

// -----

func.func @column(%x: tensor<?x64xf32>, %d: tensor<?x64xf4E2M1FN>, %s: tensor<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: type is 'tensor<?x64xf4E2M1FN>', expected the shape of 'tensor<?x64xf32>', transposed: f4E2M1FN down columns is stored columns first (quantize_c2)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf4E2M1FN>, tensor<1x?x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<?x64xf4E2M1FN>, tensor<1x?x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @e4m3_rounded_up(%x: tensor<?x64xf32>, %d: tensor<?x64xf4E2M1FN>, %s: tensor<?x1x32x4x4xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.quantize' op rounding is rceil, expected nearest for f8E4M3FN scales (quantize_c7)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>)
      layout <row, whole, block = 16> rounding rceil -> tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>
  return
}

// -----

func.func @e8m0_nearest(%x: tensor<?x64xf32>, %d: tensor<?x64xf4E2M1FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op rounding is nearest, expected rceil or floor for f8E8M0FNU scales (quantize_c7)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 16> rounding nearest -> tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @fp8_with_e4m3(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: element type is 'f8E4M3FN', expected f8E8M0FNU (quantize_c3)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E4M3FN>)
      layout <row, whole, block = 16> rounding nearest -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E4M3FN>
  return
}

// -----

func.func @shape(%x: tensor<?x192xf32>, %d: tensor<?x192xf4E2M1FN>, %s: tensor<?x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is ?x2x32x4x4, expected ?x3x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 16> of a matrix of shape ?x192 (quantize_c4)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x192xf32>)
      outs(%d, %s : tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 16> rounding rceil -> tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @dequantize_columns(%q: tensor<?x32xf4E2M1FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %y: tensor<?x32xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: last extent is 32, expected a static positive multiple of 64 elements of f4E2M1FN (dequantize_c1)}}
  %r = grouped_moe.dequantize ins(%q : tensor<?x32xf4E2M1FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y : tensor<?x32xf32>) layout <row, whole, block = 32> -> tensor<?x32xf32>
  return
}

// -----

func.func @dequantize_element(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x1x32x4x4xbf16>, %y: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op scales: element type is 'bf16', expected f8E8M0FNU or f8E4M3FN for f4E2M1FN data (dequantize_c3)}}
  %r = grouped_moe.dequantize ins(%q : tensor<?x64xf4E2M1FN> scales %s : tensor<?x1x32x4x4xbf16>)
      outs(%y : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @dequantize_column(%q: tensor<?x64xf4E2M1FN>, %s: tensor<1x?x32x4x4xf8E8M0FNU>, %y: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: first extent is dynamic, expected a static positive multiple of 32 elements (dequantize_c1); pad the columns with zeros}}
  %r = grouped_moe.dequantize ins(%q : tensor<?x64xf4E2M1FN> scales %s : tensor<1x?x32x4x4xf8E8M0FNU>)
      outs(%y : tensor<?x64xf32>) layout <column, whole, block = 16> -> tensor<?x64xf32>
  return
}

// -----

func.func @dequantize_shape(%q: tensor<?x64xf4E2M1FN>, %s: tensor<?x2x32x4x4xf8E4M3FN>, %y: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op scales: scale shape is ?x2x32x4x4, expected ?x1x32x4x4 for layout}}
  %r = grouped_moe.dequantize ins(%q : tensor<?x64xf4E2M1FN> scales %s : tensor<?x2x32x4x4xf8E4M3FN>)
      outs(%y : tensor<?x64xf32>) layout <row, whole, block = 16> -> tensor<?x64xf32>
  return
}
