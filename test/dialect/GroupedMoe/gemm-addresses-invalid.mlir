// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// The right operand as device addresses: gemm_c17, and what holds of its arrays.

func.func @no_pointee(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: type is 'tensor<2xi64>', an array of addresses, but not what they point at (gemm_c17); write `of tensor<...>`, the type of one group's array, behind it}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @no_scales_pointee(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: type is 'tensor<2xi64>', an array of addresses, but not what they point at (gemm_c17); write `of tensor<...>`, the type of one group's array, behind it}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @array_of(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2x48x64xf8E4M3FN>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: type is 'tensor<2x48x64xf8E4M3FN>' of 'tensor<48x64xf8E4M3FN>', expected one address of i64 for each group: L elements, static and at least 1 (gemm_c17); without `of` it is an array that holds all groups}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2x48x64xf8E4M3FN> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @dynamic(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<?xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: type is 'tensor<?xi64>' of 'tensor<48x64xf8E4M3FN>', expected one address of i64 for each group: L elements, static and at least 1 (gemm_c17); without `of` it is an array that holds all groups}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<?xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @no_group(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<0xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: type is 'tensor<0xi64>' of 'tensor<48x64xf8E4M3FN>', expected one address of i64 for each group: L elements, static and at least 1 (gemm_c17); without `of` it is an array that holds all groups}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<0xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @all_groups(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: points at 'tensor<2x48x64xf8E4M3FN>', expected a static tensor (N, K): the array of one group (gemm_c17)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<2x48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @dynamic_pointee(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: points at 'tensor<?x64xf8E4M3FN>', expected a static tensor (N, K): the array of one group (gemm_c17)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<?x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @memref_pointee(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: points at 'memref<48x64xf8E4M3FN>', expected a static tensor (N, K): the array of one group (gemm_c17)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of memref<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @flat_scales(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: points at 'tensor<512xf8E8M0FNU>', expected a static tensor of atoms, [..] x [..] x 32 x 4 x 4: the array of one group (gemm_c17)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<512xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @dense_scales(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2x1x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: is an array of addresses, but rhs scales of type 'tensor<2x1x1x32x4x4xf8E8M0FNU>' is not, expected both or neither (gemm_c17); keep the scales of a group in an array of their own, like its data}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @dense_data(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2x48x64xf8E4M3FN>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: is an array of addresses, but rhs of type 'tensor<2x48x64xf8E4M3FN>' is not, expected both or neither (gemm_c17); keep the scales of a group in an array of their own, like its data}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2x48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @other_groups(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<3xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: has 3 addresses, expected 2 as rhs (gemm_c17)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<3xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @empty(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  %e = tensor.empty() : tensor<2xi64>
  // expected-error @below {{'grouped_moe.gemm' op rhs: is an empty tensor, but the op reads the addresses in it (gemm_c17); pass an argument of the function}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%e : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @offsets(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<3xi64>, %q: tensor<3xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op offsets: type is 'tensor<2xi32>', expected 3 elements of i32, one cumulative end for each group of rhs (gemm_c6)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<3xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<3xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @depth(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op lhs: K is 64, expected 128 as in rhs (gemm_c2)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x128xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @format(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs: element type is 'f4E2M1FN', expected f8E4M3FN or f8E5M2 beside a lhs of 'f8E4M3FN' (gemm_c2); quantize both to FP8, or both to FP4}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf4E2M1FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @scale_format(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: element type is 'f8E4M3FN', expected f8E8M0FNU (gemm_c4)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<1x1x32x4x4xf8E4M3FN> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}

// -----

func.func @scale_shape(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %p: tensor<2xi64>, %q: tensor<2xi64>, %o: tensor<2xi32>,
    %d: tensor<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op rhs scales: scale shape is 2x2x1x32x4x4, expected 2x1x1x32x4x4 for layout #grouped_moe.scale_layout<row, whole, block = 32> of a matrix of shape 2x48x64 (gemm_c5)}}
  %r = grouped_moe.gemm lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%p : tensor<2xi64> of tensor<48x64xf8E4M3FN> scales %q : tensor<2xi64> of tensor<2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<?x48xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x48xf32>
  return
}
