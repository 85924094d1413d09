// RUN: gmoe-run %s --device=emulator --check --tolerance=bitwise | FileCheck %s
// RUN: gmoe-run %s --device=emulator --rows 1 --check --tolerance=bitwise
// RUN: gmoe-run %s --device=emulator --rows 0 --check --tolerance=bitwise

// Quantization with floor scales and the way back, in f16; K / 32 is no multiple of 4.
// CHECK: result #0 {{.*}} passed
// CHECK: result #2 {{.*}} passed
func.func @round_trip(%x: tensor<?x160xf16>) -> (tensor<?x160xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x160xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x160xf16>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x160xf8E5M2>
  %s0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x160xf16>) outs(%q0, %s0 : tensor<?x160xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor -> tensor<?x160xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>
  %y0 = tensor.empty(%rows) : tensor<?x160xf32>
  %y = grouped_moe.dequantize ins(%q : tensor<?x160xf8E5M2> scales %s : tensor<?x2x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x160xf32>) layout <row, whole, block = 32> -> tensor<?x160xf32>
  return %q, %s, %y : tensor<?x160xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x160xf32>
}
