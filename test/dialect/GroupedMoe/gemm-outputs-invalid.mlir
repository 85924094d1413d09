// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// Outputs other than plain ones, pairs and norm_const: gemm_c9, gemm_c10, gemm_c14, gemm_c15.

func.func @row_sum_shape(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<?x64xf32>', expected the shape (R) of a row_sum, of f32, with N = 64 or, of pairs, 128 and L = 2 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf32> as row_sum) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @row_sum_element(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?xbf16>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<?xbf16>', expected the shape (R) of a row_sum, of f32, with N = 64 or, of pairs, 128 and L = 2 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?xbf16> as row_sum) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @column_sum_shape(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<3x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<3x64xf32>', expected the shape (L, N) of a group_column_sum, of f32 or bf16, with N = 64 or, of pairs, 128 and L = 2 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<3x64xf32> as group_column_sum) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @column_sum_element(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<2x64xf16>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<2x64xf16>', expected the shape (L, N) of a group_column_sum, of f32 or bf16, with N = 64 or, of pairs, 128 and L = 2 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<2x64xf16> as group_column_sum) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @amax_shape(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<2x3xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<2x3xf32>', expected the shape (L) or, of pairs, (L, 2) of a group_amax, of f32, with N = 64 or, of pairs, 128 and L = 2 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<2x3xf32> as group_amax) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @amax_of_pairs(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<2x2xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue yields 1 values, expected 2: one for each output, two for each of pairs, none for scales (gemm_c10)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<2x2xf32> as group_amax) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @column_scale_shape(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf8E4M3FN>, %d1: memref<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #1: scale shape is ?x1x32x4x4, expected ?x32x4x4 for layout #grouped_moe.scale_layout<column, per_group, block = 32> of a matrix of shape ?x64 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf8E4M3FN> as quantized, %d1 : memref<?x1x32x4x4xf8E8M0FNU> as column_group_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @column_scale_whole_shape(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x192x64xf8E4M3FN>,
    %sb: memref<2x2x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x192xf8E4M3FN>, %d1: memref<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #1: scale shape is 1x?x32x4x4, expected 2x?x32x4x4 for layout #grouped_moe.scale_layout<column, whole, block = 32> of a matrix of shape ?x192 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x192x64xf8E4M3FN> scales %sb : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x192xf8E4M3FN> as quantized, %d1 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @scales_alone(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: column_scales_floor must follow its quantized output (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x1x32x4x4xf8E8M0FNU> as column_scales_floor) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @nearest_of_fp8(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf8E4M3FN>, %d1: memref<?x1x32x4x4xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.gemm' op output #1: row_scales_nearest: elements are 'f8E4M3FN' for data of 'f8E4M3FN', expected f8E4M3FN scales of f4E2M1FN data, 16 elements a block (gemm_c9); FP8 data takes f8E8M0FNU scales, rounded rceil or floor}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf8E4M3FN> as quantized, %d1 : memref<?x1x32x4x4xf8E4M3FN> as row_scales_nearest) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @rceil_of_e4m3(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf4E2M1FN>, %d1: memref<?x1x32x4x4xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.gemm' op output #1: element type is 'f8E4M3FN', expected f8E8M0FNU for row_scales_rceil (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf4E2M1FN> as quantized, %d1 : memref<?x1x32x4x4xf8E4M3FN> as row_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @fp4_columns(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf4E2M1FN>, %d1: memref<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<?x64xf4E2M1FN>', expected the shape (N, R), as f4E2M1FN data down columns is stored, with N = 64 or, of pairs, 128 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf4E2M1FN> as quantized, %d1 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @pairs_of_16(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x96xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<?x96xf32>', expected the shape (R, N) with N = 48 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x96xf32> as plain) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @paired_n(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x96x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op N is 96, expected a multiple of 64 columns for gate and up in alternating blocks of 32 (gemm_c14); pad each half with zeros}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x96x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x48xf32> as plain) attributes {paired} epilogue {
  ^bb0(%g: f32, %u: f32):
    grouped_moe.yield %g : f32
  }
  return
}

// -----

func.func @concatenated_n(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x192x64xf8E4M3FN>,
    %sb: memref<2x2x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x96xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op N is 192, expected a multiple of 256 columns for halves of whole scale atoms of 128 (gemm_c14); pad each half with zeros}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x192x64xf8E4M3FN> scales %sb : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x96xf32> as plain) attributes {paired, concatenated} epilogue {
  ^bb0(%g: f32, %u: f32):
    grouped_moe.yield %g : f32
  }
  return
}

// -----

func.func @paired_arguments(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue has 1 arguments, expected 2: the accumulator and one for each input, two for each that holds pairs (gemm_c10)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf32> as plain) attributes {paired} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @norm_const_shape(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %nc: memref<3xf32>, %d0: memref<?x64xf8E4M3FN>, %d1: memref<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op norm_const: type is 'memref<3xf32>', expected 1 element, or 2 (L), of f32 (gemm_c15)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) norm_const(%nc : memref<3xf32>) outs(%d0 : memref<?x64xf8E4M3FN> as quantized, %d1 : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @norm_const_unused(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %nc: memref<1xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op norm_const is given, but no output is quantized (gemm_c15); drop it}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) norm_const(%nc : memref<1xf32>) outs(%d0 : memref<?x64xf32> as plain) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
