// The quantizers behind a product, byte for byte, at the values of special_values.test: the region hands C through.
// REQUIRES: oracle
// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: %python %S/special_values.py %t.npy
// RUN: gmoe-run %t.gmoe --device=emulator --arg 4=offsets:1152,2304 --arg 5=%t.npy --check --tolerance=bitwise | FileCheck %s
// CHECK: result #0 {{.*}} f8E4M3FN {{.*}} passed
// CHECK: result #1 {{.*}} f8E8M0FNU {{.*}} passed
// CHECK: result #2 {{.*}} f8E4M3FN {{.*}} passed
// CHECK: result #3 {{.*}} f8E8M0FNU {{.*}} passed
// CHECK: result #4 {{.*}} f8E5M2 {{.*}} passed
// CHECK: result #5 {{.*}} f8E8M0FNU {{.*}} passed
// CHECK: result #6 {{.*}} f8E5M2 {{.*}} passed
// CHECK: result #7 {{.*}} f8E8M0FNU {{.*}} passed
// CHECK: result #8 {{.*}} f8E4M3FN {{.*}} passed
// CHECK: result #9 {{.*}} f8E5M2 {{.*}} passed
func.func @through(%a: tensor<?x64xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x64xf8E4M3FN>,
    %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>, %c: tensor<?x64xf32>)
    -> (tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>,
        tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>,
        tensor<?x64xf8E4M3FN>, tensor<?x64xf8E5M2>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %a, %c0 : tensor<?x64xf8E4M3FN>
  %atoms = arith.ceildivui %rows, %c128 : index
  %q0 = tensor.empty(%rows) : tensor<?x64xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q1 = tensor.empty(%rows) : tensor<?x64xf8E4M3FN>
  %s1 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q2 = tensor.empty(%rows) : tensor<?x64xf8E5M2>
  %s2 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q3 = tensor.empty(%rows) : tensor<?x64xf8E5M2>
  %s3 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %p0 = tensor.empty(%rows) : tensor<?x64xf8E4M3FN>
  %p1 = tensor.empty(%rows) : tensor<?x64xf8E5M2>
  %r:10 = grouped_moe.gemm
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x64xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>) ins(%c : tensor<?x64xf32> as per_element)
      outs(%q0 : tensor<?x64xf8E4M3FN> as quantized, %s0 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %q1 : tensor<?x64xf8E4M3FN> as quantized, %s1 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_floor,
           %q2 : tensor<?x64xf8E5M2> as quantized, %s2 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_rceil,
           %q3 : tensor<?x64xf8E5M2> as quantized, %s3 : tensor<?x1x32x4x4xf8E8M0FNU> as row_scales_floor,
           %p0 : tensor<?x64xf8E4M3FN>, %p1 : tensor<?x64xf8E5M2>)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %ce: f32):
    grouped_moe.yield %ce, %ce, %ce, %ce, %ce, %ce : f32, f32, f32, f32, f32, f32
  } -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x64xf8E5M2>
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E5M2>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<?x64xf8E4M3FN>, tensor<?x64xf8E5M2>
}
