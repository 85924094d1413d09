// RUN: %gmoe-opt %s --moe-kernel-expand-math --split-input-file --verify-diagnostics | FileCheck %s

// Two multiplications by powers of two around the base-2 exponential: results
// below the normal range round once.
// CHECK-LABEL: func.func @exp
// CHECK: %[[LOW:.*]] = arith.maximumf %{{.*}}
// CHECK: %[[X:.*]] = arith.minimumf %[[LOW]]
// CHECK: %[[SUM:.*]] = math.fma %[[X]]
// CHECK: arith.bitcast %[[SUM]] : vector<4xf32> to vector<4xi32>
// CHECK: math.fma
// CHECK: math.fma
// CHECK: math.exp2 %{{.*}} fastmath<afn> : vector<4xf32>
// CHECK: arith.mulf
// CHECK: %[[R:.*]] = arith.mulf
// CHECK: return %[[R]]
func.func @exp(%x: vector<4xf32>) -> vector<4xf32> {
  %0 = math.exp %x : vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// CHECK-LABEL: func.func @tanh
// CHECK-NOT: math.tanh
// CHECK: math.exp2 %{{.*}} fastmath<afn> : f32
// CHECK: arith.divf %{{.*}}, %{{.*}} fastmath<arcp,afn>
// CHECK: %[[R:.*]] = math.copysign
// CHECK: return %[[R]]
func.func @tanh(%x: f32) -> f32 {
  %0 = math.tanh %x : f32
  return %0 : f32
}

// -----

// CHECK-LABEL: func.func @log
// CHECK-NOT: math.log
// CHECK: arith.shrsi
// CHECK-NOT: math.log
// CHECK: return
func.func @log(%x: f32) -> f32 {
  %0 = math.log %x : f32
  return %0 : f32
}

// -----

// Computed in f32.
// CHECK-LABEL: func.func @half
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.exp2
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @half(%x: bf16) -> bf16 {
  %0 = math.exp %x : bf16
  return %0 : bf16
}

// -----

// CHECK-LABEL: func.func @instructions
// CHECK: math.sqrt
// CHECK: math.roundeven
// CHECK: math.copysign
// CHECK: math.fma
func.func @instructions(%x: f32, %y: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.roundeven %0 : f32
  %2 = math.copysign %1, %y : f32
  %3 = math.fma %2, %x, %y : f32
  return %3 : f32
}

// -----

func.func @unsupported(%x: f32) -> f32 {
  // expected-error@+1 {{'math.sin' op on 'f32' has no expansion for the GPU; compose it of exp, log, tanh, erf, sqrt or rsqrt of f32}}
  %0 = math.sin %x : f32
  return %0 : f32
}
