// RUN: %gmoe-opt %s | FileCheck %s

// CHECK-LABEL: func.func private @layouts
// CHECK-SAME: a = #grouped_moe.scale_layout<row, whole, block = 32>
// CHECK-SAME: b = #grouped_moe.scale_layout<column, whole, block = 32>
// CHECK-SAME: c = #grouped_moe.scale_layout<row, per_group, block = 16>
// CHECK-SAME: d = #grouped_moe.scale_layout<column, per_group, block = 32>
func.func private @layouts() attributes {
  a = #grouped_moe.scale_layout<row, whole, block = 32>,
  b = #grouped_moe.scale_layout<column, whole, block = 32>,
  c = #grouped_moe.scale_layout<row, per_group, block = 16>,
  d = #grouped_moe.scale_layout<column, per_group, block = 32>
}

// CHECK-LABEL: func.func private @schedule
// CHECK-SAME: s = #grouped_moe.schedule<tile = [128, 256, 128], stages = 4, accumulators = 1, cluster = [1, 1], scheduler = static_persistent>
func.func private @schedule() attributes {
  s = #grouped_moe.schedule<tile = [128, 256, 128], stages = 4, accumulators = 1, cluster = [1, 1], scheduler = static_persistent>
}
