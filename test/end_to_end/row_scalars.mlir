// RUN: gmoe-run %s --device=emulator --check --tolerance=bitwise --hazards=full | FileCheck %s

// What depends on the row alone is computed once a row; maxima and minima tell the zeros apart; C may be where D goes.
// CHECK: argument #8 {{.*}} passed
func.func @row_scalars(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %alpha: memref<2xf32>, %q: memref<?xf32>,
    %d: memref<?x64xf32>) {
  grouped_moe.gemm lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>)
      ins(%p : memref<?xf32> as per_row, %alpha : memref<2xf32> as per_group, %q : memref<?xf32> as per_row,
          %d : memref<?x64xf32> as per_element)
      outs(%d : memref<?x64xf32>) attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %pe: f32, %al: f32, %qe: f32, %c: f32):
    %minus = arith.constant -0.0 : f32
    %two = arith.constant 2.0 : f32
    %size = math.absf %pe : f32
    %bits = arith.bitcast %qe : f32 to i32
    %whole = arith.sitofp %bits : i32 to f32
    %tiny = arith.constant 1.0e-8 : f32
    %small = arith.mulf %whole, %tiny : f32
    %sum = arith.addf %size, %small : f32
    %scale = arith.mulf %al, %two : f32
    %x = arith.mulf %acc, %scale : f32
    %y = arith.maximumf %x, %minus : f32
    %z = arith.minnumf %y, %sum : f32
    %w = arith.addf %z, %c : f32
    %v = arith.maxnumf %z, %minus : f32
    %s = math.copysign %w, %v : f32
    grouped_moe.yield %s : f32
  }
  return
}
