// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// FP4 down columns: what it needs beyond FP8.

func.func @static_rows(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x144xf4E2M1FN>, %d1: memref<1x2x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: R is 144, expected a multiple of 32 rows of f4E2M1FN that is stored transposed, 16 bytes of a column (gemm_c9); pad the rows}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x144xf4E2M1FN> as quantized, %d1 : memref<1x2x32x4x4xf8E8M0FNU> as column_scales_rceil) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @anywhere(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: m_aligned is 1, expected at least 32 rows where f4E2M1FN is quantized down columns: two rows share a byte, and 32 a piece of 16 bytes, which no two groups may (gemm_c16); pad the groups to a multiple of 32 rows, or use FP8 data}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil) attributes {m_aligned = 1 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @whole_of_32(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<1x?x32x4x4xf8E4M3FN>) {
  // expected-error @below {{op output #1: layout is #grouped_moe.scale_layout<column, whole, block = 16>, whose atoms of 128 rows groups would share where m_aligned is 32, expected at least 128 (gemm_c16)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<1x?x32x4x4xf8E4M3FN> as column_scales_nearest) attributes {m_aligned = 32 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @scale_shape(
    %a: memref<384x64xf8E4M3FN>, %sa: memref<3x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x384xf4E2M1FN>, %d1: memref<1x4x32x4x4xf8E4M3FN>) {
  // expected-error @below {{op output #1: scale shape is 1x4x32x4x4, expected 1x6x32x4x4 for layout #grouped_moe.scale_layout<column, whole, block = 16> of a matrix of shape 384x64 (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<384x64xf8E4M3FN> scales %sa : memref<3x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x384xf4E2M1FN> as quantized, %d1 : memref<1x4x32x4x4xf8E4M3FN> as column_scales_nearest) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @blocks_of_16(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<?x64xf8E4M3FN>, %d1: memref<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op output #1: column_scales_rceil_block16: block is 16 elements, but data of 'f8E4M3FN' has one scale every 32 elements (gemm_c9); blocks of 16 are for f4E2M1FN data}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<?x64xf8E4M3FN> as quantized, %d1 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil_block16) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @quantize_rows(%x: tensor<80x64xf32>, %q: tensor<64x80xf4E2M1FN>, %s: tensor<1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op data: R is 80, expected a multiple of 32 rows of f4E2M1FN that is stored transposed, 16 bytes of a column (quantize_c1); pad the rows}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<80x64xf32>)
      outs(%q, %s : tensor<64x80xf4E2M1FN>, tensor<1x1x32x4x4xf8E8M0FNU>) layout <column, whole, block = 32> rounding rceil -> tensor<64x80xf4E2M1FN>, tensor<1x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @quantize_anywhere(%x: tensor<?x64xf32>, %q: tensor<64x?xf4E2M1FN>, %s: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>) {
  // expected-error @below {{'grouped_moe.quantize' op data: m_aligned is 1, expected at least 32 rows where f4E2M1FN is quantized down columns: two rows share a byte, and 32 a piece of 16 bytes, which no two groups may (quantize_c6); pad the groups to a multiple of 32 rows, or use FP8 data}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) offsets(%o : tensor<2xi32>)
      outs(%q, %s : tensor<64x?xf4E2M1FN>, tensor<?x32x4x4xf8E8M0FNU>) layout <column, per_group, block = 32> rounding rceil {m_aligned = 1 : i64} -> tensor<64x?xf4E2M1FN>, tensor<?x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @quantize_weights(%x: tensor<2x64x64xf32>, %q: tensor<2x64x64xf4E2M1FN>, %s: tensor<2x1x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op input: rank is 3, expected 2 where f4E2M1FN is quantized down columns, for a sum over rows (quantize_c1); quantize weights along rows: FP4 operands are K-major only}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<2x64x64xf32>)
      outs(%q, %s : tensor<2x64x64xf4E2M1FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>) layout <column, whole, block = 32> rounding rceil -> tensor<2x64x64xf4E2M1FN>, tensor<2x1x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @not_transposed(%dy: tensor<?x64xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{'grouped_moe.wgrad' op lhs: is (R, N) of f4E2M1FN, expected (N, R) and lhs_transposed (wgrad_c1): FP4 operands are K-major only, and the sum runs over R; grouped_moe.quantize down columns, and gemm, store it so}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x64xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @mixed(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<96x?xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op rhs: element type is 'f8E4M3FN' beside a lhs of 'f4E2M1FN', expected FP8 or f4E2M1FN of both (wgrad_c1); quantize both alike}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x?xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @two_blocks(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op rhs scales: elements are 'f8E8M0FNU' in blocks of 32, expected those of lhs, 'f8E8M0FNU' in blocks of 16 (wgrad_c3); quantize both alike}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 16>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @two_formats(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E4M3FN>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op rhs scales: elements are 'f8E8M0FNU' in blocks of 16, expected those of lhs, 'f8E4M3FN' in blocks of 16 (wgrad_c3); quantize both alike}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 16>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @e4m3_of_32(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E4M3FN>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E4M3FN>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op lhs scales: elements are 'f8E4M3FN', 32 elements of f4E2M1FN a block, expected f8E8M0FNU with blocks of 32 or 16, or f8E4M3FN with blocks of 16 (wgrad_c3)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @groups_of_32(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op m_aligned is 32 rows, expected 128 or 256 of f4E2M1FN operands (wgrad_c6): one instruction sums 64 rows, and needs scales for all of them; pad the groups to a multiple of 128 rows, or use FP8 data}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed, m_aligned = 32 : i64} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @rows(%dy: tensor<64x272xf4E2M1FN>, %sdy: tensor<3x32x4x4xf8E8M0FNU>, %x: tensor<96x272xf4E2M1FN>, %sx: tensor<3x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op lhs: R is 272, expected a multiple of 32 of a transposed operand: multiples of 16 bytes from column to column (wgrad_c2); pad it}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x272xf4E2M1FN> scales %sdy : tensor<3x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x272xf4E2M1FN> scales %sx : tensor<3x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}

// -----

func.func @two_values(%dy: tensor<64x?xf4E2M1FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<96x?xf4E2M1FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %al: tensor<2xf32>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  // expected-error @below {{op input #0: type is 'tensor<2xf32>' as per_group, expected per_group with L = 4 or 1, or per_element with (L, N, K) = (4, 64, 96), of f32, f16 or bf16 (wgrad_c7)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<64x?xf4E2M1FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<96x?xf4E2M1FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>) ins(%al : tensor<2xf32> as per_group)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {lhs_transposed, rhs_transposed} epilogue {
  ^bb0(%acc: f32, %s: f32):
    %y = arith.mulf %acc, %s : f32
    grouped_moe.yield %y : f32
  } -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}
