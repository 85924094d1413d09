// Every function that an epilogue may call is within 4 units in the last place of f32, here at 65536 numbers of all magnitudes.
// On a GPU: `units functions.ptx --device=cuda --all` tries every f32.
// RUN: gmoe-compile %s --emit=ptx -o %t.ptx
// RUN: units %t.ptx | FileCheck %s
// CHECK: sigmoid: {{[0-3]\.[0-9]+}} units
// CHECK: 0 functions failed


moe_kernel.func @sigmoid(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = moe_kernel.sigmoid %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @exp(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.exp %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @exp2(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.exp2 %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @log(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.log %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @log2(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.log2 %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @tanh(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.tanh %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @erf(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.erf %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}

moe_kernel.func @rsqrt(%y: memref<?xf32>, %base: i32, %step: i32) warps(4) {
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %thread = moe_kernel.index thread : i32
  %first = arith.muli %cta, %c128 : i32
  %i = arith.addi %first, %thread : i32
  %offset = arith.muli %i, %step : i32
  %bits = arith.addi %base, %offset : i32
  %x = arith.bitcast %bits : i32 to f32
  %v = vector.broadcast %x : f32 to vector<1xf32>
  %r = math.rsqrt %v : vector<1xf32>
  moe_kernel.global_store %r to %y[%i] : vector<1xf32>, memref<?xf32>
  moe_kernel.return
}
