// RUN: %gmoe-opt %s --split-input-file --verify-diagnostics

moe_kernel.func @shapes(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x32xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{expected stages x M x K and stages x N x K (half of N in a paired kernel; whole panels of 128 where transposed) in shared memory, stages x M x N of f32 in tensor memory}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 1x128x32xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

moe_kernel.func @operand(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x64xf8E4M3FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x64x64xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x64xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{expected K = 128 of f8E4M3FN or f8E5M2, or K = 256 of f4E2M1FN, not transposed: rows of 128 bytes}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 1x128x64xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x64xf8E4M3FN>, !moe_kernel.buffer<shared, 1x64x64xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

moe_kernel.func @format(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x128xi8>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x64xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{expected K = 128 of f8E4M3FN or f8E5M2, or K = 256 of f4E2M1FN, not transposed: rows of 128 bytes}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 1x128x64xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x128xi8>, !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

moe_kernel.func @scales(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x256x128xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x256xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{expected atoms of 512 bytes of tensor memory for each 128 rows of an operand: 1 of 8-bit, 2 or 4 of 4-bit elements, 4 with fine_scales}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 1x128x256xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.buffer<shared, 1x256x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

moe_kernel.func @stages(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 2x128x64xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{operand or accumulator stages differ from their pipeline's}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 2x128x64xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

moe_kernel.func @panels(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x1x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x64xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{expected stages x M x K and stages x N x K (half of N in a paired kernel; whole panels of 128 where transposed)}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos {b_transposed} : !moe_kernel.buffer<tensor, 1x128x64xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.buffer<shared, 1x64x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.buffer<tensor, 1x1x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

// Three atoms along K are no format; f8E4M3FN scales come in blocks of 16, four atoms.
moe_kernel.func @atoms(%pos: i32) warps(1) {
  %go = arith.constant true
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x256xf4E2M1FN>
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x128x256xf4E2M1FN>
  %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<tensor, 1x2x512xi8>
  %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<tensor, 1x2x512xi8>
  %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x128xf32>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos : !moe_kernel.buffer<tensor, 1x128x128xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x256xf4E2M1FN>, !moe_kernel.buffer<shared, 1x128x256xf4E2M1FN>, !moe_kernel.buffer<tensor, 1x2x512xi8>, !moe_kernel.buffer<tensor, 1x2x512xi8>, !moe_kernel.pipeline<1>
  // expected-error@+1 {{2 or 4 of 4-bit elements, 4 with fine_scales}}
  moe_kernel.mma %acc on %p[%pos], %a, %b scales %sfa, %sfb on %p[%pos] accumulate %go k_blocks %pos {fine_scales} : !moe_kernel.buffer<tensor, 1x128x128xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 1x128x256xf4E2M1FN>, !moe_kernel.buffer<shared, 1x128x256xf4E2M1FN>, !moe_kernel.buffer<tensor, 1x2x512xi8>, !moe_kernel.buffer<tensor, 1x2x512xi8>, !moe_kernel.pipeline<1>
  moe_kernel.return
}
