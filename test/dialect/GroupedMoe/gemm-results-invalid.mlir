// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// What operands and results of the grouped product have in common: gemm_c12.

func.func @rows_disagree(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<128xf32>, %d: tensor<256x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: has 256 rows but input #0 has 128 (gemm_c12)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<128xf32> as per_row) outs(%d : tensor<256x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<256x48xf32>
  return
}

// -----

func.func @mixed(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: memref<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op operand #2 is of type 'memref<2x48x64xf8E4M3FN>' but operand #0 is of type 'tensor<?x64xf8E4M3FN>', expected all tensors or all memrefs (gemm_c12)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @no_result(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op has 0 results, expected 1: one for each tensor in outs, none for memrefs (gemm_c12)}}
  grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @memref_result(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>,
    %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op has 1 results, expected 0: one for each tensor in outs, none for memrefs (gemm_c12)}}
  %r = grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @result_type(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op expected type of operand #5 ('tensor<?x48xf32>') to match type of corresponding result ('tensor<?x48xf16>')}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf16>
  return
}
