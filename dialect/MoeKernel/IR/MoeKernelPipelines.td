// What roles do at the stages of pipelines.
#ifndef MOE_KERNEL_PIPELINES_TD
#define MOE_KERNEL_PIPELINES_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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

#endif // MOE_KERNEL_PIPELINES_TD
