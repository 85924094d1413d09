// RUN: gmoe-opt %s --canonicalize | FileCheck %s

!f = tensor<?x256xf8E4M3FN>
!sf = tensor<?x32x4x4xf8E8M0FNU>
!d = tensor<2x256x256xf32>

// The unused result goes, with its destination, its value, and what that alone needed.
// CHECK-LABEL: func.func @unused
// CHECK-SAME: %{{.*}}: tensor<2xf32>, %[[D0:.*]]: tensor<2x256x256xf32>, %{{.*}}: tensor<2x256x256xbf16>)
// CHECK: grouped_moe.wgrad
// CHECK-NOT: ins(
// CHECK-SAME: outs(%[[D0]] : tensor<2x256x256xf32>) epilogue {
// CHECK-NEXT: ^bb0(%[[ACC:.*]]: f32):
// CHECK-NEXT: arith.negf %[[ACC]]
// CHECK-NEXT: grouped_moe.yield %{{.*}} : f32
// CHECK-NEXT: } -> tensor<2x256x256xf32>
func.func @unused(%a: !f, %sa: !sf, %b: !f, %sb: !sf, %o: tensor<2xi32>, %al: tensor<2xf32>, %d0: !d, %e0: tensor<2x256x256xbf16>) -> !d {
  %d:2 = grouped_moe.wgrad lhs(%a : !f scales %sa : !sf layout <column, per_group, block = 32>)
      rhs(%b : !f scales %sb : !sf layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      ins(%al : tensor<2xf32> as per_group) outs(%e0 : tensor<2x256x256xbf16>, %d0 : !d) epilogue {
  ^bb0(%acc: f32, %g: f32):
    %0 = arith.mulf %acc, %g : f32
    %1 = arith.negf %acc : f32
    grouped_moe.yield %0, %1 : f32, f32
  } -> tensor<2x256x256xbf16>, !d
  return %d#1 : !d
}

// What addresses point at is written all the same.
// CHECK-LABEL: func.func @addresses
// CHECK: outs(%{{.*}} : tensor<2xi64>, %{{.*}} : tensor<2x256x256xf32>)
func.func @addresses(%a: !f, %sa: !sf, %b: !f, %sb: !sf, %o: tensor<2xi32>, %p: tensor<2xi64>, %d0: !d) -> !d {
  %d:2 = grouped_moe.wgrad lhs(%a : !f scales %sa : !sf layout <column, per_group, block = 32>)
      rhs(%b : !f scales %sb : !sf layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%p : tensor<2xi64>, %d0 : !d) attributes {pointee = f32} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc, %acc : f32, f32
  } -> tensor<2xi64>, !d
  return %d#1 : !d
}
