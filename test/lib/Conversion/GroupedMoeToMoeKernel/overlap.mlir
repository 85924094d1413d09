// RUN: %gmoe-opt %s --grouped-moe-convert-to-kernel --moe-kernel-check-resources --moe-kernel-check-protocol | FileCheck %s

// Two accumulators that share columns: of the first one the last chunks are read first, whatever part of the tile they are, so
// that the products of the second one may begin.

#schedule = #grouped_moe.schedule<tile = [128, 192, 256], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>

// Six chunks, three of which cover the 64 columns.
// CHECK-LABEL: moe_kernel.func @six_gemm(
// CHECK: overlap = 64
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %c96_i32{{.*}}, %c0_i32{{.*}} : i32
// CHECK: scf.for %[[STEP:arg[0-9]+]] = %
// CHECK: %[[AT:.*]] = arith.addi %[[STEP]], %[[FIRST]] : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]], %c192_i32{{.*}} : i32
// CHECK: %[[AGAIN:.*]] = arith.subi %[[AT]], %c192_i32{{.*}} : i32
// CHECK: %[[COLUMN:.*]] = arith.select %[[INSIDE]], %[[AT]], %[[AGAIN]] : i32
// CHECK: moe_kernel.load_accumulator {{.*}} column %[[COLUMN]] :
func.func @six(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x4x32x4x4xf8E4M3FN>, %b: memref<4x384x256xf4E2M1FN>,
    %sb: memref<4x3x4x32x4x4xf8E4M3FN>, %o: memref<4xi32>, %d: memref<?x384xf32>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x4x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      rhs(%b : memref<4x384x256xf4E2M1FN> scales %sb : memref<4x3x4x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      offsets(%o : memref<4xi32>) outs(%d : memref<?x384xf32>) attributes {schedule = #schedule} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// Of gate and up three chunks, the last two of which cover them.
// CHECK-LABEL: moe_kernel.func @three_gemm(
// CHECK: overlap = 64
// CHECK: arith.select %{{.*}}, %c32_i32{{.*}}, %c0_i32{{.*}} : i32
// CHECK: scf.for
// CHECK: arith.cmpi ult, %{{.*}}, %c96_i32{{.*}} : i32
func.func @three(%a: memref<?x256xf4E2M1FN>, %sa: memref<?x4x32x4x4xf8E4M3FN>, %b: memref<4x384x256xf4E2M1FN>,
    %sb: memref<4x3x4x32x4x4xf8E4M3FN>, %o: memref<4xi32>, %d: memref<?x192xf32>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf4E2M1FN> scales %sa : memref<?x4x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      rhs(%b : memref<4x384x256xf4E2M1FN> scales %sb : memref<4x3x4x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      offsets(%o : memref<4xi32>) outs(%d : memref<?x192xf32>) attributes {paired, schedule = #schedule} epilogue {
  ^bb0(%gate: f32, %up: f32):
    %product = arith.mulf %gate, %up : f32
    grouped_moe.yield %product : f32
  }
  return
}
