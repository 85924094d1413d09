// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// Scales of the grouped product: gemm_c4, c5, c13.

func.func @scale_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xi8>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: element type is 'i8', expected f8E8M0FNU (gemm_c4)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xi8> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rhs_scale_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E4M3FN>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: element type is 'f8E4M3FN', expected f8E8M0FNU (gemm_c4)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E4M3FN> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @block_16(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: block is 16 elements, but FP8 data has one scale every 32 elements (gemm_c4); block 16 is for FP4 data}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 16>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @column(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x64x48xf8E4M3FN>, %sb: tensor<?x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: layout is #grouped_moe.scale_layout<column, per_group, block = 32>, expected <row, whole, block = 32>, or <column, whole, block = 32> for data (L, K, N) (gemm_c4); quantize along K with that layout}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x48xf8E4M3FN> scales %sb : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @per_group(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: layout is #grouped_moe.scale_layout<column, per_group, block = 32>, expected <row, whole, block = 32> or <row, per_group, block = 32> (gemm_c4)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_scale_shape(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x2x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: scale shape is ?x2x32x4x4, expected ?x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape ?x64 (gemm_c5)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_scale_rank(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x512xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: scale shape is ?x1x512, expected ?x1x32x4x4}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x512xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_scale_scalar(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<f8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: scale shape is empty (rank 0), expected ?x1x32x4x4}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<f8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_scale_rows(%a: tensor<257x64xf8E4M3FN>, %sa: tensor<2x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: scale shape is 2x1x32x4x4, expected 3x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape 257x64 (gemm_c5)}}
  %r = grouped_moe.gemm lhs(%a : tensor<257x64xf8E4M3FN> scales %sa : tensor<2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_scale_atom_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x?x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: scale shape is ?x1x?x4x4, expected ?x1x32x4x4}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x?x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rhs_scale_shape(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<1x2x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: scale shape is 1x2x1x32x4x4, expected 2x1x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape 2x48x64 (gemm_c5)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<1x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rhs_scale_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x?x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: scale shape is 2x?x1x32x4x4, expected 2x1x1x32x4x4}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_producer(%x: tensor<?x64xf32>, %a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-note @below {{the scales are made here}}
  %q, %sq = grouped_moe.quantize ins(%x : tensor<?x64xf32>)
      outs(%a, %sa : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm' op lhs: layout is #grouped_moe.scale_layout<row, per_group, block = 32> but the scales were written as #grouped_moe.scale_layout<row, whole, block = 32> (gemm_c13)}}
  %r = grouped_moe.gemm lhs(%q : tensor<?x64xf8E4M3FN> scales %sq : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rhs_producer(%w: tensor<2x64x64xf32>, %a: tensor<?x64xf8E5M2>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x64x64xf8E5M2>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d: tensor<?x64xf32>) {
  // expected-note @below {{the scales are made here}}
  %q, %sq = grouped_moe.quantize ins(%w : tensor<2x64x64xf32>)
      outs(%b, %sb : tensor<2x64x64xf8E5M2>, tensor<2x1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor -> tensor<2x64x64xf8E5M2>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm' op rhs: layout is #grouped_moe.scale_layout<column, whole, block = 32> but the scales were written as #grouped_moe.scale_layout<row, whole, block = 32> (gemm_c13)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E5M2> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%q : tensor<2x64x64xf8E5M2> scales %sq : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x64xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x64xf32>
  return
}
