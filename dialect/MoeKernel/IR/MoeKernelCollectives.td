// What the threads of warps, of roles and of CTAs do together.
#ifndef MOE_KERNEL_COLLECTIVES_TD
#define MOE_KERNEL_COLLECTIVES_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

def MoeKernel_ColumnAmaxOp : MoeKernel_WarpOp<"column_amax"> {
  let summary = "lane c receives max over the lanes of |values[c]|; NaN if one is NaN";
  let description = [{
    The 32 lanes of a warp are the rows of a 32 x 32 block, the vector's elements its columns. All lanes take part.
  }];
  let arguments = (ins VectorOfLengthAndType<[32], [F32]>:$values);
  let results = (outs F32:$amax);
  let assemblyFormat = "$values attr-dict `:` type($values) `->` type($amax)";
}
def MoeKernel_ColumnSumOp : MoeKernel_WarpOp<"column_sum"> {
  let summary = "lane c receives the sum over the lanes of values[c]";
  let description = [{
    The order is fixed, so that a result is the same in every run: lanes l and l + 16 are added first (16 sums), then
    sums 8 apart, 4, 2 and 1, each rounded to f32.
  }];
  let arguments = (ins VectorOfLengthAndType<[32], [F32]>:$values);
  let results = (outs F32:$sum);
  let assemblyFormat = "$values attr-dict `:` type($values) `->` type($sum)";
}
def MoeKernel_TransposeLanesOp : MoeKernel_WarpOp<"transpose_lanes", [SameOperandsAndResultType]> {
  let summary = "element r of lane c is element c of lane r";
  let description = [{
    The 32 lanes of a warp are the rows of a 32 x 32 block, the vector's elements its columns; afterwards lanes are columns.
    All lanes take part.

    ```mlir
    %column = moe_kernel.transpose_lanes %row : vector<32xf32>
    ```
  }];
  let arguments = (ins VectorOfLengthAndType<[32], [F32]>:$values);
  let results = (outs VectorOfLengthAndType<[32], [F32]>:$transposed);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}
def MoeKernel_SpreadLanesOp : MoeKernel_WarpOp<"spread_lanes"> {
  let summary = "element c is lane c's value";
  let arguments = (ins F32:$value);
  let results = (outs VectorOfLengthAndType<[32], [F32]>:$values);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($values)";
}
def MoeKernel_WarpAmaxOp : MoeKernel_WarpOp<"warp_amax"> {
  let summary = "max over the lanes of |value|, in all lanes; NaN if one is NaN";
  let arguments = (ins F32:$value);
  let results = (outs F32:$amax);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($amax)";
}
def MoeKernel_BarrierOp : MoeKernel_WarpOp<"barrier"> {
  let summary = "wait for all threads of the role; their earlier accesses come before later ones";
  let assemblyFormat = "attr-dict";
}
def MoeKernel_LastArrivalOp : MoeKernel_WarpOp<"last_arrival", [SameVariadicOperandSize]> {
  let summary = "whether this CTA is the last of `counts` to arrive at counters in global memory";
  let description = [{
    All threads of the role call it, with the same indices and counts (at least 1). For each counter: true in all of them
    if this is the count-th arrival; the counter, which starts at 0, is then 0 again. What the threads of every arriving
    role wrote to global memory before is visible to the threads that receive true. Later accesses to shared memory come
    after earlier ones of the other threads.

    ```mlir
    %last = moe_kernel.last_arrival %counters[%i] of %count : memref<?xi32> -> i1
    ```
  }];
  let arguments = (ins Arg<Variadic<MemRefRankOf<[I32], [1]>>, "", [MemRead, MemWrite]>:$counters,
    Variadic<I32>:$indices, Variadic<I32>:$counts);
  let results = (outs Variadic<I1>:$last);
  let assemblyFormat = "$counters `[` $indices `]` `of` $counts attr-dict `:` type($counters) `->` type($last)";
}
class MoeKernel_AtomicOp<string mnemonic> : MoeKernel_Op<mnemonic> {
  let arguments = (ins F32:$value, Arg<MemRefOf<[F32]>, "", [MemRead, MemWrite]>:$memref, Variadic<I32>:$indices);
  let assemblyFormat = "$value `to` $memref `[` $indices `]` attr-dict `:` type($value) `,` type($memref)";
  let hasVerifier = 1;
}
def MoeKernel_AtomicMaxOp : MoeKernel_AtomicOp<"atomic_max"> {
  let summary = "global maximum of magnitudes";
  let description = [{
    Every thread that reaches it takes part. Both sides are not negative or NaN (the value's sign is dropped); NaN is the
    largest. Order does not matter.
  }];
}
def MoeKernel_AtomicAddOp : MoeKernel_AtomicOp<"atomic_add"> {
  let summary = "global sum of f32, in any order";
  let description = [{
    Every thread that reaches it takes part. Subnormals are flushed to 0 (PTX ISA, red.add.f32). The order, and with it
    the rounding, varies between runs.
  }];
}
def MoeKernel_SharedStoreOp : MoeKernel_Op<"shared_store"> {
  let summary = "write one f32 of a shared buffer";
  let description = [{
    The buffer has one stage and a tile of rank 2, `1 x rows x columns x f32`, dense row-major; the indices are those of
    the tile. Threads see each other's writes past a `barrier`.

    ```mlir
    moe_kernel.shared_store %x to %sums[%i, %j] : !moe_kernel.buffer<shared, 1x4x32xf32>
    moe_kernel.barrier
    %y = moe_kernel.shared_load %sums[%j, %i] : !moe_kernel.buffer<shared, 1x4x32xf32> -> f32
    ```
  }];
  let arguments = (ins F32:$value, MoeKernel_BufferType:$buffer, I32:$row, I32:$column);
  let assemblyFormat = "$value `to` $buffer `[` $row `,` $column `]` attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}
def MoeKernel_SharedLoadOp : MoeKernel_Op<"shared_load"> {
  let summary = "read one f32 of a shared buffer; see `shared_store`";
  let arguments = (ins MoeKernel_BufferType:$buffer, I32:$row, I32:$column);
  let results = (outs F32:$value);
  let assemblyFormat = "$buffer `[` $row `,` $column `]` attr-dict `:` type($buffer) `->` type($value)";
  let hasVerifier = 1;
}

#endif // MOE_KERNEL_COLLECTIVES_TD
