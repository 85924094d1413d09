// Elements: global memory, conversions, functions.
#ifndef MOE_KERNEL_ELEMENTS_TD
#define MOE_KERNEL_ELEMENTS_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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

#endif // MOE_KERNEL_ELEMENTS_TD
