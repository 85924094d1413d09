// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{has 33 warps, expected 1 to 32 (1024 threads a CTA)}}
moe_kernel.func @warps() warps(33) {
  moe_kernel.return
}

// -----

// expected-error@+1 {{argument #0: type is 'memref<?x?xf32>', expected a row-major memref whose extents after the first are static}}
moe_kernel.func @dynamic(%x: memref<?x?xf32>) warps(1) {
  moe_kernel.return
}

// -----

moe_kernel.func @shared_warps() warps(4) {
  // expected-note@+1 {{the other role is here}}
  moe_kernel.role "a" warps(0, 2) {
  }
  // expected-error@+1 {{'b' shares warps with 'a'}}
  moe_kernel.role "b" warps(1, 1) {
  }
  moe_kernel.return
}

// -----

moe_kernel.func @beyond() warps(4) {
  // expected-error@+1 {{'a' takes warps 3 to 4, but the kernel has 4}}
  moe_kernel.role "a" warps(3, 2) {
  }
  moe_kernel.return
}

// -----

moe_kernel.func @elected() warps(4) {
  // expected-error@+1 {{'a' elects a thread of 2 warps, expected 1}}
  moe_kernel.role "a" warps(0, 2) elected {
  }
  moe_kernel.return
}

// -----

moe_kernel.func @pipeline() warps(1) {
  // expected-error@+1 {{'p' has 33 stages, expected 1 to 32}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<33>
  moe_kernel.return
}

// -----

moe_kernel.func @counts() warps(1) {
  // expected-error@+1 {{'p': 0 producers, 1 consumers and 0 transaction bytes, expected 1 to 1048575 arrivals and at most 1048575 bytes}}
  %p = moe_kernel.pipeline "p" producers = 0 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

// expected-error@+1 {{unknown buffer space 'global', expected shared or tensor}}
func.func private @space(!moe_kernel.buffer<global, 1x4xi8>)

// -----

// expected-error@+1 {{box has 1 extents, expected at most 5, each at most 256}}
func.func private @box(!moe_kernel.tensor_map<512xi8, swizzle = 0>)

// -----

// expected-error@+1 {{swizzle is 48 bytes, expected 0, 32, 64 or 128}}
func.func private @swizzle(!moe_kernel.tensor_map<32xi8, swizzle = 48>)

// -----

// expected-error@+1 {{the box's inner extent is 256 bytes, expected a multiple of 16, and at most the swizzle's span}}
func.func private @inner(!moe_kernel.tensor_map<8x256xi8, swizzle = 128>)

// -----

moe_kernel.func @access(%x: memref<?x4xf32>, %i: i32) warps(1) {
  // expected-error@+1 {{has 1 indices for 'memref<?x4xf32>'}}
  %0 = moe_kernel.global_load %x[%i] : memref<?x4xf32> -> f32
  moe_kernel.return
}

// -----

moe_kernel.func @width(%x: memref<?x4xf32>, %i: i32) warps(1) {
  // expected-error@+1 {{value: type is 'vector<4xbf16>', expected elements as wide as those of 'memref<?x4xf32>', in whole bytes}}
  %0 = moe_kernel.global_load %x[%i, %i] : memref<?x4xf32> -> vector<4xbf16>
  moe_kernel.return
}

// -----

moe_kernel.func @rank(%x: memref<?x4xf32>, %i: i32) warps(1) {
  // expected-error@+1 {{value: type is 'vector<2x2xf32>', expected a scalar or a vector of rank 1}}
  %0 = moe_kernel.global_load %x[%i, %i] : memref<?x4xf32> -> vector<2x2xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @tiles(%x: memref<?xi32>) warps(1) {
  // expected-error@+1 {{offsets: type is 'memref<?xi32>', expected memref<Lxi32> with L at least 1}}
  moe_kernel.for_tiles offsets(%x : memref<?xi32>) tile = [128, 128] n = 128 {
  ^bb0(%g: i32, %r: i32, %c: i32, %begin: i32, %end: i32, %atoms: i32):
  }
  moe_kernel.return
}

// -----

moe_kernel.func @tile_arguments(%x: memref<4xi32>) warps(1) {
  // expected-error@+1 {{the body has 3 arguments, expected 6 of i32: group, row, column, begin, end, atoms and the carried values}}
  moe_kernel.for_tiles offsets(%x : memref<4xi32>) tile = [128, 128] n = 128 {
  ^bb0(%g: i32, %r: i32, %c: i32):
  }
  moe_kernel.return
}

// -----

moe_kernel.func @group_tiles(%x: memref<4xi32>, %r: i32) warps(1) {
  // expected-error@+1 {{the body has 3 arguments, expected 9 of i32: group, row, column, begin, end, atoms, part, parts, slot and the carried values}}
  moe_kernel.for_group_tiles offsets(%x : memref<4xi32>) rows %r tile = [128, 128] shape = [256, 512] {
  ^bb0(%g: i32, %row: i32, %c: i32):
  }
  moe_kernel.return
}

// -----

moe_kernel.func @group_tile_extents(%x: memref<4xi32>, %r: i32) warps(1) {
  // expected-error@+1 {{tile, shape and slots must be positive}}
  moe_kernel.for_group_tiles offsets(%x : memref<4xi32>) rows %r tile = [128, 0] shape = [256, 512] {
  ^bb0(%g: i32, %row: i32, %c: i32, %b: i32, %e: i32, %a: i32, %p: i32, %q: i32, %s: i32):
  }
  moe_kernel.return
}

// -----

func.func @unknown_kernel() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{kernel 'k' is not a kernel of this module}}
  moe_kernel.launch @k grid(%n) writes []
  return
}

// -----

func.func @arguments() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{passes 0 arguments, kernel 'k' takes 1}}
  moe_kernel.launch @k grid(%n) writes []
  return
}
// expected-note@+1 {{the kernel is here}}
moe_kernel.func @k(%rows: i32) warps(1) {
  moe_kernel.return
}

// -----

func.func @not_a_kernel() {
  %n = arith.constant 1 : index
  // expected-error@+1 {{kernel 'not_a_kernel' is not a kernel of this module}}
  moe_kernel.launch @not_a_kernel grid(%n) writes []
  return
}
