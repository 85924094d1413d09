// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --entry=fused --device=emulator --check --tolerance=bitwise --hazards=full | FileCheck %s --check-prefix=FUSED
// RUN: gmoe-run %t.gmoe --entry=padded --device=emulator --arg 4=offsets:128,128,384 --rows 512 --check --tolerance=bitwise | FileCheck %s --check-prefix=PADDED
// RUN: gmoe-run %t.gmoe --entry=both --device=emulator --check --tolerance=bitwise --result 0=%t.fq.npy --result 1=%t.fs.npy --result 2=%t.q.npy --result 3=%t.s.npy | FileCheck %s --check-prefix=BOTH
// RUN: gmoe-run %t.gmoe --entry=in_place --device=emulator --check --tolerance=bitwise | FileCheck %s --check-prefix=PLACE
// RUN: cmp %t.fq.npy %t.q.npy
// RUN: cmp %t.fs.npy %t.s.npy

// One value, quantized in both formats and roundings beside its plain form, in one launch.
// FUSED: result #0 {{.*}} f8E4M3FN {{.*}} passed
// FUSED: result #1 {{.*}} f8E8M0FNU {{.*}} passed
// FUSED: result #2 {{.*}} f8E5M2 {{.*}} passed
// FUSED: result #3 {{.*}} f8E8M0FNU {{.*}} passed
// FUSED: result #4 {{.*}} bf16 {{.*}} passed
func.func @fused(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<3x192x256xf8E4M3FN>,
    %sfb: tensor<3x2x2x32x4x4xf8E8M0FNU>, %offsets: tensor<3xi32>, %prob: tensor<?xf32>)
    -> (tensor<?x192xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xbf16>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x256xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x192xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %q1 = tensor.empty(%rows) : tensor<?x192xf8E5M2>
  %s1 = tensor.empty(%atoms) : tensor<?x2x32x4x4xf8E8M0FNU>
  %d0 = tensor.empty(%rows) : tensor<?x192xbf16>
  %r:5 = grouped_moe.gemm
      lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x192x256xf8E4M3FN> scales %sfb : tensor<3x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>) ins(%prob : tensor<?xf32> as per_row)
      outs(%q0 : tensor<?x192xf8E4M3FN> as quantized, %s0 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %q1 : tensor<?x192xf8E5M2> as quantized, %s1 : tensor<?x2x32x4x4xf8E8M0FNU> as row_scales_floor,
           %d0 : tensor<?x192xbf16>) epilogue {
  ^bb0(%acc: f32, %p: f32):
    %v = arith.mulf %acc, %p : f32
    grouped_moe.yield %v, %acc, %v : f32, f32, f32
  } -> tensor<?x192xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xbf16>
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x192xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xf8E5M2>, tensor<?x2x32x4x4xf8E8M0FNU>, tensor<?x192xbf16>
}

// Rows past the last offset, and scale bytes past N / 32, keep what they held.
// PADDED: result #0 {{.*}} f8E4M3FN {{.*}} passed
// PADDED: result #1 {{.*}} f8E8M0FNU {{.*}} passed
func.func @padded(%a: tensor<?x128xf8E5M2>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<3x96x128xf8E5M2>,
    %sfb: tensor<3x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<3xi32>) -> (tensor<?x96xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x128xf8E5M2>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x96xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %r:2 = grouped_moe.gemm
      lhs(%a : tensor<?x128xf8E5M2> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x96x128xf8E5M2> scales %sfb : tensor<3x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>)
      outs(%q0 : tensor<?x96xf8E4M3FN> as quantized, %s0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x96xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return %r#0, %r#1 : tensor<?x96xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
}

// The same bytes as the product in f32 and its quantization after it.
// BOTH: result #3 {{.*}} passed
func.func @both(%a: tensor<?x128xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x128x128xf8E4M3FN>,
    %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>)
    -> (tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x128xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x128xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %d0 = tensor.empty(%rows) : tensor<?x128xf32>
  %q1 = tensor.empty(%rows) : tensor<?x128xf8E4M3FN>
  %s1 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %r:3 = grouped_moe.gemm
      lhs(%a : tensor<?x128xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x128x128xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      outs(%q0 : tensor<?x128xf8E4M3FN> as quantized, %s0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %d0 : tensor<?x128xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  } -> tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x128xf32>
  %q, %s = grouped_moe.quantize ins(%r#2 : tensor<?x128xf32>)
      outs(%q1, %s1 : tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return %r#0, %r#1, %q, %s : tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
}

// Into memory of the caller.
// PLACE: argument #5 {{.*}} f8E5M2 {{.*}} passed
// PLACE: argument #6 {{.*}} f8E8M0FNU {{.*}} passed
func.func @in_place(%a: memref<?x128xf8E4M3FN>, %sfa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x128xf8E4M3FN>,
    %sfb: memref<2x1x1x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %q: memref<?x64xf8E5M2>,
    %s: memref<?x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.gemm
      lhs(%a : memref<?x128xf8E4M3FN> scales %sfa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x128xf8E4M3FN> scales %sfb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%q : memref<?x64xf8E5M2> as quantized, %s : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_floor) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
