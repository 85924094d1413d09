// RUN: gmoe-opt %s --verify-diagnostics --grouped-moe-select-schedule=target=sm_42

func.func @target(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{unknown target 'sm_42', expected one of sm_100a}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
       epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
