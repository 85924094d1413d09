// Walks over tiles.
#ifndef MOE_KERNEL_WALKS_TD
#define MOE_KERNEL_WALKS_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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
    tiles of a part together, a cluster's tiles one slot. A group whose slots would not be below `slots` is not divided. Then
    the carried values.

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

#endif // MOE_KERNEL_WALKS_TD
