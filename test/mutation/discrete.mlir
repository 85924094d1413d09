// The weights of an expert at an address of their own: tensor maps are built by one kernel and used by the next.
!a = memref<?x896xf8E4M3FN>
!sa = memref<?x7x32x4x4xf8E8M0FNU>
func.func @discrete(%a: !a, %sa: !sa, %p: memref<2xi64>, %q: memref<2xi64>, %o: memref<2xi32>, %d: memref<?x128xf32>) {
  grouped_moe.gemm lhs(%a : !a scales %sa : !sa layout <row, whole, block = 32>)
      rhs(%p : memref<2xi64> of tensor<128x896xf8E4M3FN> scales %q : memref<2xi64> of tensor<1x7x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%d : memref<?x128xf32>) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
