// RUN: %gmoe-opt %s --grouped-moe-generalize --grouped-moe-select-schedule --grouped-moe-convert-to-kernel --moe-kernel-check-resources --moe-kernel-check-protocol --split-input-file | FileCheck %s

// Groups that start at any row. Rows past a group's end are not read or written by the epilogue; a warp with some of them
// stores its own one by one; atoms of the scales of lhs are counted from the group's.
// CHECK-LABEL: moe_kernel.func @anywhere_gemm(
// CHECK-SAME: !moe_kernel.tensor_map<1x256xi16, swizzle = 0>
// CHECK-SAME: !moe_kernel.tensor_map<1x1x1x256xi16, swizzle = 0>
// CHECK-SAME: %[[PROB:[a-z0-9]+]]: memref<?xf32>
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !moe_kernel.tensor_map<32x32xf32, swizzle = 128>, %[[ROWS:[a-z0-9]+]]: memref<?x64xf32>
// CHECK: for_tiles
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[ROW:.*]]: i32, %{{.*}}: i32, %[[BEGIN:.*]]: i32, %[[END:.*]]: i32, %[[ATOMS:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK: %[[THREAD_ROW:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[WARP_ROW:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[THREAD_ROW]], %[[END]]
// CHECK: %[[WARP_END:.*]] = arith.addi %[[WARP_ROW]], %{{.*}}
// CHECK: %[[WHOLE:.*]] = arith.cmpi ule, %[[WARP_END]], %[[END]]
// CHECK: scf.if %[[INSIDE]] -> (f32)
// CHECK-NEXT: global_load %[[PROB]][%[[THREAD_ROW]]]
// CHECK: load_accumulator
// CHECK: scf.if %[[WHOLE]] {
// CHECK-NEXT: moe_kernel.stage
// CHECK-NEXT: } else {
// CHECK-NEXT: scf.if %[[INSIDE]] {
// CHECK-NEXT: global_store %{{.*}} to %[[ROWS]][%[[THREAD_ROW]], %{{.*}}]
// CHECK: publish_staging
// CHECK-NEXT: scf.if %[[WHOLE]] {
// CHECK-NEXT: moe_kernel.store %[[MAP]][%[[WARP_ROW]],
// CHECK: commit_stores
// CHECK: role "load"
// CHECK: ^bb0(%{{.*}}: i32, %[[ROW:.*]]: i32, %{{.*}}: i32, %[[BEGIN:.*]]: i32, %{{.*}}: i32, %[[ATOMS:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[LOCAL:.*]] = arith.subi %[[ROW]], %[[BEGIN]]
// CHECK: %[[TILE:.*]] = arith.divui %[[LOCAL]], %{{.*}}
// CHECK: %[[DOWN:.*]] = arith.addi %[[ATOMS]], %[[TILE]]
// CHECK: %[[LINE:.*]] = arith.muli %[[DOWN]], %{{.*}}
// CHECK: %[[ATOM:.*]] = arith.addi %[[LINE]], %{{.*}}
// CHECK: moe_kernel.load %{{.*}}[%[[ATOM]], %{{.*}}]

// At most floor(R / 128) + L tiles along the rows, and as many atoms.
// CHECK-LABEL: func.func @anywhere
// CHECK: %[[R:.*]] = memref.dim %arg0
// CHECK: %[[FULL:.*]] = arith.divui %[[R]], %{{.*}}
// CHECK: %[[TILES:.*]] = arith.addi %[[FULL]], %{{.*}}
// CHECK: %[[ATOMS:.*]] = arith.muli %[[TILES]], %{{.*}}
// CHECK: require_extent %arg1 is %[[ATOMS]]
// CHECK: require_offsets %arg4 within %[[R]] aligned = 1
// CHECK: %[[SMS:.*]] = moe_kernel.sm_count
// CHECK: arith.minui %[[SMS]], %[[TILES]]
func.func @anywhere(%a: memref<?x256xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<3x64x256xf8E4M3FN>,
    %sb: memref<3x1x2x32x4x4xf8E8M0FNU>, %o: memref<3xi32>, %prob: memref<?xf32>, %d: memref<?x64xf32>) {
  grouped_moe.gemm lhs(%a : memref<?x256xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<3x64x256xf8E4M3FN> scales %sb : memref<3x1x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<3xi32>) ins(%prob : memref<?xf32> as per_row) outs(%d : memref<?x64xf32>)
      attributes {m_aligned = 1 : i64} epilogue {
  ^bb0(%acc: f32, %p: f32):
    %x = arith.mulf %acc, %p : f32
    grouped_moe.yield %x : f32
  }
  return
}

// -----

// Groups of multiples of 32 rows: the rows of a warp exist or not together, and no thread stores for itself. What rows
// that do not exist have in a reduction or a block is 0.
// CHECK-LABEL: moe_kernel.func @by_warps_gemm(
// CHECK-NOT: memref<?x64xf8E4M3FN>
// CHECK-LABEL: role "epilogue"
// CHECK: ^bb0(%{{.*}}: i32, %[[ROW:.*]]: i32, %{{.*}}: i32, %[[BEGIN:.*]]: i32, %[[END:.*]]: i32, %[[ATOMS:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK: arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[WARP_ROW:.*]] = arith.addi %[[ROW]], %{{.*}} : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[WARP_ROW]], %[[END]]
// CHECK-NOT: arith.cmpi ule
// CHECK: %[[PADDED:.*]] = arith.muli %[[ATOMS]], %{{.*}}
// CHECK: %[[SHIFT:.*]] = arith.subi %[[PADDED]], %[[BEGIN]]
// CHECK: load_accumulator
// CHECK: arith.select %[[INSIDE]], %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK: moe_kernel.stage
// CHECK: column_amax
// CHECK: column_sum
// CHECK: publish_staging
// CHECK: scf.if %[[INSIDE]] {
// CHECK-NEXT: moe_kernel.store
// CHECK: scf.if %[[INSIDE]] {
// CHECK-NEXT: moe_kernel.store
// CHECK: atomic_max
func.func @by_warps(%a: memref<?x128xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<3x64x128xf8E4M3FN>,
    %sb: memref<3x1x1x32x4x4xf8E8M0FNU>, %o: memref<3xi32>, %row: memref<?x64xf8E4M3FN>, %row_scales: memref<?x32x4x4xf8E8M0FNU>,
    %column: memref<?x64xf8E4M3FN>, %column_scales: memref<?x32x4x4xf8E8M0FNU>, %sum: memref<3x64xf32>, %amax: memref<3xf32>) {
  grouped_moe.gemm_quant
      lhs(%a : memref<?x128xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<3x64x128xf8E4M3FN> scales %sb : memref<3x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<3xi32>)
      outs(%row : memref<?x64xf8E4M3FN> as quantized, %row_scales : memref<?x32x4x4xf8E8M0FNU> as row_group_scales_rceil,
           %column : memref<?x64xf8E4M3FN> as quantized, %column_scales : memref<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %sum : memref<3x64xf32> as group_column_sum, %amax : memref<3xf32> as group_amax)
      attributes {m_aligned = 32 : i64}
  return
}

// -----

// Groups of whole tiles need none of that.
// CHECK-LABEL: moe_kernel.func @whole_tiles_gemm(
// CHECK-LABEL: role "epilogue"
// CHECK-NOT: arith.cmpi ul
// CHECK-NOT: arith.select {{.*}} : vector<32xf32>
// CHECK: role "load"
func.func @whole_tiles(%a: memref<?x128xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<3x64x128xf8E4M3FN>,
    %sb: memref<3x1x1x32x4x4xf8E8M0FNU>, %o: memref<3xi32>, %prob: memref<?xf32>, %d: memref<?x64xf32>, %amax: memref<3xf32>) {
  grouped_moe.gemm_quant
      lhs(%a : memref<?x128xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<3x64x128xf8E4M3FN> scales %sb : memref<3x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<3xi32>) ins(%prob : memref<?xf32> as prob)
      outs(%d : memref<?x64xf32>, %amax : memref<3xf32> as group_amax) attributes {m_aligned = 128 : i64}
  return
}
