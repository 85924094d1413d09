// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// What the support surface, by its operands, leaves out of a fused gradient of the squared ReLU (docs/guides/from_cudnn_dsrelu.md).

func.func @a_of_bf16(%a: memref<?x256xbf16>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op lhs: element type is 'bf16', expected f8E4M3FN, f8E5M2 or f4E2M1FN (gemm_c1); quantize it with grouped_moe.quantize}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xbf16> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @a_and_b_differ(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op rhs: element type is 'f8E4M3FN', expected f4E2M1FN beside a lhs of 'f4E2M1FN' (gemm_c2); quantize both to FP8, or both to FP4}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @b_n_major_fp4(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf4E2M1FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op rhs scales: layout is #grouped_moe.scale_layout<column, whole, block = 32>, expected <row, whole, block = 32> (gemm_c4); quantize along rows with that layout}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf4E2M1FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @k_of_part_of_a_block(%a: memref<?x272xf8E4M3FN>, %sa: memref<?x3x32x4x4xf8E8M0FNU>, %b: memref<2x256x272xf8E4M3FN>, %sb: memref<2x2x3x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op K is 272, expected a static positive multiple of 32 elements, the scale block (gemm_c3); pad K with zeros}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x272xf8E4M3FN> scales %sa : memref<?x3x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x272xf8E4M3FN> scales %sb : memref<2x2x3x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @n_of_no_multiple_of_16(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x250x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x250xbf16>, %d: memref<?x250xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op N is 250, expected a static positive multiple of 16 columns (gemm_c3); pad N with zeros}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x250x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x250xbf16> as c)
      outs(%d : memref<?x250xbf16> as plain)
  return
}

// -----

func.func @no_experts(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<0x256x256xf8E4M3FN>, %sb: memref<0x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<0xi32>, %al: memref<0xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op L, the number of groups, is 0, expected a static count of at least 1 (gemm_c3)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<0x256x256xf8E4M3FN> scales %sb : memref<0x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<0xi32>)
      ins(%al : memref<0xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @c_of_i8(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xi8>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #2: element type is 'i8', expected f32, f16, bf16, f8E4M3FN or f8E5M2 (gemm_c8)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xi8> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @c_of_other_columns(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x128xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #2: type is 'memref<?x128xbf16>', expected the shape (R, N) of a per_element input, with N = 256 or, of pairs, 512 and L = 2 (gemm_c8)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x128xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @sfa_and_sfb_differ(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x4x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf4E2M1FN>, %sb: memref<2x2x4x32x4x4xf8E4M3FN>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op rhs scales: elements are 'f8E4M3FN' in blocks of 16, expected those of lhs, 'f8E8M0FNU' in blocks of 16 (gemm_c4); quantize both alike}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 16>)
      rhs(%b : memref<2x256x256xf4E2M1FN> scales %sb : memref<2x2x4x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @e4m3_scales_of_32(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x2x32x4x4xf8E4M3FN>, %b: memref<2x256x256xf4E2M1FN>, %sb: memref<2x2x2x32x4x4xf8E4M3FN>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op lhs scales: elements are 'f8E4M3FN', 32 elements of f4E2M1FN a block, expected f8E8M0FNU with blocks of 32 or 16, or f8E4M3FN with blocks of 16 (gemm_c4)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x2x32x4x4xf8E4M3FN> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf4E2M1FN> scales %sb : memref<2x2x2x32x4x4xf8E4M3FN> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @fp8_with_blocks_of_16(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x4x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x4x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op lhs scales: block is 16 elements, but FP8 data has one scale every 32 elements (gemm_c4); block 16 is for FP4 data}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 16>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x4x32x4x4xf8E8M0FNU> layout <row, whole, block = 16>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @fp8_with_e4m3_scales(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E4M3FN>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E4M3FN>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op lhs scales: element type is 'f8E4M3FN', expected f8E8M0FNU (gemm_c4)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E4M3FN> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E4M3FN> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @scale_vectors_of_64(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  grouped_moe.gemm_dsrelu
      // expected-error @below {{custom op 'grouped_moe.gemm_dsrelu' scale layout: block is 64 elements, expected 16 or 32 (layout_c1)}}
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 64>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @scales_of_another_shape(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op lhs scales: scale shape is ?x1x32x4x4, expected ?x2x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape ?x256 (gemm_c5)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @offsets_of_i64(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi64>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op offsets: type is 'memref<2xi64>', expected 2 elements of i32, one cumulative end for each group of rhs (gemm_c6)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi64>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @alpha_of_f64(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf64>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #0: element type is 'f64', expected f32, f16 or bf16 (gemm_c8)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf64> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @alpha_of_rows(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<?xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #0: type is 'memref<?xf32>', expected the shape (L), or (1) for one value of all groups, of a per_group input, with N = 256 or, of pairs, 512 and L = 2 (gemm_c8)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<?xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @prob_of_two_extents(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?x1xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #1: type is 'memref<?x1xf32>', expected the shape (R) of a per_row input, with N = 256 or, of pairs, 512 and L = 2 (gemm_c8)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?x1xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @alpha_of_three_experts(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x256x256xf8E4M3FN>, %sb: memref<2x2x2x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %al: memref<3xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op input #0: type is 'memref<3xf32>', expected the shape (L), or (1) for one value of all groups, of a per_group input, with N = 256 or, of pairs, 512 and L = 2 (gemm_c8)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x256x256xf8E4M3FN> scales %sb : memref<2x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<3xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}

// -----

func.func @b_ptrs_n_major_fp4(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2xi64>, %sb: memref<2xi64>,
    %o: memref<2xi32>, %al: memref<2xf32>, %p: memref<?xf32>, %c: memref<?x256xbf16>, %d: memref<?x256xbf16>) {
  // expected-error @below {{'grouped_moe.gemm_dsrelu' op rhs scales: layout is #grouped_moe.scale_layout<column, whole, block = 32>, expected <row, whole, block = 32> (gemm_c4)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2xi64> of tensor<256x256xf4E2M1FN> scales %sb : memref<2xi64> of tensor<2x2x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%al : memref<2xf32> as alpha, %p : memref<?xf32> as prob, %c : memref<?x256xbf16> as c)
      outs(%d : memref<?x256xbf16> as plain)
  return
}
