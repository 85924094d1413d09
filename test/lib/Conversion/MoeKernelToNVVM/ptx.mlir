// RUN: %gmoe-opt %s --pass-pipeline="builtin.module(moe-kernel-convert-to-nvvm,gpu.module(moe-kernel-to-llvm),gpu-module-to-binary{format=isa})" | FileCheck %s

// Wide accesses and conversions in pairs.
// CHECK: .visible .entry copy
// CHECK-SAME: .reqntid 32, 1, 1
// CHECK-SAME: ld.global.v{{2.b64|4.b32}}
// CHECK-SAME: cvt.rn.bf16x2.f32
// CHECK-SAME: st.global.v4.b32
// CHECK-SAME: cvt.rn.satfinite.e4m3x2.f32
// CHECK-SAME: st.global.v4.b32
moe_kernel.func @copy(%x: memref<?x512xf32>, %d: memref<?x512xbf16>, %c: memref<?x512xf8E4M3FN>) warps(1) {
  %row = moe_kernel.index cta : i32
  %t = moe_kernel.index thread : i32
  %c16 = arith.constant 16 : i32
  %column = arith.muli %t, %c16 : i32
  %v = moe_kernel.global_load %x[%row, %column] : memref<?x512xf32> -> vector<16xf32>
  %h = arith.truncf %v : vector<16xf32> to vector<16xbf16>
  moe_kernel.global_store %h to %d[%row, %column] : vector<16xbf16>, memref<?x512xbf16>
  %e = moe_kernel.encode %v to f8E4M3FN : vector<16xf32> -> vector<16xi8>
  moe_kernel.global_store %e to %c[%row, %column] : vector<16xi8>, memref<?x512xf8E4M3FN>
  moe_kernel.return
}
