// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

// Scales along rows that start a new atom with every group.

// CHECK-LABEL: func @groups
// CHECK: quantize ins(%{{.*}} : tensor<300x192xf32>) offsets(%{{.*}} : tensor<2xi32>) outs({{.*}}) layout <row, per_group, block = 16> rounding nearest {m_aligned = 32 : i64}
// CHECK: dequantize {{.*}} offsets(%{{.*}} : tensor<2xi32>) {{.*}} layout <row, per_group, block = 16> {m_aligned = 32 : i64}
func.func @groups(%x: tensor<300x192xf32>, %o: tensor<2xi32>, %q0: tensor<300x192xf4E2M1FN>, %s0: tensor<12x32x4x4xf8E4M3FN>)
    -> tensor<300x192xf32> {
  // 300 rows in two groups that start anywhere: at most 2 + 2 atoms of 128 rows, 3 across 12 blocks.
  %q, %s = grouped_moe.quantize ins(%x : tensor<300x192xf32>) offsets(%o : tensor<2xi32>)
      outs(%q0, %s0 : tensor<300x192xf4E2M1FN>, tensor<12x32x4x4xf8E4M3FN>)
      layout <row, per_group, block = 16> rounding nearest {m_aligned = 32 : i64} -> tensor<300x192xf4E2M1FN>, tensor<12x32x4x4xf8E4M3FN>
  %y = grouped_moe.dequantize ins(%q : tensor<300x192xf4E2M1FN> scales %s : tensor<12x32x4x4xf8E4M3FN>) offsets(%o : tensor<2xi32>)
      outs(%x : tensor<300x192xf32>) layout <row, per_group, block = 16> {m_aligned = 32 : i64} -> tensor<300x192xf32>
  return %y : tensor<300x192xf32>
}
