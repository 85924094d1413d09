// RUN: %gmoe-opt %s --grouped-moe-convert-to-kernel | FileCheck %s

// 2 * 192 * 128 bytes in pieces of 16: 24 CTAs of data. 4 atoms in pieces of 4 scales: 4 CTAs more, in one launch.
// CHECK-LABEL: moe_kernel.func @weights_interleave_glu(
// CHECK: %[[ITEMS:.*]] = arith.constant 3072
// CHECK: arith.cmpi ult, %{{.*}}, %[[ITEMS]]
// CHECK: global_load {{.*}} : memref<2x192x128xf8E4M3FN> -> vector<16xi8>
// CHECK: global_store {{.*}} : vector<16xi8>, memref<2x192x128xf8E4M3FN>
// CHECK: scf.if {{.*}} -> (vector<4xi8>)
// CHECK: global_load {{.*}} -> vector<4xi8>
// CHECK: } else {
// CHECK: arith.constant dense<0> : vector<4xi8>
// CHECK: global_store {{.*}} : vector<4xi8>, memref<2x2x1x32x4x4xf8E8M0FNU>
// CHECK-LABEL: func.func @weights
// CHECK: %[[GRID:.*]] = arith.constant 28 : index
// CHECK: moe_kernel.launch @weights_interleave_glu grid(%[[GRID]]) {{.*}} writes [1, 3]
func.func @weights(%w: memref<2x192x128xf8E4M3FN>, %s: memref<2x2x1x32x4x4xf8E8M0FNU>, %w0: memref<2x192x128xf8E4M3FN>,
    %s0: memref<2x2x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.interleave_glu ins(%w : memref<2x192x128xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x192x128xf8E4M3FN>, memref<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  return
}

// Vectors, and rows that are no multiple of 16 bytes.
// CHECK-LABEL: moe_kernel.func @rest_interleave_glu(
// CHECK: global_load {{.*}} : memref<4x64xf32> -> vector<4xf32>
// CHECK-LABEL: moe_kernel.func @rest_interleave_glu_2(
// CHECK: global_load {{.*}} : memref<4x64x6xbf16> -> vector<2xbf16>
// CHECK-LABEL: moe_kernel.func @rest_interleave_glu_3(
// CHECK: global_load {{.*}} : memref<4x64x7xf8E5M2> -> i8
func.func @rest(%a: memref<4x64xf32>, %a0: memref<4x64xf32>, %b: memref<4x64x6xbf16>, %b0: memref<4x64x6xbf16>,
    %c: memref<4x64x7xf8E5M2>, %c0: memref<4x64x7xf8E5M2>) {
  grouped_moe.interleave_glu ins(%a : memref<4x64xf32>) outs(%a0 : memref<4x64xf32>)
  grouped_moe.interleave_glu ins(%b : memref<4x64x6xbf16>) outs(%b0 : memref<4x64x6xbf16>)
  grouped_moe.interleave_glu ins(%c : memref<4x64x7xf8E5M2>) outs(%c0 : memref<4x64x7xf8E5M2>)
  return
}
