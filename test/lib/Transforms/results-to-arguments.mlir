// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics --grouped-moe-results-to-arguments | FileCheck %s

// CHECK-LABEL: func.func @moved(
// CHECK-SAME: %[[X:.*]]: memref<?x64xf32>, %[[R:.*]]: memref<?x64xf8E4M3FN> {grouped_moe.result = 0 : i64}) {
// CHECK-NOT: memref.alloc(%{{.*}}) : memref<?x64xf8E4M3FN>
// CHECK: grouped_moe.quantize ins(%[[X]] : memref<?x64xf32>) outs(%[[R]],
// CHECK: return{{$}}
func.func @moved(%x: memref<?x64xf32>) -> memref<?x64xf8E4M3FN> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = memref.dim %x, %c0 : memref<?x64xf32>
  %q = memref.alloc(%r) : memref<?x64xf8E4M3FN>
  %sf = memref.alloc(%c1) : memref<?x1x32x4x4xf8E8M0FNU>
  grouped_moe.quantize ins(%x : memref<?x64xf32>) outs(%q, %sf : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return %q : memref<?x64xf8E4M3FN>
}

// -----

// A destination that the caller gives holds its result already.
// CHECK-LABEL: func.func @argument(
// CHECK-SAME: memref<?x64xf32> {grouped_moe.result = 0 : i64}) {
func.func @argument(%x: memref<?x64xf32>) -> memref<?x64xf32> {
  return %x : memref<?x64xf32>
}

// -----

// expected-error@+1 {{result #1 and an earlier one are argument #0; return each buffer once}}
func.func @argument_twice(%x: memref<?x64xf32>) -> (memref<?x64xf32>, memref<?x64xf32>) {
  return %x, %x : memref<?x64xf32>, memref<?x64xf32>
}

// -----

// A result that another result is already the buffer of.
// expected-error@+1 {{result #1 and an earlier one are argument #1; return each buffer once}}
func.func @twice(%n: index) -> (memref<?x64xf32>, memref<?x64xf32>) {
  %x = memref.alloc(%n) : memref<?x64xf32>
  return %x, %x : memref<?x64xf32>, memref<?x64xf32>
}
