// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --entry=product --device=emulator --check --tolerance=bitwise --hazards=full --json --result 0=%t.q.npy --result 1=%t.s.npy --result 2=%t.q1.npy --result 3=%t.s1.npy | FileCheck %s
// RUN: cmp %t.q.npy %t.q1.npy
// RUN: cmp %t.s.npy %t.s1.npy
// RUN: gmoe-run %t.gmoe --entry=small --device=emulator --check --tolerance=bitwise --hazards=full --json | FileCheck %s --check-prefix=ONE
// RUN: gmoe-run %t.gmoe --entry=odd --device=emulator --check --tolerance=bitwise --hazards=full --json | FileCheck %s --check-prefix=ONE
// RUN: gmoe-run %t.gmoe --entry=even --device=emulator --check --tolerance=bitwise --hazards=full --json | FileCheck %s --check-prefix=ONE
// RUN: gmoe-run %t.gmoe --entry=large --device=emulator --check --tolerance=bitwise --hazards=full --json | FileCheck %s --check-prefix=ONE
// RUN: gmoe-run %t.gmoe --entry=elements --device=emulator --check --tolerance=bitwise --hazards=full --json | FileCheck %s --check-prefix=FIVE
// ONE: "launches": 1,
// ONE: "passed": true
// FIVE: "launches": 5,
// FIVE: "passed": true

// Concatenated weights, read by one product as they are and by the other in blocks: the same bytes. Each packing and each
// product is a launch.
// CHECK: "launches": 4,
// CHECK: "passed": true
func.func @product(%x: tensor<?x128xf8E4M3FN>, %sx: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<3x512x128xf8E4M3FN>,
    %sw: tensor<3x4x1x32x4x4xf8E8M0FNU>, %offsets: tensor<3xi32>, %prob: tensor<?xf32>, %bias: tensor<3x512xf32>)
    -> (tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x128xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x256xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %w0 = tensor.empty() : tensor<3x512x128xf8E4M3FN>
  %sw0 = tensor.empty() : tensor<3x4x1x32x4x4xf8E8M0FNU>
  %bias0 = tensor.empty() : tensor<3x512xf32>
  %q, %s = grouped_moe.gemm_swiglu
      lhs(%x : tensor<?x128xf8E4M3FN> scales %sx : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<3x512x128xf8E4M3FN> scales %sw : tensor<3x4x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>) ins(%prob : tensor<?xf32> as prob, %bias : tensor<3x512xf32> as bias)
      outs(%q0 : tensor<?x256xf8E4M3FN> as quantized, %s0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
      attributes {m_aligned = 128 : i64, concatenated} -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %w1, %sw1 = grouped_moe.interleave_glu ins(%w : tensor<3x512x128xf8E4M3FN> scales %sw : tensor<3x4x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %sw0 : tensor<3x512x128xf8E4M3FN>, tensor<3x4x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> -> tensor<3x512x128xf8E4M3FN>, tensor<3x4x1x32x4x4xf8E8M0FNU>
  %bias1 = grouped_moe.interleave_glu ins(%bias : tensor<3x512xf32>) outs(%bias0 : tensor<3x512xf32>) -> tensor<3x512xf32>
  %q1, %s1 = grouped_moe.gemm_swiglu
      lhs(%x : tensor<?x128xf8E4M3FN> scales %sx : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w1 : tensor<3x512x128xf8E4M3FN> scales %sw1 : tensor<3x4x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>) ins(%prob : tensor<?xf32> as prob, %bias1 : tensor<3x512xf32> as bias)
      outs(%q0 : tensor<?x256xf8E4M3FN> as quantized, %s0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
      attributes {m_aligned = 128 : i64} -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  return %q, %s, %q1, %s1
      : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
}

// F = 32: half of an atom has no rows. K / 32 = 1, 5, 2 and 4 scales: pieces of one, one, two and four of them.
func.func @small(%w: memref<2x64x32xf8E5M2>, %s: memref<2x1x1x32x4x4xf8E8M0FNU>, %w0: memref<2x64x32xf8E5M2>,
    %s0: memref<2x1x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.interleave_glu ins(%w : memref<2x64x32xf8E5M2> scales %s : memref<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x64x32xf8E5M2>, memref<2x1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}
func.func @odd(%w: memref<3x192x160xf8E4M3FN>, %s: memref<3x2x2x32x4x4xf8E8M0FNU>, %w0: memref<3x192x160xf8E4M3FN>,
    %s0: memref<3x2x2x32x4x4xf8E8M0FNU>) {
  grouped_moe.interleave_glu ins(%w : memref<3x192x160xf8E4M3FN> scales %s : memref<3x2x2x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<3x192x160xf8E4M3FN>, memref<3x2x2x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}
func.func @even(%w: memref<2x704x64xf8E4M3FN>, %s: memref<2x6x1x32x4x4xf8E8M0FNU>, %w0: memref<2x704x64xf8E4M3FN>,
    %s0: memref<2x6x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.interleave_glu ins(%w : memref<2x704x64xf8E4M3FN> scales %s : memref<2x6x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x704x64xf8E4M3FN>, memref<2x6x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}
func.func @large(%w: memref<1x1024x128xf8E4M3FN>, %s: memref<1x8x1x32x4x4xf8E8M0FNU>, %w0: memref<1x1024x128xf8E4M3FN>,
    %s0: memref<1x8x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.interleave_glu ins(%w : memref<1x1024x128xf8E4M3FN> scales %s : memref<1x8x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<1x1024x128xf8E4M3FN>, memref<1x8x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}

// Rows of 14, 6, 7 and 48 bytes, which start at every kind of address, and a vector for each group.
func.func @elements(%a: tensor<1x64x7xf16>, %b: tensor<2x192x3xbf16>, %c: tensor<2x64x7xf8E5M2>, %d: tensor<2x704xbf16>,
    %e: tensor<2x64x12xf32>)
    -> (tensor<1x64x7xf16>, tensor<2x192x3xbf16>, tensor<2x64x7xf8E5M2>, tensor<2x704xbf16>, tensor<2x64x12xf32>) {
  %a0 = tensor.empty() : tensor<1x64x7xf16>
  %b0 = tensor.empty() : tensor<2x192x3xbf16>
  %c0 = tensor.empty() : tensor<2x64x7xf8E5M2>
  %d0 = tensor.empty() : tensor<2x704xbf16>
  %e0 = tensor.empty() : tensor<2x64x12xf32>
  %a1 = grouped_moe.interleave_glu ins(%a : tensor<1x64x7xf16>) outs(%a0 : tensor<1x64x7xf16>) -> tensor<1x64x7xf16>
  %b1 = grouped_moe.interleave_glu ins(%b : tensor<2x192x3xbf16>) outs(%b0 : tensor<2x192x3xbf16>) -> tensor<2x192x3xbf16>
  %c1 = grouped_moe.interleave_glu ins(%c : tensor<2x64x7xf8E5M2>) outs(%c0 : tensor<2x64x7xf8E5M2>) -> tensor<2x64x7xf8E5M2>
  %d1 = grouped_moe.interleave_glu ins(%d : tensor<2x704xbf16>) outs(%d0 : tensor<2x704xbf16>) -> tensor<2x704xbf16>
  %e1 = grouped_moe.interleave_glu ins(%e : tensor<2x64x12xf32>) outs(%e0 : tensor<2x64x12xf32>) -> tensor<2x64x12xf32>
  return %a1, %b1, %c1, %d1, %e1
      : tensor<1x64x7xf16>, tensor<2x192x3xbf16>, tensor<2x64x7xf8E5M2>, tensor<2x704xbf16>, tensor<2x64x12xf32>
}
