// Every byte of a scale on the operands: subnormal, huge, NaN; the product may be infinite or zero.
// REQUIRES: oracle
// RUN: mkdir -p %t.d
// RUN: %python %S/scale_bytes.py %t.d
// RUN: gmoe-run %s --device=emulator --arg 0=%t.d/a.npy --arg 1=%t.d/sfa.npy --arg 2=%t.d/b.npy --arg 3=%t.d/sfb.npy --arg 4=offsets:256 --result 0=%t.d/d.npy --check
// RUN: %python %S/scale_bytes.py %t.d %t.d/d.npy
func.func @scales(%a: tensor<?x32xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<1x64x32xf8E4M3FN>,
    %sfb: tensor<1x1x1x32x4x4xf8E8M0FNU>, %offsets: tensor<1xi32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x32xf8E4M3FN>
  %d0 = tensor.empty(%rows) : tensor<?x64xf32>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x32xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<1x64x32xf8E4M3FN> scales %sfb : tensor<1x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<1xi32>) outs(%d0 : tensor<?x64xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x64xf32>
  return %d : tensor<?x64xf32>
}
