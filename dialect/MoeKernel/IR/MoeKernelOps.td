// Operations of the moe_kernel dialect.
#ifndef MOE_KERNEL_OPS_TD
#define MOE_KERNEL_OPS_TD

include "dialect/MoeKernel/IR/MoeKernelDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class MoeKernel_Op<string mnemonic, list<Trait> traits = []> : Op<MoeKernel_Dialect, mnemonic, traits>;

//===- Structure ----------------------------------------------------------------===//

def MoeKernel_FuncOp : MoeKernel_Op<"func", [FunctionOpInterface, IsolatedFromAbove, Symbol]> {
  let summary = "one kernel";
  let description = [{
    Arguments are the kernel's parameters in order: a memref is a pointer to row-major global memory, dense or with static
    strides (its dynamic extents are not passed), a tensor map is 128 bytes by value, i32 and i64 are scalars. `warps` is the CTA's size,
    `cluster` the CTAs of a cluster along M and N, (1, 1) when absent; see the dialect's page for `paired`.

    Buffers and pipelines stand at the top; roles follow. A kernel without roles runs its body in every thread.

    ```mlir
    moe_kernel.func @copy(%x: memref<?x256xf32>, %rows: i32) warps(4) {
      moe_kernel.return
    }
    moe_kernel.func @product(%a: memref<?x256xf32>) warps(6) cluster(4, 1) paired {
      moe_kernel.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, I64Attr:$warps,
    OptionalAttr<DenseI64ArrayAttr>:$cluster, UnitAttr:$paired,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    int64_t getClusterM() { return getCluster() ? (*getCluster())[0] : 1; }
    int64_t getClusterN() { return getCluster() ? (*getCluster())[1] : 1; }
    int64_t getClusterSize() { return getClusterM() * getClusterN(); }
    /// CTAs that multiply together.
    int64_t getCtasOfUnit() { return getPaired() ? 2 : 1; }
    /// CTAs that receive a box that is sent along `axis`, the sender included.
    int64_t getReceivers(ClusterAxis axis) {
      return axis == ClusterAxis::m ? getClusterM() / getCtasOfUnit() : getClusterN();
    }
  }];
}

def MoeKernel_ReturnOp : MoeKernel_Op<"return", [Pure, Terminator, HasParent<"FuncOp">]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

def MoeKernel_AllocOp : MoeKernel_Op<"alloc", [HasParent<"FuncOp">]> {
  let summary = "a named buffer on chip, for the kernel's whole life";
  let description = [{
    Two accumulators may share columns: the last `overlap` ones of the first are the first ones of the second. Their pipeline
    has one stage then; its phase names the accumulator, and a release gives back the shared columns, so that the rest of
    that accumulator may still be read.
  }];
  let arguments = (ins StrAttr:$name, DefaultValuedAttr<I64Attr, "0">:$overlap);
  let results = (outs MoeKernel_BufferType:$buffer);
  let assemblyFormat = "$name (`overlap` `=` $overlap^)? attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def MoeKernel_PipelineOp : MoeKernel_Op<"pipeline", [HasParent<"FuncOp">]> {
  let summary = "a named pipeline";
  let description = [{
    `producers` and `consumers` count the arrivals that complete the full and the empty barrier of a stage;
    `transaction_bytes` is what the loads of one stage bring (0 without loads). In a cluster that includes arrivals and
    bytes that come from other CTAs: the full barrier of operands and the empty one of accumulators are the leader's for
    both CTAs of a pair, the others each CTA's own.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$producers, I64Attr:$consumers, I64Attr:$transaction_bytes);
  let results = (outs MoeKernel_PipelineType:$pipeline);
  let assemblyFormat = [{
    $name `producers` `=` $producers `consumers` `=` $consumers `transaction_bytes` `=` $transaction_bytes
    attr-dict `:` type($pipeline)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Whether loads of its stages are sent along `axis`.
    bool isSentAlong(ClusterAxis axis);
    /// Units (CTAs or pairs) that read what one CTA loads, so that it waits for each of them.
    int64_t getReaders();
  }];
}

def MoeKernel_RoleOp : MoeKernel_Op<"role", [HasParent<"FuncOp">, SingleBlock, NoTerminator]> {
  let summary = "the program of a group of warps";
  let description = [{
    Warps `first_warp` .. `first_warp + num_warps - 1` run the body; with `elected` one thread of the (single) warp does.
    A `leader` role runs in the leaders of a paired kernel only.
    `moe_kernel.index thread` counts from the role's first thread.

    ```mlir
    moe_kernel.role "load" warps(4, 1) elected { }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$first_warp, I64Attr:$num_warps, UnitAttr:$elected, UnitAttr:$leader);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` `(` $first_warp `,` $num_warps `)` (`elected` $elected^)? (`leader` $leader^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def MoeKernel_ForTilesOp : MoeKernel_Op<"for_tiles", [
    AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the tiles of this CTA, over all groups";
  let description = [{
    Walks the output tiles of a ragged grouped product: those of group 0, then of group 1, ...; within a group columns
    are the fast direction. CTA c of C takes tiles c, c + C, .... A cluster takes a rectangle of its own shape;
    tiles of it past the group's rows or past `n` are not there. Group g holds rows offsets[g-1] .. offsets[g] and
    ceil(rows / tile M) x ceil(n / tile N) tiles; an empty group has none. The last tile along the rows of a group may
    reach past its end. With `along short_side` rows are the fast direction in groups of fewer tiles along rows than along
    columns.

    With `from` the first tile is that of the CTA's (the cluster's) own number, the next ones are those that `request_tiles`
    obtains, in any order; a number past the last tile is no tile.

    The body receives, all i32: the group; the tile's first row in the matrix, which is the group's plus a multiple of
    tile M, and its first column; the group's first row and its end; the atoms of 128 rows of the groups before it, each
    rounded up. With `fine_rows` follow the atoms of so many rows, counted in the same way. Then the loop-carried values
    (ring positions as a rule).

    ```mlir
    %p = moe_kernel.for_tiles offsets(%offs : memref<4xi32>) tile = [128, 256] n = 512 carry(%c0) {
    ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32, %pos: i32):
      moe_kernel.yield %pos : i32
    } : i32
    ```
  }];
  let arguments = (ins AnyMemRef:$offsets, DenseI64ArrayAttr:$tile, I64Attr:$n,
    Optional<MoeKernel_BufferType>:$responses, Optional<MoeKernel_PipelineType>:$queue, Variadic<I32>:$inits,
    DefaultValuedAttr<MoeKernel_RasterAttr, "Raster::row">:$raster, DefaultValuedAttr<I64Attr, "0">:$fine_rows);
  let results = (outs Variadic<I32>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `offsets` `(` $offsets `:` type($offsets) `)` `tile` `=` $tile `n` `=` $n (`along` $raster^)?
    (`fine_rows` `=` $fine_rows^)?
    (`from` $responses^ `on` $queue `:` type($responses) `,` type($queue))? (`carry` `(` $inits^ `)`)?
    attr-dict-with-keyword $body (`:` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Block arguments in front of the carried values.
    unsigned getPlaces() { return getFineRows() > 0 ? 7 : 6; }
  }];
}

def MoeKernel_ForGroupTilesOp : MoeKernel_Op<"for_group_tiles", [
    AttrSizedOperandSegments, SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the tiles of this CTA, of a matrix for each group";
  let description = [{
    Walks the tiles of products that run along the rows of each group: `shape` is the matrix of one group, `tile` one tile
    of it. Every group has all tiles, also one without rows. With `part_rows` a group of more rows than that has each tile
    once for each part of `part_rows` rows; a part is the slow direction, then tiles along the first extent, then those
    along the second. CTA c of C takes c, c + C, ...; a cluster takes a rectangle of its own shape, in which tiles past the
    matrix are not there.

    `along` and `from` are those of `for_tiles`.

    Offsets beyond `rows`, and groups that end before they start, count as rows that are not there. The body receives, all
    i32: the group; the tile's first row and column in the matrix; the group's first row and its end, in the offsets' rows;
    the atoms of 128 rows of the groups before it, each rounded up; the tile's part; the parts of the group, 0 without rows;
    the slot of the tile's part 0: parts of groups with several, of all their tiles, have slots of their own, in order,
    tiles of a part together. A group whose slots would not be below `slots` is not divided. Then the carried values.

    ```mlir
    %p = moe_kernel.for_group_tiles offsets(%offs : memref<4xi32>) rows %r tile = [128, 128] shape = [256, 512]
        part_rows %s slots = 56 carry(%c0) {
    ^bb0(%group: i32, %row: i32, %column: i32, %begin: i32, %end: i32, %atoms: i32, %part: i32, %parts: i32, %slot: i32,
         %pos: i32):
      moe_kernel.yield %pos : i32
    } : i32
    ```
  }];
  let arguments = (ins AnyMemRef:$offsets, I32:$rows, DenseI64ArrayAttr:$tile, DenseI64ArrayAttr:$shape,
    Optional<I32>:$part_rows, DefaultValuedAttr<I64Attr, "0">:$slots,
    Optional<MoeKernel_BufferType>:$responses, Optional<MoeKernel_PipelineType>:$queue, Variadic<I32>:$inits,
    DefaultValuedAttr<MoeKernel_RasterAttr, "Raster::row">:$raster);
  let results = (outs Variadic<I32>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `offsets` `(` $offsets `:` type($offsets) `)` `rows` $rows `tile` `=` $tile `shape` `=` $shape
    (`part_rows` $part_rows^ `slots` `=` $slots)? (`along` $raster^)?
    (`from` $responses^ `on` $queue `:` type($responses) `,` type($queue))? (`carry` `(` $inits^ `)`)? attr-dict-with-keyword $body (`:` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Block arguments in front of the carried values.
    static constexpr unsigned kPlaces = 9;
  }];
}

def MoeKernel_YieldOp : MoeKernel_Op<"yield", [Pure, Terminator, ParentOneOf<["ForTilesOp", "ForGroupTilesOp"]>]> {
  let summary = "loop-carried values of the next tile";
  let arguments = (ins Variadic<I32>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def MoeKernel_RequestTilesOp : MoeKernel_Op<"request_tiles"> {
  let summary = "the role that obtains tiles for the walks of all roles, until none is left";
  let description = [{
    Asks for the cancellation of clusters that have not been launched, one at a time, and leaves the answers, 16 bytes each,
    in the stages of `responses` in every CTA of the cluster; walks that name the same queue take their tiles from there.
    One elected thread of each CTA; arrivals at the empty barrier are those of one thread of each warp that walks, of all
    CTAs, and of this one, of all but rank 0, which waits for them and asks again after it has read the answer itself.

    ```mlir
    moe_kernel.request_tiles %responses on %queue : !moe_kernel.buffer<shared, 2x16xi8>, !moe_kernel.pipeline<2>
    ```
  }];
  let arguments = (ins MoeKernel_BufferType:$responses, MoeKernel_PipelineType:$queue);
  let assemblyFormat = "$responses `on` $queue attr-dict `:` type($responses) `,` type($queue)";
  let hasVerifier = 1;
}

def MoeKernel_IndexOp : MoeKernel_Op<"index", [Pure]> {
  let summary = "who runs this: thread, warp, lane of the role; cta, ctas of the grid; the CTA's place in its cluster";
  let arguments = (ins MoeKernel_IndexKindAttr:$kind);
  let results = (outs I32:$index);
  let assemblyFormat = "$kind attr-dict `:` type($index)";
}

//===- Pipelines ----------------------------------------------------------------===//

class MoeKernel_StageOp<string mnemonic, dag extra = (ins)> : MoeKernel_Op<mnemonic> {
  let arguments = !con((ins MoeKernel_PipelineType:$pipeline, I32:$position), extra);
  let assemblyFormat = "$pipeline `[` $position `]` attr-dict `:` type($pipeline)";
}

def MoeKernel_AdvanceOp : MoeKernel_Op<"advance", [Pure]> {
  let summary = "the next ring position";
  let arguments = (ins MoeKernel_PipelineType:$pipeline, I32:$position);
  let results = (outs I32:$next);
  let assemblyFormat = "$pipeline `[` $position `]` attr-dict `:` type($pipeline)";
}
def MoeKernel_PhaseOp : MoeKernel_Op<"phase", [Pure]> {
  let summary = "0 or 1: which round of the ring the position is in, first 0";
  let arguments = (ins MoeKernel_PipelineType:$pipeline, I32:$position);
  let results = (outs I32:$phase);
  let assemblyFormat = "$pipeline `[` $position `]` attr-dict `:` type($pipeline)";
}
def MoeKernel_AcquireOp : MoeKernel_StageOp<"acquire"> {
  let summary = "producer: wait until the stage is empty (the first round does not wait)";
}
def MoeKernel_ExpectOp : MoeKernel_StageOp<"expect"> {
  let summary = "producer: arrive on full, announcing the pipeline's transaction bytes";
}
def MoeKernel_WaitOp : MoeKernel_StageOp<"wait"> {
  let summary = "consumer: wait until the stage is full";
}
def MoeKernel_ReleaseOp : MoeKernel_StageOp<"release"> {
  let summary = "consumer: this thread arrives on empty, after its reads of the stage are complete";
}
def MoeKernel_CommitOp : MoeKernel_Op<"commit"> {
  let summary = "arrive on full or empty once all matrix work issued so far by this thread is complete";
  let arguments = (ins MoeKernel_PipelineType:$pipeline, I32:$position, MoeKernel_StageSideAttr:$side);
  let assemblyFormat = "$side $pipeline `[` $position `]` attr-dict `:` type($pipeline)";
}
def MoeKernel_DrainOp : MoeKernel_StageOp<"drain"> {
  let summary = "producer: wait until every stage is empty; the last op of a role whose consumers are in other CTAs too";
}
def MoeKernel_LoadOp : MoeKernel_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "bulk copy of one box into a stage; elements out of bounds arrive as 0";
  let description = [{
    `coordinates` are the box's origin in elements of the map, slowest dimension first. `offset` is the first byte of the
    box in the stage; `slice` (i32), a multiple of 1024 bytes, is added to it.

    With `along` the box goes to the same place in the stage of each CTA of the cluster in that direction (in a paired
    kernel and along m, of each second one): as a rule a slice from each of them, so that every CTA has all.

    ```mlir
    moe_kernel.load %b[%group, %first, %k] to %buffer on %operands[%pos] slice %bytes along m {offset = 0 : i64}
        : !moe_kernel.tensor_map<1x64x128xi8, swizzle = 128>, !moe_kernel.buffer<shared, 4x128x128xf8E4M3FN>,
          !moe_kernel.pipeline<4>
    ```
  }];
  let arguments = (ins MoeKernel_TensorMapType:$map, Variadic<I32>:$coordinates, MoeKernel_BufferType:$buffer,
    MoeKernel_PipelineType:$pipeline, I32:$position, Optional<I32>:$slice, OptionalAttr<MoeKernel_ClusterAxisAttr>:$along,
    DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $buffer `on` $pipeline `[` $position `]` (`slice` $slice^)? (`along` $along^)? attr-dict
    `:` type($map) `,` type($buffer) `,` type($pipeline)
  }];
  let hasVerifier = 1;
}

//===- Arrays of tensor maps -------------------------------------------------------===//

def MoeKernel_Maps : MemRefRankOf<[MoeKernel_TensorMapType], [1]>;

def MoeKernel_BuildMapOp : MoeKernel_Op<"build_map", [AttrSizedOperandSegments]> {
  let summary = "a tensor map for later kernels: a copy of another one, parts of it replaced";
  let description = [{
    Writes element `index` of `maps`: `source`, a parameter of the kernel, with the global address `address` (i64, a multiple of
    16 bytes), if given, and `extents` (i32, elements, positive) along the dimensions `axes`, counted as those of the box. One
    thread calls it for an element, and no kernel uses the map while it is built. The thread then calls `release_maps`,
    users `acquire_map`.

    ```mlir
    moe_kernel.build_map %source to %maps[%i] address %a extents [0] = %rows
        : !moe_kernel.tensor_map<128x128xi8, swizzle = 128>, memref<4x!moe_kernel.tensor_map<128x128xi8, swizzle = 128>>
    ```
  }];
  let arguments = (ins MoeKernel_TensorMapType:$source, Arg<MoeKernel_Maps, "", [MemWrite]>:$maps, I32:$index,
    Optional<I64>:$address, DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$axes, Variadic<I32>:$extents);
  let assemblyFormat = [{
    $source `to` $maps `[` $index `]` (`address` $address^)? (`extents` $axes^ `=` $extents)? attr-dict
    `:` type($source) `,` type($maps)
  }];
  let hasVerifier = 1;
}
def MoeKernel_ReleaseMapsOp : MoeKernel_Op<"release_maps"> {
  let summary = "hands the maps that this thread built to later kernels";
  let assemblyFormat = "attr-dict";
}
def MoeKernel_MapElementOp : MoeKernel_Op<"map_element", [Pure]> {
  let summary = "an element of an array of tensor maps";
  let description = [{
    ```mlir
    %map = moe_kernel.map_element %maps[%group] : memref<4x!moe_kernel.tensor_map<128x128xi8, swizzle = 128>>
        -> !moe_kernel.tensor_map<128x128xi8, swizzle = 128>
    ```
  }];
  let arguments = (ins MoeKernel_Maps:$maps, I32:$index);
  let results = (outs MoeKernel_TensorMapType:$map);
  let assemblyFormat = "$maps `[` $index `]` attr-dict `:` type($maps) `->` type($map)";
  let hasVerifier = 1;
}
def MoeKernel_AcquireMapOp : MoeKernel_Op<"acquire_map"> {
  let summary = "lets this thread's copies use a map that an earlier kernel built";
  let description = [{
    Bulk copies read maps in a proxy of their own. The thread that issues them calls it once for each element of an array
    of maps, before the first use.
  }];
  let arguments = (ins MoeKernel_TensorMapType:$map);
  let assemblyFormat = "$map attr-dict `:` type($map)";
  let hasVerifier = 1;
}

//===- Matrix work ---------------------------------------------------------------===//

def MoeKernel_CopyScalesOp : MoeKernel_Op<"copy_scales"> {
  let summary = "copy the scale atoms of a stage from shared to tensor memory, in order with the matrix work";
  let arguments = (ins MoeKernel_BufferType:$source, MoeKernel_BufferType:$target, MoeKernel_PipelineType:$pipeline, I32:$position);
  let assemblyFormat = [{
    $source `to` $target `on` $pipeline `[` $position `]` attr-dict `:` type($source) `,` type($target) `,` type($pipeline)
  }];
  let hasVerifier = 1;
}

def MoeKernel_MmaOp : MoeKernel_Op<"mma"> {
  let summary = "block-scaled product of one stage, added to an accumulator";
  let description = [{
    accumulator[acc_position] (+)= A x B over the first `k_blocks` (i32, 1 .. 4) quarters of the tile's K, each 32 elements
    of 8 bits or 64 of 4 bits; those past that are not touched: their scale bytes may be anything. Without `accumulate`
    (i1) the accumulator starts at 0.

    Scales of a stage are atoms of 4 blocks for 128 rows; those of one block of K together, then the next: 1 for each 128
    rows of 8-bit operands, 2 of f4E2M1FN in blocks of 32, 4 in blocks of 16. They are f8E8M0FNU, or with `fine_scales`
    f8E4M3FN.

    A stage of an operand is 128 bytes of K for each row. With `a_transposed` or `b_transposed` it is the rows of K, in
    panels of 128 bytes: `rows / 128` panels of K x 128 elements, one behind the other, where rows of B are N rounded up.

    In a paired kernel each CTA holds half of the rows of B, and all of their scales. Where the columns of N start in the
    middle of an atom of 128, `b_scale_row` (i32, 0 or 64) says so.
  }];
  let arguments = (ins MoeKernel_BufferType:$accumulator, I32:$acc_position,
    MoeKernel_BufferType:$a, MoeKernel_BufferType:$b, MoeKernel_BufferType:$a_scales, MoeKernel_BufferType:$b_scales,
    I32:$position, I1:$accumulate, I32:$k_blocks, Optional<I32>:$b_scale_row,
    MoeKernel_PipelineType:$acc_pipeline, MoeKernel_PipelineType:$pipeline,
    UnitAttr:$a_transposed, UnitAttr:$b_transposed, UnitAttr:$fine_scales);
  let assemblyFormat = [{
    $accumulator `on` $acc_pipeline `[` $acc_position `]` `,` $a `,` $b `scales` $a_scales `,` $b_scales
    `on` $pipeline `[` $position `]` `accumulate` $accumulate `k_blocks` $k_blocks
    (`b_scale_row` $b_scale_row^)? attr-dict
    `:` type($accumulator) `,` type($acc_pipeline) `,` type($a) `,` type($b) `,` type($a_scales) `,` type($b_scales) `,` type($pipeline)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Atoms of scales along K in a stage.
    int64_t getAtomsOfK();
  }];
}

def MoeKernel_LoadAccumulatorOp : MoeKernel_Op<"load_accumulator"> {
  let summary = "columns of this thread's accumulator row; the loads are complete when the op is";
  let description = [{
    Thread t of a four-warp role reads row t of the tile, columns `column` .. `column + n - 1` for each column given.

    ```mlir
    %gate, %up = moe_kernel.load_accumulator %acc on %p[%pos] column %c0, %c32
        : !moe_kernel.buffer<tensor, 2x128x128xf32>, !moe_kernel.pipeline<2> -> vector<32xf32>, vector<32xf32>
    ```
  }];
  let arguments = (ins MoeKernel_BufferType:$accumulator, MoeKernel_PipelineType:$pipeline, I32:$position,
    Variadic<I32>:$columns);
  let results = (outs Variadic<VectorOfRankAndType<[1], [F32]>>:$values);
  let assemblyFormat = [{
    $accumulator `on` $pipeline `[` $position `]` `column` $columns attr-dict
    `:` type($accumulator) `,` type($pipeline) `->` type($values)
  }];
  let hasVerifier = 1;
}

//===- Elements -------------------------------------------------------------------===//

def MoeKernel_GlobalLoadOp : MoeKernel_Op<"global_load"> {
  let summary = "consecutive elements of a row of a global array, from 64-bit addresses";
  let description = [{
    Indices are i32 and not negative. The innermost index is a multiple of the access' length, or of 16 bytes where
    that is less; the array starts at a multiple of 16 bytes. 8-bit floats are read and written as i8, and so is f4E2M1FN,
    two elements an i8: indices count elements.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, Variadic<I32>:$indices);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$memref `[` $indices `]` attr-dict `:` type($memref) `->` type($value)";
  let hasVerifier = 1;
}
def MoeKernel_GlobalStoreOp : MoeKernel_Op<"global_store"> {
  let summary = "write consecutive elements of a row of a global array";
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$memref, Variadic<I32>:$indices);
  let assemblyFormat = "$value `to` $memref `[` $indices `]` attr-dict `:` type($value) `,` type($memref)";
  let hasVerifier = 1;
}
def MoeKernel_PointeeOp : MoeKernel_Op<"pointee"> {
  let summary = "the array that an element of an array of device addresses points at";
  let description = [{
    The address is a multiple of 16 bytes.

    ```mlir
    %dw = moe_kernel.pointee %addresses[%group] : memref<4xi64> -> memref<256x512xbf16>
    ```
  }];
  let arguments = (ins Arg<MemRefRankOf<[I64], [1]>, "", [MemRead]>:$addresses, I32:$index);
  let results = (outs AnyMemRef:$memref);
  let assemblyFormat = "$addresses `[` $index `]` attr-dict `:` type($addresses) `->` type($memref)";
}
def MoeKernel_EncodeOp : MoeKernel_Op<"encode", [Pure]> {
  let summary = "f32 to a narrow format, to nearest even, saturating; bit patterns as i8";
  let description = [{
    One i8 an element for 8-bit formats. f4E2M1FN takes a multiple of 8 elements and packs two into an i8, the even one
    in the low four bits.

    ```mlir
    %packed = moe_kernel.encode %v to f4E2M1FN : vector<32xf32> -> vector<16xi8>
    ```
  }];
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$values, TypeAttr:$format);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$codes);
  let assemblyFormat = "$values `to` $format attr-dict `:` type($values) `->` type($codes)";
  let hasVerifier = 1;
}
def MoeKernel_DecodeOp : MoeKernel_Op<"decode", [Pure]> {
  let summary = "codes of a narrow format to f32, exact; the inverse of encode";
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$codes, TypeAttr:$format);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$values);
  let assemblyFormat = "$codes `from` $format attr-dict `:` type($codes) `->` type($values)";
  let hasVerifier = 1;
}
def MoeKernel_EncodeScaleOp : MoeKernel_Op<"encode_scale", [Pure]> {
  let summary = "f32 to the code of a scale";
  let description = [{
    `f8E8M0FNU` (the default) rounds up; Inf and NaN give 255. `f8E4M3FN` rounds to nearest even and saturates; NaN gives
    127.

    ```mlir
    %e = moe_kernel.encode_scale %x : f32 -> i8
    %s = moe_kernel.encode_scale %x to f8E4M3FN : f32 -> i8
    ```
  }];
  let arguments = (ins F32:$value, OptionalAttr<TypeAttr>:$format);
  let results = (outs I8:$code);
  let assemblyFormat = "$value (`to` $format^)? attr-dict `:` type($value) `->` type($code)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$value), [{
    build($_builder, $_state, type, value, ::mlir::TypeAttr());
  }]>];
  let hasVerifier = 1;
}

def MoeKernel_SigmoidOp : MoeKernel_Op<"sigmoid", [Pure, SameOperandsAndResultType]> {
  let summary = "1 / (1 + e^-x), within 4 units in the last place of f32 for every x";
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$operand);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

//===- Staged stores ----------------------------------------------------------------===//

class MoeKernel_WarpOp<string mnemonic, list<Trait> traits = []> : MoeKernel_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

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

//===- Warps, roles and CTAs ----------------------------------------------------------===//

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

//===- Host -----------------------------------------------------------------------===//

def MoeKernel_MakeTensorMapOp : MoeKernel_Op<"make_tensor_map", [Pure]> {
  let summary = "tiled view of a global array";
  let description = [{
    The array is dense, or has padding between its rows: static strides.

    When the map has fewer dimensions than the array, the array's trailing dimensions are merged into the map's
    innermost one; when elements differ in size the innermost extent is counted in the map's elements.

    With `of` the map is that of such an array somewhere else, whose address `build_map` puts into its copies; `memref`
    lends it one.

    ```mlir
    %map = moe_kernel.make_tensor_map %addresses of memref<512x256xf8E4M3FN> : memref<4xi64>
        -> !moe_kernel.tensor_map<128x128xi8, swizzle = 128>
    ```
  }];
  let arguments = (ins AnyMemRef:$memref, OptionalAttr<TypeAttr>:$pointee);
  let results = (outs MoeKernel_TensorMapType:$map);
  let assemblyFormat = "$memref (`of` $pointee^)? attr-dict `:` type($memref) `->` type($map)";
  let extraClassDeclaration = [{
    /// The array that the map shows.
    ::mlir::Type getMappedType() { return getPointee().value_or(getMemref().getType()); }
  }];
  let hasVerifier = 1;
}
def MoeKernel_SmCountOp : MoeKernel_Op<"sm_count", [Pure]> {
  let summary = "streaming multiprocessors of the device, at launch";
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}
def MoeKernel_RequireExtentOp : MoeKernel_Op<"require_extent"> {
  let summary = "a launch is refused unless an extent of an array, the first as a rule, is this many";
  let description = [{
    How a launch program states which free extents of its arguments belong together.
  }];
  let arguments = (ins AnyMemRef:$memref, Index:$extent, DefaultValuedAttr<I64Attr, "0">:$axis);
  let assemblyFormat = "$memref `is` $extent attr-dict `:` type($memref)";
}
def MoeKernel_RequireMultipleOp : MoeKernel_Op<"require_multiple"> {
  let summary = "a launch is refused unless a dynamic extent of an array is a multiple of this many";
  let description = [{
    ```mlir
    moe_kernel.require_multiple %x of 32 {axis = 1 : i64} : memref<64x?xf4E2M1FN>
    ```
  }];
  let arguments = (ins AnyMemRef:$memref, I64Attr:$factor, DefaultValuedAttr<I64Attr, "0">:$axis);
  let assemblyFormat = "$memref `of` $factor attr-dict `:` type($memref)";
  let hasVerifier = 1;
}
def MoeKernel_RequireOffsetsOp : MoeKernel_Op<"require_offsets"> {
  let summary = "what the caller promises of cumulative group ends; checked on request only";
  let arguments = (ins AnyMemRef:$offsets, Index:$rows, I64Attr:$aligned);
  let assemblyFormat = "$offsets `within` $rows `aligned` `=` $aligned attr-dict `:` type($offsets)";
}
def MoeKernel_RequireAddressesOp : MoeKernel_Op<"require_addresses"> {
  let summary = "what an array of device addresses points at, an array each; checked on request only";
  let description = [{
    ```mlir
    moe_kernel.require_addresses %p of memref<256x512xbf16> : memref<4xi64>
    ```

    `read_only` arrays are not written. With `groups`, the cumulative ends of groups of rows, the address of a group without
    rows may be anything.
  }];
  let arguments = (ins MemRefRankOf<[I64], [1]>:$addresses, TypeAttr:$pointee, Optional<MemRefRankOf<[I32], [1]>>:$groups,
    UnitAttr:$read_only);
  let assemblyFormat = [{
    $addresses `of` $pointee (`groups` `(` $groups^ `:` type($groups) `)`)? attr-dict `:` type($addresses)
  }];
}
def MoeKernel_FillZeroOp : MoeKernel_Op<"fill_zero"> {
  let summary = "set a whole array to zero bytes before the launch that follows";
  let description = [{
    In stream order, and also when that launch's grid is 0. The array is an argument or an allocation of the launching
    function; a launch must follow.

    ```mlir
    moe_kernel.fill_zero %counters : memref<?xi32>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemWrite]>:$memref);
  let assemblyFormat = "$memref attr-dict `:` type($memref)";
}
def MoeKernel_LaunchOp : MoeKernel_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launch a kernel on a one-dimensional grid; a grid of 0 launches nothing";
  let description = [{
    `kernel` is the name of a `moe_kernel.func` beside the launching function or, after lowering, of a function in a
    `gpu.module` beside it.
    `writes` lists the positions of the arguments that the kernel writes, arrays or maps of them.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$grid, Variadic<AnyType>:$arguments, DenseI64ArrayAttr:$writes);
  let assemblyFormat = "$kernel `grid` `(` $grid `)` (`args` `(` $arguments^ `:` type($arguments) `)`)? `writes` $writes attr-dict";
}

#endif // MOE_KERNEL_OPS_TD
