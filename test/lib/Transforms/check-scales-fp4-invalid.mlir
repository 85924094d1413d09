// RUN: %gmoe-opt %s --grouped-moe-check-scales -split-input-file -verify-diagnostics

// Of equal extents the shapes do not tell that data is transposed.
func.func @as_rows(%x: tensor<128x128xf32>, %o: tensor<4xi32>, %d: tensor<128x128xf4E2M1FN>, %e: tensor<1x32x4x4xf8E8M0FNU>, %t: tensor<1x1x32x4x4xf8E8M0FNU>,
    %y0: tensor<128x128xf32>) -> tensor<128x128xf32> {
  // expected-note @below {{the data is written here}}
  %q, %s = grouped_moe.quantize ins(%x : tensor<128x128xf32>) offsets(%o : tensor<4xi32>) outs(%d, %e : tensor<128x128xf4E2M1FN>, tensor<1x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {m_aligned = 128 : i64} -> tensor<128x128xf4E2M1FN>, tensor<1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.dequantize' op data: is read as it is, but the output of 'grouped_moe.quantize' is stored transposed, columns first (flow_c3); pass data that is quantized along rows, as one more output of the op that makes it}}
  %y = grouped_moe.dequantize ins(%q : tensor<128x128xf4E2M1FN> scales %t : tensor<1x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<128x128xf32>) layout <row, whole, block = 32> -> tensor<128x128xf32>
  return %y : tensor<128x128xf32>
}
