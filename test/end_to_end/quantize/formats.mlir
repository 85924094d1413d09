// Every format of FP4 data, there and back: generated data on the emulator against the reference, byte for byte; ptxas.

// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --entry=mx --device=emulator --rows 300 --check --tolerance=bitwise --hazards=full | FileCheck %s --check-prefix=MX
// RUN: gmoe-run %t.gmoe --entry=mx --device=emulator --rows 0 --check --tolerance=bitwise
// RUN: gmoe-run %t.gmoe --entry=nv --device=emulator --rows 300 --check --tolerance=bitwise --hazards=full | FileCheck %s --check-prefix=NV
// RUN: gmoe-run %t.gmoe --entry=nv --device=emulator --rows 1 --check --tolerance=bitwise
// RUN: gmoe-run %t.gmoe --entry=matrices --device=emulator --check --tolerance=bitwise
// RUN: gmoe-run %t.gmoe --entry=back --device=emulator --rows 200 --check --tolerance=bitwise
// RUN: gmoe-run %t.gmoe --entry=back --device=reference --rows 4 --arg 1=const:0.4375 --result 0=%t.npy
// RUN: not gmoe-run %t.gmoe --entry=back --device=reference --rows 4 --arg 1=const:0.43 2>&1 | FileCheck %s --check-prefix=CONST
// CONST: argument #1: const:0.430000: is no scale of e4m3, expected one of its values from 0 to 448

// MX: result #0 [300, 192] {{.*}}f4E2M1FN {{.*}} passed
// MX: result #1 [3, 2, 32, 4, 4] {{.*}}f8E8M0FNU {{.*}} passed
// MX: result #2 [300, 192] {{.*}}f32 {{.*}} passed
func.func @mx(%x: tensor<?x192xf32>) -> (tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x192xf32>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x192xf4E2M1FN>
  %s0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x192xf32>) outs(%q0, %s0 : tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor -> tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %y0 = tensor.empty(%rows) : tensor<?x192xf32>
  %y = grouped_moe.dequantize ins(%q : tensor<?x192xf4E2M1FN> scales %s : tensor<?x2x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x192xf32>) layout <row, whole, block = 32> -> tensor<?x192xf32>
  return %q, %s, %y : tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xf32>
}

// NV: argument #1 [300, 64] {{.*}}f4E2M1FN {{.*}} passed
// NV: argument #2 [3, 1, 32, 4, 4] {{.*}}f8E4M3FN {{.*}} passed
// NV: argument #3 [300, 64] {{.*}}bf16 {{.*}} passed
func.func @nv(%x: memref<?x64xbf16>, %q: memref<?x64xf4E2M1FN>, %s: memref<?x1x32x4x4xf8E4M3FN>, %y: memref<?x64xbf16>) {
  grouped_moe.quantize ins(%x : memref<?x64xbf16>) outs(%q, %s : memref<?x64xf4E2M1FN>, memref<?x1x32x4x4xf8E4M3FN>)
      layout <row, whole, block = 16> rounding nearest
  grouped_moe.dequantize ins(%q : memref<?x64xf4E2M1FN> scales %s : memref<?x1x32x4x4xf8E4M3FN>)
      outs(%y : memref<?x64xbf16>) layout <row, whole, block = 16>
  return
}

func.func @matrices(%x: tensor<3x130x64xf16>, %q0: tensor<3x130x64xf4E2M1FN>, %s0: tensor<3x2x1x32x4x4xf8E8M0FNU>,
    %y0: tensor<3x130x64xf16>) -> (tensor<3x130x64xf4E2M1FN>, tensor<3x2x1x32x4x4xf8E8M0FNU>, tensor<3x130x64xf16>) {
  %q, %s = grouped_moe.quantize ins(%x : tensor<3x130x64xf16>)
      outs(%q0, %s0 : tensor<3x130x64xf4E2M1FN>, tensor<3x2x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 16> rounding rceil -> tensor<3x130x64xf4E2M1FN>, tensor<3x2x1x32x4x4xf8E8M0FNU>
  %y = grouped_moe.dequantize ins(%q : tensor<3x130x64xf4E2M1FN> scales %s : tensor<3x2x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<3x130x64xf16>) layout <row, whole, block = 16> -> tensor<3x130x64xf16>
  return %q, %s, %y : tensor<3x130x64xf4E2M1FN>, tensor<3x2x1x32x4x4xf8E8M0FNU>, tensor<3x130x64xf16>
}

func.func @back(%q: memref<?x128xf4E2M1FN>, %s: memref<?x2x32x4x4xf8E4M3FN>, %y: memref<?x128xf32>) {
  grouped_moe.dequantize ins(%q : memref<?x128xf4E2M1FN> scales %s : memref<?x2x32x4x4xf8E4M3FN>)
      outs(%y : memref<?x128xf32>) layout <row, whole, block = 16>
  return
}
