// RUN: %gmoe-opt %s --grouped-moe-check-scales -split-input-file -verify-diagnostics

// Scales and the data that they belong to, followed from where they are written to where they are read: flow_c1, c2, c3.

// The verifier sees an op and the one in front of it; this goes on through casts.
func.func @direction(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<1x?x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d0: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // expected-note @below {{the scales are written here, as #grouped_moe.scale_layout<column, whole, block = 32>}}
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>
  %any = tensor.cast %s : tensor<1x?x32x4x4xf8E8M0FNU> to tensor<?x?x32x4x4xf8E8M0FNU>
  %row = tensor.cast %any : tensor<?x?x32x4x4xf8E8M0FNU> to tensor<?x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_quant' op lhs scales: layout is #grouped_moe.scale_layout<row, whole, block = 32> but they were written as #grouped_moe.scale_layout<column, whole, block = 32> (flow_c1); state the same layout, or quantize the matrix in each}}
  %d = grouped_moe.gemm_quant lhs(%q : tensor<?x64xf8E4M3FN> scales %row : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %d : tensor<?x48xf32>
}

// -----

func.func @direction_in_memory(%x: memref<?x64xf32>, %q: memref<?x64xf8E4M3FN>, %s: memref<1x?x32x4x4xf8E8M0FNU>,
    %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d: memref<?x48xf32>) {
  // expected-note @below {{the scales are written here, as #grouped_moe.scale_layout<column, whole, block = 32>}}
  grouped_moe.quantize ins(%x : memref<?x64xf32>) outs(%q, %s : memref<?x64xf8E4M3FN>, memref<1x?x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil
  %any = memref.cast %s : memref<1x?x32x4x4xf8E8M0FNU> to memref<?x?x32x4x4xf8E8M0FNU>
  %row = memref.cast %any : memref<?x?x32x4x4xf8E8M0FNU> to memref<?x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_quant' op lhs scales: layout is #grouped_moe.scale_layout<row, whole, block = 32> but they were written as #grouped_moe.scale_layout<column, whole, block = 32> (flow_c1)}}
  grouped_moe.gemm_quant lhs(%q : memref<?x64xf8E4M3FN> scales %row : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x48xf32>)
  return
}

// -----

func.func @groups(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>,
    %p: tensor<2xi32>, %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-note @below {{the scales are written here}}
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.dequantize' op data scales: offsets are others than those with which they were written, but in the layout #grouped_moe.scale_layout<column, per_group, block = 32> every group starts new atoms (flow_c1); give both ops the same offsets}}
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU>) offsets(%p : tensor<2xi32>)
      outs(%y0 : tensor<?x64xf32>) layout <column, per_group, block = 32> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// -----

// The groups of a product's output are those of the product.
func.func @groups_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<3xi32>, %q: memref<?x64xf8E4M3FN>,
    %s: memref<?x32x4x4xf8E8M0FNU>, %y: memref<?x64xf32>) {
  // expected-note @below {{the scales are written here}}
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      outs(%q : memref<?x64xf8E4M3FN> as quantized, %s : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
  // expected-error @below {{'grouped_moe.dequantize' op data scales: offsets are others than those with which they were written}}
  grouped_moe.dequantize ins(%q : memref<?x64xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU>) offsets(%p : memref<3xi32>)
      outs(%y : memref<?x64xf32>) layout <column, per_group, block = 32>
  return
}

// -----

// One value quantized twice: the data that goes down columns with the scales that go along rows. Every layout is as it should be.
func.func @partners(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %q0: tensor<?x64xf8E4M3FN>, %r0: tensor<?x1x32x4x4xf8E8M0FNU>,
    %c0: tensor<?x32x4x4xf8E8M0FNU>, %d0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-note @below {{the data is written here}}
  // expected-note @below {{the scales are written here}}
  %h, %row, %h_col, %col = grouped_moe.gemm_srelu
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>)
      outs(%q0 : tensor<?x64xf8E4M3FN> as quantized, %r0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %q0 : tensor<?x64xf8E4M3FN> as quantized, %c0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
      -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_quant' op lhs: data is output #2 of 'grouped_moe.gemm_srelu', quantized as #grouped_moe.scale_layout<column, per_group, block = 32>, but the scales are those of output #0 of 'grouped_moe.gemm_srelu', written as #grouped_moe.scale_layout<row, whole, block = 32> (flow_c2); pass the data and the scales of one output}}
  %d = grouped_moe.gemm_quant lhs(%h_col : tensor<?x64xf8E4M3FN> scales %row : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// -----

func.func @partners_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %h: memref<?x64xf8E4M3FN>, %row: memref<?x1x32x4x4xf8E8M0FNU>,
    %h_col: memref<?x64xf8E4M3FN>, %col: memref<?x32x4x4xf8E8M0FNU>, %y: memref<?x64xf32>) {
  // expected-note @below {{the data is written here}}
  // expected-note @below {{the scales are written here}}
  grouped_moe.gemm_srelu
      lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      outs(%h : memref<?x64xf8E4M3FN> as quantized, %row : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %h_col : memref<?x64xf8E4M3FN> as quantized, %col : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
  // expected-error @below {{'grouped_moe.dequantize' op data: data is output #0 of 'grouped_moe.gemm_srelu', quantized as #grouped_moe.scale_layout<row, whole, block = 32>, but the scales are those of output #2 of 'grouped_moe.gemm_srelu', written as #grouped_moe.scale_layout<column, per_group, block = 32> (flow_c2)}}
  grouped_moe.dequantize ins(%h : memref<?x64xf8E4M3FN> scales %col : memref<?x32x4x4xf8E8M0FNU>) offsets(%o : memref<2xi32>)
      outs(%y : memref<?x64xf32>) layout <column, per_group, block = 32>
  return
}

// -----

// A copy in memory is what it was copied from. The data has been replaced since; the scales have not.
func.func @overwritten(%x: memref<?x64xf32>, %z: memref<?x64xf32>, %q: memref<?x64xf8E4M3FN>, %s: memref<?x1x32x4x4xf8E8M0FNU>,
    %t: memref<?x1x32x4x4xf8E8M0FNU>, %u: memref<?x1x32x4x4xf8E8M0FNU>, %y: memref<?x64xf32>) {
  // expected-note @below {{the scales are written here}}
  grouped_moe.quantize ins(%x : memref<?x64xf32>) outs(%q, %s : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  memref.copy %s, %u : memref<?x1x32x4x4xf8E8M0FNU> to memref<?x1x32x4x4xf8E8M0FNU>
  // expected-note @below {{the data is written here}}
  grouped_moe.quantize ins(%z : memref<?x64xf32>) outs(%q, %t : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  // expected-error @below {{'grouped_moe.dequantize' op data: data is the output of 'grouped_moe.quantize', quantized as #grouped_moe.scale_layout<row, whole, block = 32>, but the scales are those of the output of 'grouped_moe.quantize'}}
  grouped_moe.dequantize ins(%q : memref<?x64xf8E4M3FN> scales %u : memref<?x1x32x4x4xf8E8M0FNU>) outs(%y : memref<?x64xf32>)
      layout <row, whole, block = 32>
  return
}

// -----

// Weights were interleaved, and their scales were not.
func.func @interleaved(%w: tensor<2x64x64xf32>, %q0: tensor<2x64x64xf8E4M3FN>, %s0: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d0: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // expected-note @below {{the scales are written here}}
  %q, %s = grouped_moe.quantize ins(%w : tensor<2x64x64xf32>) outs(%q0, %s0 : tensor<2x64x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<2x64x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  // expected-note @below {{the data is written here}}
  %b, %sb = grouped_moe.interleave_glu ins(%q : tensor<2x64x64xf8E4M3FN> scales %s : tensor<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%q0, %s0 : tensor<2x64x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
      -> tensor<2x64x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: data is the output of 'grouped_moe.interleave_glu', quantized as #grouped_moe.scale_layout<row, whole, block = 32>, but the scales are those of the output of 'grouped_moe.quantize'}}
  %d = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %s : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %d : tensor<?x32xf32>
}

// -----

// Of the scales nothing is known, but the data is in blocks down columns.
func.func @blocks(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<1x?x32x4x4xf8E8M0FNU>,
    %scales: tensor<?x1x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<1x?x32x4x4xf8E8M0FNU>) {
  // expected-note @below {{the output is written here}}
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.dequantize' op data: layout is #grouped_moe.scale_layout<row, whole, block = 32> but the data was quantized as #grouped_moe.scale_layout<column, whole, block = 32>, in other blocks (flow_c3); pass data that is quantized in these blocks, as one more output of the op that makes it}}
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %scales : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  return %y, %s : tensor<?x64xf32>, tensor<1x?x32x4x4xf8E8M0FNU>
}

// -----

func.func @blocks_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %h: memref<?x64xf8E4M3FN>, %s: memref<?x1x32x4x4xf8E8M0FNU>,
    %scales: memref<?x32x4x4xf8E8M0FNU>, %y: memref<?x64xf32>) {
  // expected-note @below {{the output is written here}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      outs(%h : memref<?x64xf8E4M3FN> as quantized, %s : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  // expected-error @below {{'grouped_moe.dequantize' op data: layout is #grouped_moe.scale_layout<column, per_group, block = 32> but the data was quantized as #grouped_moe.scale_layout<row, whole, block = 32>, in other blocks (flow_c3)}}
  grouped_moe.dequantize ins(%h : memref<?x64xf8E4M3FN> scales %scales : memref<?x32x4x4xf8E8M0FNU>) offsets(%o : memref<2xi32>)
      outs(%y : memref<?x64xf32>) layout <column, per_group, block = 32>
  return
}

// -----

// Square, so that only the direction tells: what is read as transposed was written as it is.
func.func @transposed(%x: tensor<64x64xf32>, %q0: tensor<64x64xf8E4M3FN>, %s0: tensor<1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  // expected-note @below {{the data is written here}}
  %q, %s = grouped_moe.quantize ins(%x : tensor<64x64xf32>) offsets(%o : tensor<2xi32>) outs(%q0, %s0 : tensor<64x64xf8E4M3FN>, tensor<1x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64} -> tensor<64x64xf8E4M3FN>, tensor<1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.wgrad' op lhs: is read as the transposed of a matrix, but the output of 'grouped_moe.quantize' is that matrix itself (flow_c3); drop `lhs_transposed`}}
  %r = grouped_moe.wgrad lhs(%q : tensor<64x64xf8E4M3FN> scales %s : tensor<1x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%q : tensor<64x64xf8E4M3FN> scales %s : tensor<1x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<2x64x64xf32>) attributes {m_aligned = 128 : i64, lhs_transposed} -> tensor<2x64x64xf32>
  return %r : tensor<2x64x64xf32>
}

// -----

func.func @lhs_of_other_groups(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>,
    %other: tensor<2xi32>, %b: tensor<2x64x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %d: tensor<?x64xf32>) -> tensor<?x64xf32> {
  // expected-note @below {{the scales are written here}}
  %q:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <row, per_group, block = 32> rounding rceil {m_aligned = 1 : i64} -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_quant' op lhs scales: offsets are others than those with which they were written, but in the layout #grouped_moe.scale_layout<row, per_group, block = 32> every group starts new atoms (flow_c1); give both ops the same offsets}}
  %r = grouped_moe.gemm_quant lhs(%q#0 : tensor<?x64xf8E4M3FN> scales %q#1 : tensor<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%other : tensor<2xi32>) outs(%d : tensor<?x64xf32>) attributes {m_aligned = 1 : i64} -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
