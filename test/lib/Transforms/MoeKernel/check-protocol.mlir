// RUN: %gmoe-opt %s --moe-kernel-check-protocol --split-input-file --verify-diagnostics

moe_kernel.func @good() warps(2) {
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

!map = !moe_kernel.tensor_map<128x128xi8, swizzle = 128>

moe_kernel.func @no_acquire_of_map(%maps: memref<4x!map>) warps(2) {
  %c0 = arith.constant 0 : i32
  %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 16384 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    // expected-note@+1 {{the map is taken here}}
    %map = moe_kernel.map_element %maps[%c0] : memref<4x!map> -> !map
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{in role 'producer': copies by a map in memory, but no acquire_map of it comes before it}}
    moe_kernel.load %map[%c0, %c0] to %a on %p[%c0] : !map, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @no_acquire() warps(2) {
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    // expected-error@+1 {{in role 'producer', pipeline 'p': no acquire comes before it}}
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @no_wait() warps(2) {
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    // expected-error@+1 {{in role 'consumer', pipeline 'p': no wait comes before it}}
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @released_twice() warps(2) {
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    // expected-note@+1 {{given back here}}
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{in role 'consumer', pipeline 'p': the stage was given back before}}
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @position() warps(2) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    // expected-note@+1 {{the acquire is here}}
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{works on another position than the acquire before it}}
    moe_kernel.commit full %p[%c1] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @bytes(%m: !moe_kernel.tensor_map<8x128xi8, swizzle = 128>) warps(2) {
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x8x128xi8>
  %c0 = arith.constant 0 : i32
  // expected-note@+1 {{transaction_bytes is set here}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 512 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{in role 'producer', pipeline 'p': announces 512 bytes, but the loads of a stage bring 1024}}
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<1>
    // expected-note@+1 {{brings 1024 bytes}}
    moe_kernel.load %m[%c0, %c0] to %b on %p[%c0] : !moe_kernel.tensor_map<8x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 1x8x128xi8>, !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @no_expect(%m: !moe_kernel.tensor_map<8x128xi8, swizzle = 128>) warps(2) {
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x8x128xi8>
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 1024 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{no expect announces the bytes of this load}}
    moe_kernel.load %m[%c0, %c0] to %b on %p[%c0] : !moe_kernel.tensor_map<8x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 1x8x128xi8>, !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @count() warps(2) {
  %c0 = arith.constant 0 : i32
  // expected-error@+1 {{'p' has 32 consumers, but 1 threads arrive in a round}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 32 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    // expected-note@+1 {{role 'consumer' arrives 1 times here}}
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @nobody_empties() warps(2) {
  %c0 = arith.constant 0 : i32
  // expected-error@+1 {{'p' is filled by 1 roles and emptied by 0, expected one and at least one}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-note@+1 {{role 'producer' fills it}}
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "consumer" warps(1, 1) elected {
  }
  moe_kernel.return
}

// -----

moe_kernel.func @two_fill() warps(2) {
  %c0 = arith.constant 0 : i32
  // expected-error@+1 {{'p' is filled by 2 roles and emptied by 0, expected one and at least one}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-note@+1 {{role 'producer' fills it}}
  moe_kernel.role "producer" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  // expected-note@+1 {{role 'consumer' fills it}}
  moe_kernel.role "consumer" warps(1, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @outside() warps(1) {
  %c0 = arith.constant 0 : i32
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  // expected-error@+1 {{uses pipeline 'p' outside a role}}
  moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
  moe_kernel.return
}

// -----

// Two pairs along M: a pair's own bytes and those that the other one sends, of both CTAs.
moe_kernel.func @pair_bytes(%map: !moe_kernel.tensor_map<64x128xi8, swizzle = 128>) warps(2) cluster(4, 1) paired {
  %c0 = arith.constant 0 : i32
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  // expected-note@+1 {{transaction_bytes is set here}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 2 transaction_bytes = 16384 : !moe_kernel.pipeline<1>
  moe_kernel.role "load" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{in role 'load', pipeline 'p': announces 16384 bytes, but the loads of a stage bring 32768}}
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<1>
    // expected-note@+1 {{brings 32768 bytes}}
    moe_kernel.load %map[%c0, %c0] to %b on %p[%c0] slice %c0 along m
        : !moe_kernel.tensor_map<64x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.pipeline<1>
    moe_kernel.drain %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "mma" warps(1, 1) elected leader {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit empty %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

// Both pairs read what a CTA loads.
moe_kernel.func @pair_readers(%map: !moe_kernel.tensor_map<64x128xi8, swizzle = 128>) warps(2) cluster(4, 1) paired {
  %c0 = arith.constant 0 : i32
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  // expected-error@+1 {{'p' has 1 consumers, but 2 threads arrive in a round}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 1 transaction_bytes = 32768 : !moe_kernel.pipeline<1>
  moe_kernel.role "load" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.load %map[%c0, %c0] to %b on %p[%c0] slice %c0 along m
        : !moe_kernel.tensor_map<64x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.pipeline<1>
    moe_kernel.drain %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "mma" warps(1, 1) elected leader {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    // expected-note@+1 {{role 'mma' arrives 2 times here}}
    moe_kernel.commit empty %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

// Both epilogues of a pair give accumulators back at the leader's barrier.
moe_kernel.func @pair_results() warps(5) cluster(2, 1) paired {
  %c0 = arith.constant 0 : i32
  // expected-error@+1 {{'p' has 128 consumers, but 256 threads arrive in a round}}
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 128 transaction_bytes = 0 : !moe_kernel.pipeline<1>
  moe_kernel.role "mma" warps(4, 1) elected leader {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit full %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.role "epilogue" warps(0, 4) {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    // expected-note@+1 {{role 'epilogue' arrives 256 times here}}
    moe_kernel.release %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

moe_kernel.func @not_drained(%map: !moe_kernel.tensor_map<64x128xi8, swizzle = 128>) warps(2) cluster(2, 1) {
  %c0 = arith.constant 0 : i32
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>
  %p = moe_kernel.pipeline "p" producers = 1 consumers = 2 transaction_bytes = 16384 : !moe_kernel.pipeline<1>
  moe_kernel.role "load" warps(0, 1) elected {
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<1>
    // expected-error@+1 {{in role 'load', pipeline 'p': other CTAs give back its stages, but no drain comes after the last load}}
    moe_kernel.load %map[%c0, %c0] to %b on %p[%c0] slice %c0 along m
        : !moe_kernel.tensor_map<64x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 1x128x128xf8E4M3FN>, !moe_kernel.pipeline<1>
  }
  moe_kernel.role "mma" warps(1, 1) elected {
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<1>
    moe_kernel.commit empty %p[%c0] : !moe_kernel.pipeline<1>
  }
  moe_kernel.return
}

// -----

// The walk of each CTA's warp, and the role that asks.
moe_kernel.func @queue(%offsets: memref<4xi32>) warps(2) cluster(2, 1) {
  %next = moe_kernel.alloc "next" : !moe_kernel.buffer<shared, 2x16xi8>
  // expected-error@+1 {{'tiles' has 2 consumers, but 3 threads arrive in a round}}
  %queue = moe_kernel.pipeline "tiles" producers = 1 consumers = 2 transaction_bytes = 16 : !moe_kernel.pipeline<2>
  moe_kernel.role "walk" warps(0, 1) elected {
    // expected-note@+1 {{role 'walk' arrives 2 times here}}
    moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 600
        from %next on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2> {
    ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32):
      moe_kernel.yield
    }
  }
  moe_kernel.role "ask" warps(1, 1) elected {
    // expected-note@+1 {{role 'ask' arrives 1 times here}}
    moe_kernel.request_tiles %next on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2>
  }
  moe_kernel.return
}
