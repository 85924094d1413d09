// Staged stores, collectives of warps, roles and the grid, fills and narrow codes, against NumPy. Each CTA takes 128 rows; the
// last to arrive adds up what all of them wrote.
// REQUIRES: oracle
// RUN: %python %S/kernel_ops.py make %t
// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --device=emulator --hazards=full --arg 0=%t.x.npy --arg 1=%t.f32.npy --arg 2=%t.bf16.npy --arg 3=%t.f16.npy --arg 4=%t.packed.npy --arg 5=%t.bytes.npy --arg 6=%t.columns.npy --arg 7=%t.rows.npy --arg 8=%t.partial.npy --arg 9=%t.total.npy --arg 10=%t.counters.npy --arg 11=%t.exchanged.npy --arg 12=%t.nothing.npy --result 0=%t.f32.out.npy --result 1=%t.bf16.out.npy --result 2=%t.f16.out.npy --result 3=%t.packed.out.npy --result 4=%t.bytes.out.npy --result 5=%t.columns.out.npy --result 6=%t.rows.out.npy --result 7=%t.partial.out.npy --result 8=%t.total.out.npy --result 9=%t.counters.out.npy --result 10=%t.exchanged.out.npy
// RUN: %python %S/kernel_ops.py check %t

!f32s = !moe_kernel.buffer<shared, 2x128x32xf32>
!bf16s = !moe_kernel.buffer<shared, 2x128x32xbf16>
!f16s = !moe_kernel.buffer<shared, 2x128x16xf16>
!packeds = !moe_kernel.buffer<shared, 2x128x16xi8>
!f32m = !moe_kernel.tensor_map<32x32xf32, swizzle = 128>
!bf16m = !moe_kernel.tensor_map<32x32xbf16, swizzle = 64>
!f16m = !moe_kernel.tensor_map<32x16xf16, swizzle = 32>
!packedm = !moe_kernel.tensor_map<32x16xi8, swizzle = 0>

func.func @ops(%x: memref<?x32xf32>, %f32: memref<?x96xf32>, %bf16: memref<?x32xbf16>, %f16: memref<?x16xf16>,
    %packed: memref<?x16xi8>, %bytes: memref<?xi8>, %columns: memref<?x32xf32>, %rows: memref<?x32xf32>, %partial: memref<?x32xf32>,
    %total: memref<2x32xf32>, %counters: memref<4xi32>, %exchanged: memref<?x32xf32>, %nothing: memref<?x16xi8>)
    -> (memref<?x96xf32>, memref<?x32xbf16>, memref<?x16xf16>, memref<?x16xi8>, memref<?xi8>, memref<?x32xf32>, memref<?x32xf32>, memref<?x32xf32>, memref<2x32xf32>, memref<4xi32>, memref<?x32xf32>) {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %r = memref.dim %x, %c0 : memref<?x32xf32>
  %ctas = arith.divui %r, %c128 : index
  %mf32 = moe_kernel.make_tensor_map %f32 : memref<?x96xf32> -> !f32m
  %mbf16 = moe_kernel.make_tensor_map %bf16 : memref<?x32xbf16> -> !bf16m
  %mf16 = moe_kernel.make_tensor_map %f16 : memref<?x16xf16> -> !f16m
  %mpacked = moe_kernel.make_tensor_map %packed : memref<?x16xi8> -> !packedm
  // The array has no rows: its map is not used.
  %mnothing = moe_kernel.make_tensor_map %nothing : memref<?x16xi8> -> !packedm
  moe_kernel.fill_zero %counters : memref<4xi32>
  moe_kernel.fill_zero %total : memref<2x32xf32>
  moe_kernel.launch @kernel grid(%ctas) args(%x, %mf32, %mbf16, %mf16, %mpacked, %bytes, %columns, %rows, %partial, %total, %counters, %exchanged, %mnothing
    : memref<?x32xf32>, !f32m, !bf16m, !f16m, !packedm, memref<?xi8>, memref<?x32xf32>, memref<?x32xf32>, memref<?x32xf32>, memref<2x32xf32>, memref<4xi32>, memref<?x32xf32>, !packedm)
    writes [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  return %f32, %bf16, %f16, %packed, %bytes, %columns, %rows, %partial, %total, %counters, %exchanged
    : memref<?x96xf32>, memref<?x32xbf16>, memref<?x16xf16>, memref<?x16xi8>, memref<?xi8>, memref<?x32xf32>, memref<?x32xf32>, memref<?x32xf32>, memref<2x32xf32>, memref<4xi32>, memref<?x32xf32>
}

moe_kernel.func @kernel(%x: memref<?x32xf32>, %mf32: !f32m, %mbf16: !bf16m, %mf16: !f16m, %mpacked: !packedm, %bytes: memref<?xi8>,
    %columns: memref<?x32xf32>, %rows: memref<?x32xf32>, %partial: memref<?x32xf32>, %total: memref<2x32xf32>, %counters: memref<4xi32>,
    %exchanged: memref<?x32xf32>, %mnothing: !packedm) warps(7) {
  %sf32 = moe_kernel.alloc "f32" : !f32s
  %sbf16 = moe_kernel.alloc "bf16" : !bf16s
  %sf16 = moe_kernel.alloc "f16" : !f16s
  %spacked = moe_kernel.alloc "packed" : !packeds
  %pair = moe_kernel.alloc "pair" : !moe_kernel.buffer<shared, 1x2x32xf32>
  %sums = moe_kernel.alloc "sums" : !moe_kernel.buffer<shared, 1x4x32xf32>
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c32 = arith.constant 32 : i32
  %c128 = arith.constant 128 : i32
  %cta = moe_kernel.index cta : i32
  %ctas = moe_kernel.index ctas : i32
  // Two warps exchange their threads' numbers.
  moe_kernel.role "other" warps(0, 2) {
    %t = moe_kernel.index thread : i32
    %w = moe_kernel.index warp : i32
    %l = moe_kernel.index lane : i32
    %number = arith.sitofp %t : i32 to f32
    moe_kernel.shared_store %number to %pair[%w, %l] : !moe_kernel.buffer<shared, 1x2x32xf32>
    moe_kernel.barrier
    %partner = arith.xori %w, %c1 : i32
    %theirs = moe_kernel.shared_load %pair[%partner, %l] : !moe_kernel.buffer<shared, 1x2x32xf32> -> f32
    %cta2 = arith.muli %cta, %c2 : i32
    %to = arith.addi %cta2, %w : i32
    moe_kernel.global_store %theirs to %exchanged[%to, %l] : f32, memref<?x32xf32>
  }
  moe_kernel.role "rows" warps(3, 4) {
    %t = moe_kernel.index thread : i32
    %w = moe_kernel.index warp : i32
    %l = moe_kernel.index lane : i32
    %first = arith.muli %cta, %c128 : i32
    %row = arith.addi %first, %t : i32
    %w32 = arith.muli %w, %c32 : i32
    %warp_row = arith.addi %first, %w32 : i32
    %v = moe_kernel.global_load %x[%row, %c0] : memref<?x32xf32> -> vector<32xf32>

    // Three chunks of columns through two slots.
    scf.for %i = %c0 to %c3 step %c1 : i32 {
      %slot = arith.andi %i, %c1 : i32
      %column = arith.muli %i, %c32 : i32
      %fi = arith.sitofp %i : i32 to f32
      %splat = vector.broadcast %fi : f32 to vector<32xf32>
      %u = arith.addf %v, %splat : vector<32xf32>
      moe_kernel.acquire_staging pending = 1
      moe_kernel.stage %u to %sf32[%slot] : vector<32xf32>, !f32s
      moe_kernel.publish_staging
      moe_kernel.store %mf32[%warp_row, %column] from %sf32[%slot] : !f32m, !f32s
      moe_kernel.commit_stores
    }
    %h = arith.truncf %v : vector<32xf32> to vector<32xbf16>
    %half = vector.extract_strided_slice %v {offsets = [16], sizes = [16], strides = [1]} : vector<32xf32> to vector<16xf32>
    %g = arith.truncf %half : vector<16xf32> to vector<16xf16>
    %q = moe_kernel.encode %v to f4E2M1FN : vector<32xf32> -> vector<16xi8>
    moe_kernel.stage %h to %sbf16[%c1] : vector<32xbf16>, !bf16s
    moe_kernel.stage %g to %sf16[%c0] : vector<16xf16>, !f16s
    moe_kernel.stage %q to %spacked[%c1] : vector<16xi8>, !packeds
    moe_kernel.publish_staging
    moe_kernel.store %mbf16[%warp_row, %c0] from %sbf16[%c1] : !bf16m, !bf16s
    moe_kernel.store %mf16[%warp_row, %c0] from %sf16[%c0] : !f16m, !f16s
    moe_kernel.store %mpacked[%warp_row, %c0] from %spacked[%c1] : !packedm, !packeds
    moe_kernel.commit_stores

    // Row 2 w of `columns`: maxima; row 2 w + 1: sums, w counted over the grid.
    %amax = moe_kernel.column_amax %v : vector<32xf32> -> f32
    %sum = moe_kernel.column_sum %v : vector<32xf32> -> f32
    %cta4 = arith.muli %cta, %c4 : i32
    %warp = arith.addi %cta4, %w : i32
    %at = arith.muli %warp, %c2 : i32
    %next = arith.addi %at, %c1 : i32
    moe_kernel.global_store %amax to %columns[%at, %l] : f32, memref<?x32xf32>
    moe_kernel.global_store %sum to %columns[%next, %l] : f32, memref<?x32xf32>
    %spread = moe_kernel.spread_lanes %sum : f32 -> vector<32xf32>
    moe_kernel.global_store %spread to %rows[%row, %c0] : vector<32xf32>, memref<?x32xf32>
    %x0 = vector.extract %v[0] : f32 from vector<32xf32>
    %most = moe_kernel.warp_amax %x0 : f32 -> f32
    %code = moe_kernel.encode_scale %most to f8E4M3FN : f32 -> i8
    moe_kernel.global_store %code to %bytes[%row] : i8, memref<?xi8>

    // The CTA's sums of columns, in the order of its warps.
    moe_kernel.shared_store %sum to %sums[%w, %l] : !moe_kernel.buffer<shared, 1x4x32xf32>
    moe_kernel.barrier
    %is_first = arith.cmpi eq, %w, %c0 : i32
    %is_last = arith.cmpi eq, %w, %c3 : i32
    scf.if %is_last {
      %s0 = moe_kernel.shared_load %sums[%c0, %l] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
      %s1 = moe_kernel.shared_load %sums[%c1, %l] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
      %s2 = moe_kernel.shared_load %sums[%c2, %l] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
      %s3 = moe_kernel.shared_load %sums[%c3, %l] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
      %s01 = arith.addf %s0, %s1 : f32
      %s012 = arith.addf %s01, %s2 : f32
      %s0123 = arith.addf %s012, %s3 : f32
      moe_kernel.global_store %s0123 to %partial[%cta, %l] : f32, memref<?x32xf32>
    }
    moe_kernel.atomic_max %amax to %total[%c1, %l] : f32, memref<2x32xf32>
    // The order of equal integers does not matter.
    %one = arith.constant 1.0 : f32
    moe_kernel.atomic_add %one to %total[%c0, %l] : f32, memref<2x32xf32>
    %last = moe_kernel.last_arrival %counters[%c2] of %ctas : memref<4xi32> -> i1
    scf.if %last {
      scf.if %is_first {
        %zero = arith.constant 0.0 : f32
        %all = scf.for %i = %c0 to %ctas step %c1 iter_args(%s = %zero) -> (f32) : i32 {
          %p = moe_kernel.global_load %partial[%i, %l] : memref<?x32xf32> -> f32
          %sp = arith.addf %s, %p : f32
          scf.yield %sp : f32
        }
        moe_kernel.global_store %all to %partial[%ctas, %l] : f32, memref<?x32xf32>
      }
    }
    moe_kernel.acquire_staging pending = 0
  }
  moe_kernel.return
}
