// RUN: %gmoe-opt %s --canonicalize | FileCheck %s

// An input that the region does not use is dropped; the others keep their order.
// CHECK-LABEL: func.func @unused
// CHECK-SAME: %[[P:[a-z0-9]+]]: memref<?xf32>, %[[AL:[a-z0-9]+]]: memref<2xf32>, %[[C:[a-z0-9]+]]: memref<?x48xf16>, %[[D:[a-z0-9]+]]: memref<?x48xf32>
func.func @unused(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %al: memref<2xf32>, %c: memref<?x48xf16>,
    %d: memref<?x48xf32>) {
  // CHECK: ins(%[[P]] : memref<?xf32> as per_row, %[[C]] : memref<?x48xf16> as per_element) outs(%[[D]] : memref<?x48xf32>)
  // CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[PE:.*]]: f32, %[[CE:.*]]: f32):
  // CHECK-NEXT: %[[X:.*]] = arith.mulf %[[ACC]], %[[PE]]
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[CE]]
  // CHECK-NEXT: grouped_moe.yield %[[Y]]
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%p : memref<?xf32> as per_row, %al : memref<2xf32> as per_group, %c : memref<?x48xf16> as per_element)
      outs(%d : memref<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %pe: f32, %ale: f32, %ce: f32):
    %x = arith.mulf %acc, %pe : f32
    %y = arith.addf %x, %ce : f32
    grouped_moe.yield %y : f32
  }
  return
}

// An input given twice in the same kind is loaded once.
// CHECK-LABEL: func.func @duplicate
func.func @duplicate(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // CHECK: ins(%{{[a-z0-9]+}} : memref<?xf32> as per_row) outs
  // CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32, %[[PE:.*]]: f32):
  // CHECK-NEXT: %[[X:.*]] = arith.mulf %[[ACC]], %[[PE]]
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[PE]]
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%p : memref<?xf32> as per_row, %p : memref<?xf32> as per_row)
      outs(%d : memref<?x48xf32>) epilogue {
  ^bb0(%acc: f32, %p0: f32, %p1: f32):
    %x = arith.mulf %acc, %p0 : f32
    %y = arith.addf %x, %p1 : f32
    grouped_moe.yield %y : f32
  }
  return
}

// The same buffer in two kinds is two inputs: with 2 groups of 2 rows, rows and groups are different things.
// CHECK-LABEL: func.func @two_kinds
func.func @two_kinds(%a: memref<2x64xf8E4M3FN>, %sa: memref<1x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<2xf32>, %d: memref<2x48xf32>) {
  // CHECK: ins(%[[P:.*]] : memref<2xf32> as per_row, %[[P]] : memref<2xf32> as per_group) outs
  grouped_moe.gemm lhs(%a : memref<2x64xf8E4M3FN> scales %sa : memref<1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x48x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%p : memref<2xf32> as per_row, %p : memref<2xf32> as per_group)
      outs(%d : memref<2x48xf32>) epilogue {
  ^bb0(%acc: f32, %p0: f32, %p1: f32):
    %x = arith.mulf %acc, %p0 : f32
    %y = arith.mulf %x, %p1 : f32
    grouped_moe.yield %y : f32
  }
  return
}

// A product on tensors that nobody uses is dead; one on memrefs has effects and stays.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%x: tensor<?x64xf32>, %q0: tensor<?x64xf8E4M3FN>, %s0: tensor<?x1x32x4x4xf8E8M0FNU>) {
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q0, %s0 : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}
