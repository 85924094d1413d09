// RUN: %gmoe-opt %s --grouped-moe-select-schedule='tile-m=128 tile-n=128 cluster=1,1' --grouped-moe-convert-to-kernel --moe-kernel-check-resources --moe-kernel-check-protocol | FileCheck %s

// CHECK-LABEL: moe_kernel.func @f_gemm(
// CHECK-SAME: !moe_kernel.tensor_map<128x128xi8, swizzle = 128>
// CHECK-SAME: !moe_kernel.tensor_map<1x128x128xi8, swizzle = 128>
// CHECK-SAME: !moe_kernel.tensor_map<1x1x256xi16, swizzle = 0>
// CHECK-SAME: memref<2xi32>
// CHECK-SAME: warps(6)
// CHECK-DAG: alloc "a" : <shared, 6x128x128xf8E4M3FN>
// CHECK-DAG: alloc "output0" : <shared, 2x128x32xbf16>
// CHECK-DAG: alloc "accumulator" : <tensor, 2x128x128xf32>
// CHECK-DAG: pipeline "operands" producers = 1 consumers = 1 transaction_bytes = 33792 : <6>
// CHECK-DAG: pipeline "accumulators" producers = 1 consumers = 128 transaction_bytes = 0 : <2>
// CHECK: role "epilogue" warps(0, 4) {
// CHECK: for_tiles
// CHECK: wait
// CHECK: load_accumulator {{.*}} -> vector<32xf32>
// CHECK: release
// CHECK: acquire_staging pending = 1
// CHECK: arith.truncf {{.*}} to vector<32xbf16>
// CHECK: moe_kernel.stage {{.*}} : vector<32xbf16>, <shared, 2x128x32xbf16>
// CHECK: publish_staging
// CHECK: moe_kernel.store {{.*}} : <32x32xbf16, swizzle = 64>, <shared, 2x128x32xbf16>
// CHECK: commit_stores
// CHECK: acquire_staging pending = 0
// CHECK: role "load" warps(4, 1) elected {
// CHECK: acquire
// CHECK: expect
// CHECK-COUNT-4: moe_kernel.load
// CHECK: role "mma" warps(5, 1) elected {
// CHECK: acquire
// CHECK: wait
// CHECK-COUNT-2: copy_scales
// CHECK: moe_kernel.mma
// CHECK: commit {{ *}}empty
// CHECK: commit {{ *}}full

// CHECK-LABEL: func.func @f(
// CHECK-DAG: moe_kernel.require_extent %{{.*}} : memref<?x2x32x4x4xf8E8M0FNU>
// CHECK-DAG: moe_kernel.require_offsets %{{.*}} aligned = 256
// CHECK: moe_kernel.launch @f_gemm grid(%{{.*}}) {{.*}} writes [5]
func.func @f(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
       epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
