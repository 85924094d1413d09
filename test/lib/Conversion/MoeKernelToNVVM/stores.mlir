// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: %gmoe-opt %s --pass-pipeline="builtin.module(moe-kernel-convert-to-nvvm,gpu.module(moe-kernel-to-llvm),gpu-module-to-binary{format=isa})" | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: llvm.func @stores
// PTX: .visible .entry stores
moe_kernel.func @stores(%x: memref<?x32xf32>, %map: !moe_kernel.tensor_map<32x32xf32, swizzle = 128>, %n: i32) warps(6) {
  %staging = moe_kernel.alloc "staging" : !moe_kernel.buffer<shared, 2x128x32xf32>
  moe_kernel.role "store" warps(2, 4) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %t = moe_kernel.index thread : i32
    %w = moe_kernel.index warp : i32
    %first = arith.muli %w, %c32 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %v = moe_kernel.global_load %x[%t, %c0] : memref<?x32xf32> -> vector<32xf32>
      // The thread that commits groups waits for them; the others wait for it.
      // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %c0_i32
      // CHECK: scf.if %[[FIRST]] {
      // CHECK-NEXT: nvvm.cp.async.bulk.wait_group 1 {read}
      // CHECK-NEXT: }
      // CHECK-NEXT: nvvm.bar.warp.sync
      // PTX-SAME: cp.async.bulk.wait_group.read \091;
      // PTX-SAME: bar.warp.sync
      moe_kernel.acquire_staging pending = 1
      %slot = arith.andi %i, %c1 : i32
      // CHECK-COUNT-8: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
      // PTX-SAME: st.shared.v{{2.b64|4.b32}}
      moe_kernel.stage %v to %staging[%slot] : vector<32xf32>, !moe_kernel.buffer<shared, 2x128x32xf32>
      // CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // CHECK-NEXT: nvvm.bar.warp.sync
      // PTX-SAME: fence.proxy.async.shared::cta
      // PTX-SAME: bar.warp.sync
      moe_kernel.publish_staging
      // CHECK: scf.if
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %{{.*}}, box[%c0_i32, %{{.*}}]
      // PTX-SAME: cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group
      moe_kernel.store %map[%first, %c0] from %staging[%slot] : !moe_kernel.tensor_map<32x32xf32, swizzle = 128>, !moe_kernel.buffer<shared, 2x128x32xf32>
      // CHECK: scf.if
      // CHECK-NEXT: nvvm.cp.async.bulk.commit.group
      // PTX-SAME: cp.async.bulk.commit_group
      moe_kernel.commit_stores
    }
    // Nothing follows: no lane waits for the first.
    // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
    // CHECK-NOT: nvvm.bar.warp.sync
    // PTX-SAME: cp.async.bulk.wait_group.read \090;
    moe_kernel.acquire_staging pending = 0
  }
  moe_kernel.return
}
