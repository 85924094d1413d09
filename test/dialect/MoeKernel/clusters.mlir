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
