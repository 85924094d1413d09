// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse | FileCheck %s

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

// CHECK: llvm.func @build(%[[SOURCE:[a-z0-9]+]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[MAPS:[a-z0-9]+]]: !llvm.ptr<1>
// CHECK-SAME: %[[ADDRESS:[a-z0-9]+]]: i64, %[[ROWS:[a-z0-9]+]]: i32, %[[I:[a-z0-9]+]]: i32)
moe_kernel.func @build(%source: !map, %maps: memref<4x!map>, %address: i64, %rows: i32, %i: i32) warps(1) {
  // CHECK: %[[WIDE:.*]] = arith.extui %[[I]] : i32 to i64
  // CHECK: %[[BYTES:.*]] = arith.muli %[[WIDE]], %c128_i64
  // CHECK: %[[TO:.*]] = llvm.getelementptr %[[MAPS]][%[[BYTES]]]
  // CHECK-COUNT-8: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xi32>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.tensormap.replace.global.address.p1"(%[[TO]], %[[ADDRESS]])
  // Rows are the slow one of two dimensions, number 1 of PTX.
  // CHECK: llvm.call_intrinsic "llvm.nvvm.tensormap.replace.global.dim.p1"(%[[TO]], %c1_i32, %[[ROWS]])
  moe_kernel.build_map %source to %maps[%i] address %address extents [0] = %rows : !map, memref<4x!map>
  // CHECK: nvvm.fence.proxy.release <gpu>
  moe_kernel.release_maps
  // CHECK: %[[GENERIC:.*]] = llvm.addrspacecast %[[TO]] : !llvm.ptr<1> to !llvm.ptr
  %map = moe_kernel.map_element %maps[%i] : memref<4x!map> -> !map
  // CHECK: nvvm.fence.proxy.acquire <gpu> %[[GENERIC]], %{{.*}}
  moe_kernel.acquire_map %map : !map
  moe_kernel.return
}
