// RUN: %gmoe-opt %s --grouped-moe-generalize --grouped-moe-select-schedule --grouped-moe-convert-to-kernel --moe-kernel-check-resources --moe-kernel-check-protocol --split-input-file | FileCheck %s

// FP4 down columns is stored columns first: a lane gets the 32 rows of a column, and a warp's box is 16 bytes of each of 32
// columns. With blocks of 16 an atom spans 64 rows; those of the groups before are counted, and past the group's last one
// nothing is written.
// CHECK-LABEL: moe_kernel.func @fine_gemm(
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !moe_kernel.tensor_map<32x16xi8, swizzle = 0>, %[[SCALES:[a-z0-9]+]]: memref<?x32x4x4xf8E4M3FN>
// CHECK: for_tiles {{.*}} fine_rows = 64
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %[[ROW:.*]]: i32, %{{.*}}: i32, %[[BEGIN:.*]]: i32, %[[END:.*]]: i32, %{{.*}}: i32, %[[FINE:.*]]: i32, %{{.*}}: i32, %{{.*}}: i32):
// CHECK: %[[COLUMN:.*]] = moe_kernel.transpose_lanes %{{.*}} : vector<32xf32>
// CHECK: vector.extract_strided_slice %[[COLUMN]] {offsets = [0], sizes = [16]
// CHECK: %[[CODES:.*]] = moe_kernel.encode %{{.*}} to f4E2M1FN : vector<32xf32> -> vector<16xi8>
// CHECK: moe_kernel.stage %[[CODES]] to %{{.*}} : vector<16xi8>, <shared, 2x128x16xi8>
// CHECK: %[[ROWS:.*]] = arith.subi %[[END]], %[[BEGIN]]
// CHECK: arith.addi %[[FINE]]
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult
// CHECK: scf.if %[[EXISTS]] {
// CHECK: global_store %{{.*}} to %[[SCALES]]{{.*}} : vector<2xi8>
// CHECK: moe_kernel.store %[[MAP]][%{{.*}}, %{{.*}}]
// CHECK-LABEL: func.func @fine
// CHECK: moe_kernel.require_multiple %arg5 of 32 {axis = 1 : i64} : memref<64x?xf4E2M1FN>
func.func @fine(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<?x32x4x4xf8E4M3FN>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<?x32x4x4xf8E4M3FN> as column_group_scales_nearest) attributes {m_aligned = 32 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

// Groups of whole tiles need no such count.
// CHECK-LABEL: moe_kernel.func @whole_tiles_gemm(
// CHECK-NOT: fine_rows
// CHECK: transpose_lanes
// CHECK-NOT: scf.if
// CHECK: global_store {{.*}} : vector<2xi8>
func.func @whole_tiles(
    %a: memref<?x64xf8E4M3FN>, %sa: memref<?x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d0: memref<64x?xf4E2M1FN>, %d1: memref<?x32x4x4xf8E4M3FN>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d0 : memref<64x?xf4E2M1FN> as quantized, %d1 : memref<?x32x4x4xf8E4M3FN> as column_group_scales_nearest) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

// quantize and dequantize: pieces of 32 rows of a column.
// CHECK-LABEL: moe_kernel.func @matrix_quantize(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x96xf32>, %[[PIECES:[a-z0-9]+]]: memref<?x32xf4E2M1FN>, %[[S:[a-z0-9]+]]: memref<?x32x4x4xf8E8M0FNU>
// CHECK-COUNT-32: global_load %[[X]]
// CHECK: global_store %{{.*}} to %[[PIECES]][%{{.*}}, %{{.*}}] : vector<16xi8>
// CHECK: global_store %{{.*}} to %[[S]]{{.*}} : i8
// CHECK-LABEL: moe_kernel.func @matrix_dequantize(
// CHECK-SAME: %[[PIECES:[a-z0-9]+]]: memref<?x32xf4E2M1FN>
// CHECK: global_load %[[PIECES]][%{{.*}}, %{{.*}}] : memref<?x32xf4E2M1FN> -> vector<16xi8>
// CHECK-LABEL: func.func @matrix
// CHECK: moe_kernel.require_multiple %arg1 of 32 {axis = 1 : i64}
func.func @matrix(%x: memref<?x96xf32>, %q: memref<96x?xf4E2M1FN>, %s: memref<1x?x32x4x4xf8E8M0FNU>) {
  grouped_moe.quantize ins(%x : memref<?x96xf32>) outs(%q, %s : memref<96x?xf4E2M1FN>, memref<1x?x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil
  grouped_moe.dequantize ins(%q : memref<96x?xf4E2M1FN> scales %s : memref<1x?x32x4x4xf8E8M0FNU>) outs(%x : memref<?x96xf32>)
      layout <column, whole, block = 32>
  return
}

// -----

// A gradient of NVFP4: four atoms of each operand a stage, and 64 rows an instruction.
// CHECK-LABEL: moe_kernel.func @gradient_wgrad(
// CHECK: alloc "a" : <shared, {{.*}}x128x256xf4E2M1FN>
// CHECK: alloc "a_scales" : <shared, {{.*}}x4x512xi8>
// CHECK-LABEL: role "load"
// CHECK: moe_kernel.load {{.*}} to %[[A:.*]] on
// CHECK-COUNT-4: moe_kernel.load {{.*}} to %[[SA:.*]] on
// CHECK-LABEL: role "mma"
// CHECK: moe_kernel.mma {{.*}} {fine_scales}
func.func @gradient(%dy: memref<64x?xf4E2M1FN>, %sdy: memref<?x32x4x4xf8E4M3FN>, %x: memref<96x?xf4E2M1FN>, %sx: memref<?x32x4x4xf8E4M3FN>,
    %o: memref<4xi32>, %dw: memref<4x64x96xf32>) {
  grouped_moe.wgrad lhs(%dy : memref<64x?xf4E2M1FN> scales %sdy : memref<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>)
      rhs(%x : memref<96x?xf4E2M1FN> scales %sx : memref<?x32x4x4xf8E4M3FN> layout <column, per_group, block = 16>)
      offsets(%o : memref<4xi32>) outs(%dw : memref<4x64x96xf32>) attributes {m_aligned = 128 : i64, lhs_transposed, rhs_transposed}
  return
}
