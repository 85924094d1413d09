// RUN: %gmoe-opt %s --grouped-moe-check-scales -split-input-file -verify-diagnostics

// The order of gate and up, followed from where it is made to where it matters: flow_c4.

// Weights that were interleaved for a product that has them so anyway.
func.func @concatenated(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<2x256x64xf8E4M3FN>,
    %s: tensor<2x2x1x32x4x4xf8E8M0FNU>, %w0: tensor<2x256x64xf8E4M3FN>, %s0: tensor<2x2x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %h: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-note @below {{the order is made here, in alternating blocks of 32}}
  %i, %j = grouped_moe.interleave_glu ins(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32> -> tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: gate and up are read side by side, but 'grouped_moe.interleave_glu' wrote them in alternating blocks of 32 (flow_c4); drop `concatenated`, or pass what interleave_glu reads}}
  %d = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%i : tensor<2x256x64xf8E4M3FN> scales %j : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h : tensor<?x128xbf16>) attributes {concatenated}
      -> tensor<?x128xbf16>
  return %d : tensor<?x128xbf16>
}

// -----

func.func @concatenated_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>,
    %w: memref<2x256x64xf8E4M3FN>, %s: memref<2x2x1x32x4x4xf8E8M0FNU>, %w0: memref<2x256x64xf8E4M3FN>,
    %s0: memref<2x2x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %h: memref<?x128xbf16>) {
  // expected-note @below {{the order is made here, in alternating blocks of 32}}
  grouped_moe.interleave_glu ins(%w : memref<2x256x64xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x256x64xf8E4M3FN>, memref<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: gate and up are read side by side, but 'grouped_moe.interleave_glu' wrote them in alternating blocks of 32 (flow_c4)}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w0 : memref<2x256x64xf8E4M3FN> scales %s0 : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%h : memref<?x128xbf16>) attributes {concatenated}
  return
}

// -----

// Quantization keeps the order of the weights. A product with one accumulator has no use for it.
func.func @single(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %f: tensor<2x256x64xbf16>,
    %f0: tensor<2x256x64xbf16>, %w0: tensor<2x256x64xf8E4M3FN>, %s0: tensor<2x2x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>,
    %d0: tensor<?x256xf32>) -> tensor<?x256xf32> {
  // expected-note @below {{the order is made here}}
  %i = grouped_moe.interleave_glu ins(%f : tensor<2x256x64xbf16>) outs(%f0 : tensor<2x256x64xbf16>) -> tensor<2x256x64xbf16>
  %q, %t = grouped_moe.quantize ins(%i : tensor<2x256x64xbf16>) outs(%w0, %s0 : tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_quant' op rhs: comes from 'grouped_moe.interleave_glu', gate and up in alternating blocks of 32, but the op has one accumulator and treats them alike (flow_c4); make it paired, or pass what interleave_glu reads}}
  %d = grouped_moe.gemm_quant lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%q : tensor<2x256x64xf8E4M3FN> scales %t : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x256xf32>)
      -> tensor<?x256xf32>
  return %d : tensor<?x256xf32>
}

// -----

func.func @single_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %f: memref<2x256x64xbf16>,
    %f0: memref<2x256x64xbf16>, %w0: memref<2x256x64xf8E4M3FN>, %s0: memref<2x2x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %d: memref<?x256xf32>) {
  // expected-note @below {{the order is made here}}
  grouped_moe.interleave_glu ins(%f : memref<2x256x64xbf16>) outs(%f0 : memref<2x256x64xbf16>)
  grouped_moe.quantize ins(%f0 : memref<2x256x64xbf16>) outs(%w0, %s0 : memref<2x256x64xf8E4M3FN>, memref<2x2x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  // expected-error @below {{'grouped_moe.gemm' op rhs: comes from 'grouped_moe.interleave_glu', gate and up in alternating blocks of 32}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w0 : memref<2x256x64xf8E4M3FN> scales %s0 : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x256xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @twice(%bias: tensor<2x256xf32>, %bias0: tensor<2x256xf32>) -> tensor<2x256xf32> {
  // expected-note @below {{the order is made here, in alternating blocks of 32}}
  %i = grouped_moe.interleave_glu ins(%bias : tensor<2x256xf32>) outs(%bias0 : tensor<2x256xf32>) -> tensor<2x256xf32>
  // expected-error @below {{'grouped_moe.interleave_glu' op input: gate and up are read side by side, but 'grouped_moe.interleave_glu' wrote them in alternating blocks of 32 (flow_c4); interleave once, or leave it to a product that is concatenated}}
  %j = grouped_moe.interleave_glu ins(%i : tensor<2x256xf32>) outs(%bias0 : tensor<2x256xf32>) -> tensor<2x256xf32>
  return %j : tensor<2x256xf32>
}

// -----

func.func @bias(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<2x256x64xf8E4M3FN>,
    %s: tensor<2x2x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %bias: tensor<2x256xf32>, %bias0: tensor<2x256xf32>,
    %h: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  // expected-note @below {{the order is made here, in alternating blocks of 32}}
  %i = grouped_moe.interleave_glu ins(%bias : tensor<2x256xf32>) outs(%bias0 : tensor<2x256xf32>) -> tensor<2x256xf32>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op input #0: gate and up are read side by side, but 'grouped_moe.interleave_glu' wrote them in alternating blocks of 32 (flow_c4)}}
  %d = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i : tensor<2x256xf32> as bias) outs(%h : tensor<?x128xbf16>) attributes {concatenated}
      -> tensor<?x128xbf16>
  return %d : tensor<?x128xbf16>
}

// -----

// The saved pre-activation is in the order of the forward pass.
func.func @saved(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<2x256x64xf8E4M3FN>,
    %s: tensor<2x2x1x32x4x4xf8E8M0FNU>, %w2: tensor<2x128x64xf8E4M3FN>, %s2: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %h: tensor<?x128xbf16>, %z0: tensor<?x256xbf16>) -> (tensor<?x128xbf16>, tensor<?x256xbf16>) {
  // expected-note @below {{the order is made here, in alternating blocks of 32}}
  %r, %z = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h : tensor<?x128xbf16>, %z0 : tensor<?x256xbf16> as of preactivation)
      -> tensor<?x128xbf16>, tensor<?x256xbf16>
  // expected-error @below {{'grouped_moe.gemm_dswiglu' op input #0: gate and up are read side by side, but 'grouped_moe.gemm_swiglu' wrote them in alternating blocks of 32 (flow_c4); make both concatenated, or neither}}
  %d = grouped_moe.gemm_dswiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : tensor<2x128x64xf8E4M3FN> scales %s2 : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%z : tensor<?x256xbf16> as c) outs(%z0 : tensor<?x256xbf16>) attributes {concatenated}
      -> tensor<?x256xbf16>
  return %r, %d : tensor<?x128xbf16>, tensor<?x256xbf16>
}

// -----

func.func @saved_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %w: memref<2x256x64xf8E4M3FN>,
    %s: memref<2x2x1x32x4x4xf8E8M0FNU>, %w2: memref<2x128x64xf8E4M3FN>, %s2: memref<2x1x1x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %h: memref<?x128xbf16>, %z: memref<?x256xbf16>, %c: memref<?x256xbf16>) {
  // expected-note @below {{the order is made here, side by side}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : memref<2x256x64xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%h : memref<?x128xbf16>, %z : memref<?x256xbf16> as of preactivation) attributes {concatenated}
  // expected-error @below {{'grouped_moe.gemm' op input #0: gate and up are read in alternating blocks of 32, but 'grouped_moe.gemm_swiglu' wrote them side by side (flow_c4); make both concatenated, or neither; interleave_glu reorders weights and a bias}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : memref<2x128x64xf8E4M3FN> scales %s2 : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%z : memref<?x256xbf16> as per_element) outs(%c : memref<?x256xbf16>) epilogue {
  ^bb0(%acc: f32, %gate: f32, %up: f32):
    %u = arith.mulf %acc, %up : f32
    grouped_moe.yield %gate, %u : f32, f32
  }
  return
}

// -----

// The columns that a product sums over are those of its operands in the same order: what is known of lhs holds for rhs.
func.func @summed(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w2: tensor<2x128x64xf8E4M3FN>,
    %s2: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %c: tensor<?x256xbf16>, %g0: tensor<?x256xbf16>,
    %e0: tensor<?x256xf8E4M3FN>, %se0: tensor<?x2x32x4x4xf8E8M0FNU>, %wt: tensor<2x64x256xf8E4M3FN>,
    %st: tensor<2x1x2x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %e, %se = grouped_moe.gemm_dswiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : tensor<2x128x64xf8E4M3FN> scales %s2 : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%c : tensor<?x256xbf16> as c) outs(%e0 : tensor<?x256xf8E4M3FN> as quantized, %se0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
      -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  // expected-note @below {{rhs has its order from here, in alternating blocks of 32}}
  %x = grouped_moe.gemm_quant lhs(%e : tensor<?x256xf8E4M3FN> scales %se : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%wt : tensor<2x64x256xf8E4M3FN> scales %st : tensor<2x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%y0 : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  // expected-note @below {{lhs has its order from here, side by side}}
  %g, %sg = grouped_moe.gemm_dswiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : tensor<2x128x64xf8E4M3FN> scales %s2 : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%g0 : tensor<?x256xbf16> as c) outs(%e0 : tensor<?x256xf8E4M3FN> as quantized, %se0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil) attributes {concatenated}
      -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_quant' op rhs: gate and up lie in alternating blocks of 32, but in lhs, which is read along with it, they lie side by side (flow_c4); bring both into one order}}
  %v = grouped_moe.gemm_quant lhs(%g : tensor<?x256xf8E4M3FN> scales %sg : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%wt : tensor<2x64x256xf8E4M3FN> scales %st : tensor<2x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%y0 : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  return %x, %v : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

func.func @summed_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %w2: memref<2x128x64xf8E4M3FN>,
    %s2: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %c: memref<?x256xbf16>, %g: memref<?x256xbf16>,
    %e: memref<?x256xf8E4M3FN>, %se: memref<?x2x32x4x4xf8E8M0FNU>, %wt: memref<2x64x256xf8E4M3FN>,
    %st: memref<2x1x2x32x4x4xf8E8M0FNU>, %y: memref<?x64xf32>) {
  grouped_moe.gemm_dswiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : memref<2x128x64xf8E4M3FN> scales %s2 : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%c : memref<?x256xbf16> as c) outs(%e : memref<?x256xf8E4M3FN> as quantized, %se : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
  // expected-note @below {{rhs has its order from here, in alternating blocks of 32}}
  grouped_moe.gemm_quant lhs(%e : memref<?x256xf8E4M3FN> scales %se : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%wt : memref<2x64x256xf8E4M3FN> scales %st : memref<2x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%y : memref<?x64xf32>)
  // expected-note @below {{lhs has its order from here, side by side}}
  grouped_moe.gemm_dswiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : memref<2x128x64xf8E4M3FN> scales %s2 : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%g : memref<?x256xbf16> as c) outs(%e : memref<?x256xf8E4M3FN> as quantized, %se : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil) attributes {concatenated}
  // expected-error @below {{'grouped_moe.gemm_quant' op rhs: gate and up lie in alternating blocks of 32, but in lhs, which is read along with it, they lie side by side (flow_c4)}}
  grouped_moe.gemm_quant lhs(%e : memref<?x256xf8E4M3FN> scales %se : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%wt : memref<2x64x256xf8E4M3FN> scales %st : memref<2x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%y : memref<?x64xf32>)
  return
}
