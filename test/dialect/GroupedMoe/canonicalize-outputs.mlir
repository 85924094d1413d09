// RUN: %gmoe-opt %s --canonicalize | FileCheck %s

// A named op becomes the same gemm before as after.
// RUN: %gmoe-opt %s --grouped-moe-generalize --canonicalize -o %t.generic
// RUN: %gmoe-opt %s --canonicalize --grouped-moe-generalize --canonicalize -o %t.canonical
// RUN: diff %t.generic %t.canonical

// An output that nobody uses goes, with its kind and what it yields; then the operations and the inputs that only it needed.
// CHECK-LABEL: func.func @gemm
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<?xf32>, %[[C:[a-z0-9]+]]: tensor<?x64xbf16>, %[[D:[a-z0-9]+]]: tensor<?x64xf32>, %[[Z:[a-z0-9]+]]: tensor<?x64xf32>, %[[S:[a-z0-9]+]]: tensor<?xf32>
// CHECK-NEXT: %[[R:.*]]:2 = grouped_moe.gemm
// CHECK-SAME: ins(%[[P]] : tensor<?xf32> as per_row) outs(%[[D]] : tensor<?x64xf32>, %[[S]] : tensor<?xf32> as row_sum)
// CHECK-SAME: attributes {m_aligned = 128 : i64} epilogue
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[PE:.*]]: f32):
// CHECK-NEXT: %[[Y:.*]] = arith.mulf %[[ACC]], %[[PE]]
// CHECK-NEXT: grouped_moe.yield %[[Y]], %[[ACC]] : f32, f32
// CHECK-NEXT: -> tensor<?x64xf32>, tensor<?xf32>
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func @gemm(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %p: tensor<?xf32>, %c: tensor<?x64xbf16>,
    %d0: tensor<?x64xf32>, %z0: tensor<?x64xf32>, %s0: tensor<?xf32>) -> (tensor<?x64xf32>, tensor<?xf32>) {
  %d, %z, %s = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%p : tensor<?xf32> as per_row, %c : tensor<?x64xbf16> as per_element)
      outs(%d0 : tensor<?x64xf32>, %z0 : tensor<?x64xf32>, %s0 : tensor<?xf32> as row_sum)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %pe: f32, %ce: f32):
    %y = arith.mulf %acc, %pe : f32
    %w = arith.addf %y, %ce : f32
    grouped_moe.yield %y, %w, %acc : f32, f32, f32
  } -> tensor<?x64xf32>, tensor<?x64xf32>, tensor<?xf32>
  return %d, %s : tensor<?x64xf32>, tensor<?xf32>
}

// Quantized data stays for its scales, and scales for their data; what is neither read goes as a pair. A pair of values goes
// with both that it yields.
// CHECK-LABEL: func.func @quantized
// CHECK: grouped_moe.gemm
// CHECK-SAME: norm_const(%{{[a-z0-9]+}} : tensor<1xf32>) outs(%{{[a-z0-9]+}} : tensor<?x64xf8E4M3FN> as quantized, %{{[a-z0-9]+}} : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil, %{{[a-z0-9]+}} : tensor<?x64xf8E5M2> as quantized, %{{[a-z0-9]+}} : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_floor) attributes {paired}
// CHECK-NEXT: ^bb0(%[[GATE:.*]]: f32, %[[UP:.*]]: f32):
// CHECK-NEXT: grouped_moe.yield %[[UP]], %[[GATE]] : f32, f32
func.func @quantized(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x128x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %n: tensor<1xf32>, %z0: tensor<?x128xf32>,
    %e0: tensor<?x64xf8E4M3FN>, %q0: tensor<?x64xf8E5M2>, %s0: tensor<?x1x32x4x4xf8E8M0FNU>, %t0: tensor<?x32x4x4xf8E8M0FNU>)
    -> (tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>) {
  %z, %q1, %s1, %q2, %s2, %q3, %s3 = grouped_moe.gemm
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x128x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) norm_const(%n : tensor<1xf32>)
      outs(%z0 : tensor<?x128xf32>, %e0 : tensor<?x64xf8E4M3FN> as quantized, %s0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %e0 : tensor<?x64xf8E4M3FN> as quantized, %t0 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %q0 : tensor<?x64xf8E5M2> as quantized, %s0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_floor)
      attributes {paired} epilogue {
  ^bb0(%gate: f32, %up: f32):
    %w = arith.mulf %gate, %up : f32
    grouped_moe.yield %gate, %up, %up, %w, %gate : f32, f32, f32, f32, f32
  } -> tensor<?x128xf32>, tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>,
       tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>
  return %q1, %s3 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
}

// Without a quantized output there is nothing to normalize.
// CHECK-LABEL: func.func @norm_const
// CHECK-NOT: norm_const(
// CHECK: outs(%{{.*}} : tensor<2x64xf32> as group_column_sum)
func.func @norm_const(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %n: tensor<1xf32>, %q0: tensor<?x64xf8E4M3FN>,
    %s0: tensor<?x1x32x4x4xf8E8M0FNU>, %c0: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %q, %s, %c = grouped_moe.gemm_quant
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) norm_const(%n : tensor<1xf32>)
      outs(%q0 : tensor<?x64xf8E4M3FN> as quantized, %s0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %c0 : tensor<2x64xf32> as group_column_sum)
      -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<2x64xf32>
  return %c : tensor<2x64xf32>
}

// The pre-activation does not depend on prob, and needs alpha and the pairs of bias.
// CHECK-LABEL: func.func @preactivation
// CHECK: grouped_moe.gemm_swiglu
// CHECK-SAME: ins(%{{.*}} : tensor<2xf32> as alpha, %{{.*}} : tensor<2x256xf32> as bias) outs(%{{.*}} : tensor<?x256xbf16> as of preactivation)
// CHECK-SAME: attributes {concatenated, m_aligned = 128 : i64, my.note = "kept", round_preactivation}
func.func @preactivation(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x256x64xf8E4M3FN>,
    %sb: tensor<2x2x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %p: tensor<?xf32>, %al: tensor<2xf32>, %bias: tensor<2x256xf32>,
    %h0: tensor<?x128xbf16>, %z0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %h, %z = grouped_moe.gemm_swiglu
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x256x64xf8E4M3FN> scales %sb : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>)
      ins(%al : tensor<2xf32> as alpha, %p : tensor<?xf32> as prob, %bias : tensor<2x256xf32> as bias)
      outs(%h0 : tensor<?x128xbf16>, %z0 : tensor<?x256xbf16> as of preactivation)
      attributes {concatenated, m_aligned = 128 : i64, round_preactivation, my.note = "kept"}
      -> tensor<?x128xbf16>, tensor<?x256xbf16>
  return %z : tensor<?x256xbf16>
}

// The activation of the forward pass needs the saved tensor alone. A gradient keeps its c whatever is left of it.
// CHECK-LABEL: func.func @activation
// CHECK: grouped_moe.gemm_dsrelu
// CHECK-SAME: ins(%{{.*}} : tensor<?x64xbf16> as c) outs(%{{.*}} : tensor<?x64xbf16> as of activation)
func.func @activation(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %al: tensor<2xf32>, %bias: tensor<2x64xf32>, %c: tensor<?x64xbf16>,
    %d0: tensor<?x64xbf16>, %s0: tensor<?xf32>) -> tensor<?x64xbf16> {
  %d, %s, %h = grouped_moe.gemm_dsrelu
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>)
      ins(%al : tensor<2xf32> as alpha, %bias : tensor<2x64xf32> as bias, %c : tensor<?x64xbf16> as c)
      outs(%d0 : tensor<?x64xbf16>, %s0 : tensor<?xf32> as row_sum, %d0 : tensor<?x64xbf16> as of activation)
      attributes {preactivation = #grouped_moe<preactivation_form c>}
      -> tensor<?x64xbf16>, tensor<?xf32>, tensor<?x64xbf16>
  return %h : tensor<?x64xbf16>
}

// The gradient weighs the result by prob, dprob is without it.
// CHECK-LABEL: func.func @dprob
// CHECK: grouped_moe.gemm_dswiglu
// CHECK-SAME: ins(%{{.*}} : tensor<?x128xbf16> as c) outs(%{{.*}} : tensor<?xf32> as row_sum)
func.func @dprob(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %p: tensor<?xf32>, %c: tensor<?x128xbf16>, %d0: tensor<?x128xbf16>,
    %s0: tensor<?xf32>) -> tensor<?xf32> {
  %d, %s = grouped_moe.gemm_dswiglu
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%p : tensor<?xf32> as prob, %c : tensor<?x128xbf16> as c)
      outs(%d0 : tensor<?x128xbf16>, %s0 : tensor<?xf32> as row_sum) -> tensor<?x128xbf16>, tensor<?xf32>
  return %s : tensor<?xf32>
}

// A weight on the bias alone weighs nothing without a bias.
// CHECK-LABEL: func.func @weighted_bias
// CHECK: grouped_moe.gemm_quant
// CHECK-NOT: ins(
// CHECK-SAME: outs(
func.func @weighted_bias(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %p: tensor<?xf32>, %d0: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %d = grouped_moe.gemm_quant
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%p : tensor<?xf32> as prob) outs(%d0 : tensor<?x64xf32>) attributes {weighted_bias}
      -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}

// With no result used an op is dead, and so is what it alone read.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<?x64xf32>, %w: tensor<2x128x64xf32>, %o: tensor<2xi32>, %q0: tensor<?x64xf8E4M3FN>,
    %s0: tensor<?x1x32x4x4xf8E8M0FNU>, %w0: tensor<2x128x64xf8E4M3FN>, %t0: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %h0: tensor<?x64xbf16>, %d0: tensor<?x128xbf16>) {
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %v, %t = grouped_moe.quantize ins(%w : tensor<2x128x64xf32>) outs(%w0, %t0 : tensor<2x128x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<2x128x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  %i, %j = grouped_moe.interleave_glu ins(%v : tensor<2x128x64xf8E4M3FN> scales %t : tensor<2x1x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %t0 : tensor<2x128x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
      -> tensor<2x128x64xf8E4M3FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  %h = grouped_moe.gemm_swiglu lhs(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%i : tensor<2x128x64xf8E4M3FN> scales %j : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h0 : tensor<?x64xbf16>) -> tensor<?x64xbf16>
  %d = grouped_moe.gemm lhs(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%v : tensor<2x128x64xf8E4M3FN> scales %t : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x128xbf16>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x128xbf16>
  return
}

// On memrefs nothing goes: who reads them is not in sight.
// CHECK-LABEL: func.func @memrefs
// CHECK: ins(%{{.*}} : memref<?xf32> as prob) outs(%{{.*}} : memref<?x64xf32> as of preactivation)
func.func @memrefs(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x64xf32>) {
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as prob) outs(%d : memref<?x64xf32> as of preactivation)
  return
}
