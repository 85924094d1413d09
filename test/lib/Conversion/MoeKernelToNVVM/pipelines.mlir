// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse | FileCheck %s

// Positions are a stage in bits 0-7 and a phase in bit 8; barriers follow the
// buffers, 8 bytes each, full before empty.

// CHECK-LABEL: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_100a", features = "+ptx90">]
// CHECK: llvm.mlir.global external @dyn_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @pipelines(%[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}, %[[POS:.*]]: i32)
// CHECK-SAME: moe_kernel.block_threads = 64 : i32, moe_kernel.dynamic_shared_bytes = 49248 : i32, moe_kernel.tmem_columns = 0 : i32
// CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 64, 1, 1>
moe_kernel.func @pipelines(%map: !moe_kernel.tensor_map<128x128xi8, swizzle = 128>, %pos: i32) warps(2) {
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 3x128x128xf8E4M3FN>
  %one = moe_kernel.pipeline "one" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<3>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 32 transaction_bytes = 16384 : !moe_kernel.pipeline<3>
  // CHECK: %[[SMEM:.*]] = llvm.mlir.addressof @dyn_smem
  // CHECK: nvvm.elect.sync
  // CHECK: nvvm.prefetch tensormap in_param_space, %[[MAP]]
  // CHECK: nvvm.mbarrier.init %{{.*}}, %c1_i32
  // CHECK: nvvm.mbarrier.init %{{.*}}, %c32_i32
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: nvvm.barrier
  moe_kernel.role "load" warps(0, 1) elected {
    // CHECK: nvvm.elect.sync
    // The first round finds the stage empty: the parity before the first phase.
    // CHECK: %[[PHASE:.*]] = arith.shrui %[[POS]], %c8_i32
    // CHECK: %[[PARITY:.*]] = arith.xori %[[PHASE]], %c1_i32
    // CHECK: %[[EMPTY:.*]] = llvm.getelementptr %[[SMEM]][49224]
    // CHECK: %[[STAGE:.*]] = arith.andi %[[POS]], %c255_i32
    // CHECK: %[[AT:.*]] = arith.muli %[[STAGE]], %c8_i32
    // CHECK: %[[BARRIER:.*]] = llvm.getelementptr %[[EMPTY]][%[[AT]]]
    // CHECK: scf.while : () -> () {
    // CHECK:   nvvm.mbarrier.try_wait %[[BARRIER]], %[[PARITY]]
    // CHECK:   scf.condition
    moe_kernel.acquire %p[%pos] : !moe_kernel.pipeline<3>
    // CHECK: %[[FULLS:.*]] = llvm.getelementptr %[[SMEM]][49200]
    // CHECK: %[[FULL:.*]] = llvm.getelementptr %[[FULLS]][%[[AT]]]
    // CHECK: nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c16384_i32
    moe_kernel.expect %p[%pos] : !moe_kernel.pipeline<3>
    // Coordinates from the fastest dimension.
    // CHECK: %[[BYTES:.*]] = arith.muli %[[STAGE]], %c16384_i32
    // CHECK: %[[DST:.*]] = llvm.getelementptr %[[SMEM]][%[[BYTES]]]
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[DST]], %[[MAP]], %[[FULL]], box[%c5_i32, %c7_i32] {isCTAOnly = true}
    %c5 = arith.constant 5 : i32
    %c7 = arith.constant 7 : i32
    moe_kernel.load %map[%c7, %c5] to %a on %p[%pos] : !moe_kernel.tensor_map<128x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 3x128x128xf8E4M3FN>, !moe_kernel.pipeline<3>
  }
  moe_kernel.role "use" warps(1, 1) {
    // CHECK: scf.if
    // CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[PHASE2:.*]] :
    moe_kernel.wait %p[%pos] : !moe_kernel.pipeline<3>
    // CHECK-NOT: tcgen05
    // CHECK: nvvm.mbarrier.arrive
    moe_kernel.release %p[%pos] : !moe_kernel.pipeline<3>
    // CHECK: %[[NEXT:.*]] = arith.addi %[[POS]], %c1_i32
    // CHECK: %[[NSTAGE:.*]] = arith.andi %[[NEXT]], %c255_i32
    // CHECK: %[[WRAPS:.*]] = arith.cmpi eq, %[[NSTAGE]], %c3_i32
    // CHECK: %[[OLD:.*]] = arith.andi %[[POS]], %c256_i32
    // CHECK: %[[FLIP:.*]] = arith.xori %[[OLD]], %c256_i32
    // CHECK: arith.select %[[WRAPS]], %[[FLIP]], %[[NEXT]]
    %n = moe_kernel.advance %p[%pos] : !moe_kernel.pipeline<3>
    moe_kernel.wait %p[%n] : !moe_kernel.pipeline<3>
  }
  moe_kernel.return
}
