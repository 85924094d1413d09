// Tensor memory and products.
#ifndef MOE_KERNEL_MATRIX_TD
#define MOE_KERNEL_MATRIX_TD

include "dialect/MoeKernel/IR/MoeKernelOpBase.td"

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

#endif // MOE_KERNEL_MATRIX_TD
