// The weight gradient: a grouped product whose contraction runs over the rows.
#ifndef GROUPED_MOE_WGRAD_TD
#define GROUPED_MOE_WGRAD_TD

include "dialect/GroupedMoe/IR/GroupedMoeOps.td"

def GroupedMoe_WgradOp : GroupedMoe_StructuredOp<"wgrad", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">, GroupedMoe_FusedProduct,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "weight gradients: a product of each group's rows";
  let description = [{
    For every group `g`, that is rows `m` with `offsets[g-1] <= m < offsets[g]` and `offsets[-1] = 0`:

        acc[g, n, k] = sum over rows m of g of dequantized(lhs)[m, n] * dequantized(rhs)[m, k]        in f32
        outputs[i][g, n, k] = the value that the region yields for it on acc and its inputs, rounded

    Shapes: `lhs` (R, N), (N, R) with `lhs_transposed`; `rhs` (R, K), (K, R) with `rhs_transposed`; outputs (L, N, K). Blocks of
    scales run down the columns, 32 rows each, and every group starts new atoms; transposing an operand changes its data
    alone, never its scales. Without a region every output is acc. An input is `per_group` (L) or (1), or `per_element`
    (L, N, K). Operands of f4E2M1FN are transposed, both, and have blocks of 32 rows or 16.

    A group without rows has acc = +0. With `accumulate` the value is added, in f32, to what the output holds; a group
    without rows leaves its part of the output alone then. Rows past the last offset, and scale bytes of no block, reach no result.

    An output may also be (L) of i64, with the `pointee` that it addresses: device addresses of (N, K) arrays, one a group,
    each a multiple of 16 bytes.

    Large groups may be divided along their rows (`split` of the schedule); the parts are added in order, so that results
    are the same in every run with one schedule.

    | constraint | what |
    |---|---|
    | `wgrad_c1` | lhs and rhs are matrices of R rows, or R columns if transposed, of f8E4M3FN or f8E5M2 elements each, or both of f4E2M1FN and transposed |
    | `wgrad_c2` | N and K are static and multiples of 16, and so is R where an operand is transposed, of f4E2M1FN a multiple of 32; L is static and at least 1; static row counts agree |
    | `wgrad_c3` | scales are f8E8M0FNU in the layout `<column, per_group, block = 32>`; of f4E2M1FN also f8E8M0FNU or f8E4M3FN in `<column, per_group, block = 16>`, both alike |
    | `wgrad_c4` | scale shapes are those of the layout and of the matrix of R rows |
    | `wgrad_c5` | offsets is (L) of i32 |
    | `wgrad_c6` | m_aligned is 1, 32, 128 or 256; not 1 of a transposed operand; of f4E2M1FN 128 or 256 |
    | `wgrad_c7` | an input is `per_group` (L) or (1), or `per_element` (L, N, K), of f32, f16 or bf16 elements |
    | `wgrad_c8` | outputs are `plain` (L, N, K) of f32, f16 or bf16, or (L) of i64 together with a `pointee` of these; each its own memref |
    | `wgrad_c9` | the region takes an f32 for the accumulator and each input and yields one for each output, by scalar operations of `arith` and `math` |
    | `wgrad_c10` | all operands are tensors, or all are memrefs |
    | `wgrad_c11` | scales that another op of this dialect produces have that op's layout |
    | `wgrad_c12` | of kernels: memrefs are dense; behind the rows of lhs, rhs, `per_element` inputs and outputs there may be padding: static strides, multiples of 16 bytes |

    ```mlir
    %dw = grouped_moe.wgrad
        lhs(%dy : tensor<?x256xf8E4M3FN> scales %sfdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
        rhs(%x : tensor<?x512xf8E4M3FN> scales %sfx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
        offsets(%offsets : tensor<4xi32>)
        outs(%dw0 : tensor<4x256x512xbf16>)
        attributes {m_aligned = 32 : i64} -> tensor<4x256x512xbf16>
    ```
  }];
  let arguments = (ins
    GroupedMoe_Shaped:$lhs, GroupedMoe_Shaped:$lhs_scales,
    GroupedMoe_Shaped:$rhs, GroupedMoe_Shaped:$rhs_scales,
    GroupedMoe_Shaped:$offsets,
    Variadic<GroupedMoe_Shaped>:$inputs,
    Variadic<GroupedMoe_Shaped>:$outputs,
    GroupedMoe_ScaleLayoutAttr:$lhs_layout,
    GroupedMoe_ScaleLayoutAttr:$rhs_layout,
    DenseI32ArrayAttr:$input_kinds,
    DenseI32ArrayAttr:$output_kinds,
    DefaultValuedAttr<I64Attr, "256">:$m_aligned,
    UnitAttr:$lhs_transposed,
    UnitAttr:$rhs_transposed,
    UnitAttr:$accumulate,
    OptionalAttr<TypeAttr>:$pointee,
    OptionalAttr<GroupedMoe_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `lhs` `(` $lhs `:` type($lhs) `scales` $lhs_scales `:` type($lhs_scales) `layout` $lhs_layout `)`
    `rhs` `(` $rhs `:` type($rhs) `scales` $rhs_scales `:` type($rhs_scales) `layout` $rhs_layout `)`
    `offsets` `(` $offsets `:` type($offsets) `)`
    custom<EpilogueOperands>($inputs, type($inputs), $input_kinds, $outputs, type($outputs), $output_kinds)
    attr-dict-with-keyword `` custom<OptionalEpilogue>($epilogue, ref($outputs)) (`->` type($results)^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = destinationStyleDecls # [{
    InputKind getInputKind(unsigned i) { return static_cast<InputKind>(getInputKinds()[i]); }
    bool getPaired() { return false; }
    bool getConcatenated() { return false; }
    bool getNondeterministic() { return false; }
    ::mlir::Value getNormConst() { return {}; }
    int64_t getGroups() { return detail::extentOf(getOffsets(), 0); }
    int64_t getN() { return detail::extentOf(getLhs(), getLhsTransposed() ? 0 : 1); }
    int64_t getK() { return detail::extentOf(getRhs(), getRhsTransposed() ? 0 : 1); }
    /// K, the columns of the epilogue.
    int64_t getColumns() { return getK(); }
    /// The axis of R.
    unsigned getLhsRowAxis() { return getLhsTransposed() ? 1 : 0; }
    unsigned getRhsRowAxis() { return getRhsTransposed() ? 1 : 0; }
    int64_t getRows() {
      int64_t rows = detail::extentOf(getLhs(), getLhsRowAxis());
      return ::mlir::ShapedType::isDynamic(rows) ? detail::extentOf(getRhs(), getRhsRowAxis()) : rows;
    }
    /// Elements of an output: of what it points at, for pointers.
    ::mlir::Type getOutputElementType(unsigned i) {
      ::mlir::Type element = ::mlir::cast<::mlir::ShapedType>(getOutputs()[i].getType()).getElementType();
      return element.isInteger(64) && getPointee() ? *getPointee() : element;
    }
  }];
}

#endif // GROUPED_MOE_WGRAD_TD
