// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// RUN: %gmoe-opt %s --split-input-file --pass-pipeline="builtin.module(moe-kernel-convert-to-nvvm,gpu.module(moe-kernel-to-llvm),gpu-module-to-binary{format=isa})" | FileCheck %s --check-prefix=PTX

// CHECK-LABEL: llvm.func @warp
// PTX: .visible .entry warp
moe_kernel.func @warp(%x: memref<?x32xf32>, %y: memref<?x32xf32>) warps(1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = moe_kernel.index lane : i32
  %v = moe_kernel.global_load %x[%t, %c0] : memref<?x32xf32> -> vector<32xf32>
  // CHECK-COUNT-32: nvvm.redux.sync fmax %{{.*}}, %{{.*}} {abs = true, nan = true} : f32 -> f32
  // PTX-SAME: redux.sync.max.abs.NaN.f32
  %a = moe_kernel.column_amax %v : vector<32xf32> -> f32
  // CHECK-COUNT-31: nvvm.shfl.sync bfly
  // PTX-SAME: shfl.sync.bfly.b32
  %s = moe_kernel.column_sum %v : vector<32xf32> -> f32
  // CHECK-COUNT-32: nvvm.shfl.sync idx
  // PTX-SAME: shfl.sync.idx.b32
  %w = moe_kernel.spread_lanes %a : f32 -> vector<32xf32>
  // Five exchanges of half of the elements.
  // CHECK-COUNT-80: nvvm.shfl.sync bfly
  // CHECK-NOT: nvvm.shfl.sync
  %z = moe_kernel.transpose_lanes %w : vector<32xf32>
  moe_kernel.global_store %z to %x[%t, %c0] : vector<32xf32>, memref<?x32xf32>
  // CHECK: nvvm.redux.sync fmax
  %m = moe_kernel.warp_amax %s : f32 -> f32
  moe_kernel.global_store %w to %y[%t, %c0] : vector<32xf32>, memref<?x32xf32>
  moe_kernel.global_store %m to %x[%t, %c0] : f32, memref<?x32xf32>
  moe_kernel.return
}

// -----

// A role of several warps has a barrier of its own, counted from 1.
// CHECK-LABEL: llvm.func @role
// PTX: .visible .entry role
moe_kernel.func @role(%counters: memref<?xi32>, %sum: memref<4xf32>, %n: i32) warps(8) {
  %sums = moe_kernel.alloc "sums" : !moe_kernel.buffer<shared, 1x4x32xf32>
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1.0 : f32
  moe_kernel.role "one" warps(0, 1) {
    // CHECK: nvvm.bar.warp.sync
    moe_kernel.barrier
  }
  moe_kernel.role "two" warps(2, 2) {
    // CHECK: nvvm.barrier id = %c1_i32 number_of_threads = %c64_i32
    // PTX-SAME: bar.sync \091, 64
    moe_kernel.barrier
  }
  moe_kernel.role "four" warps(4, 4) {
    %w = moe_kernel.index warp : i32
    %l = moe_kernel.index lane : i32
    // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<3>
    // PTX-SAME: st.shared
    moe_kernel.shared_store %one to %sums[%w, %l] : !moe_kernel.buffer<shared, 1x4x32xf32>
    // CHECK: nvvm.barrier id = %c2_i32 number_of_threads = %c128_i32
    // PTX-SAME: bar.sync \092, 128
    moe_kernel.barrier
    // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
    // PTX-SAME: ld.shared
    %x = moe_kernel.shared_load %sums[%c0, %l] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
    // CHECK: nvvm.barrier id = %c2_i32
    // CHECK: llvm.inline_asm {{.*}}"atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;"
    // CHECK: llvm.call_intrinsic "llvm.nvvm.barrier.cta.red.or.aligned.count"(%c2_i32, %c128_i32, %{{.*}})
    // PTX-SAME: bar.sync \092, 128
    // PTX-SAME: atom.acq_rel.gpu.global.inc.u32
    // PTX-SAME: bar.red.or.pred
    %last = moe_kernel.last_arrival %counters[%c0] of %n : memref<?xi32> -> i1
    scf.if %last {
      // CHECK: red.relaxed.gpu.global.max.u32
      // PTX-SAME: red.relaxed.gpu.global.max.u32
      moe_kernel.atomic_max %x to %sum[%c0] : f32, memref<4xf32>
      // CHECK: red.relaxed.gpu.global.add.f32
      // PTX-SAME: red.relaxed.gpu.global.add.f32
      moe_kernel.atomic_add %x to %sum[%w] : f32, memref<4xf32>
    }
  }
  moe_kernel.return
}

// -----

// CHECK-LABEL: llvm.func @codes
// PTX: .visible .entry codes
moe_kernel.func @codes(%x: memref<?x32xf32>, %codes: memref<?x16xi8>, %scales: memref<?xi8>) warps(1) {
  %c0 = arith.constant 0 : i32
  %t = moe_kernel.index lane : i32
  %v = moe_kernel.global_load %x[%t, %c0] : memref<?x32xf32> -> vector<32xf32>
  // The first operand becomes the high four bits.
  // CHECK-DAG: %[[V0:.*]] = vector.extract %[[V:.*]][0]
  // CHECK-DAG: %[[V1:.*]] = vector.extract %[[V]][1]
  // CHECK: nvvm.convert.f32x2.to.f4x2 %[[V1]], %[[V0]] : i8(f4E2M1FN)
  // PTX-SAME: cvt.rn.satfinite.e2m1x2.f32
  %packed = moe_kernel.encode %v to f4E2M1FN : vector<32xf32> -> vector<16xi8>
  moe_kernel.global_store %packed to %codes[%t, %c0] : vector<16xi8>, memref<?x16xi8>
  %s = vector.extract %v[0] : f32 from vector<32xf32>
  // CHECK: nvvm.convert.f32x2.to.f8x2 %{{.*}} {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
  %e = moe_kernel.encode_scale %s to f8E4M3FN : f32 -> i8
  moe_kernel.global_store %e to %scales[%t] : i8, memref<?xi8>
  moe_kernel.return
}
