// Operations of the grouped_moe dialect.
#ifndef GROUPED_MOE_OPS_TD
#define GROUPED_MOE_OPS_TD

include "dialect/GroupedMoe/IR/GroupedMoeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class GroupedMoe_Op<string mnemonic, list<Trait> traits = []> : Op<GroupedMoe_Dialect, mnemonic, traits>;

def GroupedMoe_Shaped : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef], "ranked tensor or strided memref">;

// Ops in destination style on tensors or memrefs.
class GroupedMoe_StructuredOp<string mnemonic, list<Trait> traits = []>
    : GroupedMoe_Op<mnemonic, traits # [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface, ["reifyResultShapes"]>]> {
  let hasVerifier = 1;
  code destinationStyleDecls = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputsMutable(); }
  }];
  let extraClassDeclaration = destinationStyleDecls;
}

def GroupedMoe_GemmOp : GroupedMoe_StructuredOp<"gemm", [
    AttrSizedOperandSegments, IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">, GroupedMoe_GroupedProduct,
    GroupedMoe_FusedProduct,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "grouped block-scaled matrix product with an epilogue region";
  let description = [{
    For every row `m` that belongs to a group `g`, that is `offsets[g-1] <= m < offsets[g]` with `offsets[-1] = 0`:

        acc[m, n] = sum over k of dequantized(lhs)[m, k] * dequantized(rhs)[g, n, k]        in f32
        outputs[i] = what its kind makes of the value that the region yields for it on acc[m, n] and its inputs

    Shapes: `lhs` (R, K), `rhs` (L, N, K), or (L, K, N) with scales that run down its columns, `offsets` (L) i32, cumulative
    exclusive ends. The epilogue works on R x E elements,
    E = N, or N / 2 with `paired`: two accumulators, gate and up. An input is `per_element` (R, E), `per_row` (R), `per_group`
    (L) or (1) or `per_group_column` (L, E); it reaches the region as f32. An operand of 2 E columns holds pairs, two values for each
    element, in blocks of 32 columns that alternate, or side by side with `concatenated`.

    Outputs: `plain`; `quantized`, followed by its scales,
    `{row,row_group,column,column_group}_scales_{rceil,floor,nearest,rceil_block16,floor_block16}`, f4E2M1FN data down columns being
    stored transposed, (E, R); `row_sum` (R); `group_column_sum` (L, E); `group_amax` (L), (L, 2) for pairs.
    Rows past the last offset are not computed: nothing there is read into a result, and outputs keep their bytes there. Sums
    are the same in every run with one schedule, unless `nondeterministic`.

    `rhs` and its scales may also be (L) of i64: device addresses of an array for each group, a multiple of 16 bytes each. What
    they point at stands behind `of`. Groups may share an array; the address of a group without rows may be anything.

    `m_aligned` is the caller's promise that every offset is a multiple of that many rows; 1 promises nothing. docs/spec/grouped_moe.md has the
    whole of it.

    | constraint | what |
    |---|---|
    | `gemm_c1` | lhs is (R, K), of f8E4M3FN, f8E5M2 or f4E2M1FN elements |
    | `gemm_c2` | rhs is (L, N, K), or (L, K, N) in a `column` layout; of f8E4M3FN or f8E5M2 elements where lhs is, else of f4E2M1FN; K agrees |
    | `gemm_c3` | K is static and a multiple of 32, of 64 with f4E2M1FN; N is static and a multiple of 16; L is static and at least 1 |
    | `gemm_c4` | scales are f8E8M0FNU, of lhs in the layout `<row, whole, block = 32>` or `<row, per_group, block = 32>`, of rhs in the former or `<column, whole, block = 32>`; of f4E2M1FN operands in the `row` layouts, f8E8M0FNU with blocks of 32 or 16 or f8E4M3FN with blocks of 16, both alike |
    | `gemm_c5` | scale shapes are those of their layout and operand |
    | `gemm_c6` | offsets is (L) of i32 |
    | `gemm_c7` | m_aligned is 1, 32, 128 or 256 |
    | `gemm_c8` | an input has the shape of its kind, of f32, f16 or bf16 elements; `per_element` also of 8-bit ones |
    | `gemm_c9` | there are outputs, each of the shape and elements of its kind; scales follow their quantized output |
    | `gemm_c10` | the region takes an f32 for each accumulator and input, two for pairs, and yields so for each output but scales |
    | `gemm_c11` | the region holds scalar operations of `arith` and `math` on f32, integers and i1 only |
    | `gemm_c12` | all operands are tensors, or all are memrefs; static row counts agree |
    | `gemm_c13` | a scale operand that another op of this dialect produces has that op's layout |
    | `gemm_c14` | N is a multiple of 64 with `paired`, of 128 with `concatenated`, of 256 with both |
    | `gemm_c15` | `norm_const` is (1) or (L) of f32, and some output is quantized |
    | `gemm_c16` | with `m_aligned` below 128 the scales of lhs, and those of outputs, are in a `per_group` layout; with 1 no f4E2M1FN is quantized down columns |
    | `gemm_c17` | rhs and its scales are both arrays, or both (L) of i64 `of` the type of one group's array, (N, K) or (K, N) |
    | `gemm_c18` | of kernels: memrefs are dense; behind the rows of lhs, of `per_element` inputs and of `plain` and `quantized` outputs that are not stored transposed there may be padding: a static stride, a multiple of 16 bytes |

    ```mlir
    %d = grouped_moe.gemm
        lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
        rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
        offsets(%offsets : tensor<4xi32>)
        ins(%prob : tensor<?xf32> as per_row, %alpha : tensor<4xf32> as per_group)
        outs(%d0 : tensor<?x512xbf16>)
        attributes {m_aligned = 256 : i64}
        epilogue {
    ^bb0(%acc: f32, %p: f32, %al: f32):
      %x = arith.mulf %acc, %al : f32
      %y = arith.mulf %x, %p : f32
      grouped_moe.yield %y : f32
    } -> tensor<?x512xbf16>

    %e = grouped_moe.gemm
        lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
        rhs(%p : tensor<4xi64> of tensor<512x256xf8E4M3FN>
            scales %q : tensor<4xi64> of tensor<4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
        offsets(%offsets : tensor<4xi32>) outs(%d0 : tensor<?x512xbf16>) epilogue {
    ^bb0(%acc: f32):
      grouped_moe.yield %acc : f32
    } -> tensor<?x512xbf16>
    ```
  }];
  let arguments = (ins
    GroupedMoe_Shaped:$lhs, GroupedMoe_Shaped:$lhs_scales,
    GroupedMoe_Shaped:$rhs, GroupedMoe_Shaped:$rhs_scales,
    GroupedMoe_Shaped:$offsets,
    Optional<GroupedMoe_Shaped>:$norm_const,
    Variadic<GroupedMoe_Shaped>:$inputs,
    Variadic<GroupedMoe_Shaped>:$outputs,
    GroupedMoe_ScaleLayoutAttr:$lhs_layout,
    GroupedMoe_ScaleLayoutAttr:$rhs_layout,
    DenseI32ArrayAttr:$input_kinds,
    DenseI32ArrayAttr:$output_kinds,
    DefaultValuedAttr<I64Attr, "256">:$m_aligned,
    UnitAttr:$paired,
    UnitAttr:$concatenated,
    UnitAttr:$nondeterministic,
    OptionalAttr<TypeAttr>:$rhs_pointee,
    OptionalAttr<TypeAttr>:$rhs_scales_pointee,
    OptionalAttr<GroupedMoe_ScheduleAttr>:$schedule);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `lhs` `(` $lhs `:` type($lhs) `scales` $lhs_scales `:` type($lhs_scales) `layout` $lhs_layout `)`
    `rhs` `(` $rhs `:` type($rhs) (`of` $rhs_pointee^)?
        `scales` $rhs_scales `:` type($rhs_scales) (`of` $rhs_scales_pointee^)? `layout` $rhs_layout `)`
    `offsets` `(` $offsets `:` type($offsets) `)`
    (`norm_const` `(` $norm_const^ `:` type($norm_const) `)`)?
    custom<EpilogueOperands>($inputs, type($inputs), $input_kinds, $outputs, type($outputs), $output_kinds)
    attr-dict-with-keyword `epilogue` $epilogue (`->` type($results)^)?
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = destinationStyleDecls # [{
    InputKind getInputKind(unsigned i) { return static_cast<InputKind>(getInputKinds()[i]); }
  }];
}

def GroupedMoe_YieldOp : GroupedMoe_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["GemmOp", "WgradOp"]>]> {
  let summary = "terminator of an epilogue: the values of the outputs";
  let description = [{
    Operands are the values of the outputs in order, two for an output of pairs, none for scales; one value may go to several.

    ```mlir
    grouped_moe.yield %y : f32
    ```
  }];
  let arguments = (ins Variadic<F32>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def GroupedMoe_SigmoidOp : GroupedMoe_Op<"sigmoid", [Pure, SameOperandsAndResultType]> {
  let summary = "the logistic function, in an epilogue";
  let description = [{
    1 / (1 + e^-x) within 4 units in the last place of f32 for every x, also where e^-x overflows; exactly 1/2 at 0, 1
    from 32 on and 0 below -104. Composed of `exp` and a division it would be 0 from -89 down.

    ```mlir
    %s = grouped_moe.sigmoid %gate : f32
    ```
  }];
  let arguments = (ins F32:$operand);
  let results = (outs F32:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

// The groups of a matrix whose scales start a new atom with each of them.
defvar scaleGroups = (ins
    Optional<GroupedMoe_Shaped>:$offsets,
    DefaultValuedAttr<I64Attr, "256">:$m_aligned);

def GroupedMoe_QuantizeOp : GroupedMoe_StructuredOp<"quantize", [AttrSizedOperandSegments]> {
  let summary = "block-scaled quantization along rows or down columns";
  let description = [{
    For every block x of consecutive elements of a row, or of a column in a `column` layout, in f32, rounding to nearest
    even, subnormals kept:

        amax  = max |x|                              a NaN propagates
        rceil:  b = e8m0 of (amax * f32(1/max_elem)), rounded up; Inf and NaN give 255
        floor:  b = exponent field of amax - emax_elem, at least 0; Inf and NaN give 255
        q     = saturating conversion of x * 2^(127 - b); b = 255 makes the whole block NaN

    with max_elem 448, emax_elem 8 for f8E4M3FN, 57344, 15 for f8E5M2 and 6, 2 for f4E2M1FN. A zero block has b = 0 and zero
    data. Scale bytes of a written atom that belong to no element are 0. A block of a column that ends with the rows, of the
    matrix or of the group, counts the missing ones as zero. Blocks are 32 elements, of f4E2M1FN also 16.

    `nearest`, for f4E2M1FN in blocks of 16, has f8E4M3FN scales s and

        s     = e4m3 of min(amax * f32(1/6), 448); NaN gives NaN
        q     = saturating conversion of x * f32(1/s); s = 0 makes the whole block 0

    f4E2M1FN has no NaN: 6 stands for it. Two of its elements share a byte, the even one in the low four bits.

    With `offsets`, cumulative exclusive ends of groups of rows as `gemm` takes them, every group starts a new atom. Rows
    past the last offset, and atoms behind the last group's, keep their bytes then.

    Shapes: `input` (R, K) or (L, N, K); `data` the same, but for f4E2M1FN in a `column` layout (K, R), as a product over rows
    reads it, with R a multiple of 32; `scales` as the layout demands.

    | constraint | what |
    |---|---|
    | `quantize_c1` | input is of rank 2 or 3, of f32, f16 or bf16 elements; its last extent is static, positive and a multiple of 32, for f4E2M1FN data along rows of 64; rank 3 is static; down columns f4E2M1FN is of rank 2 and R a multiple of 32 |
    | `quantize_c2` | data has the input's shape, of f8E4M3FN, f8E5M2 or f4E2M1FN elements; (K, R) of f4E2M1FN down columns |
    | `quantize_c3` | scales are f8E8M0FNU in a layout of block 32; of f4E2M1FN data f8E8M0FNU in one of block 32 or 16, or f8E4M3FN in one of block 16 |
    | `quantize_c4` | the scale shape is that of the layout and the input |
    | `quantize_c5` | outs is data, scales; all operands are tensors, or all are memrefs |
    | `quantize_c6` | offsets, (L) of i32, are given for a per_group layout of a matrix of rank 2 and for no other; m_aligned is 1, 32, 128 or 256, for f4E2M1FN down columns not 1 |
    | `quantize_c7` | rounding is rceil or floor for f8E8M0FNU scales, nearest for f8E4M3FN scales |

    ```mlir
    %q, %sf = grouped_moe.quantize ins(%x : tensor<?x256xf32>)
        outs(%q0, %sf0 : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
        layout <row, whole, block = 32> rounding rceil -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
    %h, %sh = grouped_moe.quantize ins(%x : tensor<?x256xf32>)
        outs(%h0, %sh0 : tensor<?x256xf4E2M1FN>, tensor<?x4x32x4x4xf8E4M3FN>)
        layout <row, whole, block = 16> rounding nearest -> tensor<?x256xf4E2M1FN>, tensor<?x4x32x4x4xf8E4M3FN>
    ```
  }];
  let arguments = !con((ins
    GroupedMoe_Shaped:$input,
    Variadic<GroupedMoe_Shaped>:$outputs,
    GroupedMoe_ScaleLayoutAttr:$layout,
    EnumAttr<GroupedMoe_Dialect, GroupedMoe_Rounding, "rounding">:$rounding), scaleGroups);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` (`offsets` `(` $offsets^ `:` type($offsets) `)`)?
    `outs` `(` $outputs `:` type($outputs) `)`
    `layout` $layout `rounding` $rounding attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = destinationStyleDecls # [{
    ::mlir::Value getData() { return getOutputs()[0]; }
    ::mlir::Value getScales() { return getOutputs()[1]; }
  }];
}

def GroupedMoe_DequantizeOp : GroupedMoe_StructuredOp<"dequantize", [AttrSizedOperandSegments]> {
  let summary = "values of a block-scaled matrix";
  let description = [{
    output[.., k] = data[.., k] * scale, the f32 product rounded to the output's type; a byte b of f8E8M0FNU is the scale
    2^(b - 127), 255 is NaN. With `offsets` rows past the last one keep their bytes.

    | constraint | what |
    |---|---|
    | `dequantize_c1` | data is of rank 2 or 3, of f8E4M3FN, f8E5M2 or f4E2M1FN elements; its last extent is static, positive and a multiple of 32, of f4E2M1FN of 64; rank 3 is static; f4E2M1FN down columns is (K, R), both multiples of 32 |
    | `dequantize_c2` | output has the data's shape, of f32, f16 or bf16 elements; (R, K) for f4E2M1FN down columns |
    | `dequantize_c3` | scales are f8E8M0FNU in a layout of block 32; of f4E2M1FN data f8E8M0FNU in one of block 32 or 16, or f8E4M3FN in one of block 16 |
    | `dequantize_c4` | the scale shape is that of the layout and the data |
    | `dequantize_c5` | outs is one operand; all operands are tensors, or all are memrefs |
    | `dequantize_c6` | offsets, (L) of i32, are given for a per_group layout of a matrix of rank 2 and for no other; m_aligned is 1, 32, 128 or 256, for f4E2M1FN down columns not 1 |
    | `dequantize_c7` | scales that another op of this dialect produces have that op's layout |

    ```mlir
    %y = grouped_moe.dequantize ins(%q : tensor<?x256xf8E4M3FN> scales %sf : tensor<?x2x32x4x4xf8E8M0FNU>)
        outs(%y0 : tensor<?x256xf32>) layout <row, whole, block = 32> -> tensor<?x256xf32>
    ```
  }];
  let arguments = !con((ins
    GroupedMoe_Shaped:$data,
    GroupedMoe_Shaped:$scales,
    Variadic<GroupedMoe_Shaped>:$outputs,
    GroupedMoe_ScaleLayoutAttr:$layout), scaleGroups);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $data `:` type($data) `scales` $scales `:` type($scales) `)`
    (`offsets` `(` $offsets^ `:` type($offsets) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    `layout` $layout attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = destinationStyleDecls # [{
    ::mlir::Value getOutput() { return getOutputs()[0]; }
  }];
}

def GroupedMoe_InterleaveGluOp : GroupedMoe_StructuredOp<"interleave_glu", [AttrSizedOperandSegments]> {
  let summary = "concatenated gate and up weights into blocks of 32 rows that alternate";
  let description = [{
    The form in which products with two accumulators read their right operand, made once from the usual one, [gate | up].
    For every group `g`, half `h` (0: gate, 1: up) and row `f` of F:

        data[g, f / 32 * 64 + h * 32 + f % 32, ..] = input[g, h * F + f, ..]

    and the same for the scales of these rows, whose bytes stay what they are; scale bytes of an atom that belong to no
    element are 0. Elements are moved, never converted: a NaN keeps its bits.

    Shapes: `input` (L, 2 F, K), such as weights, or (L, 2 F), such as a bias; `data` the same; scales as the layout
    demands. `data` may not be the memory of `input`.

    | constraint | what |
    |---|---|
    | `interleave_c1` | input is of rank 2 or 3, static and not empty, of f32, f16, bf16, f8E4M3FN or f8E5M2 elements |
    | `interleave_c2` | 2 F, the extent of dimension 1, is a multiple of 64 |
    | `interleave_c3` | data is of the input's shape and element type |
    | `interleave_c4` | scales and a layout are given together, for an input of rank 3 and f8E4M3FN or f8E5M2 elements; scales are f8E8M0FNU in the layout `<row, whole, block = 32>` |
    | `interleave_c5` | the shape of both scale operands is that of the layout and the input; K is a multiple of 32 then |
    | `interleave_c6` | outs is data, then scales if ins has them; all operands are tensors, or all are memrefs |
    | `interleave_c7` | a memref of outs is no other operand |
    | `interleave_c8` | scales that another op of this dialect produces have that op's layout |

    ```mlir
    %w1, %s1 = grouped_moe.interleave_glu ins(%w : tensor<4x512x256xf8E4M3FN> scales %s : tensor<4x4x2x32x4x4xf8E8M0FNU>)
        outs(%w0, %s0 : tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>)
        layout <row, whole, block = 32> -> tensor<4x512x256xf8E4M3FN>, tensor<4x4x2x32x4x4xf8E8M0FNU>
    %b1 = grouped_moe.interleave_glu ins(%b : tensor<4x512xf32>) outs(%b0 : tensor<4x512xf32>) -> tensor<4x512xf32>
    ```
  }];
  let arguments = (ins
    GroupedMoe_Shaped:$input,
    Optional<GroupedMoe_Shaped>:$scales,
    Variadic<GroupedMoe_Shaped>:$outputs,
    OptionalAttr<GroupedMoe_ScaleLayoutAttr>:$layout);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) (`scales` $scales^ `:` type($scales))? `)`
    `outs` `(` $outputs `:` type($outputs) `)` (`layout` $layout^)? attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = destinationStyleDecls # [{
    ::mlir::Value getData() { return getOutputs()[0]; }
    /// Null without scales.
    ::mlir::Value getDataScales() { return getScales() ? getOutputs()[1] : ::mlir::Value(); }
  }];
}

#endif // GROUPED_MOE_OPS_TD
