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

// FP4: 16 bytes a thread, two scales of 16 elements each.
// CHECK-LABEL: moe_kernel.func @fp4_quantize(
// CHECK-COUNT-2: vector.reduction <maximumf>, %{{.*}} : vector<16xf32>
// CHECK: encode %{{.*}} to f4E2M1FN : vector<32xf32> -> vector<16xi8>
// CHECK: global_store {{.*}} : vector<16xi8>, memref<?x64xf4E2M1FN>
// CHECK: global_store {{.*}} : vector<2xi8>, memref<?x1x32x4x4xf8E4M3FN>
// CHECK-LABEL: moe_kernel.func @fp4_dequantize(
// CHECK: decode %{{.*}} from f4E2M1FN : vector<16xi8> -> vector<32xf32>
// CHECK: global_load {{.*}} : memref<?x1x32x4x4xf8E4M3FN> -> vector<2xi8>
// CHECK-COUNT-2: decode %{{.*}} from f8E4M3FN
func.func @fp4(%x: memref<?x64xf32>, %q: memref<?x64xf4E2M1FN>, %sf: memref<?x1x32x4x4xf8E4M3FN>) {
  grouped_moe.quantize ins(%x : memref<?x64xf32>) outs(%q, %sf : memref<?x64xf4E2M1FN>, memref<?x1x32x4x4xf8E4M3FN>)
      layout <row, whole, block = 16> rounding nearest
  grouped_moe.dequantize ins(%q : memref<?x64xf4E2M1FN> scales %sf : memref<?x1x32x4x4xf8E4M3FN>)
      outs(%x : memref<?x64xf32>) layout <row, whole, block = 16>
  return
}
