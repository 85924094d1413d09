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
