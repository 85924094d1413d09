// Arrays of tensor maps, which the device builds.
#ifndef MOE_KERNEL_MAPS_TD
#define MOE_KERNEL_MAPS_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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

#endif // MOE_KERNEL_MAPS_TD
