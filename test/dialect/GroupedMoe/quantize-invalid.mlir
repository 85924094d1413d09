// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// One refusal for each error of quantize.

func.func @input_element(%x: tensor<?x64xf64>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: element type is 'f64', expected f32, f16 or bf16 (quantize_c1)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf64>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @input_rank_0(%x: tensor<f32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: rank is 0, expected 2 (rows, columns) or 3 (groups, rows, columns) (quantize_c1)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<f32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @input_rank_4(%x: tensor<1x2x?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: rank is 4, expected 2}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<1x2x?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @columns_multiple(%x: tensor<?x48xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: last extent is 48, expected a static positive multiple of 32 elements (quantize_c1); pad the columns with zeros}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x48xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @columns_zero(%x: tensor<?x0xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: last extent is 0, expected a static positive multiple of 32 elements (quantize_c1)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x0xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @columns_dynamic(%x: tensor<?x?xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: last extent is dynamic, expected a static positive multiple of 32 elements (quantize_c1)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x?xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @rank_3_dynamic(%x: tensor<2x?x64xf32>, %d: tensor<2x?x64xf8E4M3FN>, %s: tensor<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: shape of a rank-3 operand must be static (quantize_c1); only the row count of a matrix is dynamic}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<2x?x64xf32>)
      outs(%d, %s : tensor<2x?x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<2x?x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @data_element(%x: tensor<?x64xf32>, %d: tensor<?x64xi8>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: element type is 'i8', expected f8E4M3FN, f8E5M2 or f4E2M1FN (quantize_c2)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xi8>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xi8>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @data_rank(%x: tensor<?x64xf32>, %d: tensor<f8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: type is 'tensor<f8E4M3FN>', expected the shape of 'tensor<?x64xf32>' (quantize_c2)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<f8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<f8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @data_columns(%x: tensor<?x64xf32>, %d: tensor<?x32xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: type is 'tensor<?x32xf8E4M3FN>', expected the shape of 'tensor<?x64xf32>' (quantize_c2)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x32xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x32xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @data_columns_dynamic(%x: tensor<?x64xf32>, %d: tensor<?x?xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: type is 'tensor<?x?xf8E4M3FN>', expected the shape of 'tensor<?x64xf32>' (quantize_c2)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x?xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x?xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @data_rows(%x: tensor<256x64xf32>, %d: tensor<128x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: type is 'tensor<128x64xf8E4M3FN>', expected the shape of 'tensor<256x64xf32>' (quantize_c2)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<256x64xf32>)
      outs(%d, %s : tensor<128x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<128x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @scale_element(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf32>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: element type is 'f32', expected f8E8M0FNU (quantize_c3)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf32>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf32>
  return
}

// -----

func.func @block_16(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: block is 16 elements, but FP8 data has one scale every 32 elements (quantize_c3); block 16 is for FP4 data}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 16> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @column(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is ?x1x32x4x4, expected 1x?x32x4x4 for layout #grouped_moe.scale_layout<column, whole, block = 32> of a matrix of shape ?x64 (quantize_c4)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @per_group(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op layout #grouped_moe.scale_layout<row, per_group, block = 32> needs offsets (quantize_c6); give the ends of the groups}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, per_group, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @scale_shape(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is ?x2x32x4x4, expected ?x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape ?x64 (quantize_c4)}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @scale_scalar(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<f8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is empty (rank 0), expected ?x1x32x4x4}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<f8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<f8E8M0FNU>
  return
}

// -----

func.func @scale_rows(%x: tensor<300x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<2x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op scales: scale shape is 2x1x32x4x4, expected 3x1x32x4x4}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<300x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<2x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<2x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @one_output(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op outs has 1 operands, expected 2: data and scales (quantize_c5)}}
  %r = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d : tensor<?x64xf8E4M3FN>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>
  return
}

// -----

func.func @mixed(%x: tensor<?x64xf32>, %d: memref<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op operand #1 is of type 'memref<?x64xf8E4M3FN>' but operand #0 is of type 'tensor<?x64xf32>', expected all tensors or all memrefs (quantize_c5)}}
  grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : memref<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return
}

// -----

func.func @no_results(%x: tensor<?x64xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op has 0 results, expected 2: one for each tensor in outs, none for memrefs (quantize_c5)}}
  grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return
}

// -----

func.func @unranked(%x: tensor<*xf32>, %d: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op operand #0 must be ranked tensor or strided memref, but got 'tensor<*xf32>'}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<*xf32>)
      outs(%d, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}
