// Operations of the moe_kernel dialect.
#ifndef MOE_KERNEL_OPS_TD
#define MOE_KERNEL_OPS_TD

include "dialect/MoeKernel/IR/MoeKernelDialect.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class MoeKernel_Op<string mnemonic, list<Trait> traits = []> : Op<MoeKernel_Dialect, mnemonic, traits>;

//===- Structure ----------------------------------------------------------------===//

def MoeKernel_FuncOp : MoeKernel_Op<"func", [FunctionOpInterface, IsolatedFromAbove, Symbol]> {
  let summary = "one kernel";
  let description = [{
    Arguments are the kernel's parameters in order: a memref is a pointer to dense row-major global memory (its dynamic
    extents are not passed), a tensor map is 128 bytes by value, i32 and i64 are scalars. `warps` is the CTA's size.

    Buffers and pipelines stand at the top; roles follow. A kernel without roles runs its body in every thread.

    ```mlir
    moe_kernel.func @copy(%x: memref<?x256xf32>, %rows: i32) warps(4) {
      moe_kernel.return
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, I64Attr:$warps,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def MoeKernel_ReturnOp : MoeKernel_Op<"return", [Pure, Terminator, HasParent<"FuncOp">]> {
  let summary = "end of a kernel";
  let assemblyFormat = "attr-dict";
}

def MoeKernel_AllocOp : MoeKernel_Op<"alloc", [HasParent<"FuncOp">]> {
  let summary = "a named buffer on chip, for the kernel's whole life";
  let arguments = (ins StrAttr:$name);
  let results = (outs MoeKernel_BufferType:$buffer);
  let assemblyFormat = "$name attr-dict `:` type($buffer)";
}

def MoeKernel_PipelineOp : MoeKernel_Op<"pipeline", [HasParent<"FuncOp">]> {
  let summary = "a named pipeline";
  let description = [{
    `producers` and `consumers` count the arrivals that complete the full and the empty barrier of a stage;
    `transaction_bytes` is what the loads of one stage bring (0 without loads).
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$producers, I64Attr:$consumers, I64Attr:$transaction_bytes);
  let results = (outs MoeKernel_PipelineType:$pipeline);
  let assemblyFormat = [{
    $name `producers` `=` $producers `consumers` `=` $consumers `transaction_bytes` `=` $transaction_bytes
    attr-dict `:` type($pipeline)
  }];
  let hasVerifier = 1;
}

def MoeKernel_RoleOp : MoeKernel_Op<"role", [HasParent<"FuncOp">, SingleBlock, NoTerminator]> {
  let summary = "the program of a group of warps";
  let description = [{
    Warps `first_warp` .. `first_warp + num_warps - 1` run the body; with `elected` one thread of the (single) warp does.
    `moe_kernel.index thread` counts from the role's first thread.

    ```mlir
    moe_kernel.role "load" warps(4, 1) elected { }
    ```
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$first_warp, I64Attr:$num_warps, UnitAttr:$elected);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` `(` $first_warp `,` $num_warps `)` (`elected` $elected^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def MoeKernel_ForTilesOp : MoeKernel_Op<"for_tiles", [SingleBlockImplicitTerminator<"YieldOp">]> {
  let summary = "the tiles of this CTA, over all groups";
  let description = [{
    Walks the output tiles of a ragged grouped product: those of group 0, then of group 1, ...; within a group columns
    are the fast direction. CTA c of C takes tiles c, c + C, .... Group g holds rows offsets[g-1] .. offsets[g] and
    ceil(rows / tile M) x ceil(n / tile N) tiles; an empty group has none. The body receives the group, the tile's first
    row in the matrix and its first column, then the loop-carried values (i32, ring positions as a rule).

    ```mlir
    %p = moe_kernel.for_tiles offsets(%offs : memref<4xi32>) tile = [128, 256] n = 512 carry(%c0) {
    ^bb0(%group: i32, %row: i32, %column: i32, %pos: i32):
      moe_kernel.yield %pos : i32
    } : i32
    ```
  }];
  let arguments = (ins AnyMemRef:$offsets, DenseI64ArrayAttr:$tile, I64Attr:$n, Variadic<I32>:$inits);
  let results = (outs Variadic<I32>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `offsets` `(` $offsets `:` type($offsets) `)` `tile` `=` $tile `n` `=` $n (`carry` `(` $inits^ `)`)?
    attr-dict-with-keyword $body (`:` type($results)^)?
  }];
  let hasVerifier = 1;
}

def MoeKernel_YieldOp : MoeKernel_Op<"yield", [Pure, Terminator, HasParent<"ForTilesOp">]> {
  let summary = "loop-carried values of the next tile";
  let arguments = (ins Variadic<I32>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def MoeKernel_IndexOp : MoeKernel_Op<"index", [Pure]> {
  let summary = "who runs this: thread, warp, lane of the role; cta, ctas of the grid";
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
def MoeKernel_LoadOp : MoeKernel_Op<"load"> {
  let summary = "bulk copy of one box into a stage; elements out of bounds arrive as 0";
  let description = [{
    `coordinates` are the box's origin in elements of the map, slowest dimension first. `offset` is the first byte of the
    box in the stage.
  }];
  let arguments = (ins MoeKernel_TensorMapType:$map, Variadic<I32>:$coordinates, MoeKernel_BufferType:$buffer,
    MoeKernel_PipelineType:$pipeline, I32:$position, DefaultValuedAttr<I64Attr, "0">:$offset);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $buffer `on` $pipeline `[` $position `]` attr-dict
    `:` type($map) `,` type($buffer) `,` type($pipeline)
  }];
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
    accumulator[acc_position] (+)= A x B over the first `k_blocks` (i32, 1 .. tile K / 32) blocks of 32 along K; blocks past
    that are not touched: their scale bytes may be anything. Without `accumulate` (i1) the accumulator starts at 0.
  }];
  let arguments = (ins MoeKernel_BufferType:$accumulator, I32:$acc_position,
    MoeKernel_BufferType:$a, MoeKernel_BufferType:$b, MoeKernel_BufferType:$a_scales, MoeKernel_BufferType:$b_scales,
    I32:$position, I1:$accumulate, I32:$k_blocks,
    MoeKernel_PipelineType:$acc_pipeline, MoeKernel_PipelineType:$pipeline);
  let assemblyFormat = [{
    $accumulator `on` $acc_pipeline `[` $acc_position `]` `,` $a `,` $b `scales` $a_scales `,` $b_scales
    `on` $pipeline `[` $position `]` `accumulate` $accumulate `k_blocks` $k_blocks attr-dict
    `:` type($accumulator) `,` type($acc_pipeline) `,` type($a) `,` type($b) `,` type($a_scales) `,` type($b_scales) `,` type($pipeline)
  }];
  let hasVerifier = 1;
}

def MoeKernel_LoadAccumulatorOp : MoeKernel_Op<"load_accumulator"> {
  let summary = "columns of this thread's accumulator row; the load is complete when the op is";
  let description = [{
    Thread t of a four-warp role reads row t of the tile, columns `column` .. `column + n - 1`.
  }];
  let arguments = (ins MoeKernel_BufferType:$accumulator, MoeKernel_PipelineType:$pipeline, I32:$position, I32:$column);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$values);
  let assemblyFormat = [{
    $accumulator `on` $pipeline `[` $position `]` `column` $column attr-dict
    `:` type($accumulator) `,` type($pipeline) `->` type($values)
  }];
  let hasVerifier = 1;
}

//===- Elements -------------------------------------------------------------------===//

def MoeKernel_GlobalLoadOp : MoeKernel_Op<"global_load"> {
  let summary = "consecutive elements of a dense global array, from 64-bit addresses";
  let description = [{
    Indices are i32 and not negative. The innermost index is a multiple of the access' length, or of 16 bytes where
    that is less; the array starts at a multiple of 16 bytes. 8-bit floats are read and written as i8.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$memref, Variadic<I32>:$indices);
  let results = (outs AnyType:$value);
  let assemblyFormat = "$memref `[` $indices `]` attr-dict `:` type($memref) `->` type($value)";
  let hasVerifier = 1;
}
def MoeKernel_GlobalStoreOp : MoeKernel_Op<"global_store"> {
  let summary = "write consecutive elements of a dense global array";
  let arguments = (ins AnyType:$value, Arg<AnyMemRef, "", [MemWrite]>:$memref, Variadic<I32>:$indices);
  let assemblyFormat = "$value `to` $memref `[` $indices `]` attr-dict `:` type($value) `,` type($memref)";
  let hasVerifier = 1;
}
def MoeKernel_EncodeOp : MoeKernel_Op<"encode", [Pure, SameOperandsAndResultShape]> {
  let summary = "f32 to the 8-bit format, to nearest even, saturating; bit patterns as i8";
  let arguments = (ins VectorOfRankAndType<[1], [F32]>:$values, TypeAttr:$format);
  let results = (outs VectorOfRankAndType<[1], [I8]>:$codes);
  let assemblyFormat = "$values `to` $format attr-dict `:` type($values) `->` type($codes)";
}
def MoeKernel_DecodeOp : MoeKernel_Op<"decode", [Pure, SameOperandsAndResultShape]> {
  let summary = "8-bit codes to f32";
  let arguments = (ins VectorOfRankAndType<[1], [I8]>:$codes, TypeAttr:$format);
  let results = (outs VectorOfRankAndType<[1], [F32]>:$values);
  let assemblyFormat = "$codes `from` $format attr-dict `:` type($codes) `->` type($values)";
}
def MoeKernel_EncodeScaleOp : MoeKernel_Op<"encode_scale", [Pure]> {
  let summary = "f32 to e8m0, rounded up; Inf and NaN give 255";
  let arguments = (ins F32:$value);
  let results = (outs I8:$code);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($code)";
}

//===- Host -----------------------------------------------------------------------===//

def MoeKernel_MakeTensorMapOp : MoeKernel_Op<"make_tensor_map", [Pure]> {
  let summary = "tiled view of a dense global array";
  let description = [{
    When the map has fewer dimensions than the array, the array's trailing dimensions are merged into the map's
    innermost one; when elements differ in size the innermost extent is counted in the map's elements.
  }];
  let arguments = (ins AnyMemRef:$memref);
  let results = (outs MoeKernel_TensorMapType:$map);
  let assemblyFormat = "$memref attr-dict `:` type($memref) `->` type($map)";
  let hasVerifier = 1;
}
def MoeKernel_SmCountOp : MoeKernel_Op<"sm_count", [Pure]> {
  let summary = "streaming multiprocessors of the device, at launch";
  let results = (outs Index:$count);
  let assemblyFormat = "attr-dict";
}
def MoeKernel_RequireExtentOp : MoeKernel_Op<"require_extent"> {
  let summary = "a launch is refused unless an array's first extent is this many";
  let description = [{
    How a launch program states which free extents of its arguments belong together.
  }];
  let arguments = (ins AnyMemRef:$memref, Index:$extent);
  let assemblyFormat = "$memref `is` $extent attr-dict `:` type($memref)";
}
def MoeKernel_RequireOffsetsOp : MoeKernel_Op<"require_offsets"> {
  let summary = "what the caller promises of cumulative group ends; checked on request only";
  let arguments = (ins AnyMemRef:$offsets, Index:$rows, I64Attr:$aligned);
  let assemblyFormat = "$offsets `within` $rows `aligned` `=` $aligned attr-dict `:` type($offsets)";
}
def MoeKernel_LaunchOp : MoeKernel_Op<"launch", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "launch a kernel on a one-dimensional grid; a grid of 0 launches nothing";
  let description = [{
    `kernel` is the name of a `moe_kernel.func` beside the launching function or, after lowering, of a function in a
    `gpu.module` beside it.
    `writes` lists the positions of the arguments that the kernel writes.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Index:$grid, Variadic<AnyType>:$arguments, DenseI64ArrayAttr:$writes);
  let assemblyFormat = "$kernel `grid` `(` $grid `)` (`args` `(` $arguments^ `:` type($arguments) `)`)? `writes` $writes attr-dict";
}

#endif // MOE_KERNEL_OPS_TD
