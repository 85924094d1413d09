// Named grouped products: each stands for a gemm whose region is its equation.
#ifndef GROUPED_MOE_NAMED_OPS_TD
#define GROUPED_MOE_NAMED_OPS_TD

include "dialect/GroupedMoe/IR/GroupedMoeWgrad.td"

// What all descriptions share.
defvar namedText = [{
    Operands are those of `gemm`; an input says what it is: `alpha` (L), `bias` (L, N), `prob` (R), and for gradients `c`.
    Those left out drop out of the equation. Outputs have the kinds of `gemm`, of the `result` unless they name another
    value: `as quantized of activation`; a `row_sum` is of `dprob`. `round_preactivation` rounds z to bf16 first.
}];
defvar pairText = [{
    N is 2 F: gate and up come from blocks of 32 columns that alternate, gate first, or with `concatenated` from the two
    halves of N (F a multiple of 128).
}];
defvar gradientText = [{
    `c` and the result hold gate and up in blocks of 32 columns that alternate, or side by side with `concatenated`.
}];

// `c` is the columns of c, 0 for ops without; `columns` those of the result.
class GroupedMoe_NamedExample<string mnemonic, int n, int c, int columns> {
  string text = !strconcat([{
    ```mlir
    %d = grouped_moe.}], mnemonic, [{
        lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
        rhs(%b : tensor<4x}], !cast<string>(n), [{x256xf8E4M3FN> scales %sfb : tensor<4x}], !cast<string>(!div(n, 128)),
      [{x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
        offsets(%offsets : tensor<4xi32>)
        ins(%prob : tensor<?xf32> as prob}], !if(c, !strconcat(", %c : tensor<?x", !cast<string>(c), "xbf16> as c"), ""), [{)
        outs(%d0 : tensor<?x}], !cast<string>(columns), "xbf16>) -> tensor<?x", !cast<string>(columns), [{xbf16>
    ```
  }]);
}

class GroupedMoe_NamedOp<string mnemonic, bit isPaired, string equation, dag extra = (ins), int c = 0, int columns = 256>
    : GroupedMoe_StructuredOp<mnemonic, [AttrSizedOperandSegments, GroupedMoe_GroupedProduct,
        DeclareOpInterfaceMethods<GroupedMoe_NamedProduct, ["buildEquation"]>]> {
  let description = !strconcat(equation, !if(isPaired, pairText, ""), !if(!eq(columns, 512), gradientText, ""), namedText,
      GroupedMoe_NamedExample<mnemonic, !if(isPaired, 512, 256), c, columns>.text);
  let arguments = !con((ins
    GroupedMoe_Shaped:$lhs, GroupedMoe_Shaped:$lhs_scales,
    GroupedMoe_Shaped:$rhs, GroupedMoe_Shaped:$rhs_scales,
    GroupedMoe_Shaped:$offsets,
    Optional<GroupedMoe_Shaped>:$norm_const,
    Variadic<GroupedMoe_Shaped>:$inputs,
    Variadic<GroupedMoe_Shaped>:$outputs,
    GroupedMoe_ScaleLayoutAttr:$lhs_layout,
    GroupedMoe_ScaleLayoutAttr:$rhs_layout,
    DenseI32ArrayAttr:$input_roles,
    DenseI32ArrayAttr:$output_kinds,
    DenseI32ArrayAttr:$output_values,
    DefaultValuedAttr<I64Attr, "256">:$m_aligned,
    UnitAttr:$concatenated,
    UnitAttr:$nondeterministic,
    UnitAttr:$round_preactivation,
    OptionalAttr<TypeAttr>:$rhs_pointee,
    OptionalAttr<TypeAttr>:$rhs_scales_pointee,
    OptionalAttr<GroupedMoe_ScheduleAttr>:$schedule), extra);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `lhs` `(` $lhs `:` type($lhs) `scales` $lhs_scales `:` type($lhs_scales) `layout` $lhs_layout `)`
    `rhs` `(` $rhs `:` type($rhs) (`of` $rhs_pointee^)?
        `scales` $rhs_scales `:` type($rhs_scales) (`of` $rhs_scales_pointee^)? `layout` $rhs_layout `)`
    `offsets` `(` $offsets `:` type($offsets) `)`
    (`norm_const` `(` $norm_const^ `:` type($norm_const) `)`)?
    custom<NamedOperands>($inputs, type($inputs), $input_roles, $outputs, type($outputs), $output_kinds, $output_values)
    attr-dict-with-keyword (`->` type($results)^)?
  }];
  let extraClassDeclaration = destinationStyleDecls # [{
    bool getPaired() { return }] # !if(isPaired, "true", "false") # [{; }
    InputKind getInputKind(unsigned i) { return kindOf(static_cast<InputRole>(getInputRoles()[i])); }
  }];
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::verify() {
      return ::grouped_moe::verifyNamedProduct(::mlir::cast<NamedProduct>(getOperation()));
    }
    void $cppClass::getEffects(::grouped_moe::EffectList &effects) {
      ::grouped_moe::addProductEffects(::mlir::cast<GroupedProduct>(getOperation()), effects);
    }
    ::mlir::LogicalResult $cppClass::reifyResultShapes(::mlir::OpBuilder &builder,
                                                       ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::grouped_moe::reifyFromOutputs(builder, *this, getOutputs(), shapes);
    }
  }];
}

def GroupedMoe_GemmQuantOp : GroupedMoe_NamedOp<"gemm_quant", 0, [{
        z = alpha * acc + bias
        result = prob * z

    With `weighted_bias` the weight is on the bias alone, z = result = alpha * acc + prob * bias.
  }], (ins UnitAttr:$weighted_bias)> {
  let summary = "grouped product, weighted and quantized";
}

def GroupedMoe_GemmSwigluOp : GroupedMoe_NamedOp<"gemm_swiglu", 1, [{
        z = alpha * acc + bias                          gate and up
        result = prob * up * gate * sigmoid(gate)       (R, F)

    `preactivation` is z, (R, 2 F), for the gradient.
  }]> {
  let summary = "grouped product and SwiGLU";
}

def GroupedMoe_GemmGegluOp : GroupedMoe_NamedOp<"gemm_geglu", 1, [{
        z = alpha * acc + bias                                          gate and up
        g = min(gate, limit), u = min(max(up, -limit), limit)
        result = prob * (u + offset) * g * sigmoid(slope * g)           (R, F)

    `preactivation` is z before the clamps, (R, 2 F).
  }], (ins
    DefaultValuedAttr<F32Attr, "7.0f">:$limit, DefaultValuedAttr<F32Attr, "1.702f">:$slope,
    DefaultValuedAttr<F32Attr, "1.0f">:$offset)> {
  let summary = "grouped product and clamped GeGLU";
}

def GroupedMoe_GemmSitugluOp : GroupedMoe_NamedOp<"gemm_situglu", 1, [{
        z = alpha * acc + bias                                                  gate and up
        tg = gate_bound * tanh(gate * (1 / gate_bound)) * sigmoid(gate)
        tu = up_bound * tanh(up * (1 / up_bound))
        result = prob * tg * tu                                                 (R, F)

    The reciprocals are rounded to f32. `preactivation` is z, (R, 2 F).
  }], (ins
    DefaultValuedAttr<F32Attr, "4.0f">:$gate_bound, DefaultValuedAttr<F32Attr, "25.0f">:$up_bound)> {
  let summary = "grouped product and SiTU-GLU, a GLU of bounded factors";
}

def GroupedMoe_GemmSreluOp : GroupedMoe_NamedOp<"gemm_srelu", 0, [{
        z = alpha * acc + bias
        r = max(z, 0), or with a bound: bound * tanh(max(z, 0) * (1 / bound))
        result = prob * r * r

    `preactivation` is z.
  }], (ins OptionalAttr<F32Attr>:$bound)> {
  let summary = "grouped product and squared ReLU";
}

def GroupedMoe_GemmDswigluOp : GroupedMoe_NamedOp<"gemm_dswiglu", 0, [{
        r = alpha * acc + bias                          the gradient of the SwiGLU's result over prob, (R, F)
        gate, up = c                                    the saved pre-activation, (R, 2 F)
        s = sigmoid(gate)
        result = r * prob * up * s * (1 + gate * (1 - s)),  r * prob * gate * s         pairs, (R, 2 F)
        dprob = r * up * gate * s
  }], (ins), 512, 512> {
  let summary = "grouped product and the gradient of SwiGLU";
}

def GroupedMoe_GemmDgegluOp : GroupedMoe_NamedOp<"gemm_dgeglu", 0, [{
        r = alpha * acc + bias                          the gradient of the GeGLU's result over prob, (R, F)
        gate, up = c                                    the saved pre-activation, (R, 2 F)
        g = min(gate, limit), u = min(max(up, -limit), limit), s = sigmoid(slope * g)
        dgate = r * prob * (u + offset) * s * (1 + slope * g * (1 - s)) where gate <= limit, else 0
        dup = r * prob * g * s where -limit <= up <= limit, else 0
        result = dgate, dup                             pairs, (R, 2 F)
        dprob = r * (u + offset) * g * s
  }], (ins
    DefaultValuedAttr<F32Attr, "7.0f">:$limit, DefaultValuedAttr<F32Attr, "1.702f">:$slope,
    DefaultValuedAttr<F32Attr, "1.0f">:$offset), 512, 512> {
  let summary = "grouped product and the gradient of clamped GeGLU";
}

def GroupedMoe_GemmDsreluOp : GroupedMoe_NamedOp<"gemm_dsrelu", 0, [{
        g = alpha * acc + bias
        preactivation = gemm:  result = prob * 2 * c * max(g, 0),  dprob = c * max(g, 0)^2
        preactivation = c:     result = prob * 2 * g * max(c, 0),  dprob = g * max(c, 0)^2
        activation = prob * max(c, 0)^2

    In the form `c` the operand c is the saved pre-activation of the forward pass, and the result its gradient; the form
    `gemm` has the two the other way round.
  }], (ins
    DefaultValuedAttr<EnumAttr<GroupedMoe_Dialect, GroupedMoe_PreactivationForm, "preactivation_form">,
                      "PreactivationForm::gemm">:$preactivation), 256> {
  let summary = "grouped product and the gradient of squared ReLU";
}

#endif // GROUPED_MOE_NAMED_OPS_TD
