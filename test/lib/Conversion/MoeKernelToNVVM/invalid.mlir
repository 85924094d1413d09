// RUN: %gmoe-opt %s --moe-kernel-convert-to-nvvm --split-input-file --verify-diagnostics

moe_kernel.func @foreign(%x: memref<4xf32>) warps(1) {
  %c0 = arith.constant 0 : index
  // expected-error@+1 {{'memref.load' op takes or returns a memref, tensor or moe_kernel value inside a kernel; use moe_kernel.global_load and global_store}}
  %0 = memref.load %x[%c0] : memref<4xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @format(%x: vector<4xf32>) warps(1) {
  moe_kernel.return
}
// expected-error@-3 {{argument #0: type is 'vector<4xf32>', expected a memref, a tensor map, i32 or i64}}

// -----

moe_kernel.func @encode(%x: memref<?x4xf32>) warps(1) {
  %c0 = arith.constant 0 : i32
  %v = moe_kernel.global_load %x[%c0, %c0] : memref<?x4xf32> -> vector<4xf32>
  // expected-error@+1 {{format is 'f8E8M0FNU', expected f8E4M3FN, f8E5M2 or f4E2M1FN}}
  %c = moe_kernel.encode %v to f8E8M0FNU : vector<4xf32> -> vector<4xi8>
  moe_kernel.return
}

// -----

moe_kernel.func @lanes(%x: memref<?x4xf32>) warps(4) {
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x128xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 64 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  %c0 = arith.constant 0 : i32
  // expected-note@+1 {{role 'half' has 2 warps from warp 2}}
  moe_kernel.role "half" warps(2, 2) {
    // expected-error@+1 {{stands outside a role of four warps that starts at a multiple of four}}
    %v = moe_kernel.load_accumulator %acc on %p[%c0] column %c0 : !moe_kernel.buffer<tensor, 1x128x128xf32>, !moe_kernel.pipeline<1> -> vector<4xf32>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @through_a_loop() warps(1) {
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  %q = moe_kernel.pipeline "q" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  %c0 = arith.constant 0 : i32
  %true = arith.constant true
  // expected-error@+1 {{'arith.select' op takes or returns a memref, tensor or moe_kernel value inside a kernel}}
  %s = arith.select %true, %p, %q : !moe_kernel.pipeline<1>
  moe_kernel.wait %s[%c0] : !moe_kernel.pipeline<1>
  moe_kernel.return
}
