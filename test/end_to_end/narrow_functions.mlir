// RUN: gmoe-run %s --device=emulator --check --tolerance=bitwise --arg 5=const:1.0078125 | FileCheck %s

// A function of bf16 is that of f32, rounded once.
// CHECK: result #0 {{.*}} yes{{ +}}passed
func.func @narrow(%a: tensor<?x128xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<1x32x128xf8E4M3FN>, %sfb: tensor<1x1x1x32x4x4xf8E8M0FNU>, %o: tensor<1xi32>, %p: tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %a, %c0 : tensor<?x128xf8E4M3FN>
  %d = tensor.empty(%rows) : tensor<?x32xf32>
  %e = tensor.empty(%rows) : tensor<?x32xf32>
  %r:2 = grouped_moe.gemm lhs(%a : tensor<?x128xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
   rhs(%b : tensor<1x32x128xf8E4M3FN> scales %sfb : tensor<1x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>) offsets(%o : tensor<1xi32>)
   ins(%p : tensor<?x32xf32> as per_element) outs(%d : tensor<?x32xf32>, %e : tensor<?x32xf32>) epilogue {
  ^bb0(%acc: f32, %x: f32):
    %h = arith.truncf %x : f32 to bf16
    %i = math.rsqrt %h : bf16
    %y = arith.extf %i : bf16 to f32
    %hh = arith.extf %h : bf16 to f32
    grouped_moe.yield %y, %hh : f32, f32
  } -> tensor<?x32xf32>, tensor<?x32xf32>
  return %r#0, %r#1 : tensor<?x32xf32>, tensor<?x32xf32>
}
