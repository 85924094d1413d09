// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

moe_kernel.func @elected() warps(4) {
  // expected-note@+1 {{the role is elected here}}
  moe_kernel.role "one" warps(0, 1) elected {
    // expected-error@+1 {{stands in role 'one', which is one thread, expected whole warps}}
    moe_kernel.barrier
  }
  moe_kernel.return
}

// -----

func.func @outside() {
  // expected-error@+1 {{stands outside a kernel}}
  moe_kernel.commit_stores
  return
}

// -----

moe_kernel.func @pending() warps(1) {
  // expected-error@+1 {{leaves 32 groups pending, expected 0 to 31}}
  moe_kernel.acquire_staging pending = 32
  moe_kernel.return
}

// -----

moe_kernel.func @rows(%i: i32, %x: memref<?x8xf32>) warps(4) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 2x128x8xf32>
  moe_kernel.role "half" warps(0, 2) {
    %v = moe_kernel.global_load %x[%i, %i] : memref<?x8xf32> -> vector<8xf32>
    // expected-error@+1 {{buffer: type is '!moe_kernel.buffer<shared, 2x128x8xf32>', expected slots x 64 x columns in shared memory: a row for each thread}}
    moe_kernel.stage %v to %s[%i] : vector<8xf32>, !moe_kernel.buffer<shared, 2x128x8xf32>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @row_bytes(%i: i32, %x: memref<?x12xf32>) warps(1) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 2x32x12xf32>
  %v = moe_kernel.global_load %x[%i, %i] : memref<?x12xf32> -> vector<12xf32>
  // expected-error@+1 {{buffer: rows of '!moe_kernel.buffer<shared, 2x32x12xf32>' have 48 bytes, expected 16, 32, 64 or 128}}
  moe_kernel.stage %v to %s[%i] : vector<12xf32>, !moe_kernel.buffer<shared, 2x32x12xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @values(%i: i32, %x: memref<?x8xf32>) warps(1) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 2x32x16xf32>
  %v = moe_kernel.global_load %x[%i, %i] : memref<?x8xf32> -> vector<8xf32>
  // expected-error@+1 {{values: type is 'vector<8xf32>', expected a row of '!moe_kernel.buffer<shared, 2x32x16xf32>'}}
  moe_kernel.stage %v to %s[%i] : vector<8xf32>, !moe_kernel.buffer<shared, 2x32x16xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @coordinates(%i: i32, %m: !moe_kernel.tensor_map<32x8xf32, swizzle = 32>) warps(1) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 2x32x8xf32>
  // expected-error@+1 {{has 1 coordinates, expected 2}}
  moe_kernel.store %m[%i] from %s[%i] : !moe_kernel.tensor_map<32x8xf32, swizzle = 32>, !moe_kernel.buffer<shared, 2x32x8xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @box(%i: i32, %m: !moe_kernel.tensor_map<64x8xf32, swizzle = 32>) warps(2) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 2x64x8xf32>
  // expected-error@+1 {{map: type is '!moe_kernel.tensor_map<64x8xf32, swizzle = 32>', expected a box of 32x8x'f32': the rows of a warp}}
  moe_kernel.store %m[%i, %i] from %s[%i] : !moe_kernel.tensor_map<64x8xf32, swizzle = 32>, !moe_kernel.buffer<shared, 2x64x8xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @swizzle(%i: i32, %m: !moe_kernel.tensor_map<32x8xf32, swizzle = 128>) warps(1) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 2x32x8xf32>
  // expected-error@+1 {{map: swizzle is 128 bytes, expected 32 for rows of 32 bytes}}
  moe_kernel.store %m[%i, %i] from %s[%i] : !moe_kernel.tensor_map<32x8xf32, swizzle = 128>, !moe_kernel.buffer<shared, 2x32x8xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @counters(%i: i32, %m: memref<?x8xi32>) warps(1) {
  // expected-error@+1 {{must be variadic of 1D memref of 32-bit signless integer values, but got 'memref<?x8xi32>'}}
  %l = moe_kernel.last_arrival %m[%i] of %i : memref<?x8xi32> -> i1
  moe_kernel.return
}

// -----

moe_kernel.func @scalars(%i: i32) warps(1) {
  %s = moe_kernel.alloc "s" : !moe_kernel.buffer<shared, 4x32xf32>
  // expected-error@+1 {{buffer: type is '!moe_kernel.buffer<shared, 4x32xf32>', expected 1 x rows x columns of f32 in shared memory}}
  %x = moe_kernel.shared_load %s[%i, %i] : !moe_kernel.buffer<shared, 4x32xf32> -> f32
  moe_kernel.return
}

// -----

moe_kernel.func @packed(%i: i32, %x: memref<?x8xf32>) warps(1) {
  %v = moe_kernel.global_load %x[%i, %i] : memref<?x8xf32> -> vector<8xf32>
  // expected-error@+1 {{packs 8 elements into 8 bytes, expected a multiple of 8 elements, two a byte}}
  %c = moe_kernel.encode %v to f4E2M1FN : vector<8xf32> -> vector<8xi8>
  moe_kernel.return
}

// -----

moe_kernel.func @encoded(%i: i32, %x: memref<?x8xf32>) warps(1) {
  %v = moe_kernel.global_load %x[%i, %i] : memref<?x8xf32> -> vector<8xf32>
  // expected-error@+1 {{encodes 8 elements as 4 bytes, expected one an element}}
  %c = moe_kernel.encode %v to f8E5M2 : vector<8xf32> -> vector<4xi8>
  moe_kernel.return
}

// -----

moe_kernel.func @unpacked(%i: i32, %x: memref<?x16xf4E2M1FN>) warps(1) {
  %c = moe_kernel.global_load %x[%i, %i] : memref<?x16xf4E2M1FN> -> vector<8xi8>
  // expected-error@+1 {{decodes 8 bytes as 8 elements, expected two a byte}}
  %v = moe_kernel.decode %c from f4E2M1FN : vector<8xi8> -> vector<8xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @decoded(%i: i32, %x: memref<?x8xf8E5M2>) warps(1) {
  %c = moe_kernel.global_load %x[%i, %i] : memref<?x8xf8E5M2> -> vector<8xi8>
  // expected-error@+1 {{decodes 8 bytes as 16 elements, expected one a byte}}
  %v = moe_kernel.decode %c from f8E5M2 : vector<8xi8> -> vector<16xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @half_bytes(%i: i32, %x: memref<?x7xf4E2M1FN>) warps(1) {
  // expected-error@+1 {{value: type is 'i8', expected elements as wide as those of 'memref<?x7xf4E2M1FN>', in whole bytes}}
  %c = moe_kernel.global_load %x[%i, %i] : memref<?x7xf4E2M1FN> -> i8
  moe_kernel.return
}

// -----

moe_kernel.func @scale(%i: i32, %x: memref<?xf32>) warps(1) {
  %v = moe_kernel.global_load %x[%i] : memref<?xf32> -> f32
  // expected-error@+1 {{format is 'f8E5M2', expected f8E8M0FNU or f8E4M3FN}}
  %c = moe_kernel.encode_scale %v to f8E5M2 : f32 -> i8
  moe_kernel.return
}
