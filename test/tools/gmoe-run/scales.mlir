// Data with the scales of other data is refused on every device, when that entry is to run; the op has the name that it was written with.

// RUN: gmoe-run %s --device=reference --entry=right --rows 4
// RUN: not gmoe-run %s --device=reference --entry=wrong 2>&1 | FileCheck %s
// RUN: not gmoe-run %s --device=emulator --entry=wrong 2>&1 | FileCheck %s
// CHECK: error: 'grouped_moe.gemm_quant' op lhs: data is output #2 of 'grouped_moe.gemm_srelu'
// CHECK-SAME: the scales are those of output #0 of 'grouped_moe.gemm_srelu'
// CHECK: note: the data is written here

func.func @right(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x1x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>)
    -> tensor<?x64xf32> {
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}
func.func @wrong(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %q0: tensor<?x64xf8E4M3FN>, %r0: tensor<?x1x32x4x4xf8E8M0FNU>,
    %d0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %h, %s, %g, %t = grouped_moe.gemm_srelu
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>)
      outs(%q0 : tensor<?x64xf8E4M3FN> as quantized, %r0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %q0 : tensor<?x64xf8E4M3FN> as quantized of preactivation, %r0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil)
      -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %d = grouped_moe.gemm_quant lhs(%g : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}
