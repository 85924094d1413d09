// Padding that no memory holds is refused before it is asked for.
// RUN: not gmoe-run %s --device=emulator --rows=128 2>&1 | FileCheck %s
// CHECK: error: argument #0: needs {{[0-9]+}} bytes with its padding, expected at most 68719476736
func.func @entry(%a: memref<?x128xf8E4M3FN, strided<[1099511627760, 1]>>, %sfa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x128xf8E4M3FN>,
    %sfb: memref<2x1x1x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x64xbf16>) {
  grouped_moe.gemm
      lhs(%a : memref<?x128xf8E4M3FN, strided<[1099511627760, 1]>> scales %sfa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x128xf8E4M3FN> scales %sfb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<?x64xbf16>) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
