// REQUIRES: ptxas
// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-bundle %t.gmoe | FileCheck %s

// Three functions and three staged outputs of a pair: ptxas 13.0 runs out of registers at its highest level.
// CHECK: kernel {{.*}} 0 bytes spilled
func.func @entry(%a: memref<?x160xf8E4M3FN>, %sa: memref<?x2x32x4x4xf8E8M0FNU>,
    %b: memref<4x192x160xf8E4M3FN>, %sb: memref<4x2x2x32x4x4xf8E8M0FNU>,
    %offsets: memref<4xi32>, %alpha: memref<4xf32>, %prob: memref<?xf32>,
    %d0: memref<?x96xf8E4M3FN>, %d1: memref<?x1x32x4x4xf8E8M0FNU>, %d2: memref<?x96xf32>, %d3: memref<?x192xbf16>) {
  grouped_moe.gemm_situglu
      lhs(%a : memref<?x160xf8E4M3FN> scales %sa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<4x192x160xf8E4M3FN> scales %sb : memref<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<4xi32>)
      ins(%alpha : memref<4xf32> as alpha, %prob : memref<?xf32> as prob)
      outs(%d0 : memref<?x96xf8E4M3FN> as quantized, %d1 : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %d2 : memref<?x96xf32> as plain, %d3 : memref<?x192xbf16> as plain of preactivation)
      attributes {m_aligned = 128 : i64, schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 2, accumulators = 1, cluster = [1, 1], scheduler = static_persistent along row>}
  return
}
