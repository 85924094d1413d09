// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// Layouts of groups that start within an atom: gemm_c16.

func.func @lhs(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: layout is #grouped_moe.scale_layout<row, whole, block = 32>, whose atoms of 128 rows groups would share where m_aligned is 32, expected at least 128 (gemm_c16); read them as <row, per_group, block = 32>, or pad the groups to a multiple of 128 rows}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) attributes {m_aligned = 32 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @row_output(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x32x4x4xf8E8M0FNU>,
    %b: tensor<2x64x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x64xf8E4M3FN>, %sd: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm' op output #1: layout is #grouped_moe.scale_layout<row, whole, block = 32>, whose atoms of 128 rows groups would share where m_aligned is 1, expected at least 128 (gemm_c16); write them as <row, per_group, block = 32>, or pad the groups to a multiple of 128 rows}}
  %r:2 = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x64xf8E4M3FN> as quantized, %sd : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil)
      attributes {m_aligned = 1 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @column_output(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x32x4x4xf8E8M0FNU>,
    %b: tensor<2x64x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<?x64xf8E4M3FN>, %sd: tensor<1x?x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.gemm_quant' op output #1: layout is #grouped_moe.scale_layout<column, whole, block = 32>, whose atoms of 128 rows groups would share where m_aligned is 32, expected at least 128 (gemm_c16); write them as <column, per_group, block = 32>, or pad the groups to a multiple of 128 rows}}
  %r:2 = grouped_moe.gemm_quant lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x64xf8E4M3FN> as quantized, %sd : tensor<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil)
      attributes {m_aligned = 32 : i64} -> tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>
  return
}

// -----

// 300 rows in 2 groups have up to 300 / 128 + 2 atoms along them.
func.func @shape(%a: tensor<300x64xf8E4M3FN>, %sa: tensor<3x32x4x4xf8E8M0FNU>,
    %b: tensor<2x48x64xf8E4M3FN>, %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %d: tensor<300x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs scales: scale shape is 3x32x4x4, expected 4x32x4x4 for layout #grouped_moe.scale_layout<row, per_group, block = 32> of a matrix of shape 300x64 (gemm_c5)}}
  %r = grouped_moe.gemm lhs(%a : tensor<300x64xf8E4M3FN> scales %sa : tensor<3x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<300x48xf32>) attributes {m_aligned = 1 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<300x48xf32>
  return
}

// -----

func.func @weight_gradient(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<512x?xf8E4M3FN>,
    %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) {
  // expected-error @below {{'grouped_moe.wgrad' op m_aligned is 1 row with a transposed rhs, expected 32, 128 or 256 (wgrad_c6): copies along its rows start at multiples of 16 bytes; store it with the rows as the first extent, or pad the groups to a multiple of 32 rows}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<512x?xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 1 : i64, rhs_transposed} -> tensor<4x256x512xbf16>
  return
}
