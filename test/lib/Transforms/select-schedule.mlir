// RUN: %gmoe-opt %s --grouped-moe-select-schedule | FileCheck %s
// RUN: %gmoe-opt %s --grouped-moe-select-schedule='tile-n=256 tile-m=128 cluster=1,1' | FileCheck %s --check-prefix=WIDE
// RUN: %gmoe-opt %s --grouped-moe-select-schedule=expected-rows=20000 | FileCheck %s --check-prefix=LARGE
// RUN: %gmoe-opt %s --grouped-moe-select-schedule='tile-m=256 cluster=2,2 stages=2 scheduler=cluster_launch_control' | FileCheck %s --check-prefix=ASKED
// RUN: gmoe-opt %s --grouped-moe-select-schedule --remarks-filter-passed=schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not gmoe-opt %s --grouped-moe-select-schedule=scheduler=fastest 2>&1 | FileCheck %s --check-prefix=SCHEDULER
// RUN: not gmoe-opt %s --grouped-moe-select-schedule='tile-m=256 cluster=1,1' 2>&1 | FileCheck %s --check-prefix=NONE

// REMARK: remark: [Passed] ScheduleSelected | Category:schedule | Remark="#grouped_moe.schedule<tile = [128, 64, 128], {{.*}} for 2 groups of 1024 rows together; 64 cluster tiles, 148 at once, about {{[0-9]+}} clocks by estimate, limited by loads"
// SCHEDULER: error: scheduler is 'fastest', expected static_persistent or cluster_launch_control
// NONE: error: 'grouped_moe.gemm' op no schedule has what is asked for: rows of a tile 256, columns 0, stages 0 (0: any), cluster 1x1; ask for less, or for a shape that exists (schedule_c4, schedule_c5)

// Few rows: small tiles, so that more of the chip works. One schedule that is there already stays.
// CHECK-LABEL: @chosen
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 64, 128], stages = 6, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>
// Two accumulators that overlap.
// WIDE-LABEL: @chosen
// WIDE: schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>
// Many rows: clusters share what they load, and the few columns of a group come first.
// LARGE-LABEL: @chosen
// LARGE: cluster = [2, 2], scheduler = static_persistent along short_side>
// ASKED-LABEL: @chosen
// ASKED: schedule = #grouped_moe.schedule<tile = [256, {{[0-9]+}}, 128], stages = 2, accumulators = 2, cluster = [2, 2], scheduler = cluster_launch_control>
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
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 64, 128], stages = 6, accumulators = 2
// WIDE-LABEL: @staged
// WIDE: schedule = #grouped_moe.schedule<tile = [128, 256, 128], stages = 3, accumulators = 2
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

// The tiles of one group are 16: large groups are divided so that they occupy the chip. With 176 tiles they are not.
// CHECK-LABEL: @few_tiles
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 64, 128], stages = 6, accumulators = 2, cluster = [1, 1], scheduler = static_persistent, split = [8, 2432]>
// WIDE-LABEL: @few_tiles
// WIDE: schedule = #grouped_moe.schedule<tile = [128, 256, 128], {{.*}}, split = [8, 3584]>
// LARGE-LABEL: @few_tiles
// LARGE: split = [
func.func @few_tiles(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<?x512xf8E4M3FN>,
    %sb: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<2x256x512xbf16>) {
  grouped_moe.wgrad lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%b : memref<?x512xf8E4M3FN> scales %sb : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<2x256x512xbf16>)
  return
}

// CHECK-LABEL: @many_tiles
// CHECK: schedule = #grouped_moe.schedule<tile = [128, 192, 128], stages = 4, accumulators = 2, cluster = [2, 2], scheduler = static_persistent>
// WIDE-LABEL: @many_tiles
func.func @many_tiles(%a: memref<?x2048xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<?x1408xf8E4M3FN>,
    %sb: memref<?x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<2x2048x1408xbf16>) {
  grouped_moe.wgrad lhs(%a : memref<?x2048xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%b : memref<?x1408xf8E4M3FN> scales %sb : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<2x2048x1408xbf16>)
  return
}

// The attribute of an op stands above the option.
// CHECK-LABEL: @expected
// CHECK: grouped_moe.expected_rows = array<i64: 40000, 0>, schedule = #grouped_moe.schedule<tile = [128, 128, 128], {{.*}}cluster = [2, 2], scheduler = static_persistent along short_side>
func.func @expected(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
      attributes {grouped_moe.expected_rows = array<i64: 40000, 0>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
