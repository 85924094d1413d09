// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// What the support surface, by its outputs and parameters, leaves out of a fused gradient of the squared ReLU (docs/guides/from_cudnn_dsrelu.md).

func.func @aligned_to_64(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op m_aligned is 64 rows, expected 1, 32, 128 or 256 (gemm_c7); promise the largest of them that divides every offset}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain) attributes {m_aligned = 64 : i64}
  return
}

// -----

func.func @d_of_f64(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xf64>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: element type is 'f64', expected f32, f16, bf16, f8E4M3FN or f8E5M2 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf64> as plain)
  return
}

// -----

func.func @quantized_bf16(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>, %sd: memref<?x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: quantized is 'memref<?x256xbf16>', expected f8E4M3FN, f8E5M2 or f4E2M1FN and N a multiple of 32, the block (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as quantized, %sd : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
  return
}

// -----

func.func @d_without_scales(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: quantized must be followed by its scales, such as row_scales_rceil (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf8E4M3FN> as quantized)
  return
}

// -----

func.func @scales_without_d(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>, %sd: memref<?x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #1: row_scales_rceil must follow its quantized output (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain, %sd : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
  return
}

// -----

func.func @e4m3_scales_of_fp8_d(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xf8E4M3FN>, %sd: memref<?x4x32x4x4xf8E4M3FN>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #1: row_scales_nearest: elements are 'f8E4M3FN' for data of 'f8E4M3FN', expected f8E4M3FN scales of f4E2M1FN data, 16 elements a block (gemm_c9); FP8 data takes f8E8M0FNU scales, rounded rceil or floor}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf8E4M3FN> as quantized, %sd : memref<?x4x32x4x4xf8E4M3FN> as row_scales_nearest)
  return
}

// -----

func.func @column_scales_of_row_shape(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xf8E4M3FN>, %sd: memref<?x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #1: scale shape is ?x2x32x4x4, expected ?x32x4x4 for layout #grouped_moe.scale_layout<column, per_group, block = 32> of a matrix of shape ?x256 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf8E4M3FN> as quantized, %sd : memref<?x2x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
  return
}

// -----

func.func @norm_const_of_bf16_d(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %n: memref<1xf32>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op norm_const is given, but no output is quantized (gemm_c15); drop it}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) norm_const(%n : memref<1xf32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @norm_const_of_f16(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %n: memref<1xf16>, %d: memref<?x256xf8E4M3FN>, %sd: memref<?x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op norm_const: type is 'memref<1xf16>', expected 1 element, or 2 (L), of f32 (gemm_c15)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) norm_const(%n : memref<1xf16>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf8E4M3FN> as quantized, %sd : memref<?x2x32x4x4xf8E8M0FNU> as row_scales_rceil)
  return
}

// -----

func.func @acc_dtype(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op has no attribute 'acc_dtype' (attributes_c1); drop it, or give it the prefix of a dialect}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain) attributes {acc_dtype = f16}
  return
}

// -----

func.func @vector_f32(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op has no attribute 'vector_f32' (attributes_c1); drop it, or give it the prefix of a dialect}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain) attributes {vector_f32}
  return
}

// -----

func.func @cd_major(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op has no attribute 'cd_major' (attributes_c1); drop it, or give it the prefix of a dialect}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain) attributes {cd_major = "m"}
  return
}

// -----

func.func @d_of_other_columns(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x128xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: type is 'memref<?x128xbf16>', expected the shape (R, N) with N = 256 or, of pairs, 512 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x128xbf16> as plain)
  return
}

// -----

func.func @d_col_fp4_n_major(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xf4E2M1FN>, %sd: memref<?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: type is 'memref<?x256xf4E2M1FN>', expected the shape (N, R), as f4E2M1FN data down columns is stored, with N = 256 or, of pairs, 512 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf4E2M1FN> as quantized, %sd : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
  return
}

// -----

func.func @dprob_of_bf16(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: type is 'memref<?xbf16>', expected the shape (R) of a row_sum, of f32, with N = 256 or, of pairs, 512 and L = 2 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?xbf16> as row_sum of dprob)
  return
}

// -----

func.func @dbias_of_rows(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xf32>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: type is 'memref<?x256xf32>', expected the shape (L, N) of a group_column_sum, of f32 or bf16, with N = 256 or, of pairs, 512 and L = 2 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xf32> as group_column_sum)
  return
}

// -----

func.func @amax_of_f16(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<2xf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op output #0: type is 'memref<2xf16>', expected the shape (L) or, of pairs, (L, 2) of a group_amax, of f32, with N = 256 or, of pairs, 512 and L = 2 (gemm_c9)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<2xf16> as group_amax)
  return
}
