// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

// CHECK-LABEL: moe_kernel.func @build(%{{.*}}: !moe_kernel.tensor_map<128x128xi8, swizzle = 128>, %{{.*}}: memref<4x!moe_kernel.tensor_map<128x128xi8, swizzle = 128>>
moe_kernel.func @build(%source: !map, %maps: memref<4x!map>, %address: i64, %rows: i32) warps(1) {
  %i = moe_kernel.index thread : i32
  // CHECK: moe_kernel.build_map %{{.*}} to %{{.*}}[%{{.*}}] : <128x128xi8, swizzle = 128>, memref<4x
  moe_kernel.build_map %source to %maps[%i] : !map, memref<4x!map>
  // CHECK: moe_kernel.build_map %{{.*}} to %{{.*}}[%{{.*}}] address %{{.*}} extents [0] = %{{.*}} :
  moe_kernel.build_map %source to %maps[%i] address %address extents [0] = %rows : !map, memref<4x!map>
  // CHECK: moe_kernel.release_maps
  moe_kernel.release_maps
  // CHECK: moe_kernel.map_element
  %map = moe_kernel.map_element %maps[%i] : memref<4x!map> -> !map
  // CHECK: moe_kernel.acquire_map
  moe_kernel.acquire_map %map : !map
  moe_kernel.return
}

// CHECK-LABEL: func.func @host
func.func @host(%p: memref<4xi64>, %o: memref<4xi32>) {
  // CHECK: moe_kernel.require_addresses %{{.*}} of memref<512x256xf8E4M3FN> groups(%{{.*}} : memref<4xi32>) {read_only} : memref<4xi64>
  moe_kernel.require_addresses %p of memref<512x256xf8E4M3FN> groups(%o : memref<4xi32>) {read_only} : memref<4xi64>
  // CHECK: moe_kernel.make_tensor_map %{{.*}} of memref<512x256xf8E4M3FN> : memref<4xi64>
  %map = moe_kernel.make_tensor_map %p of memref<512x256xf8E4M3FN> : memref<4xi64> -> !map
  return
}
