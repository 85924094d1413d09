// Launch programs.
#ifndef MOE_KERNEL_HOST_TD
#define MOE_KERNEL_HOST_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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

#endif // MOE_KERNEL_HOST_TD
