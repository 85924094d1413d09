// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// One refusal for each error of interleave_glu.

func.func @elements(%w: tensor<2x64x32xi8>, %w0: tensor<2x64x32xi8>) {
  // expected-error @below {{'grouped_moe.interleave_glu' op input: element type is 'i8', expected f32, f16, bf16, f8E4M3FN or f8E5M2 (interleave_c1)}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<2x64x32xi8>) outs(%w0 : tensor<2x64x32xi8>) -> tensor<2x64x32xi8>
  return
}

// -----

func.func @fp4(%w: tensor<2x64x32xf4E2M1FN>, %w0: tensor<2x64x32xf4E2M1FN>) {
  // expected-error @below {{op input: element type is 'f4E2M1FN', expected f32, f16, bf16, f8E4M3FN or f8E5M2 (interleave_c1); interleave the values before they become f4E2M1FN}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<2x64x32xf4E2M1FN>) outs(%w0 : tensor<2x64x32xf4E2M1FN>) -> tensor<2x64x32xf4E2M1FN>
  return
}

// -----

func.func @rank(%w: tensor<64xf32>, %w0: tensor<64xf32>) {
  // expected-error @below {{op input: rank is 1, expected 2 (groups, 2 F) or 3 (groups, 2 F, columns) (interleave_c1)}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<64xf32>) outs(%w0 : tensor<64xf32>) -> tensor<64xf32>
  return
}

// -----

func.func @dynamic(%w: tensor<?x64x32xf32>, %w0: tensor<?x64x32xf32>) {
  // expected-error @below {{op input: type is 'tensor<?x64x32xf32>', expected static positive extents (interleave_c1); groups, rows and columns of weights are part of the kernel}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<?x64x32xf32>) outs(%w0 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
  return
}

// -----

func.func @empty(%w: tensor<2x64x0xf32>, %w0: tensor<2x64x0xf32>) {
  // expected-error @below {{op input: type is 'tensor<2x64x0xf32>', expected static positive extents (interleave_c1)}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<2x64x0xf32>) outs(%w0 : tensor<2x64x0xf32>) -> tensor<2x64x0xf32>
  return
}

// -----

func.func @blocks(%w: tensor<2x96x32xf32>, %w0: tensor<2x96x32xf32>) {
  // expected-error @below {{op input: extent 1 is 96, expected a multiple of 64: blocks of 32 rows of gate and of up (interleave_c2); pad each half with zeros}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<2x96x32xf32>) outs(%w0 : tensor<2x96x32xf32>) -> tensor<2x96x32xf32>
  return
}

// -----

func.func @data_shape(%w: tensor<2x64x32xf32>, %w0: tensor<2x128x32xf32>) {
  // expected-error @below {{op data: type is 'tensor<2x128x32xf32>', expected the shape and elements of 'tensor<2x64x32xf32>' (interleave_c3)}}
  %r = grouped_moe.interleave_glu ins(%w : tensor<2x64x32xf32>) outs(%w0 : tensor<2x128x32xf32>) -> tensor<2x128x32xf32>
  return
}

// -----

func.func @data_elements(%w: memref<2x64xf32>, %w0: memref<2x64xbf16>) {
  // expected-error @below {{op data: type is 'memref<2x64xbf16>', expected the shape and elements of 'memref<2x64xf32>' (interleave_c3)}}
  grouped_moe.interleave_glu ins(%w : memref<2x64xf32>) outs(%w0 : memref<2x64xbf16>)
  return
}

// -----

func.func @no_layout(%w: memref<2x64x32xf8E4M3FN>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x32xf8E4M3FN>,
    %s0: memref<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op has scales but no layout, expected both or neither (interleave_c4); write layout <row, whole, block = 32>}}
  grouped_moe.interleave_glu ins(%w : memref<2x64x32xf8E4M3FN> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x64x32xf8E4M3FN>, memref<2x1x1x32x4x4xf8E8M0FNU>)
  return
}

// -----

func.func @no_scales(%w: memref<2x64xf32>, %w0: memref<2x64xf32>) {
  // expected-error @below {{op has a layout but no scales, expected both or neither (interleave_c4); drop the layout}}
  grouped_moe.interleave_glu ins(%w : memref<2x64xf32>) outs(%w0 : memref<2x64xf32>) layout <row, whole, block = 32>
  return
}

// -----

func.func @scaled_bias(%w: memref<2x64xf8E4M3FN>, %s: memref<1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64xf8E4M3FN>,
    %s0: memref<1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op input: type is 'memref<2x64xf8E4M3FN>', expected f8E4M3FN or f8E5M2 of rank 3 for an input with scales (interleave_c4); drop the scales and the layout}}
  grouped_moe.interleave_glu ins(%w : memref<2x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}

// -----

func.func @layout(%w: memref<2x64x32xf8E4M3FN>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x32xf8E4M3FN>,
    %s0: memref<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op scales: layout is #grouped_moe.scale_layout<column, whole, block = 32>, expected <row, whole, block = 32> (interleave_c4)}}
  grouped_moe.interleave_glu ins(%w : memref<2x64x32xf8E4M3FN> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x64x32xf8E4M3FN>, memref<2x1x1x32x4x4xf8E8M0FNU>) layout <column, whole, block = 32>
  return
}

// -----

func.func @scale_elements(%w: memref<2x64x32xf8E4M3FN>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x32xf8E4M3FN>,
    %s0: memref<2x1x1x32x4x4xf8E4M3FN>) {
  // expected-error @below {{op output scales: element type is 'f8E4M3FN', expected f8E8M0FNU (interleave_c4)}}
  grouped_moe.interleave_glu ins(%w : memref<2x64x32xf8E4M3FN> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x64x32xf8E4M3FN>, memref<2x1x1x32x4x4xf8E4M3FN>) layout <row, whole, block = 32>
  return
}

// -----

func.func @scale_shape(%w: memref<2x192x32xf8E4M3FN>, %s: memref<2x2x1x32x4x4xf8E8M0FNU>, %w0: memref<2x192x32xf8E4M3FN>,
    %s0: memref<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op output scales: scale shape is 2x1x1x32x4x4, expected 2x2x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape 2x192x32 (interleave_c5)}}
  grouped_moe.interleave_glu ins(%w : memref<2x192x32xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x192x32xf8E4M3FN>, memref<2x1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}

// -----

func.func @columns(%w: memref<2x64x48xf8E4M3FN>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x48xf8E4M3FN>,
    %s0: memref<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op input: extent 2 is 48, expected a multiple of 32 elements for an input with scales (interleave_c5); pad the columns with zeros}}
  grouped_moe.interleave_glu ins(%w : memref<2x64x48xf8E4M3FN> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x64x48xf8E4M3FN>, memref<2x1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}

// -----

func.func @outputs(%w: memref<2x64xf32>, %w0: memref<2x64xf32>, %w1: memref<2x64xf32>) {
  // expected-error @below {{op outs has 2 operands, expected 1: data, for ins has no scales (interleave_c6)}}
  grouped_moe.interleave_glu ins(%w : memref<2x64xf32>) outs(%w0, %w1 : memref<2x64xf32>, memref<2x64xf32>)
  return
}

// -----

func.func @no_output_scales(%w: memref<2x64x32xf8E4M3FN>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x32xf8E4M3FN>) {
  // expected-error @below {{op outs has 1 operands, expected 2: data and scales (interleave_c6)}}
  grouped_moe.interleave_glu ins(%w : memref<2x64x32xf8E4M3FN> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0 : memref<2x64x32xf8E4M3FN>) layout <row, whole, block = 32>
  return
}

// -----

func.func @mixed(%w: tensor<2x64xf32>, %w0: memref<2x64xf32>) {
  // expected-error @below {{op operand #1 is of type 'memref<2x64xf32>' but operand #0 is of type 'tensor<2x64xf32>', expected all tensors or all memrefs (interleave_c6)}}
  grouped_moe.interleave_glu ins(%w : tensor<2x64xf32>) outs(%w0 : memref<2x64xf32>)
  return
}

// -----

func.func @in_place(%w: memref<2x64xf32>) {
  // expected-error @below {{op output #0 is operand #0 as well, but rows do not move in place (interleave_c7); give it memory of its own}}
  grouped_moe.interleave_glu ins(%w : memref<2x64xf32>) outs(%w : memref<2x64xf32>)
  return
}

// -----

func.func @scales_in_place(%w: memref<2x64x32xf8E4M3FN>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x32xf8E4M3FN>) {
  // expected-error @below {{op output #1 is operand #1 as well, but rows do not move in place (interleave_c7)}}
  grouped_moe.interleave_glu ins(%w : memref<2x64x32xf8E4M3FN> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s : memref<2x64x32xf8E4M3FN>, memref<2x1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}

// -----

// 128 x 128 scales have one shape in both directions.
func.func @producer(%x: tensor<2x128x128xf32>, %q0: tensor<2x128x128xf8E4M3FN>, %s0: tensor<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-note @below {{the scales are made here}}
  %q, %s = grouped_moe.quantize ins(%x : tensor<2x128x128xf32>)
      outs(%q0, %s0 : tensor<2x128x128xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<2x128x128xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{op scales: layout is #grouped_moe.scale_layout<row, whole, block = 32> but the scales were written as #grouped_moe.scale_layout<column, whole, block = 32> (interleave_c8)}}
  %w1, %s1 = grouped_moe.interleave_glu ins(%q : tensor<2x128x128xf8E4M3FN> scales %s : tensor<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%q0, %s0 : tensor<2x128x128xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> -> tensor<2x128x128xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  return
}

// -----

// The scales of the packed weights are in the op's layout for whoever reads them.
func.func @consumer(%w: tensor<2x128x128xf8E4M3FN>, %s: tensor<2x1x1x32x4x4xf8E8M0FNU>, %y0: tensor<2x128x128xf32>) {
  %w0 = tensor.empty() : tensor<2x128x128xf8E4M3FN>
  %s0 = tensor.empty() : tensor<2x1x1x32x4x4xf8E8M0FNU>
  // expected-note @below {{the scales are made here}}
  %w1, %s1 = grouped_moe.interleave_glu ins(%w : tensor<2x128x128xf8E4M3FN> scales %s : tensor<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : tensor<2x128x128xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> -> tensor<2x128x128xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{op scales: layout is #grouped_moe.scale_layout<column, whole, block = 32> but the scales were written as #grouped_moe.scale_layout<row, whole, block = 32> (dequantize_c7)}}
  %y = grouped_moe.dequantize ins(%w1 : tensor<2x128x128xf8E4M3FN> scales %s1 : tensor<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<2x128x128xf32>) layout <column, whole, block = 32> -> tensor<2x128x128xf32>
  return
}
