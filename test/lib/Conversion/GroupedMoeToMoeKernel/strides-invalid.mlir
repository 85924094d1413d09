// RUN: %gmoe-opt %s --grouped-moe-select-schedule --grouped-moe-convert-to-kernel -split-input-file -verify-diagnostics

// Padding behind rows: gemm_c18 and wgrad_c12.

func.func @bytes(%a: memref<?x64xf8E4M3FN, strided<[72, 1]>>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: stride 0 is 72 elements of 'f8E4M3FN', 72 bytes, expected a multiple of 16 bytes below 2^40 (gemm_c18); pad rows to a multiple of 16 elements}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN, strided<[72, 1]>> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @addend(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32, strided<[50, 1]>>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #1: stride 0 is 50 elements of 'f32', 200 bytes, expected a multiple of 16 bytes below 2^40 (gemm_c18); pad rows to a multiple of 4 elements}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32, strided<[50, 1]>> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @output(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xbf16, strided<[52, 1]>>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: stride 0 is 52 elements of 'bf16', 104 bytes, expected a multiple of 16 bytes below 2^40 (gemm_c18); pad rows to a multiple of 8 elements}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xbf16, strided<[52, 1]>>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @far(%a: memref<?x64xf8E4M3FN, strided<[1099511627776, 1]>>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: stride 0 is 1099511627776 elements of 'f8E4M3FN', 1099511627776 bytes, expected a multiple of 16 bytes below 2^40 (gemm_c18); pad rows to a multiple of 16 elements}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN, strided<[1099511627776, 1]>> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @overlap(%a: memref<?x64xf8E4M3FN, strided<[48, 1]>>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: stride 0 is 48 elements, expected at least the 64 that lie in between (gemm_c18); rows do not overlap}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN, strided<[48, 1]>> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @dynamic(%a: memref<?x64xf8E4M3FN, strided<[?, 1]>>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: type is 'memref<?x64xf8E4M3FN, strided<[?, 1]>>', expected static strides, the last one 1, and no offset, like strided<[576, 1]> (gemm_c18)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN, strided<[?, 1]>> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @offset(%a: memref<?x64xf8E4M3FN, strided<[80, 1], offset: 16>>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: type is 'memref<?x64xf8E4M3FN, strided<[80, 1], offset: 16>>', expected static strides, the last one 1, and no offset, like strided<[576, 1]> (gemm_c18)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN, strided<[80, 1], offset: 16>> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @column_major(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32, strided<[1, 512]>>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: type is 'memref<?x48xf32, strided<[1, 512]>>', expected static strides, the last one 1, and no offset, like strided<[576, 1]> (gemm_c18)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32, strided<[1, 512]>>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @weights(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN, strided<[4096, 64, 1]>>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: type is 'memref<2x48x64xf8E4M3FN, strided<[4096, 64, 1]>>', expected a dense memref (gemm_c18): only matrices of rows may have padding between them; copy it to a dense one first}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN, strided<[4096, 64, 1]>> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @row_scalars(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32, strided<[4]>>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: type is 'memref<?xf32, strided<[4]>>', expected a dense memref (gemm_c18): only matrices of rows may have padding between them; copy it to a dense one first}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32, strided<[4]>> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @sums(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32, strided<[8]>>) {
  // expected-error @below {{'grouped_moe.gemm' op output #1: type is 'memref<?xf32, strided<[8]>>', expected a dense memref (gemm_c18): only matrices of rows may have padding between them; copy it to a dense one first}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32, strided<[8]>> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @groups(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32, strided<[2]>>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'memref<2xi32, strided<[2]>>', expected a dense memref (gemm_c18): only matrices of rows may have padding between them; copy it to a dense one first}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32, strided<[2]>>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @scales(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU, strided<[1024, 512, 16, 4, 1]>>, %b: memref<2x48x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<?xf32>, %c: memref<?x48xf32>, %d: memref<?x48xf32>, %r: memref<?xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: type is 'memref<?x1x32x4x4xf8E8M0FNU, strided<[1024, 512, 16, 4, 1]>>', expected a dense memref (gemm_c18): only matrices of rows may have padding between them; copy it to a dense one first}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU, strided<[1024, 512, 16, 4, 1]>> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%p : memref<?xf32> as per_row, %c : memref<?x48xf32> as per_element)
      outs(%d : memref<?x48xf32>, %r : memref<?xf32> as row_sum) epilogue {
  ^bb0(%acc: f32, %x: f32, %y: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  }
  return
}

// -----

func.func @gradient(%x: memref<?x48xf8E4M3FN>, %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %d: memref<2x48x48xf32, strided<[2400, 50, 1]>>) {
  // expected-error @below {{'grouped_moe.wgrad' op output #0: stride 1 is 50 elements of 'f32', 200 bytes, expected a multiple of 16 bytes below 2^40 (wgrad_c12); pad rows to a multiple of 4 elements}}
  grouped_moe.wgrad
      lhs(%x : memref<?x48xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x48xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<2x48x48xf32, strided<[2400, 50, 1]>>)
  return
}

// -----

func.func @far_rows(%x: memref<?x48xf8E4M3FN>, %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %d: memref<2x48x48xf32, strided<[274877906944, 48, 1]>>) {
  // expected-error @below {{'grouped_moe.wgrad' op output #0: stride 0 is 274877906944 elements of 'f32', 1099511627776 bytes, expected a multiple of 16 bytes below 2^40 (wgrad_c12)}}
  grouped_moe.wgrad
      lhs(%x : memref<?x48xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x48xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<2x48x48xf32, strided<[274877906944, 48, 1]>>)
  return
}

// -----

func.func @padded_columns(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN, strided<[512, 1]>>, %d1: memref<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{op output #0: type is 'memref<64x?xf4E2M1FN, strided<[512, 1]>>', expected a dense memref (gemm_c18)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN, strided<[512, 1]>> as quantized, %d1 : memref<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
