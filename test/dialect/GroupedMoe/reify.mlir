// RUN: %gmoe-opt %s --resolve-ranked-shaped-type-result-dims | FileCheck %s

// The extents of a result are those of its destination: asking for them keeps no product alive.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[D0:[a-z0-9]+]]: tensor<?x48xf32>)
// CHECK-NOT: grouped_moe.gemm
// CHECK: %[[R:.*]] = tensor.dim %[[D0]]
// CHECK: return %[[R]]
func.func @rows(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<2x48x64xf8E4M3FN>,
    %sb: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d0: tensor<?x48xf32>) -> index {
  %c0 = arith.constant 0 : index
  %d = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<2x48x64xf8E4M3FN> scales %sb : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d0 : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  %r = tensor.dim %d, %c0 : tensor<?x48xf32>
  return %r : index
}

// Both results of quantize, each from its own destination.
// CHECK-LABEL: func.func @quantized
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[ATOMS:[a-z0-9]+]]: index
// CHECK-NEXT: return %[[N]], %[[ATOMS]]
func.func @quantized(%x: tensor<?x64xf32>, %n: index, %atoms: index) -> (index, index) {
  %c0 = arith.constant 0 : index
  %q0 = tensor.empty(%n) : tensor<?x64xf8E4M3FN>
  %s0 = tensor.empty(%atoms) : tensor<?x1x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  %qr = tensor.dim %q, %c0 : tensor<?x64xf8E4M3FN>
  %sr = tensor.dim %s, %c0 : tensor<?x1x32x4x4xf8E8M0FNU>
  return %qr, %sr : index, index
}

// CHECK-LABEL: func.func @dequantized
// CHECK-SAME: %[[Y0:[a-z0-9]+]]: tensor<?x64xf32>)
// CHECK: tensor.dim %[[Y0]]
func.func @dequantized(%q: tensor<?x64xf8E5M2>, %s: tensor<?x1x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>) -> index {
  %c0 = arith.constant 0 : index
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E5M2> scales %s : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  %r = tensor.dim %y, %c0 : tensor<?x64xf32>
  return %r : index
}
