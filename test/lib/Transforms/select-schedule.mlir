// RUN: %gmoe-opt %s --grouped-moe-select-schedule | FileCheck %s
// RUN: %gmoe-opt %s --grouped-moe-select-schedule=tile-n=256 | FileCheck %s --check-prefix=WIDE

// Two accumulators where tensor memory holds them; one schedule that is there already stays.
// CHECK-LABEL: @chosen
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 6, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>
// WIDE-LABEL: @chosen
// WIDE: schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 4, accumulators = 1, cluster = [1, 1], scheduler = static_persistent>
func.func @chosen(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
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

// CHECK-LABEL: @given
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 2, accumulators = 1
// WIDE-LABEL: @given
func.func @given(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 2, accumulators = 1, cluster = [1, 1], scheduler = static_persistent>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// Staging of the outputs takes the place of a stage.
// CHECK-LABEL: @staged
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 5, accumulators = 2
// WIDE-LABEL: @staged
// WIDE: schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 3, accumulators = 1
func.func @staged(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xf32>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xf32>)
       epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// The tiles of one group are 8: large groups are divided so that they occupy the chip. With 176 tiles they are not.
// CHECK-LABEL: @few_tiles
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 6, accumulators = 2, cluster = [1, 1], scheduler = static_persistent, split = [8, 3584]>
// WIDE-LABEL: @few_tiles
// WIDE: schedule = #grouped_moe.schedule<tile = [128, 256, 128], {{.*}}, split = [8, 3584]>
func.func @few_tiles(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<?x512xf8E4M3FN>,
    %sb: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<2x256x512xbf16>) {
  grouped_moe.wgrad lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%b : memref<?x512xf8E4M3FN> scales %sb : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<2x256x512xbf16>)
  return
}

// CHECK-LABEL: @many_tiles
// CHECK: scheduler = static_persistent>
// WIDE-LABEL: @many_tiles
func.func @many_tiles(%a: memref<?x2048xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<?x1408xf8E4M3FN>,
    %sb: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<2x2048x1408xbf16>) {
  grouped_moe.wgrad lhs(%a : memref<?x2048xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%b : memref<?x1408xf8E4M3FN> scales %sb : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<2x2048x1408xbf16>)
  return
}
