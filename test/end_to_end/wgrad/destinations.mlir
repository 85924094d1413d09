// RUN: gmoe-run %s --entry=main_gradient --device=emulator --check --tolerance=bitwise --hazards=full | FileCheck %s --check-prefix=ONE
// RUN: gmoe-run %s --entry=not_returned --device=emulator --check --tolerance=bitwise --hazards=full | FileCheck %s --check-prefix=TWO
// RUN: gmoe-run %s --entry=twice --device=emulator --check --tolerance=bitwise --hazards=full | FileCheck %s --check-prefix=ONE
// RUN: not gmoe-compile %s -o %t.gmoe 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not gmoe-run %s --entry=two_shapes --device=reference 2>&1 | FileCheck %s --check-prefix=SHAPES

// ONE: {{ yes +passed}}
// ONE-NOT: passed
// TWO-COUNT-2: {{ yes +passed}}

!f = tensor<?x64xf8E4M3FN>
!s = tensor<?x32x4x4xf8E8M0FNU>
!d = tensor<2x64x64xf32>

// An addend may be the destination: each element is read by the thread that then writes it.
func.func @main_gradient(%o: tensor<2xi32>, %a: !f, %sa: !s, %b: !f, %sb: !s, %d: !d) -> !d {
  %r = grouped_moe.wgrad lhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>)
      rhs(%b : !f scales %sb : !s layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      ins(%d : !d as per_element) outs(%d : !d) attributes {m_aligned = 32 : i64} epilogue {
  ^bb0(%acc: f32, %old: f32):
    %sum = arith.addf %acc, %old : f32
    grouped_moe.yield %sum : f32
  } -> !d
  return %r : !d
}

// What addresses point at is a result of the program, returned or not.
func.func @not_returned(%o: tensor<2xi32>, %a: !f, %sa: !s, %b: !f, %sb: !s, %p: tensor<2xi64>, %d: !d) -> !d {
  %r:2 = grouped_moe.wgrad lhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>)
      rhs(%b : !f scales %sb : !s layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%p : tensor<2xi64>, %d : !d) attributes {m_aligned = 32 : i64, pointee = bf16} -> tensor<2xi64>, !d
  return %r#1 : !d
}

// Two ops may take the same addresses: these are only read.
func.func @twice(%o: tensor<2xi32>, %a: !f, %sa: !s, %b: !f, %sb: !s, %p: tensor<2xi64>) -> tensor<2xi64> {
  %r = grouped_moe.wgrad lhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>)
      rhs(%b : !f scales %sb : !s layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%p : tensor<2xi64>) attributes {m_aligned = 32 : i64, pointee = f32} -> tensor<2xi64>
  %t = grouped_moe.wgrad lhs(%b : !f scales %sb : !s layout <column, per_group, block = 32>)
      rhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%p : tensor<2xi64>) attributes {m_aligned = 32 : i64, pointee = f32, accumulate} -> tensor<2xi64>
  return %t : tensor<2xi64>
}

// REFUSED: takes argument #5 as addresses of 'memref<64x32xf32>', another op takes them as those of other arrays; give each its own addresses
// SHAPES: argument #5: array is 2x64x64xf32, expected 'tensor<2x64x32xf32>'
func.func @two_shapes(%o: tensor<2xi32>, %a: !f, %sa: !s, %c: tensor<?x32xf8E4M3FN>, %sc: !s, %p: tensor<2xi64>) -> tensor<2xi64> {
  %r = grouped_moe.wgrad lhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>)
      rhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%p : tensor<2xi64>) attributes {m_aligned = 32 : i64, pointee = f32} -> tensor<2xi64>
  %t = grouped_moe.wgrad lhs(%a : !f scales %sa : !s layout <column, per_group, block = 32>)
      rhs(%c : tensor<?x32xf8E4M3FN> scales %sc : !s layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%p : tensor<2xi64>) attributes {m_aligned = 32 : i64, pointee = f32} -> tensor<2xi64>
  return %t : tensor<2xi64>
}
