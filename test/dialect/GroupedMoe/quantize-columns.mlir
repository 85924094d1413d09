// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --mlir-print-op-generic | %gmoe-opt | FileCheck %s

// CHECK-LABEL: func.func @whole
func.func @whole(%x: memref<?x160xf32>, %q: memref<?x160xf8E4M3FN>, %s: memref<2x?x32x4x4xf8E8M0FNU>) {
  // CHECK: grouped_moe.quantize ins(%{{.*}} : memref<?x160xf32>) outs(%{{.*}}, %{{.*}} : memref<?x160xf8E4M3FN>, memref<2x?x32x4x4xf8E8M0FNU>) layout <column, whole, block = 32> rounding floor{{$}}
  grouped_moe.quantize ins(%x : memref<?x160xf32>)
      outs(%q, %s : memref<?x160xf8E4M3FN>, memref<2x?x32x4x4xf8E8M0FNU>) layout <column, whole, block = 32> rounding floor
  // CHECK: grouped_moe.dequantize
  // CHECK-SAME: layout <column, whole, block = 32>{{$}}
  grouped_moe.dequantize ins(%q : memref<?x160xf8E4M3FN> scales %s : memref<2x?x32x4x4xf8E8M0FNU>)
      outs(%x : memref<?x160xf32>) layout <column, whole, block = 32>
  return
}

// CHECK-LABEL: func.func @groups
func.func @groups(%x: tensor<?x160xf16>, %o: tensor<5xi32>, %q0: tensor<?x160xf8E5M2>, %s0: tensor<?x32x4x4xf8E8M0FNU>,
    %y0: tensor<?x160xf16>) -> tensor<?x160xf16> {
  // CHECK: grouped_moe.quantize ins(%{{.*}} : tensor<?x160xf16>) offsets(%{{.*}} : tensor<5xi32>) outs(
  // CHECK-SAME: layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64} -> tensor<?x160xf8E5M2>, tensor<?x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x160xf16>) offsets(%o : tensor<5xi32>)
      outs(%q0, %s0 : tensor<?x160xf8E5M2>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64}
      -> tensor<?x160xf8E5M2>, tensor<?x32x4x4xf8E8M0FNU>
  // CHECK: grouped_moe.dequantize ins(%{{.*}} : tensor<?x160xf8E5M2> scales %{{.*}} : tensor<?x32x4x4xf8E8M0FNU>) offsets(%{{.*}} : tensor<5xi32>) outs(
  // CHECK-SAME: layout <column, per_group, block = 32> -> tensor<?x160xf16>
  %y = grouped_moe.dequantize ins(%q : tensor<?x160xf8E5M2> scales %s : tensor<?x32x4x4xf8E8M0FNU>)
      offsets(%o : tensor<5xi32>) outs(%y0 : tensor<?x160xf16>) layout <column, per_group, block = 32> -> tensor<?x160xf16>
  return %y : tensor<?x160xf16>
}

// CHECK-LABEL: func.func @rank_3
func.func @rank_3(%x: tensor<3x300x64xf32>, %q0: tensor<3x300x64xf8E4M3FN>, %s0: tensor<3x1x3x32x4x4xf8E8M0FNU>) {
  // CHECK: layout <column, whole, block = 32> rounding rceil
  %q, %s = grouped_moe.quantize ins(%x : tensor<3x300x64xf32>)
      outs(%q0, %s0 : tensor<3x300x64xf8E4M3FN>, tensor<3x1x3x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<3x300x64xf8E4M3FN>, tensor<3x1x3x32x4x4xf8E8M0FNU>
  return
}
