// RUN: gmoe-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{cluster is array<i64: 4, 4>, expected CTAs along M and N, at most 8}}
moe_kernel.func @large() warps(1) cluster(4, 4) {
  moe_kernel.return
}

// -----

// expected-error@+1 {{is paired, but its cluster has 1 CTAs along M, expected an even number}}
moe_kernel.func @odd() warps(1) cluster(1, 2) paired {
  moe_kernel.return
}

// -----

moe_kernel.func @leader() warps(1) cluster(2, 1) {
  // expected-error@+1 {{'mma' is the leader's, but the kernel is not paired}}
  moe_kernel.role "mma" warps(0, 1) elected leader {
  }
  moe_kernel.return
}

// -----

moe_kernel.func @shared_accumulators() warps(1) {
  // expected-error@+1 {{'acc' is '!moe_kernel.buffer<tensor, 2x128x128xf32>' with an overlap of 96 columns, expected two accumulators in tensor memory that share at most half}}
  %acc = moe_kernel.alloc "acc" overlap = 96 : !moe_kernel.buffer<tensor, 2x128x128xf32>
  moe_kernel.return
}

// -----

moe_kernel.func @answers() warps(1) {
  %next = moe_kernel.alloc "next" : !moe_kernel.buffer<shared, 1x16xi8>
  %queue = moe_kernel.pipeline "tiles" producers = 1 consumers = 1 transaction_bytes = 16 : !moe_kernel.pipeline<2>
  moe_kernel.role "ask" warps(0, 1) elected {
    // expected-error@+1 {{answers are in '!moe_kernel.buffer<shared, 1x16xi8>' on '!moe_kernel.pipeline<2>', expected 16 bytes of shared memory for each stage}}
    moe_kernel.request_tiles %next on %queue : !moe_kernel.buffer<shared, 1x16xi8>, !moe_kernel.pipeline<2>
  }
  moe_kernel.return
}
