// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --device=emulator --check --tolerance=sqnr:120 | FileCheck %s

// An epilogue of many functions neither spills nor loses accuracy.
// CHECK: result #0 {{.*}} f32 {{.*}} passed
func.func @heavy(%a: tensor<?x128xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x64x128xf8E4M3FN>, %sfb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<2xi32>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x128xf8E4M3FN>
  %d0 = tensor.empty(%rows) : tensor<?x64xf32>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x128xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x64x128xf8E4M3FN> scales %sfb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<2xi32>)
      ins(%c : tensor<?x64xf32> as per_element)
      outs(%d0 : tensor<?x64xf32>) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %ce: f32):
    %k = arith.constant 0.01 : f32
    %s = arith.mulf %acc, %k : f32
    %t = math.tanh %s : f32
    %e = math.exp %t : f32
    %f = math.erf %e : f32
    %l = math.log %e : f32
    %q = math.sqrt %e : f32
    %m = math.fma %f, %l, %q : f32
    %g = arith.cmpf ogt, %s, %ce : f32
    %y = arith.select %g, %m, %e : f32
    %r = math.roundeven %s : f32
    %z = arith.addf %y, %r : f32
    grouped_moe.yield %z : f32
  } -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}
