// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// One refusal for each error of dequantize.

func.func @data_element(%x: tensor<?x64xf32>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: element type is 'f32', expected f8E4M3FN, f8E5M2 or f4E2M1FN (dequantize_c1)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf32> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @data_rank(%x: tensor<64xf8E5M2>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: rank is 1, expected 2 (rows, columns) or 3 (groups, rows, columns) (dequantize_c1)}}
  %r = grouped_moe.dequantize ins(%x : tensor<64xf8E5M2> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @columns(%x: tensor<?x33xf8E5M2>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: last extent is 33, expected a static positive multiple of 32 elements (dequantize_c1); pad the columns with zeros}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x33xf8E5M2> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @columns_dynamic(%x: tensor<?x?xf8E5M2>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: last extent is dynamic, expected a static positive multiple of 32 elements (dequantize_c1)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x?xf8E5M2> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @rank_3_dynamic(%x: tensor<?x128x64xf8E5M2>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op data: shape of a rank-3 operand must be static (dequantize_c1)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x128x64xf8E5M2> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @output_element(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf64>) {
  // expected-error @below {{'grouped_moe.dequantize' op output: element type is 'f64', expected f32, f16 or bf16 (dequantize_c2)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf64>)
      layout <row, whole, block = 32> -> tensor<?x64xf64>
  return
}

// -----

func.func @output_shape(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x96xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op output: type is 'tensor<?x96xf32>', expected the shape of 'tensor<?x64xf8E4M3FN>' (dequantize_c2)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x96xf32>)
      layout <row, whole, block = 32> -> tensor<?x96xf32>
  return
}

// -----

func.func @output_rank(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op output: type is 'tensor<64xf32>', expected the shape of 'tensor<?x64xf8E4M3FN>' (dequantize_c2)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<64xf32>)
      layout <row, whole, block = 32> -> tensor<64xf32>
  return
}

// -----

func.func @scale_element(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xi8>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op scales: element type is 'i8', expected f8E8M0FNU (dequantize_c3)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xi8>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @block_16(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op scales: block is 16 elements, but FP8 data has one scale every 32 elements (dequantize_c3)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 16> -> tensor<?x64xf32>
  return
}

// -----

func.func @row_per_group(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op layout #grouped_moe.scale_layout<row, per_group, block = 32> needs offsets (dequantize_c6); give the ends of the groups}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, per_group, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @scale_shape(%x: tensor<2x200x64xf8E5M2>, %s: tensor<2x1x1x32x4x4xf8E8M0FNU>, %d: tensor<2x200x64xf16>) {
  // expected-error @below {{'grouped_moe.dequantize' op scales: scale shape is 2x1x1x32x4x4, expected 2x2x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape 2x200x64 (dequantize_c4)}}
  %r = grouped_moe.dequantize ins(%x : tensor<2x200x64xf8E5M2> scales %s : tensor<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<2x200x64xf16>)
      layout <row, whole, block = 32> -> tensor<2x200x64xf16>
  return
}

// -----

func.func @two_outputs(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op outs has 2 operands, expected 1 (dequantize_c5)}}
  %r:2 = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d, %d : tensor<?x64xf32>, tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>, tensor<?x64xf32>
  return
}

// -----

func.func @mixed(%x: tensor<?x64xf8E4M3FN>, %s: memref<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op operand #1 is of type 'memref<?x1x32x4x4xf8E8M0FNU>' but operand #0 is of type 'tensor<?x64xf8E4M3FN>', expected all tensors or all memrefs (dequantize_c5)}}
  %r = grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : memref<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32> -> tensor<?x64xf32>
  return
}

// -----

func.func @no_results(%x: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.dequantize' op has 0 results, expected 1: one for each tensor in outs, none for memrefs (dequantize_c5)}}
  grouped_moe.dequantize ins(%x : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%d : tensor<?x64xf32>)
      layout <row, whole, block = 32>
  return
}
