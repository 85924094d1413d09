// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

module {
  // CHECK-LABEL: moe_kernel.func @gemm
  moe_kernel.func @gemm(%ma: !moe_kernel.tensor_map<128x128xi8, swizzle = 128>, %mb: !moe_kernel.tensor_map<1x256x128xi8, swizzle = 128>,
      %msa: !moe_kernel.tensor_map<1x1x256xi16, swizzle = 0>, %msb: !moe_kernel.tensor_map<1x2x1x256xi16, swizzle = 0>,
      %offsets: memref<4xi32>, %d: memref<?x512xbf16>, %bias: memref<512xf32>) warps(6) {
    %a = moe_kernel.alloc "a" : !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>
    %b = moe_kernel.alloc "b" : !moe_kernel.buffer<shared, 4x256x128xf8E4M3FN>
    %sfa = moe_kernel.alloc "sfa" : !moe_kernel.buffer<shared, 4x1x512xi8>
    %sfb = moe_kernel.alloc "sfb" : !moe_kernel.buffer<shared, 4x2x512xi8>
    %sfa_t = moe_kernel.alloc "sfa_t" : !moe_kernel.buffer<tensor, 4x1x512xi8>
    %sfb_t = moe_kernel.alloc "sfb_t" : !moe_kernel.buffer<tensor, 4x2x512xi8>
    %acc = moe_kernel.alloc "acc" : !moe_kernel.buffer<tensor, 1x128x256xf32>
    %ops = moe_kernel.pipeline "operands" producers = 1 consumers = 1 transaction_bytes = 50688 : !moe_kernel.pipeline<4>
    %accs = moe_kernel.pipeline "accumulators" producers = 1 consumers = 128 transaction_bytes = 0 : !moe_kernel.pipeline<1>
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    %kt_end = arith.constant 4 : i32
    %blocks = arith.constant 4 : i32
    // CHECK: moe_kernel.role "epilogue" warps(0, 4) {
    moe_kernel.role "epilogue" warps(0, 4) {
      %thread = moe_kernel.index thread : i32
      %0 = moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 512 carry(%c0) {
      ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32, %apos: i32):
        moe_kernel.wait %accs[%apos] : !moe_kernel.pipeline<1>
        %my_row = arith.addi %row, %thread : i32
        %valid = arith.cmpi slt, %my_row, %end : i32
        %chunks = arith.constant 8 : i32
        %last = arith.constant 7 : i32
        scf.for %chunk = %c0 to %chunks step %c1 : i32 {
          %col = arith.muli %chunk, %c32 : i32
          %v = moe_kernel.load_accumulator %acc on %accs[%apos] column %col : !moe_kernel.buffer<tensor, 1x128x256xf32>, !moe_kernel.pipeline<1> -> vector<32xf32>
          %is_last = arith.cmpi eq, %chunk, %last : i32
          scf.if %is_last {
            moe_kernel.release %accs[%apos] : !moe_kernel.pipeline<1>
          }
          scf.if %valid {
            %gcol = arith.addi %column, %col : i32
            %bv = moe_kernel.global_load %bias[%gcol] : memref<512xf32> -> vector<32xf32>
            %s = arith.addf %v, %bv : vector<32xf32>
            %t = arith.truncf %s : vector<32xf32> to vector<32xbf16>
            moe_kernel.global_store %t to %d[%my_row, %gcol] : vector<32xbf16>, memref<?x512xbf16>
          }
        }
        %next = moe_kernel.advance %accs[%apos] : !moe_kernel.pipeline<1>
        moe_kernel.yield %next : i32
      } : i32
    }
    // CHECK: moe_kernel.role "load" warps(4, 1) elected {
    moe_kernel.role "load" warps(4, 1) elected {
      %0 = moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 512 carry(%c0) {
      ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32, %pos: i32):
        %rb = arith.divui %row, %c128 : i32
        %cb = arith.divui %column, %c128 : i32
        %1 = scf.for %kt = %c0 to %kt_end step %c1 iter_args(%p = %pos) -> (i32) : i32 {
          %k = arith.muli %kt, %c128 : i32
          moe_kernel.acquire %ops[%p] : !moe_kernel.pipeline<4>
          moe_kernel.expect %ops[%p] : !moe_kernel.pipeline<4>
          moe_kernel.load %ma[%row, %k] to %a on %ops[%p] : !moe_kernel.tensor_map<128x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>, !moe_kernel.pipeline<4>
          moe_kernel.load %mb[%group, %column, %k] to %b on %ops[%p] : !moe_kernel.tensor_map<1x256x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 4x256x128xf8E4M3FN>, !moe_kernel.pipeline<4>
          moe_kernel.load %msa[%rb, %kt, %c0] to %sfa on %ops[%p] : !moe_kernel.tensor_map<1x1x256xi16, swizzle = 0>, !moe_kernel.buffer<shared, 4x1x512xi8>, !moe_kernel.pipeline<4>
          // CHECK: moe_kernel.load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}} on %{{.*}}[%{{.*}}]
          moe_kernel.load %msb[%group, %cb, %kt, %c0] to %sfb on %ops[%p] : !moe_kernel.tensor_map<1x2x1x256xi16, swizzle = 0>, !moe_kernel.buffer<shared, 4x2x512xi8>, !moe_kernel.pipeline<4>
          %np = moe_kernel.advance %ops[%p] : !moe_kernel.pipeline<4>
          scf.yield %np : i32
        }
        moe_kernel.yield %1 : i32
      } : i32
    }
    moe_kernel.role "mma" warps(5, 1) elected {
      %0:2 = moe_kernel.for_tiles offsets(%offsets : memref<4xi32>) tile = [128, 256] n = 512 carry(%c0, %c0) {
      ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32, %pos: i32, %apos: i32):
        moe_kernel.acquire %accs[%apos] : !moe_kernel.pipeline<1>
        %1 = scf.for %kt = %c0 to %kt_end step %c1 iter_args(%p = %pos) -> (i32) : i32 {
          moe_kernel.wait %ops[%p] : !moe_kernel.pipeline<4>
          moe_kernel.copy_scales %sfa to %sfa_t on %ops[%p] : !moe_kernel.buffer<shared, 4x1x512xi8>, !moe_kernel.buffer<tensor, 4x1x512xi8>, !moe_kernel.pipeline<4>
          moe_kernel.copy_scales %sfb to %sfb_t on %ops[%p] : !moe_kernel.buffer<shared, 4x2x512xi8>, !moe_kernel.buffer<tensor, 4x2x512xi8>, !moe_kernel.pipeline<4>
          %accumulate = arith.cmpi ne, %kt, %c0 : i32
          // CHECK: moe_kernel.mma %{{.*}} on %{{.*}}[%{{.*}}], %{{.*}}, %{{.*}} scales %{{.*}}, %{{.*}} on %{{.*}}[%{{.*}}] accumulate %{{.*}} k_blocks %{{.*}} : <tensor, 1x128x256xf32>
          moe_kernel.mma %acc on %accs[%apos], %a, %b scales %sfa_t, %sfb_t on %ops[%p] accumulate %accumulate k_blocks %blocks : !moe_kernel.buffer<tensor, 1x128x256xf32>, !moe_kernel.pipeline<1>, !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>, !moe_kernel.buffer<shared, 4x256x128xf8E4M3FN>, !moe_kernel.buffer<tensor, 4x1x512xi8>, !moe_kernel.buffer<tensor, 4x2x512xi8>, !moe_kernel.pipeline<4>
          // CHECK: moe_kernel.commit empty
          moe_kernel.commit empty %ops[%p] : !moe_kernel.pipeline<4>
          %np = moe_kernel.advance %ops[%p] : !moe_kernel.pipeline<4>
          scf.yield %np : i32
        }
        moe_kernel.commit full %accs[%apos] : !moe_kernel.pipeline<1>
        %na = moe_kernel.advance %accs[%apos] : !moe_kernel.pipeline<1>
        moe_kernel.yield %1, %na : i32, i32
      } : i32, i32
    }
    moe_kernel.return
  }
}
