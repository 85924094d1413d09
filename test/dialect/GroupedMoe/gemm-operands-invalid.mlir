// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// Operands and attributes of the grouped product: gemm_c1, c2, c3, c6, c7.

func.func @lhs_rank(%a: tensor<1x?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: rank is 3, expected 2: (R, K) (gemm_c1)}}
  %r = grouped_moe.gemm lhs(%a : tensor<1x?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_element(%a: tensor<?x64xbf16>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: element type is 'bf16', expected f8E4M3FN, f8E5M2 or f4E2M1FN (gemm_c1); quantize it with grouped_moe.quantize}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xbf16> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rhs_rank(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: rank is 2, expected 3: (L, N, K) (gemm_c2)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @rhs_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf4E2M1FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: element type is 'f4E2M1FN', expected f8E4M3FN or f8E5M2 beside a lhs of 'f8E4M3FN' (gemm_c2); quantize both to FP8, or both to FP4}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf4E2M1FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @k_differs(%a: tensor<?x96xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: K is 96, expected 64 as in rhs (gemm_c2)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x96xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @lhs_k_dynamic(%a: tensor<?x?xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: K is dynamic, expected 64 as in rhs (gemm_c2)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x?xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @k_multiple(%a: tensor<?x80xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x80xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op K is 80, expected a static positive multiple of 32 elements, the scale block (gemm_c3); pad K with zeros}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x80xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x80xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @k_zero(%a: tensor<?x0xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x0xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op K is 0, expected a static positive multiple of 32 elements}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x0xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x0xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @k_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x?xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op K is dynamic, expected a static positive multiple of 32 elements}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x?xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @n_multiple(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x40x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op N is 40, expected a static positive multiple of 16 columns (gemm_c3); pad N with zeros}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x40x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @n_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x?x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op N is dynamic, expected a static positive multiple of 16 columns (gemm_c3)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x?x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @groups_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<?x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op L, the number of groups, is dynamic, expected a static count of at least 1 (gemm_c3)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<?x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @groups_zero(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<0x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<0xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op L, the number of groups, is 0, expected a static count of at least 1 (gemm_c3)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<0x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<0xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @offsets_length(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<3xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'tensor<3xi32>', expected 2 elements of i32, one cumulative end for each group of rhs (gemm_c6)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<3xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @offsets_element(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi64>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'tensor<2xi64>', expected 2 elements of i32}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi64>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @offsets_unsigned(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xui32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'tensor<2xui32>', expected 2 elements of i32}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xui32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @offsets_rank(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<i32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'tensor<i32>', expected 2 elements of i32}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<i32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @offsets_dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<?xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'tensor<?xi32>', expected 2 elements of i32}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<?xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @m_aligned(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op m_aligned is 64 rows, expected 1, 32, 128 or 256 (gemm_c7); promise the largest of them that divides every offset}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) attributes {m_aligned = 64 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}
