// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse | FileCheck %s

// 256 accumulator columns, then 2 x 4 of scales of A and 2 x 8 of B: 280 of 512.
// CHECK-LABEL: llvm.func @matrix
// CHECK-SAME: moe_kernel.tmem_columns = 512 : i32
moe_kernel.func @matrix(%pos: i32, %k_blocks: i32, %out: memref<?x32xf32>) warps(5) {
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 2x128x128xf8E4M3FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 2x256x128xf8E5M2>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<shared, 2x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<shared, 2x2x512xi8>
  %sfa_t = moe_kernel.alloc "sfa_t" : !moe_kernel.buffer<tensor, 2x1x512xi8>
  %sfb_t = moe_kernel.alloc "sfb_t" : !moe_kernel.buffer<tensor, 2x2x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x256xf32>
  %ops = moe_kernel.pipeline "operands" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<2>
  %accs = moe_kernel.pipeline "accumulators" producers = 1 consumers = 128 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  %c0 = arith.constant 0 : i32
  %false = arith.constant false
  // The warp of the role that multiplies allocates.
  // CHECK: %[[WARP:.*]] = nvvm.shfl.sync
  // CHECK: %[[IS:.*]] = arith.cmpi eq, %[[WARP]], %c4_i32
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: scf.if %[[IS]]
  // CHECK-NEXT: llvm.getelementptr
  // CHECK-NEXT: nvvm.tcgen05.alloc %{{.*}}, %c512_i32
  // CHECK-NEXT: nvvm.tcgen05.relinquish_alloc_permit
  // Allocation is not asynchronous: the barrier alone orders it.
  // CHECK: nvvm.barrier
  // CHECK-NOT: nvvm.tcgen05.fence
  // CHECK: %[[BASE:.*]] = llvm.load
  moe_kernel.role "mma" warps(4, 1) elected {
    // CHECK: nvvm.mbarrier.try_wait
    // CHECK: nvvm.tcgen05.fence <after>
    moe_kernel.acquire %accs[%c0] : !moe_kernel.pipeline<1>
    // What copies bring needs no fence.
    // CHECK: nvvm.mbarrier.try_wait
    // CHECK-NOT: nvvm.tcgen05.fence
    moe_kernel.wait %ops[%pos] : !moe_kernel.pipeline<2>
    // One copy for each 512 bytes.
    // CHECK: nvvm.tcgen05.cp
    moe_kernel.copy_scales %sfa to %sfa_t on %ops[%pos] : !moe_kernel.buffer<shared, 2x1x512xi8>, !moe_kernel.buffer<tensor, 2x1x512xi8>, !moe_kernel.pipeline<2>
    // CHECK: nvvm.tcgen05.cp
    // CHECK: nvvm.tcgen05.cp
    // CHECK-NOT: nvvm.tcgen05.cp
    moe_kernel.copy_scales %sfb to %sfb_t on %ops[%pos] : !moe_kernel.buffer<shared, 2x2x512xi8>, !moe_kernel.buffer<tensor, 2x2x512xi8>, !moe_kernel.pipeline<2>
    // N = 256, A e4m3, B e5m2, block 0.
    // CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %[[DA:.*]], %[[DB:.*]], %c146801664_i32, %false
    // CHECK: arith.cmpi sgt, %{{.*}}, %c1_i32
    // CHECK: scf.if
    // CHECK: arith.addi %[[DA]], %c2_i64
    // CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %{{.*}}, %{{.*}}, %c683672592_i32, %true
    // CHECK: arith.cmpi sgt, %{{.*}}, %c2_i32
    // CHECK: nvvm.tcgen05.mma.block_scale
    // CHECK: arith.cmpi sgt, %{{.*}}, %c3_i32
    // CHECK: nvvm.tcgen05.mma.block_scale
    // CHECK-NOT: nvvm.tcgen05.mma.block_scale
    moe_kernel.mma %acc on %accs[%c0], %a, %b scales %sfa_t, %sfb_t on %ops[%pos] accumulate %false k_blocks %k_blocks : !moe_kernel.buffer<tensor, 1x128x256xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 2x128x128xf8E4M3FN>, !moe_kernel.buffer<shared, 2x256x128xf8E5M2>, !moe_kernel.buffer<tensor, 2x1x512xi8>, !moe_kernel.buffer<tensor, 2x2x512xi8>, !moe_kernel.pipeline<2>
    // CHECK: nvvm.tcgen05.commit
    moe_kernel.commit empty %ops[%pos] : !moe_kernel.pipeline<2>
    // CHECK: nvvm.tcgen05.commit
    moe_kernel.commit full %accs[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "epilogue" warps(0, 4) {
    // CHECK: nvvm.mbarrier.try_wait
    // CHECK: nvvm.tcgen05.fence <after>
    moe_kernel.wait %accs[%c0] : !moe_kernel.pipeline<1>
    // 32 lanes a warp, in bits 16 and up.
    // CHECK: %[[LANES:.*]] = arith.shli %[[WARP]], %c21_i32
    // CHECK: %[[LD:.*]] = nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_32x32b>} : vector<32xi32>
    // The wait returns what it waited for.
    // CHECK: %[[REGS:.*]] = llvm.inline_asm has_side_effects {{.*}} "tcgen05.wait::ld.sync.aligned;", "=r,
    // CHECK: llvm.extractvalue %[[REGS]][0]
    %v = moe_kernel.load_accumulator %acc on %accs[%c0] column %c0 : !moe_kernel.buffer<tensor, 1x128x256xf32>, !moe_kernel.pipeline<1> -> vector<32xf32>
    // CHECK: nvvm.tcgen05.fence <before>
    // CHECK: nvvm.mbarrier.arrive
    moe_kernel.release %accs[%c0] : !moe_kernel.pipeline<1>
    %t = moe_kernel.index thread : i32
    moe_kernel.global_store %v to %out[%t, %c0] : vector<32xf32>, memref<?x32xf32>
  }
  // CHECK: nvvm.barrier
  // CHECK: nvvm.tcgen05.dealloc %{{.*}}, %c512_i32
  moe_kernel.return
}

// Accumulators that are given back unread, of a tile past its group, need no fence: nothing on this path touches them.
// CHECK-LABEL: llvm.func @unread
moe_kernel.func @unread(%pos: i32, %row: i32, %rows: i32, %out: memref<?x32xf32>) warps(4) {
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 2x128x128xf32>
  %accs = moe_kernel.pipeline "accumulators" producers = 1 consumers = 128 transaction_bytes = 0 : !moe_kernel.pipeline<2>
  %c0 = arith.constant 0 : i32
  moe_kernel.role "epilogue" warps(0, 4) {
    %t = moe_kernel.index thread : i32
    %exists = arith.cmpi slt, %row, %rows : i32
    // CHECK: scf.if %{{.*}} {
    scf.if %exists {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK: nvvm.tcgen05.fence <after>
      moe_kernel.wait %accs[%pos] : !moe_kernel.pipeline<2>
      // CHECK: nvvm.tcgen05.ld
      %v = moe_kernel.load_accumulator %acc on %accs[%pos] column %c0 : !moe_kernel.buffer<tensor, 2x128x128xf32>, !moe_kernel.pipeline<2> -> vector<32xf32>
      // CHECK: nvvm.tcgen05.fence <before>
      // CHECK: nvvm.mbarrier.arrive
      moe_kernel.release %accs[%pos] : !moe_kernel.pipeline<2>
      moe_kernel.global_store %v to %out[%t, %c0] : vector<32xf32>, memref<?x32xf32>
    // CHECK: } else {
    // CHECK-NOT: nvvm.tcgen05.fence
    } else {
      // CHECK: nvvm.mbarrier.try_wait
      // CHECK-NOT: nvvm.tcgen05.fence
      moe_kernel.wait %accs[%pos] : !moe_kernel.pipeline<2>
      // CHECK: nvvm.mbarrier.arrive
      // CHECK-NOT: nvvm.tcgen05.fence
      moe_kernel.release %accs[%pos] : !moe_kernel.pipeline<2>
    }
  }
  // CHECK: nvvm.tcgen05.dealloc
  moe_kernel.return
}

// Of accumulators that overlap, the rest is read after the release of what is shared: the next release gives it back, also
// of a tile that is not read itself.
// CHECK-LABEL: llvm.func @overlapping
moe_kernel.func @overlapping(%pos: i32, %row: i32, %rows: i32, %out: memref<?x32xf32>) warps(4) {
  %acc = moe_kernel.alloc "acc" overlap = 96 : !moe_kernel.buffer<tensor, 2x128x256xf32>
  %accs = moe_kernel.pipeline "accumulators" producers = 1 consumers = 128 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  %c0 = arith.constant 0 : i32
  moe_kernel.role "epilogue" warps(0, 4) {
    %t = moe_kernel.index thread : i32
    %exists = arith.cmpi slt, %row, %rows : i32
    scf.if %exists {
      moe_kernel.wait %accs[%pos] : !moe_kernel.pipeline<1>
      %v = moe_kernel.load_accumulator %acc on %accs[%pos] column %c0 : !moe_kernel.buffer<tensor, 2x128x256xf32>, !moe_kernel.pipeline<1> -> vector<32xf32>
      moe_kernel.release %accs[%pos] : !moe_kernel.pipeline<1>
      moe_kernel.global_store %v to %out[%t, %c0] : vector<32xf32>, memref<?x32xf32>
    // CHECK: } else {
    // CHECK-NOT: nvvm.tcgen05.fence <after>
    } else {
      moe_kernel.wait %accs[%pos] : !moe_kernel.pipeline<1>
      // CHECK: nvvm.tcgen05.fence <before>
      // CHECK: nvvm.mbarrier.arrive
      moe_kernel.release %accs[%pos] : !moe_kernel.pipeline<1>
    }
  }
  // CHECK: nvvm.tcgen05.dealloc
  moe_kernel.return
}
