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
