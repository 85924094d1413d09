// RUN: %gmoe-opt %s --grouped-moe-check-scales | FileCheck %s
// RUN: %gmoe-opt %s --grouped-moe-generalize --grouped-moe-check-scales -o /dev/null
// RUN: %gmoe-opt %s --one-shot-bufferize="bufferize-function-boundaries" --grouped-moe-check-scales -o /dev/null
// RUN: %gmoe-opt %s --grouped-moe-generalize --canonicalize --cse --one-shot-bufferize="bufferize-function-boundaries" --grouped-moe-check-scales -o /dev/null

// The examples are right.
// RUN: %gmoe-opt %examples/custom_epilogue.mlir --grouped-moe-check-scales -o /dev/null
// RUN: %gmoe-opt %examples/dsrelu_backward.mlir --grouped-moe-check-scales -o /dev/null
// RUN: %gmoe-opt %examples/mxfp8_grouped_gemm.mlir --grouped-moe-check-scales -o /dev/null
// RUN: %gmoe-opt %examples/swiglu_forward.mlir --grouped-moe-check-scales -o /dev/null

// Programs that pass, on tensors and, bufferized, in memory.

// A layer, forward and backward.
// CHECK-LABEL: func.func @layer
func.func @layer(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>,
    %w: tensor<2x256x64xbf16>, %f0: tensor<2x256x64xbf16>, %w0: tensor<2x256x64xf8E4M3FN>,
    %s0: tensor<2x2x1x32x4x4xf8E8M0FNU>, %z0: tensor<?x256xbf16>, %h0: tensor<?x128xf8E4M3FN>,
    %sr0: tensor<?x1x32x4x4xf8E8M0FNU>, %sc0: tensor<?x32x4x4xf8E8M0FNU>, %w2: tensor<2x64x128xf8E4M3FN>,
    %s2: tensor<2x1x1x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>, %c0: tensor<?x128xf32>, %w2t: tensor<2x128x64xf8E4M3FN>,
    %s2t: tensor<2x1x1x32x4x4xf8E8M0FNU>, %e0: tensor<?x256xf8E4M3FN>, %se0: tensor<?x2x32x4x4xf8E8M0FNU>,
    %w13t: tensor<2x64x256xf8E4M3FN>, %s13t: tensor<2x1x2x32x4x4xf8E8M0FNU>, %x0: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x128xf32>, tensor<?x64xf32>) {
  // Weights: interleaved, then quantized.
  %i = grouped_moe.interleave_glu ins(%w : tensor<2x256x64xbf16>) outs(%f0 : tensor<2x256x64xbf16>) -> tensor<2x256x64xbf16>
  %w13, %s13 = grouped_moe.quantize ins(%i : tensor<2x256x64xbf16>) outs(%w0, %s0 : tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32> rounding rceil
      -> tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>
  // Forward.
  %z, %h, %sh, %h_col, %sh_col = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w13 : tensor<2x256x64xf8E4M3FN> scales %s13 : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%z0 : tensor<?x256xbf16> as of preactivation, %h0 : tensor<?x128xf8E4M3FN> as quantized, %sr0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil, %h0 : tensor<?x128xf8E4M3FN> as quantized, %sc0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
      -> tensor<?x256xbf16>, tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x128xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  %sh_any = tensor.cast %sh : tensor<?x1x32x4x4xf8E8M0FNU> to tensor<?x?x32x4x4xf8E8M0FNU>
  %sh_row = tensor.cast %sh_any : tensor<?x?x32x4x4xf8E8M0FNU> to tensor<?x1x32x4x4xf8E8M0FNU>
  %y = grouped_moe.gemm_quant lhs(%h : tensor<?x128xf8E4M3FN> scales %sh_row : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : tensor<2x64x128xf8E4M3FN> scales %s2 : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%y0 : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  %hc = grouped_moe.dequantize ins(%h_col : tensor<?x128xf8E4M3FN> scales %sh_col : tensor<?x32x4x4xf8E8M0FNU>)
      offsets(%o : tensor<2xi32>) outs(%c0 : tensor<?x128xf32>) layout <column, per_group, block = 32> -> tensor<?x128xf32>
  // Backward: z and its gradient are in the order of the weights.
  %dz, %sdz = grouped_moe.gemm_dswiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2t : tensor<2x128x64xf8E4M3FN> scales %s2t : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%z : tensor<?x256xbf16> as c) outs(%e0 : tensor<?x256xf8E4M3FN> as quantized, %se0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
      -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %dx = grouped_moe.gemm_quant lhs(%dz : tensor<?x256xf8E4M3FN> scales %sdz : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w13t : tensor<2x64x256xf8E4M3FN> scales %s13t : tensor<2x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%x0 : tensor<?x64xf32>)
      -> tensor<?x64xf32>
  return %y, %hc, %dx : tensor<?x64xf32>, tensor<?x128xf32>, tensor<?x64xf32>
}

// The same weights in both orders, each where it belongs; a product with one accumulator leaves columns where they are.
// CHECK-LABEL: func.func @both_orders
func.func @both_orders(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<2x256x64xf8E4M3FN>,
    %s: tensor<2x2x1x32x4x4xf8E8M0FNU>, %w0: tensor<2x256x64xf8E4M3FN>, %s0: tensor<2x2x1x32x4x4xf8E8M0FNU>,
    %w2: tensor<2x128x64xf8E4M3FN>, %s2: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %h: tensor<?x128xbf16>,
    %z0: tensor<?x256xbf16>) -> (tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x256xbf16>) {
  %i, %j = grouped_moe.interleave_glu ins(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
      -> tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>
  %d = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%i : tensor<2x256x64xf8E4M3FN> scales %j : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h : tensor<?x128xbf16>)
      -> tensor<?x128xbf16>
  %e = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h : tensor<?x128xbf16>) attributes {concatenated}
      -> tensor<?x128xbf16>
  %f = grouped_moe.gemm_quant lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%z0 : tensor<?x256xbf16>)
      -> tensor<?x256xbf16>
  %g = grouped_moe.gemm_dswiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w2 : tensor<2x128x64xf8E4M3FN> scales %s2 : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%f : tensor<?x256xbf16> as c) outs(%z0 : tensor<?x256xbf16>) attributes {concatenated}
      -> tensor<?x256xbf16>
  return %d, %e, %g : tensor<?x128xbf16>, tensor<?x128xbf16>, tensor<?x256xbf16>
}

// Data of unknown making may have scales of either direction, as that of square blocks has.
// CHECK-LABEL: func.func @square
func.func @square(%q: tensor<?x64xf8E4M3FN>, %row: tensor<?x1x32x4x4xf8E8M0FNU>, %column: tensor<1x?x32x4x4xf8E8M0FNU>,
    %y0: tensor<?x64xf32>, %z0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %row : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  %z = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %column : tensor<1x?x32x4x4xf8E8M0FNU>)
      outs(%z0 : tensor<?x64xf32>) layout <column, whole, block = 32> -> tensor<?x64xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x64xf32>
}

// Equal constants are the same offsets.
// CHECK-LABEL: func.func @constants
func.func @constants(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x32x4x4xf8E8M0FNU>,
    %y0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %o = arith.constant dense<[128, 256]> : tensor<2xi32>
  %p = arith.constant dense<[128, 256]> : tensor<2xi32>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU>) offsets(%p : tensor<2xi32>)
      outs(%y0 : tensor<?x64xf32>) layout <column, per_group, block = 32> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
