// Stores that are staged in shared memory.
#ifndef MOE_KERNEL_STORES_TD
#define MOE_KERNEL_STORES_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

def MoeKernel_AcquireStagingOp : MoeKernel_WarpOp<"acquire_staging"> {
  let summary = "wait until all but the last `pending` groups of this warp's stores have read their staging rows";
  let description = [{
    Staged stores write tiles to global memory by the bulk copy engine. A staging buffer is a ring of slots in shared
    memory, `slots x rows x columns`; its rows are the threads of the role, its columns one vector. Each warp works on its
    own 32 rows and meets no other: acquire, `stage` one row a thread, `publish_staging`, `store`, `commit_stores`.

    Groups count per warp, oldest first. With S slots used in turn and one group a turn, `pending = S - 1` frees the slot
    that comes next. `pending = 0` as the last op of the role: shared memory must not be given back while it is read.

    ```mlir
    moe_kernel.acquire_staging pending = 1
    moe_kernel.stage %v to %staging[%slot] : vector<32xf32>, !moe_kernel.buffer<shared, 2x128x32xf32>
    moe_kernel.publish_staging
    moe_kernel.store %map[%row, %column] from %staging[%slot]
        : !moe_kernel.tensor_map<32x32xf32, swizzle = 128>, !moe_kernel.buffer<shared, 2x128x32xf32>
    moe_kernel.commit_stores
    ```
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "`pending` `=` $pending attr-dict";
}
def MoeKernel_StageRowOp : MoeKernel_WarpOp<"stage"> {
  let summary = "write this thread's row of a slot of a staging buffer";
  let description = [{
    Thread t of the role writes row t of slot `slot` (i32, 0 .. slots - 1). A row is 16, 32, 64 or 128 bytes and stands in
    shared memory as a tensor map with a swizzle of 0, 32, 64 or 128 bytes expects it: pieces of 16 bytes, so that 32
    lanes write without bank conflicts. Elements are f32, f16, bf16 or i8 (bit patterns of narrower formats).
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32, F16, BF16, I8]>:$values, MoeKernel_BufferType:$buffer, I32:$slot);
  let assemblyFormat = "$values `to` $buffer `[` $slot `]` attr-dict `:` type($values) `,` type($buffer)";
}
def MoeKernel_PublishStagingOp : MoeKernel_WarpOp<"publish_staging"> {
  let summary = "make the rows that this warp staged visible to its bulk stores";
  let assemblyFormat = "attr-dict";
}
def MoeKernel_StoreOp : MoeKernel_WarpOp<"store"> {
  let summary = "bulk store of this warp's 32 rows of a slot; elements out of bounds are not written";
  let description = [{
    The map's box is 32 rows x the buffer's columns (further, slower extents are 1), of the buffer's element type, with
    the swizzle that belongs to the row's bytes: 0, 32, 64 or 128 for 16, 32, 64 or 128.

    `coordinates` are the origin of this warp's own box in elements of the map, slowest dimension first: for warp w of the
    role the row is that of the tile plus 32 w. Lane 0's count. The rows that are read are rows 32 w .. 32 w + 31 of the
    slot. The copy is complete when the kernel is; `acquire_staging` tells when its source may be written again.
  }];
  let arguments = (ins MoeKernel_TensorMapType:$map, Variadic<I32>:$coordinates, MoeKernel_BufferType:$buffer, I32:$slot);
  let assemblyFormat = "$map `[` $coordinates `]` `from` $buffer `[` $slot `]` attr-dict `:` type($map) `,` type($buffer)";
}
def MoeKernel_CommitStoresOp : MoeKernel_WarpOp<"commit_stores"> {
  let summary = "end a group of this warp's stores";
  let assemblyFormat = "attr-dict";
}

#endif // MOE_KERNEL_STORES_TD
