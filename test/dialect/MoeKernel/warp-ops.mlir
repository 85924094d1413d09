// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

// CHECK-LABEL: moe_kernel.func @stores
moe_kernel.func @stores(%x: memref<?x32xf32>, %map: !moe_kernel.tensor_map<32x32xf32, swizzle = 128>) warps(4) {
  %staging = moe_kernel.alloc "staging" : !moe_kernel.buffer<shared, 2x128x32xf32>
  moe_kernel.role "store" warps(0, 4) {
    %c0 = arith.constant 0 : i32
    %t = moe_kernel.index thread : i32
    %v = moe_kernel.global_load %x[%t, %c0] : memref<?x32xf32> -> vector<32xf32>
    // CHECK: moe_kernel.acquire_staging pending = 1
    moe_kernel.acquire_staging pending = 1
    // CHECK: moe_kernel.stage %{{.*}} to %{{.*}}[%{{.*}}] : vector<32xf32>, <shared, 2x128x32xf32>
    moe_kernel.stage %v to %staging[%c0] : vector<32xf32>, !moe_kernel.buffer<shared, 2x128x32xf32>
    // CHECK: moe_kernel.publish_staging
    moe_kernel.publish_staging
    // CHECK: moe_kernel.store %{{.*}}[%{{.*}}, %{{.*}}] from %{{.*}}[%{{.*}}] : <32x32xf32, swizzle = 128>, <shared, 2x128x32xf32>
    moe_kernel.store %map[%t, %c0] from %staging[%c0] : !moe_kernel.tensor_map<32x32xf32, swizzle = 128>, !moe_kernel.buffer<shared, 2x128x32xf32>
    // CHECK: moe_kernel.commit_stores
    moe_kernel.commit_stores
    moe_kernel.acquire_staging pending = 0
  }
  moe_kernel.return
}

// CHECK-LABEL: moe_kernel.func @collectives
moe_kernel.func @collectives(%x: memref<?x32xf32>, %counters: memref<?xi32>, %amax: memref<8xf32>, %codes: memref<?x16xi8>) warps(4) {
  %sums = moe_kernel.alloc "sums" : !moe_kernel.buffer<shared, 1x4x32xf32>
  %c0 = arith.constant 0 : i32
  %c9 = arith.constant 9 : i32
  %t = moe_kernel.index thread : i32
  %v = moe_kernel.global_load %x[%t, %c0] : memref<?x32xf32> -> vector<32xf32>
  // CHECK: moe_kernel.column_amax %{{.*}} : vector<32xf32> -> f32
  %a = moe_kernel.column_amax %v : vector<32xf32> -> f32
  // CHECK: moe_kernel.column_sum %{{.*}} : vector<32xf32> -> f32
  %s = moe_kernel.column_sum %v : vector<32xf32> -> f32
  // CHECK: moe_kernel.spread_lanes %{{.*}} : f32 -> vector<32xf32>
  %w = moe_kernel.spread_lanes %a : f32 -> vector<32xf32>
  // CHECK: moe_kernel.transpose_lanes %{{.*}} : vector<32xf32>
  %z = moe_kernel.transpose_lanes %v : vector<32xf32>
  // CHECK: moe_kernel.warp_amax %{{.*}} : f32 -> f32
  %m = moe_kernel.warp_amax %s : f32 -> f32
  // CHECK: moe_kernel.shared_store %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : <shared, 1x4x32xf32>
  moe_kernel.shared_store %s to %sums[%c0, %t] : !moe_kernel.buffer<shared, 1x4x32xf32>
  // CHECK: moe_kernel.barrier
  moe_kernel.barrier
  // CHECK: moe_kernel.shared_load %{{.*}}[%{{.*}}, %{{.*}}] : <shared, 1x4x32xf32> -> f32
  %r = moe_kernel.shared_load %sums[%c0, %c0] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
  // CHECK: moe_kernel.last_arrival %{{.*}}[%{{.*}}] of %{{.*}} : memref<?xi32> -> i1
  %last = moe_kernel.last_arrival %counters[%c0] of %c9 : memref<?xi32> -> i1
  scf.if %last {
    // CHECK: moe_kernel.atomic_max %{{.*}} to %{{.*}}[%{{.*}}] : f32, memref<8xf32>
    moe_kernel.atomic_max %m to %amax[%c0] : f32, memref<8xf32>
    // CHECK: moe_kernel.atomic_add %{{.*}} to %{{.*}}[%{{.*}}, %{{.*}}] : f32, memref<?x32xf32>
    moe_kernel.atomic_add %r to %x[%c0, %c9] : f32, memref<?x32xf32>
  }
  // CHECK: moe_kernel.encode %{{.*}} to f4E2M1FN : vector<32xf32> -> vector<16xi8>
  %packed = moe_kernel.encode %w to f4E2M1FN : vector<32xf32> -> vector<16xi8>
  moe_kernel.global_store %packed to %codes[%t, %c0] : vector<16xi8>, memref<?x16xi8>
  // CHECK: moe_kernel.encode_scale %{{.*}} to f8E4M3FN : f32 -> i8
  %e = moe_kernel.encode_scale %m to f8E4M3FN : f32 -> i8
  moe_kernel.return
}

// CHECK-LABEL: func.func @host
func.func @host(%x: memref<?x32xf32>, %counters: memref<?xi32>) {
  %n = arith.constant 0 : index
  // CHECK: moe_kernel.fill_zero %{{.*}} : memref<?xi32>
  moe_kernel.fill_zero %counters : memref<?xi32>
  moe_kernel.launch @k grid(%n) args(%x : memref<?x32xf32>) writes [0]
  return
}
moe_kernel.func @k(%x: memref<?x32xf32>) warps(1) {
  moe_kernel.return
}
