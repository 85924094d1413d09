// RUN: not %gmoe-opt %s --moe-kernel-convert-to-nvvm=chip=sm_90a 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not %gmoe-opt %s --moe-kernel-convert-to-nvvm=ptx-version=86 2>&1 | FileCheck %s --check-prefix=PTX
// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm=chip=sm_103a | FileCheck %s

// CHIP: error: chip 'sm_90a' is not supported, expected one of sm_100a, sm_103a
// PTX: error: PTX version is 86, sm_100a needs at least 88

// The host side stays and finds its kernel in the module of kernels.
// CHECK: func.func @host
// CHECK: moe_kernel.launch @k
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_103a", features = "+ptx90"
// CHECK-NOT: dyn_smem
// CHECK: llvm.func @k
// CHECK-NOT: moe_kernel.func
func.func @host(%x: memref<?x4xf32>) {
  %n = arith.constant 1 : index
  moe_kernel.launch @k grid(%n) args(%x : memref<?x4xf32>) writes [0]
  return
}
moe_kernel.func @k(%x: memref<?x4xf32>) warps(1) {
  moe_kernel.return
}
