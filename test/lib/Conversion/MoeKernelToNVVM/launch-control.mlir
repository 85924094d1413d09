// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm | FileCheck %s

// Tiles of clusters that have not been launched.
// CHECK: llvm.func @dynamic
moe_kernel.func @dynamic(%offsets: memref<4xi32>, %out: memref<?xi32>) warps(3) cluster(2, 1) {
  %next = moe_kernel.alloc "next_tiles" : !moe_kernel.buffer<shared, 2x16xi8>
  // Of each of the two CTAs two warps that walk, and of the second one the role that asks.
  %queue = moe_kernel.pipeline "tiles" producers = 1 consumers = 5 transaction_bytes = 16 : !moe_kernel.pipeline<2>
  // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  moe_kernel.role "walk" warps(0, 2) {
    // CHECK: %[[FIRST:.*]] = nvvm.read.ptx.sreg.clusterid.x
    // CHECK: scf.while (%[[T:[a-z0-9]+]] = %[[FIRST]]
    // An earlier group than the cursor's: start again.
    // CHECK: arith.cmpi slt, %[[T]],
    // CHECK: scf.condition
    // A number past the last tile is no tile.
    // CHECK: %[[EXISTS:.*]] = arith.cmpi ult
    // CHECK: scf.if %[[EXISTS]] {
    // CHECK: llvm.store
    // CHECK: nvvm.mbarrier.try_wait
    // CHECK: %[[ANSWER:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> i128
    // CHECK: nvvm.fence.proxy
    // CHECK: nvvm.bar.warp.sync
    // One lane gives the answer back to rank 0.
    // CHECK: nvvm.mapa
    // CHECK: nvvm.mbarrier.arrive %{{.*}} {scope = #nvvm.mem_scope<cluster>}
    // CHECK: nvvm.clusterlaunchcontrol.query.cancel query = is_canceled, %[[ANSWER]]
    // CHECK: nvvm.clusterlaunchcontrol.query.cancel query = get_first_cta_id_x, %[[ANSWER]]
    moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 600 along short_side
        from %next on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2> {
    ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32):
      moe_kernel.global_store %column to %out[%row] : i32, memref<?xi32>
      moe_kernel.yield
    }
  }
  moe_kernel.role "ask" warps(2, 1) elected {
    // CHECK: arith.cmpi eq, %[[RANK]],
    // CHECK: scf.while
    // CHECK: scf.if
    // CHECK: nvvm.mbarrier.try_wait
    // Every CTA expects its copy.
    // CHECK: nvvm.mbarrier.arrive.expect_tx
    // CHECK: scf.if
    // CHECK: nvvm.clusterlaunchcontrol.try.cancel multicast,
    // CHECK: llvm.load %{{.*}} : !llvm.ptr<3> -> i128
    // The next write to it comes after this read, also of rank 0, which asks and tells only the others.
    // CHECK: nvvm.fence.proxy
    // CHECK: %[[OTHER:.*]] = arith.cmpi ne, %[[RANK]],
    // CHECK: scf.if %[[OTHER]] {
    // CHECK: nvvm.mbarrier.arrive %{{.*}} {scope = #nvvm.mem_scope<cluster>}
    moe_kernel.request_tiles %next on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2>
  }
  moe_kernel.return
}
