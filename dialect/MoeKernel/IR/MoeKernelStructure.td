// Kernels, their memory, pipelines and roles.
#ifndef MOE_KERNEL_STRUCTURE_TD
#define MOE_KERNEL_STRUCTURE_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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
def MoeKernel_IndexOp : MoeKernel_Op<"index", [Pure]> {
  let summary = "who runs this: thread, warp, lane of the role; cta, ctas of the grid; the CTA's place in its cluster";
  let arguments = (ins MoeKernel_IndexKindAttr:$kind);
  let results = (outs I32:$index);
  let assemblyFormat = "$kind attr-dict `:` type($index)";
}

#endif // MOE_KERNEL_STRUCTURE_TD
