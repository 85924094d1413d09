// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// What a named op asks for beside its gemm: named_c1 to named_c5.

func.func @takes_no_c(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?x64xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_swiglu' op input #0: c is no operand of this op, expected alpha, bias or prob (named_c1)}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?x64xf32> as c) outs(%d0 : memref<?x64xf32> as plain)
  return
}

// -----

func.func @twice(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?xf32>, %i1: memref<?xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_quant' op input #1: prob is given twice (named_c1)}}
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?xf32> as prob, %i1 : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32> as plain)
  return
}

// -----

func.func @no_c(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op has no c, expected the saved tensor of the forward pass as c (named_c1)}}
  grouped_moe.gemm_dsrelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32> as plain)
  return
}

// -----

func.func @single_c(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?x64xf32>, %d0: memref<?x128xf32>) {
  // expected-error @below {{'grouped_moe.gemm_dswiglu' op input #0: type is 'memref<?x64xf32>', expected 128 columns for c (named_c2)}}
  grouped_moe.gemm_dswiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?x64xf32> as c) outs(%d0 : memref<?x128xf32> as plain)
  return
}

// -----

func.func @pair_c(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?x128xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #0: type is 'memref<?x128xf32>', expected 64 columns for c (named_c2)}}
  grouped_moe.gemm_dsrelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?x128xf32> as c) outs(%d0 : memref<?x64xf32> as plain)
  return
}

// -----

func.func @single_bias(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<2x64xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_swiglu' op input #0: type is 'memref<2x64xf32>', expected 128 columns for bias (named_c2)}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<2x64xf32> as bias) outs(%d0 : memref<?x64xf32> as plain)
  return
}

// -----

func.func @no_dprob(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm_quant' op output #0: is of dprob, which this op does not compute (named_c3); it has result, preactivation}}
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?xf32> as row_sum)
  return
}

// -----

func.func @no_preactivation(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?x128xf32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_dswiglu' op output #0: is of preactivation, which this op does not compute (named_c3); it has result, dprob}}
  grouped_moe.gemm_dswiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?x128xf32> as c) outs(%d0 : memref<?x64xf32> as plain of preactivation)
  return
}

// -----

func.func @pair_result(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x128xf32>) {
  // expected-error @below {{'grouped_moe.gemm_swiglu' op output #0: type is 'memref<?x128xf32>', but result is one value for each of 64 columns (named_c4)}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x128xf32> as plain)
  return
}

// -----

func.func @single_preactivation(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_swiglu' op output #0: type is 'memref<?x64xf32>', but preactivation is two values for each of 64 columns (named_c4)}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf32> as of preactivation)
  return
}

// -----

func.func @single_amax(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %i0: memref<?x128xf32>, %d0: memref<2xf32>) {
  // expected-error @below {{'grouped_moe.gemm_dgeglu' op output #0: type is 'memref<2xf32>', but result is two values for each of 64 columns (named_c4)}}
  grouped_moe.gemm_dgeglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%i0 : memref<?x128xf32> as c) outs(%d0 : memref<2xf32> as group_amax)
  return
}

// -----

func.func @limit(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_geglu' op limit is -1.000000e+00 : f32, expected a finite positive f32 (named_c5)}}
  grouped_moe.gemm_geglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf32> as plain) attributes {limit = -1.0 : f32}
  return
}

// -----

func.func @bound(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm_srelu' op bound is 0.000000e+00 : f32, expected a finite positive f32 (named_c5)}}
  grouped_moe.gemm_srelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf32> as plain) attributes {bound = 0.0 : f32}
  return
}

// -----

func.func @odd_n(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x96x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm_geglu' op N is 96, expected a multiple of 64 columns for gate and up in alternating blocks of 32 (gemm_c14); pad each half with zeros}}
  grouped_moe.gemm_geglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x96x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x48xf32> as plain)
  return
}
