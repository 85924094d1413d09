// RUN: %gmoe-opt %s --grouped-moe-convert-to-kernel --canonicalize --cse --moe-kernel-check-protocol | FileCheck %s

// Groups of a weight gradient that end within blocks of 32 rows: maps of both operands end with each group, at its offset,
// and at the last row if the offset is none of a row.

// CHECK-LABEL: moe_kernel.func @rows_wgrad(
// CHECK: role "load"
// CHECK: %[[LHS:.*]] = moe_kernel.map_element
// CHECK: %[[RHS:.*]] = moe_kernel.map_element
// CHECK: acquire_map %[[LHS]]
// CHECK: acquire_map %[[RHS]]
// CHECK: moe_kernel.load %[[LHS]]
// CHECK: moe_kernel.load %[[RHS]]

// CHECK-LABEL: moe_kernel.func @rows_wgrad_maps(
// CHECK-SAME: %[[OFFSETS:[a-z0-9]+]]: memref<4xi32>, %[[ROWS:[a-z0-9]+]]: i32
// CHECK: moe_kernel.global_load %[[OFFSETS]]
// CHECK: %[[OFFSET:.*]] = moe_kernel.global_load %[[OFFSETS]][%[[GROUP:.*]]] :
// CHECK: %[[END:.*]] = arith.minsi %[[OFFSET]], %[[ROWS]]
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[END]], %{{.*}} : i32
// CHECK: scf.if %[[SOME]] {
// CHECK: moe_kernel.build_map %{{.*}} to %{{.*}}[%[[GROUP]]] extents [0] = %[[END]]
// CHECK: moe_kernel.build_map %{{.*}} to %{{.*}}[%[[GROUP]]] extents [0] = %[[END]]
// CHECK: moe_kernel.release_maps

// CHECK-LABEL: func.func @rows(
// CHECK: moe_kernel.launch @rows_wgrad_maps
// CHECK: moe_kernel.launch @rows_wgrad grid
func.func @rows(%dy: memref<?x256xf8E4M3FN>, %sdy: memref<?x32x4x4xf8E8M0FNU>, %x: memref<?x512xf8E4M3FN>, %sx: memref<?x32x4x4xf8E8M0FNU>,
    %offsets: memref<4xi32>, %dw: memref<4x256x512xbf16>) {
  grouped_moe.wgrad lhs(%dy : memref<?x256xf8E4M3FN> scales %sdy : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x512xf8E4M3FN> scales %sx : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%offsets : memref<4xi32>) outs(%dw : memref<4x256x512xbf16>)
      attributes {m_aligned = 1 : i64, schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 3, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}
  return
}
