// RUN: %gmoe-opt %s --grouped-moe-convert-to-kernel | FileCheck %s

// One thread a block; threads of padding write scale byte 0.
// CHECK-LABEL: moe_kernel.func @f_quantize(
// CHECK-SAME: i32, %{{.*}}: memref<?x96xf16>
// CHECK: %[[CODE:.*]] = scf.if
// CHECK: global_load {{.*}} -> vector<32xf16>
// CHECK: arith.extf
// CHECK: vector.reduction <maximumf>
// CHECK: arith.subi %{{.*}}, %c15
// CHECK: encode %{{.*}} to f8E5M2
// CHECK: global_store
// CHECK: } else {
// CHECK: scf.yield %c0
// CHECK: global_store {{.*}} : i8, memref<?x1x32x4x4xf8E8M0FNU>

// CHECK-LABEL: moe_kernel.func @f_dequantize(
// CHECK: decode %{{.*}} from f8E5M2
// CHECK-LABEL: func.func @f
// CHECK: moe_kernel.launch @f_quantize {{.*}} writes [2, 3]
// CHECK: moe_kernel.launch @f_dequantize {{.*}} writes [3]
func.func @f(%x: memref<?x96xf16>, %q: memref<?x96xf8E5M2>, %sf: memref<?x1x32x4x4xf8E8M0FNU>, %y: memref<?x96xf32>) {
  grouped_moe.quantize ins(%x : memref<?x96xf16>) outs(%q, %sf : memref<?x96xf8E5M2>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor
  grouped_moe.dequantize ins(%q : memref<?x96xf8E5M2> scales %sf : memref<?x1x32x4x4xf8E8M0FNU>)
      outs(%y : memref<?x96xf32>) layout <row, whole, block = 32>
  return
}
