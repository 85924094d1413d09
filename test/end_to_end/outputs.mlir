// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --device=emulator --check --tolerance=bitwise | FileCheck %s

// Five outputs, one of each type, from one launch; C in both 8-bit formats. Values beyond 448 saturate in e4m3, beyond
// 57344 in e5m2.
// CHECK: result #0 {{.*}} f32 {{.*}} passed
// CHECK: result #1 {{.*}} f16 {{.*}} passed
// CHECK: result #2 {{.*}} bf16 {{.*}} passed
// CHECK: result #3 {{.*}} f8E4M3FN {{.*}} passed
// CHECK: result #4 {{.*}} f8E5M2 {{.*}} passed
func.func @outputs(%a: tensor<?x128xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<3x96x128xf8E4M3FN>,
    %sfb: tensor<3x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<3xi32>, %c: tensor<?x96xf8E4M3FN>, %e: tensor<?x96xf8E5M2>)
    -> (tensor<?x96xf32>, tensor<?x96xf16>, tensor<?x96xbf16>, tensor<?x96xf8E4M3FN>, tensor<?x96xf8E5M2>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x128xf8E4M3FN>
  %d0 = tensor.empty(%rows) : tensor<?x96xf32>
  %d1 = tensor.empty(%rows) : tensor<?x96xf16>
  %d2 = tensor.empty(%rows) : tensor<?x96xbf16>
  %d3 = tensor.empty(%rows) : tensor<?x96xf8E4M3FN>
  %d4 = tensor.empty(%rows) : tensor<?x96xf8E5M2>
  %r:5 = grouped_moe.gemm
      lhs(%a : tensor<?x128xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x96x128xf8E4M3FN> scales %sfb : tensor<3x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>)
      ins(%c : tensor<?x96xf8E4M3FN> as per_element, %e : tensor<?x96xf8E5M2> as per_element)
      outs(%d0 : tensor<?x96xf32>, %d1 : tensor<?x96xf16>, %d2 : tensor<?x96xbf16>, %d3 : tensor<?x96xf8E4M3FN>,
           %d4 : tensor<?x96xf8E5M2>) epilogue {
  ^bb0(%acc: f32, %ce: f32, %ee: f32):
    %eighth = arith.constant 0.125 : f32
    %x = arith.addf %acc, %ce : f32
    %y = arith.addf %acc, %ee : f32
    %z = arith.mulf %x, %eighth : f32
    %w = arith.mulf %y, %eighth : f32
    grouped_moe.yield %x, %z, %w, %z, %w : f32, f32, f32, f32, f32
  } -> tensor<?x96xf32>, tensor<?x96xf16>, tensor<?x96xbf16>, tensor<?x96xf8E4M3FN>, tensor<?x96xf8E5M2>
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x96xf32>, tensor<?x96xf16>, tensor<?x96xbf16>, tensor<?x96xf8E4M3FN>, tensor<?x96xf8E5M2>
}
