// One static row count says what the dynamic ones are.
// RUN: gmoe-run %s --device=emulator --check --rows=256
// RUN: not gmoe-run %s --device=emulator --rows=200 2>&1 | FileCheck %s
// CHECK: 256
func.func @entry(%a: memref<?x128xf8E4M3FN>, %sfa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x128xf8E4M3FN>,
    %sfb: memref<2x1x1x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<256x64xbf16>) {
  grouped_moe.gemm
      lhs(%a : memref<?x128xf8E4M3FN> scales %sfa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x128xf8E4M3FN> scales %sfb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<256x64xbf16>) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
