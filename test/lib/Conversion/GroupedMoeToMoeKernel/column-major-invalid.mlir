// RUN: %gmoe-opt %s --grouped-moe-generalize --grouped-moe-select-schedule --grouped-moe-convert-to-kernel -split-input-file -verify-diagnostics

// Matrices have rows one behind the other: the rows of a matrix, not its columns, are the slow extent.

func.func @d_m_major(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16, strided<[1, ?]>>) {
  // expected-error@+1 {{'grouped_moe.gemm' op output #0: type is 'memref<?x512xbf16, strided<[1, ?]>>', expected static strides, the last one 1, and no offset, like strided<[576, 1]> (gemm_c18)}}
  grouped_moe.gemm_quant
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16, strided<[1, ?]>> as plain)
  return
}

// -----

func.func @a_m_major(%a: memref<?x256xf8E4M3FN, strided<[1, ?]>>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{'grouped_moe.gemm' op lhs: type is 'memref<?x256xf8E4M3FN, strided<[1, ?]>>', expected static strides, the last one 1, and no offset, like strided<[576, 1]> (gemm_c18)}}
  grouped_moe.gemm_quant
      lhs(%a : memref<?x256xf8E4M3FN, strided<[1, ?]>> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16> as plain)
  return
}

// -----

func.func @c_m_major(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %c: memref<?x512xbf16, strided<[1, ?]>>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{'grouped_moe.gemm' op input #0: type is 'memref<?x512xbf16, strided<[1, ?]>>', expected static strides, the last one 1, and no offset, like strided<[576, 1]> (gemm_c18)}}
  grouped_moe.gemm_dsrelu
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) ins(%c : memref<?x512xbf16, strided<[1, ?]>> as c)
      outs(%d : memref<?x512xbf16> as plain)
  return
}
