// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm | FileCheck %s

// Two pairs along M: a box of B goes to every second CTA, its bytes count at the leader's barrier.
// CHECK: llvm.func @pairs({{.*}}nvvm.cluster_dim = array<i32: 4, 1, 1>
moe_kernel.func @pairs(%map: !moe_kernel.tensor_map<64x128xi8, swizzle = 128>) warps(8) cluster(4, 1) paired {
  // CHECK: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
  // CHECK: nvvm.mbarrier.init
  // All CTAs have their barriers before one is used.
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.cluster.arrive {aligned}
  // CHECK: nvvm.cluster.wait {aligned}
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 2x128x128xf8E4M3FN>
  %p = moe_kernel.pipeline "operands" producers = 1 consumers = 2 transaction_bytes = 32768 : !moe_kernel.pipeline<2>
  %q = moe_kernel.pipeline "results" producers = 1 consumers = 256 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "load" warps(4, 1) elected {
    %c0 = arith.constant 0 : i32
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<2>
    // The leader expects the bytes of both.
    // CHECK: %[[ODD:.*]] = arith.andi %[[RANK]], %{{.*}}
    // CHECK: %[[LEADS:.*]] = arith.cmpi eq, %[[ODD]], %{{.*}}
    // CHECK: scf.if %[[LEADS]] {
    // CHECK-NEXT: arith.constant 32768
    // CHECK-NEXT: nvvm.mbarrier.arrive.expect_tx
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<2>
    // CHECK: %[[BITS:.*]] = arith.constant 5 : i32
    // CHECK: %[[SHIFTED:.*]] = arith.shli %[[BITS]], %{{.*}} : i32
    // CHECK: %[[MASK:.*]] = arith.trunci %[[SHIFTED]] : i32 to i16
    // CHECK: %[[INTO:.*]] = llvm.addrspacecast %{{.*}} : !llvm.ptr<3> to !llvm.ptr<7>
    // CHECK: llvm.ptrtoint
    // CHECK: arith.constant -16777217
    // CHECK: %[[BARRIER:.*]] = llvm.inttoptr %{{.*}} : i32 to !llvm.ptr<3>
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[INTO]], %{{.*}}, %[[BARRIER]], box{{.*}}multicast_mask = %[[MASK]] {group = #nvvm.cta_group<cta_2>}
    moe_kernel.load %map[%c0, %c0] to %b on %p[%c0] slice %c0 along m
        : !moe_kernel.tensor_map<64x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 2x128x128xf8E4M3FN>, !moe_kernel.pipeline<2>
    // CHECK: scf.for
    // CHECK: nvvm.mbarrier.try_wait {{.*}}scope = #nvvm.mem_scope<cluster>
    moe_kernel.drain %p[%c0] : !moe_kernel.pipeline<2>
  }
  // CHECK: %[[INROLE:.*]] = arith.andi %{{.*}}, %{{.*}} : i1
  // CHECK: scf.if %[[INROLE]]
  moe_kernel.role "mma" warps(5, 1) elected leader {
    %c0 = arith.constant 0 : i32
    moe_kernel.acquire %q[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<2>
    // Whoever loaded what this pair has read: all four.
    // CHECK: arith.constant 15 : i32
    // CHECK: %[[WRITERS:.*]] = arith.ori
    // CHECK: nvvm.tcgen05.commit %{{.*}}, multicast_mask = %[[WRITERS]] {group = #nvvm.cta_group<cta_2>}
    moe_kernel.commit empty %p[%c0] : !moe_kernel.pipeline<2>
    // Both CTAs have accumulators.
    // CHECK: arith.constant 3 : i32
    // CHECK: %[[PAIR:.*]] = arith.trunci
    // CHECK: nvvm.tcgen05.commit %{{.*}}, multicast_mask = %[[PAIR]] {group = #nvvm.cta_group<cta_2>}
    moe_kernel.commit full %q[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "epilogue" warps(0, 4) {
    %c0 = arith.constant 0 : i32
    moe_kernel.wait %q[%c0] : !moe_kernel.pipeline<1>
    // CHECK: nvvm.mbarrier.arrive %{{.*}} {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
    moe_kernel.release %q[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// CTAs of a cluster of 2 x 2 take the four tiles of a rectangle.
// CHECK: llvm.func @rectangle
moe_kernel.func @rectangle(%offsets: memref<4xi32>, %out: memref<?xi32>) warps(1) cluster(2, 2) {
  // CHECK: nvvm.read.ptx.sreg.clusterid.x
  // CHECK: nvvm.read.ptx.sreg.nclusterid.x
  // CHECK-DAG: arith.remui %{{.*}}, %{{.*}} : i32
  // CHECK-DAG: arith.divui %{{.*}}, %{{.*}} : i32
  moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 600 {
  ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32):
    moe_kernel.global_store %column to %out[%row] : i32, memref<?xi32>
    moe_kernel.yield
  }
  moe_kernel.return
}
