// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// Inputs, outputs and region of the grouped product: gemm_c8, c9, c10.

func.func @per_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?x64xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'tensor<?x64xf32>', expected the shape (R, N) of a per_element input, with N = 48 and L = 2 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?x64xf32> as per_element) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @per_row(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?x1xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'tensor<?x1xf32>', expected the shape (R) of a per_row input, with N = 48 and L = 2 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?x1xf32> as per_row) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @per_group(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<3xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'tensor<3xf32>', expected the shape (L), or (1) for one value of all groups, of a per_group input, with N = 48 and L = 2 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<3xf32> as per_group) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @per_group_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'tensor<?xf32>', expected the shape (L), or (1) for one value of all groups, of a per_group input, with N = 48 and L = 2 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?xf32> as per_group) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @per_group_column(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<48xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'tensor<48xf32>', expected the shape (L, N) of a per_group_column input, with N = 48 and L = 2 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<48xf32> as per_group_column) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @input_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?xf32>, %i1: tensor<2xf64>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #1: element type is 'f64', expected f32, f16 or bf16 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?xf32> as per_row, %i1 : tensor<2xf64> as per_group) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32, %x1: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @output_shape(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'tensor<?x64xf32>', expected the shape (R, N) with N = 48 (gemm_c9)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x64xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x64xf32>
  return
}

// -----

func.func @output_rank(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'tensor<48xf32>', expected the shape (R, N) with N = 48 (gemm_c9)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<48xf32>
  return
}

// -----

func.func @output_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf64>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: element type is 'f64', expected f32, f16, bf16, f8E4M3FN or f8E5M2 (gemm_c9)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf64>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf64>
  return
}

// -----

func.func @two_outputs(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue yields 1 values, expected 2: one for each output, two for each of pairs, none for scales (gemm_c10)}}
  %r:2 = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>, %d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>, tensor<?x48xf32>
  return
}

// -----

func.func @no_outputs(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op outs has 0 operands, expected 1 or more (gemm_c9)}}
  grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs() epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @region_arguments(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue has 1 arguments, expected 2: the accumulator and one for each input, two for each that holds pairs (gemm_c10)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?xf32> as per_row) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @region_argument_type(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?xbf16>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue argument #1: type is 'bf16', expected f32 (gemm_c10); inputs of other types are converted before the region}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?xbf16> as per_row) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %p: bf16):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @yield_count(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue yields 2 values, expected 1: one for each output, two for each of pairs, none for scales (gemm_c10)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @yield_nothing(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue yields 0 values, expected 1: one for each output, two for each of pairs, none for scales (gemm_c10)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rows_of_input(%a: tensor<256x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<128xf32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'tensor<128xf32>', expected the shape (R) of a per_row input, with N = 48 and L = 2 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<256x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<128xf32> as per_row) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @one_memref_twice(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>,
    %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op outputs #0 and #1 are the same memref, give each its own (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x48xf32>, %d : memref<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @fp8_input_of_a_row(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %i0: tensor<?xf8E4M3FN>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: element type is 'f8E4M3FN', expected f32, f16 or bf16 (gemm_c8)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) ins(%i0 : tensor<?xf8E4M3FN> as per_row) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %x0: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @scales_alone(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: row_scales_rceil must follow its quantized output (gemm_c9)}}
  %r:1 = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @quantized_alone(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: quantized must be followed by its scales, such as row_scales_rceil (gemm_c9)}}
  %r:1 = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf8E4M3FN> as quantized) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf8E4M3FN>
  return
}

// -----

func.func @quantized_partial_block(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: quantized is 'tensor<?x48xf8E4M3FN>', expected f8E4M3FN, f8E5M2 or f4E2M1FN and N a multiple of 32, the block (gemm_c9)}}
  %r:2 = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf8E4M3FN> as quantized, %s : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_floor) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}
