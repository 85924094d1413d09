// The other quantizers behind a product, byte for byte, at the values of special_values.test: down columns, and to FP4. The
// region hands C through.
// REQUIRES: oracle
// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: %python %S/special_values.py %t.rows.npy
// RUN: %python %S/special_values.py %t.columns.npy --columns 64
// RUN: gmoe-run %t.gmoe --entry=columns --device=emulator --arg 4=offsets:1152,2304 --arg 5=%t.columns.npy --check --tolerance=bitwise | FileCheck %s --check-prefix=COLUMNS
// RUN: gmoe-run %t.gmoe --entry=fp4 --device=emulator --arg 4=offsets:1152,2304 --arg 5=%t.rows.npy --check --tolerance=bitwise | FileCheck %s --check-prefix=FP4

// COLUMNS: result #0 {{.*}} passed
// COLUMNS: result #1 {{.*}} passed
// COLUMNS: result #2 {{.*}} passed
// COLUMNS: result #3 {{.*}} passed
// COLUMNS: result #4 {{.*}} passed
// COLUMNS: result #5 {{.*}} passed
// COLUMNS: result #6 {{.*}} passed
// COLUMNS: result #7 {{.*}} passed
func.func @columns(%a: tensor<?x64xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>, %c: tensor<?x64xf32>)
    -> (tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<1x?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x32x4x4xf8E8M0FNU>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x64xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %d0 = tensor.empty(%rows) : tensor<?x64xf8E4M3FN>
  %d1 = tensor.empty(%atoms) : tensor<?x32x4x4xf8E8M0FNU>
  %d2 = tensor.empty(%rows) : tensor<?x64xf8E4M3FN>
  %d3 = tensor.empty(%atoms) : tensor<1x?x32x4x4xf8E8M0FNU>
  %d4 = tensor.empty(%rows) : tensor<?x64xf8E5M2>
  %d5 = tensor.empty(%atoms) : tensor<1x?x32x4x4xf8E8M0FNU>
  %d6 = tensor.empty(%rows) : tensor<?x64xf8E5M2>
  %d7 = tensor.empty(%atoms) : tensor<?x32x4x4xf8E8M0FNU>
  %r:8 = grouped_moe.gemm
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>) ins(%c : tensor<?x64xf32> as per_element)
      outs(%d0 : tensor<?x64xf8E4M3FN> as quantized,
           %d1 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_rceil,
           %d2 : tensor<?x64xf8E4M3FN> as quantized,
           %d3 : tensor<1x?x32x4x4xf8E8M0FNU> as column_scales_floor,
           %d4 : tensor<?x64xf8E5M2> as quantized,
           %d5 : tensor<1x?x32x4x4xf8E8M0FNU> as column_scales_rceil,
           %d6 : tensor<?x64xf8E5M2> as quantized,
           %d7 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_floor)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %ce: f32):
    grouped_moe.yield %ce, %ce, %ce, %ce : f32, f32, f32, f32
  } -> tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<1x?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x32x4x4xf8E8M0FNU>
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : tensor<?x64xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<1x?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<1x?x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x32x4x4xf8E8M0FNU>
}

// FP4: result #0 {{.*}} passed
// FP4: result #1 {{.*}} passed
// FP4: result #2 {{.*}} passed
// FP4: result #3 {{.*}} passed
// FP4: result #4 {{.*}} passed
// FP4: result #5 {{.*}} passed
func.func @fp4(%a: tensor<?x64xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>, %c: tensor<?x64xf32>)
    -> (tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x64xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %d0 = tensor.empty(%rows) : tensor<?x64xf4E2M1FN>
  %d1 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %d2 = tensor.empty(%rows) : tensor<?x64xf4E2M1FN>
  %d3 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %d4 = tensor.empty(%rows) : tensor<?x64xf4E2M1FN>
  %d5 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E4M3FN>
  %r:6 = grouped_moe.gemm
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>) ins(%c : tensor<?x64xf32> as per_element)
      outs(%d0 : tensor<?x64xf4E2M1FN> as quantized,
           %d1 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %d2 : tensor<?x64xf4E2M1FN> as quantized,
           %d3 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_floor,
           %d4 : tensor<?x64xf4E2M1FN> as quantized,
           %d5 : tensor<?x1x32x4x4xf8E4M3FN> as row_scales_nearest)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %ce: f32):
    grouped_moe.yield %ce, %ce, %ce : f32, f32, f32
  } -> tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf4E2M1FN>, tensor<?x1x32x4x4xf8E4M3FN>
}
