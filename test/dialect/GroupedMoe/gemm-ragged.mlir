// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --grouped-moe-check-scales -o /dev/null

// Groups that start anywhere, from the rows of a router on: every scale that follows the rows is in a per_group layout.
// CHECK-LABEL: @layer
func.func @layer(%x: tensor<300x256xf32>, %b: tensor<4x256x256xf8E4M3FN>, %sb: tensor<4x2x2x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>,
    %q0: tensor<300x256xf8E4M3FN>, %sq0: tensor<12x32x4x4xf8E8M0FNU>, %h0: tensor<300x128xf8E4M3FN>, %sh0: tensor<6x32x4x4xf8E8M0FNU>,
    %hc0: tensor<300x128xf8E4M3FN>, %shc0: tensor<6x32x4x4xf8E8M0FNU>) -> (tensor<300x128xf8E4M3FN>, tensor<6x32x4x4xf8E8M0FNU>) {
  // CHECK: grouped_moe.quantize {{.*}} layout <row, per_group, block = 32> rounding rceil {m_aligned = 1 : i64}
  %q:2 = grouped_moe.quantize ins(%x : tensor<300x256xf32>) offsets(%o : tensor<4xi32>)
      outs(%q0, %sq0 : tensor<300x256xf8E4M3FN>, tensor<12x32x4x4xf8E8M0FNU>)
      layout <row, per_group, block = 32> rounding rceil {m_aligned = 1 : i64} -> tensor<300x256xf8E4M3FN>, tensor<12x32x4x4xf8E8M0FNU>
  // CHECK: grouped_moe.gemm_swiglu lhs({{.*}} layout <row, per_group, block = 32>)
  // CHECK-SAME: m_aligned = 1 : i64
  %h:4 = grouped_moe.gemm_swiglu
      lhs(%q#0 : tensor<300x256xf8E4M3FN> scales %q#1 : tensor<12x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<4xi32>)
      outs(%h0 : tensor<300x128xf8E4M3FN> as quantized, %sh0 : tensor<6x32x4x4xf8E8M0FNU> as row_group_scales_rceil,
           %hc0 : tensor<300x128xf8E4M3FN> as quantized, %shc0 : tensor<6x32x4x4xf8E8M0FNU> as column_group_scales_rceil)
      attributes {m_aligned = 1 : i64}
      -> tensor<300x128xf8E4M3FN>, tensor<6x32x4x4xf8E8M0FNU>, tensor<300x128xf8E4M3FN>, tensor<6x32x4x4xf8E8M0FNU>
  return %h#0, %h#1 : tensor<300x128xf8E4M3FN>, tensor<6x32x4x4xf8E8M0FNU>
}
