// RUN: gmoe-run %s --device=reference --entry=tensors --check | FileCheck %s --check-prefix=TABLE
// RUN: gmoe-run %s --device=reference --entry=tensors --check --json | FileCheck %s --check-prefix=JSON
// RUN: gmoe-run %s --device=reference --entry=tensors --rows 300 --poison=off | FileCheck %s --check-prefix=ROWS
// RUN: gmoe-run %s --device=reference --entry=memrefs --rows=0 --check | FileCheck %s --check-prefix=EMPTY
// RUN: gmoe-run %s --device=reference --entry=chain --rows 512 --check --tolerance=bitwise | FileCheck %s --check-prefix=CHAIN

// One entry is compiled, for the emulator, and compared with the executor; rows past the last offset hold NaN.
// RUN: gmoe-run %s --device=emulator --entry=memrefs --rows=300 --check --schedule-seed=3 | FileCheck %s --check-prefix=EMULATED
// EMULATED: argument #5 [300, 16] f32 0 inf yes passed
// RUN: gmoe-run %s --device=emulator --entry=chain --rows 512 --check --check-inputs | FileCheck %s --check-prefix=CHAIN

// Groups of 128, 0 and 256 rows.
// TABLE: result shape type max error SQNR dB bitwise check
// TABLE-NEXT: result #0 [384, 48] bf16 0 inf yes passed
// JSON: "bitwise": true
// JSON: "shape": [
// JSON-NEXT: 384,
// ROWS: result #0 [300, 48] bf16
func.func @tensors(%a: tensor<?x160xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<3x48x160xf8E4M3FN>,
    %sfb: tensor<3x1x2x32x4x4xf8E8M0FNU>, %offsets: tensor<3xi32>, %prob: tensor<?xf32>, %d0: tensor<?x48xbf16>)
    -> tensor<?x48xbf16> {
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x160xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x48x160xf8E4M3FN> scales %sfb : tensor<3x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>)
      ins(%prob : tensor<?xf32> as per_row)
      outs(%d0 : tensor<?x48xbf16>)
      attributes {m_aligned = 128 : i64}
      epilogue {
  ^bb0(%acc: f32, %p: f32):
    %y = arith.mulf %acc, %p : f32
    grouped_moe.yield %y : f32
  } -> tensor<?x48xbf16>
  return %d : tensor<?x48xbf16>
}

// EMPTY: argument #5 [0, 16] f32 0 inf yes passed
func.func @memrefs(%a: memref<?x32xf8E5M2>, %sfa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<1x16x32xf8E5M2>,
    %sfb: memref<1x1x1x32x4x4xf8E8M0FNU>, %offsets: memref<1xi32>, %d: memref<?x16xf32>) {
  grouped_moe.gemm
      lhs(%a : memref<?x32xf8E5M2> scales %sfa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<1x16x32xf8E5M2> scales %sfb : memref<1x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<1xi32>)
      outs(%d : memref<?x16xf32>)
      epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// Two products with a quantization between them; extents by arithmetic.
// CHAIN: result #0 [512, 32] f32 0 inf yes passed
// CHAIN-NEXT: result #1 [4, 1, 32, 4, 4] f8E8M0FNU 0 inf yes passed
func.func @chain(%x: tensor<?x64xf32>, %w: tensor<2x32x64xf8E4M3FN>, %sfw: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %v: tensor<2x32x32xf8E4M3FN>, %sfv: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>)
    -> (tensor<?x32xf32>, tensor<?x1x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %r = tensor.dim %x, %c0 : tensor<?x64xf32>
  %atoms = arith.ceildivui %r, %c128 : index
  %q0 = tensor.empty(%r) : tensor<?x64xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %h0 = tensor.empty(%r) : tensor<?x32xf32>
  %h = grouped_moe.gemm
      lhs(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x32x64xf8E4M3FN> scales %sfw : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      outs(%h0 : tensor<?x32xf32>)
      epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x32xf32>
  %p0 = tensor.empty(%r) : tensor<?x32xf8E4M3FN>
  %t0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %p, %t = grouped_moe.quantize ins(%h : tensor<?x32xf32>)
      outs(%p0, %t0 : tensor<?x32xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor -> tensor<?x32xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %o = grouped_moe.gemm
      lhs(%p : tensor<?x32xf8E4M3FN> scales %t : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%v : tensor<2x32x32xf8E4M3FN> scales %sfv : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      outs(%h0 : tensor<?x32xf32>)
      epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x32xf32>
  return %o, %t : tensor<?x32xf32>, tensor<?x1x32x4x4xf8E8M0FNU>
}
