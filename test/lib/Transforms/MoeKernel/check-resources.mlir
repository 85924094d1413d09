// RUN: %gmoe-opt %s --moe-kernel-check-resources --split-input-file --verify-diagnostics

// Exactly the limit.
moe_kernel.func @fits() warps(1) {
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 227x8x128xi8>
  moe_kernel.return
}

// All columns.
moe_kernel.func @fits_columns() warps(1) {
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 2x128x256xf32>
  moe_kernel.return
}

// -----

// expected-error@+2 {{kernel 'shared' needs 253408 bytes of shared memory, sm_100a has 232448 for a CTA; use fewer stages or smaller tiles}}
// expected-note@+1 {{barriers: 96 bytes}}
moe_kernel.func @shared() warps(1) {
  // expected-note@+1 {{'a': 81920 bytes (5 stages of 16384)}}
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 5x128x128xf8E4M3FN>
  // expected-note@+1 {{'b': 163840 bytes (5 stages of 32768)}}
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 5x256x128xf8E4M3FN>
  // expected-note@+1 {{'small': 7552 bytes (59 stages of 128)}}
  %c = moe_kernel.alloc "small" : !moe_kernel.buffer<shared, 59x16xi8>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<6>
  moe_kernel.return
}

// -----

// expected-error@+1 {{kernel 'columns' needs 528 columns of tensor memory, sm_100a has 512; use fewer accumulator stages or a smaller N}}
moe_kernel.func @columns() warps(1) {
  // expected-note@+1 {{'scales': 16 columns (4 stages of 4)}}
  %s = moe_kernel.alloc "scales" : !moe_kernel.buffer<tensor, 4x1x512xi8>
  // expected-note@+1 {{'acc': 512 columns (2 stages of 256)}}
  %a = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 2x128x256xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @shape(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x64x64xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{computes 64 rows by 64 columns, expected 128 rows by 8 to 256 columns in steps of 8}}
  moe_kernel.mma %acc on %p[%pos], %a, %a scales %sfa, %sfa on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 1x64x64xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>, !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}
