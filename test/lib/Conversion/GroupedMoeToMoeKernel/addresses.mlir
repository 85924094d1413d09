// RUN: %gmoe-opt %s --grouped-moe-select-schedule --grouped-moe-convert-to-kernel --canonicalize --cse --moe-kernel-check-resources --moe-kernel-check-protocol | FileCheck %s

// A small kernel builds a map of data and one of scales for each group that has rows; the product's load role acquires those of
// a group before it uses them.

// CHECK-LABEL: moe_kernel.func @f_gemm(
// CHECK-SAME: %[[MAPS:[a-z0-9]+]]: memref<2x!moe_kernel.tensor_map<128x128xi8, swizzle = 128>>, %[[SCALES:[a-z0-9]+]]: memref<2x!moe_kernel.tensor_map<1x1x256xi16, swizzle = 0>>
// CHECK: role "load"
// CHECK: ^bb0(%[[GROUP:[a-z0-9]+]]: i32, %{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[USED:[a-z0-9]+]]: i32):
// CHECK: %[[MAP:.*]] = moe_kernel.map_element %[[MAPS]][%[[GROUP]]]
// CHECK: %[[SCALE:.*]] = moe_kernel.map_element %[[SCALES]][%[[GROUP]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[GROUP]], %c1_i32
// CHECK: %[[OTHER:.*]] = arith.cmpi ne, %[[NEXT]], %[[USED]]
// CHECK: scf.if %[[OTHER]] {
// CHECK: acquire_map %[[MAP]]
// CHECK: acquire_map %[[SCALE]]
// CHECK: moe_kernel.load %[[MAP]][%{{.*}}, %{{.*}}]
// CHECK: moe_kernel.load %[[SCALE]][%{{.*}}, %{{.*}}, %{{.*}}]
// CHECK: yield %{{.*}}, %[[NEXT]] : i32, i32

// CHECK-LABEL: moe_kernel.func @f_gemm_maps(
// CHECK-SAME: warps(1)
// CHECK: %[[SOME:.*]] = arith.cmpi sgt
// CHECK: scf.if %[[SOME]] {
// CHECK: %[[ADDRESS:.*]] = moe_kernel.global_load %{{.*}} : memref<2xi64> -> i64
// CHECK: moe_kernel.build_map %{{.*}} to %{{.*}} address %[[ADDRESS]]
// CHECK: moe_kernel.build_map
// CHECK: moe_kernel.release_maps

// CHECK-LABEL: func.func @f(
// CHECK-DAG: moe_kernel.require_addresses %{{.*}} of memref<512x256xf8E4M3FN> groups(%{{.*}} : memref<2xi32>) {read_only} : memref<2xi64>
// CHECK-DAG: moe_kernel.require_addresses %{{.*}} of memref<4x2x32x4x4xf8E8M0FNU> groups
// CHECK-DAG: memref.alloc() : memref<2x!moe_kernel.tensor_map<128x128xi8, swizzle = 128>>
// CHECK-DAG: moe_kernel.make_tensor_map %{{.*}} of memref<512x256xf8E4M3FN> : memref<2xi64>
// CHECK: moe_kernel.launch @f_gemm_maps grid(%c1)
// CHECK: moe_kernel.launch @f_gemm grid(
func.func @f(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2xi64>, %sfb: memref<2xi64>,
    %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2xi64> of tensor<512x256xf8E4M3FN> scales %sfb : memref<2xi64> of tensor<4x2x32x4x4xf8E8M0FNU>
          layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}
      epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
