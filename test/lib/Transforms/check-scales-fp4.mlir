// RUN: %gmoe-opt %s --grouped-moe-check-scales | FileCheck %s

// FP4 data that is stored transposed is read so.
// CHECK-LABEL: @columns
// CHECK: grouped_moe.wgrad
func.func @columns(%x0: tensor<?x64xf32>, %x1: tensor<?x96xf32>, %o: tensor<4xi32>, %d0: tensor<64x?xf4E2M1FN>, %e0: tensor<?x32x4x4xf8E8M0FNU>,
    %d1: tensor<96x?xf4E2M1FN>, %e1: tensor<?x32x4x4xf8E8M0FNU>, %dw0: tensor<4x64x96xf32>) -> tensor<4x64x96xf32> {
  %q0, %s0 = grouped_moe.quantize ins(%x0 : tensor<?x64xf32>) offsets(%o : tensor<4xi32>) outs(%d0, %e0 : tensor<64x?xf4E2M1FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64} -> tensor<64x?xf4E2M1FN>, tensor<?x32x4x4xf8E8M0FNU>
  %q1, %s1 = grouped_moe.quantize ins(%x1 : tensor<?x96xf32>) offsets(%o : tensor<4xi32>) outs(%d1, %e1 : tensor<96x?xf4E2M1FN>, tensor<?x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64} -> tensor<96x?xf4E2M1FN>, tensor<?x32x4x4xf8E8M0FNU>
  %dw = grouped_moe.wgrad lhs(%q0 : tensor<64x?xf4E2M1FN> scales %s0 : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%q1 : tensor<96x?xf4E2M1FN> scales %s1 : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x64x96xf32>) attributes {m_aligned = 128 : i64, lhs_transposed, rhs_transposed} -> tensor<4x64x96xf32>
  return %dw : tensor<4x64x96xf32>
}
