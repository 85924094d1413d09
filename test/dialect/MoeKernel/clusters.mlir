// RUN: %gmoe-opt %s | FileCheck %s

// CHECK: moe_kernel.func @pairs(%{{.*}}: !moe_kernel.tensor_map<1x64x128xi8, swizzle = 128>) warps(6) cluster(4, 1) paired {
moe_kernel.func @pairs(%map: !moe_kernel.tensor_map<1x64x128xi8, swizzle = 128>) warps(6) cluster(4, 1) paired {
  %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>
  %p = moe_kernel.pipeline "operands" producers = 1 consumers = 2 transaction_bytes = 32768 : !moe_kernel.pipeline<4>
  // CHECK: moe_kernel.role "load" warps(4, 1) elected {
  moe_kernel.role "load" warps(4, 1) elected {
    %c0 = arith.constant 0 : i32
    // CHECK: moe_kernel.index cluster_m : i32
    %m = moe_kernel.index cluster_m : i32
    // CHECK: moe_kernel.index cluster_n : i32
    %n = moe_kernel.index cluster_n : i32
    moe_kernel.acquire %p[%c0] : !moe_kernel.pipeline<4>
    moe_kernel.expect %p[%c0] : !moe_kernel.pipeline<4>
    // CHECK: moe_kernel.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}} on %{{.*}}[%{{.*}}] slice %{{.*}} along m
    moe_kernel.load %map[%c0, %m, %n] to %b on %p[%c0] slice %n along m
        : !moe_kernel.tensor_map<1x64x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>, !moe_kernel.pipeline<4>
    // CHECK: moe_kernel.drain
    moe_kernel.drain %p[%c0] : !moe_kernel.pipeline<4>
  }
  // CHECK: moe_kernel.role "mma" warps(5, 1) elected leader {
  moe_kernel.role "mma" warps(5, 1) elected leader {
    %c0 = arith.constant 0 : i32
    moe_kernel.wait %p[%c0] : !moe_kernel.pipeline<4>
    moe_kernel.commit empty %p[%c0] : !moe_kernel.pipeline<4>
  }
  moe_kernel.return
}

// CHECK: moe_kernel.func @tiles
moe_kernel.func @tiles(%offsets: memref<4xi32>) warps(2) {
  // CHECK: moe_kernel.alloc "accumulator" overlap = 48 : <tensor, 2x128x256xf32>
  %acc = moe_kernel.alloc "accumulator" overlap = 48 : !moe_kernel.buffer<tensor, 2x128x256xf32>
  %next = moe_kernel.alloc "next" : !moe_kernel.buffer<shared, 2x16xi8>
  %queue = moe_kernel.pipeline "tiles" producers = 1 consumers = 2 transaction_bytes = 16 : !moe_kernel.pipeline<2>
  moe_kernel.role "walk" warps(0, 1) elected {
    // CHECK: moe_kernel.for_tiles offsets(%{{.*}} : memref<4xi32>) tile = [128, 256] n = 600 along short_side from %{{.*}} on %{{.*}} : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2>
    moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 600 along short_side
        from %next on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2> {
    ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32):
      // CHECK: moe_kernel.phase %{{.*}}[%{{.*}}] : <2>
      %phase = moe_kernel.phase %queue[%row] : !moe_kernel.pipeline<2>
      moe_kernel.yield
    }
  }
  moe_kernel.role "ask" warps(1, 1) elected {
    // CHECK: moe_kernel.request_tiles %{{.*}} on %{{.*}} : <shared, 2x16xi8>, <2>
    moe_kernel.request_tiles %next on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2>
  }
  moe_kernel.return
}
