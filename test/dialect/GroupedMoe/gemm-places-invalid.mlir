// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// Places that are read and written, arithmetic that rounds otherwise, extents that do not fit.

func.func @input_is_sum(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %x: memref<2x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: is the same memref as operand #5, which is read while it is written; give it its own (gemm_c9)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%x : memref<2x64xf32> as per_group_column) outs(%x : memref<2x64xf32> as group_column_sum) epilogue {
  ^bb0(%acc: f32, %y: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @fastmath(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue holds 'arith.divf' with a rounding mode or fastmath flags, but each operation of an epilogue rounds to nearest even; drop the attribute (gemm_c11)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x64xf32>) epilogue {
  ^bb0(%acc: f32):
    // expected-note @below {{the operation is here}}
    %x = arith.divf %acc, %acc fastmath<fast> : f32
    grouped_moe.yield %x : f32
  }
  return
}

// -----

func.func @rounding(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d: memref<?x64xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op epilogue holds 'arith.truncf' with a rounding mode or fastmath flags, but each operation of an epilogue rounds to nearest even; drop the attribute (gemm_c11)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x64xf32>) epilogue {
  ^bb0(%acc: f32):
    // expected-note @below {{the operation is here}}
    %x = arith.truncf %acc toward_zero : f32 to bf16
    %y = arith.extf %x : bf16 to f32
    grouped_moe.yield %y : f32
  }
  return
}

// -----

func.func @huge(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x4294967296x64xf8E4M3FN>,
    %sb: memref<2x33554432x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %d: memref<?x4294967296xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op N is 4294967296, K 64, L 2, expected extents of at most 2147483647: kernels count in 32 bits (gemm_c3)}}
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x4294967296x64xf8E4M3FN> scales %sb : memref<2x33554432x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x4294967296xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

// The op that makes the scales stands later in the text, and is wrong itself.
func.func @forward(%a: tensor<?x128xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<1x32x128xf8E4M3FN>, %sfb: tensor<1x1x1x32x4x4xf8E8M0FNU>, %off: tensor<1xi32>, %d: tensor<?x32xf32>, %q: tensor<?x32xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) -> tensor<?x32xf32> {
  cf.br ^bb2
^bb1:
  %r = "grouped_moe.gemm"(%a, %p#1, %b, %sfb, %off, %d) <{operandSegmentSizes = array<i32: 1,1,1,1,1,0,0,1>, lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, input_kinds = array<i32>, output_kinds = array<i32: 0>}> ({
  ^bb0(%x: f32):
    "grouped_moe.yield"(%x) : (f32) -> ()
  }) : (tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<1x32x128xf8E4M3FN>, tensor<1x1x1x32x4x4xf8E8M0FNU>, tensor<1xi32>, tensor<?x32xf32>) -> tensor<?x32xf32>
  return %r : tensor<?x32xf32>
^bb2:
  // expected-error @below {{'grouped_moe.gemm' op has 2 outputs and 0 output kinds (gemm_c9)}}
  %p:2 = "grouped_moe.gemm"(%a, %sfa, %b, %sfb, %off, %q, %s) <{operandSegmentSizes = array<i32: 1,1,1,1,1,0,0,2>, lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, input_kinds = array<i32>, output_kinds = array<i32>}> ({
  ^bb0(%x: f32):
    "grouped_moe.yield"(%x) : (f32) -> ()
  }) : (tensor<?x128xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>, tensor<1x32x128xf8E4M3FN>, tensor<1x1x1x32x4x4xf8E8M0FNU>, tensor<1xi32>, tensor<?x32xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>) -> (tensor<?x32xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
  cf.br ^bb1
}
