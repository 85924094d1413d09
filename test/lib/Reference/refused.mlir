// The executor refuses arrays that do not fit, before it computes anything.

// RUN: gmoe-run %s --device=reference --entry=values --rows 3 --result 0=%t.3.npy
// RUN: gmoe-run %s --device=reference --entry=values --rows 4 --result 0=%t.4.npy
// RUN: not gmoe-run %s --device=reference --entry=product --arg 5=%t.3.npy --arg 6=%t.4.npy 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: 'grouped_moe.gemm' op output #0: shape is 4x32, expected 3x32 for the other operands' shapes

// RUN: not gmoe-run %s --device=reference --entry=product --rows 256 --arg 4=offsets:256,128 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: 'grouped_moe.gemm' op offsets: group 1 ends at row 128, expected at least 256, the end of the group in front of it
// RUN: not gmoe-run %s --device=reference --entry=product --rows 256 --arg 4=offsets:128,384 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: 'grouped_moe.gemm' op offsets: group 1 ends at row 384, expected at most 256, the rows of the matrix
// RUN: not gmoe-run %s --device=reference --entry=product --rows 256 --arg 4=offsets:-128,128 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: 'grouped_moe.gemm' op offsets: group 0 ends at row -128, expected 0 or more
// RUN: not gmoe-run %s --device=reference --entry=product --rows 256 --arg 4=offsets:64,128 2>&1 | FileCheck %s --check-prefix=ALIGNED
// ALIGNED: error: 'grouped_moe.gemm' op offsets: group 0 ends at row 64, expected a multiple of m_aligned, 128
// RUN: not gmoe-run %s --device=reference --entry=product --rows 256 --arg 4=offsets:64 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: error: argument #4: 1 offsets were given, expected 2: one cumulative end for each group

// RUN: not gmoe-run %s --device=reference --entry=extents 2>&1 | FileCheck %s --check-prefix=EXTENTS
// EXTENTS: error: 'arith.ceildivui' op of 256 and 0 overflows or divides by zero

func.func @values(%q: tensor<?x32xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %q, %c0 : tensor<?x32xf8E4M3FN>
  %y0 = tensor.empty(%r) : tensor<?x32xf32>
  %y = grouped_moe.dequantize ins(%q : tensor<?x32xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x32xf32>) layout <row, whole, block = 32> -> tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}

func.func @product(%a: tensor<?x32xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x32x32xf8E4M3FN>,
    %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>, %c: tensor<?x32xf32>, %d0: tensor<?x32xf32>)
    -> tensor<?x32xf32> {
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x32xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x32x32xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      ins(%c : tensor<?x32xf32> as per_element)
      outs(%d0 : tensor<?x32xf32>)
      attributes {m_aligned = 128 : i64}
      epilogue {
  ^bb0(%acc: f32, %ce: f32):
    %y = arith.addf %acc, %ce : f32
    grouped_moe.yield %y : f32
  } -> tensor<?x32xf32>
  return %d : tensor<?x32xf32>
}

func.func @extents(%x: tensor<?x32xf32>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %r = tensor.dim %x, %c0 : tensor<?x32xf32>
  %none = arith.subi %r, %r : index
  %atoms = arith.ceildivui %r, %none : index
  %y = tensor.empty(%atoms) : tensor<?x32xf32>
  return %y : tensor<?x32xf32>
}
