// Interfaces of the grouped_moe dialect.
#ifndef GROUPED_MOE_INTERFACES_TD
#define GROUPED_MOE_INTERFACES_TD

include "dialect/GroupedMoe/IR/GroupedMoeAttrs.td"
include "mlir/IR/Interfaces.td"

class GroupedMoe_Get<string type, string name, string what, dag args = (ins)>
    : InterfaceMethod<what, type, name, args>;

// What follows from the kinds and shapes of an epilogue's operands.
defvar epilogueFacts = [{
    ::grouped_moe::OutputKind getOutputKind(unsigned i) {
      return static_cast<::grouped_moe::OutputKind>($_op.getOutputKinds()[i]);
    }
    /// Scales belong to the quantized output before them; every other output
    /// has yielded values of its own.
    bool isScaleOutput(unsigned i) { return ::grouped_moe::detail::isScaleKind(getOutputKind(i)); }
    /// Layout and rounding of a scale output.
    ::grouped_moe::ScaleLayoutAttr getScaleLayout(unsigned i) {
      return ::grouped_moe::detail::scaleLayoutOf($_op.getOperation(), getOutputKind(i));
    }
    /// Whether output i is quantized data that is stored transposed.
    bool isTransposedOutput(unsigned i) {
      return getOutputKind(i) == ::grouped_moe::OutputKind::quantized && i + 1 < $_op.getOutputKinds().size() &&
             isScaleOutput(i + 1) && ::grouped_moe::isStoredTransposed($_op.getOutputs()[i], getScaleLayout(i + 1));
    }
    /// The axis of the columns of an output that has some.
    unsigned getColumnAxis(unsigned i) { return isTransposedOutput(i) ? 0 : 1; }
    ::grouped_moe::ScaleRounding getScaleRounding(unsigned i) {
      return ::grouped_moe::detail::scaleRoundingOf(getOutputKind(i));
    }
    /// Whether an operand holds two values for each element (for each group, if
    /// it has no columns).
    bool isPairInput(unsigned i) {
      return ::grouped_moe::detail::isPair($_op.getInputs()[i], getColumns(), $_op.getInputKind(i));
    }
    bool isPairOutput(unsigned i) {
      return ::grouped_moe::detail::isPair($_op.getOutputs()[i], getColumns(), getOutputKind(i), getColumnAxis(i));
    }
    /// Values that the epilogue takes and yields.
    unsigned getNumEpilogueArguments() {
      unsigned n = $_op.getPaired() ? 2 : 1;
      for (unsigned i = 0; i < $_op.getInputs().size(); ++i) {
        n += isPairInput(i) ? 2 : 1;
      }
      return n;
    }
    unsigned getNumYields() {
      unsigned n = 0;
      for (unsigned i = 0; i < $_op.getOutputs().size(); ++i) {
        n += isScaleOutput(i) ? 0 : isPairOutput(i) ? 2 : 1;
      }
      return n;
    }
}];

def GroupedMoe_GroupedProduct : OpInterface<"GroupedProduct"> {
  let description = [{
    A grouped product with an epilogue: `gemm`, and the named ops that stand for one. What the epilogue's operands are is
    decided here, for verification, lowering, reference and tools alike.

    The epilogue works on R x E elements: E is N, or N / 2 with `paired` accumulators. An operand of 2 E columns holds
    pairs: two values for each element, in blocks of 32 columns that alternate, or side by side when `concatenated`.
  }];
  let cppNamespace = "::grouped_moe";
  let methods = [
    GroupedMoe_Get<"::mlir::Value", "getLhs", "(R, K)">,
    GroupedMoe_Get<"::mlir::Value", "getLhsScales", "scales of lhs">,
    GroupedMoe_Get<"::mlir::Value", "getRhs", "(L, N, K), or (L, K, N), or (L) addresses">,
    GroupedMoe_Get<"::mlir::Value", "getRhsScales", "scales of rhs">,
    GroupedMoe_Get<"::std::optional<::mlir::Type>", "getRhsPointee", "what the addresses of rhs point at">,
    GroupedMoe_Get<"::std::optional<::mlir::Type>", "getRhsScalesPointee", "the same of its scales">,
    GroupedMoe_Get<"::mlir::Value", "getOffsets", "(L) ends of groups">,
    GroupedMoe_Get<"::mlir::Value", "getNormConst", "(1) or (L), or null">,
    GroupedMoe_Get<"::mlir::OperandRange", "getInputs", "epilogue inputs">,
    GroupedMoe_Get<"::mlir::OperandRange", "getOutputs", "epilogue outputs">,
    GroupedMoe_Get<"::mlir::MutableOperandRange", "getNormConstMutable", "the same, to change it">,
    GroupedMoe_Get<"::mlir::MutableOperandRange", "getInputsMutable", "the same, to change them">,
    GroupedMoe_Get<"::mlir::MutableOperandRange", "getOutputsMutable", "the same, to change them">,
    GroupedMoe_Get<"::grouped_moe::ScaleLayoutAttr", "getLhsLayout", "layout of the scales of lhs">,
    GroupedMoe_Get<"::grouped_moe::ScaleLayoutAttr", "getRhsLayout", "layout of the scales of rhs">,
    GroupedMoe_Get<"::llvm::ArrayRef<int32_t>", "getOutputKinds", "an OutputKind for each output">,
    GroupedMoe_Get<"::grouped_moe::InputKind", "getInputKind", "how input i follows the elements", (ins "unsigned":$i)>,
    GroupedMoe_Get<"uint64_t", "getMAligned", "rows that every offset is a multiple of">,
    GroupedMoe_Get<"bool", "getPaired", "two accumulators for each element">,
    GroupedMoe_Get<"bool", "getConcatenated", "pairs are side by side, not in alternating blocks">];
  let extraSharedClassDeclaration = !strconcat([{
    /// Rows of lhs; kDynamic as a rule.
    int64_t getRows() { return ::grouped_moe::detail::extentOf($_op.getLhs(), 0); }
    int64_t getGroups() { return ::grouped_moe::detail::extentOf($_op.getRhs(), 0); }
    /// Whether rhs and its scales are device addresses, an array of its own for each group.
    bool isRhsDiscrete() { return $_op.getRhsPointee().has_value(); }
    /// The types of rhs and its scales; of addresses, those of all that they point at, behind one another.
    ::mlir::ShapedType getRhsType() {
      return ::grouped_moe::detail::typeBehind($_op.getRhs(), $_op.getRhsPointee());
    }
    ::mlir::ShapedType getRhsScalesType() {
      return ::grouped_moe::detail::typeBehind($_op.getRhsScales(), $_op.getRhsScalesPointee());
    }
    /// Scale blocks run along K: their direction tells where K is in rhs.
    bool isRhsTransposed() { return $_op.getRhsLayout().getDirection() == ::grouped_moe::ScaleDirection::column; }
    int64_t getN() { return getRhsType().getDimSize(isRhsTransposed() ? 2 : 1); }
    int64_t getK() { return getRhsType().getDimSize(isRhsTransposed() ? 1 : 2); }
    /// E: columns of the epilogue.
    int64_t getColumns() { return $_op.getPaired() ? getN() / 2 : getN(); }

  }], epilogueFacts);
}

def GroupedMoe_NamedProduct : OpInterface<"NamedProduct", [GroupedMoe_GroupedProduct]> {
  let description = [{
    A grouped product whose epilogue has a name instead of a region. Its equation is `buildEquation`, and nothing else:
    `generalize` makes the `gemm` that lowering and reference work on from it.
  }];
  let cppNamespace = "::grouped_moe";
  let methods = [
    GroupedMoe_Get<"::llvm::ArrayRef<int32_t>", "getInputRoles", "an InputRole for each input">,
    GroupedMoe_Get<"::llvm::ArrayRef<int32_t>", "getOutputValues", "a NamedValue for each output">,
    GroupedMoe_Get<"bool", "getNondeterministic", "sums in any order">,
    GroupedMoe_Get<"bool", "getRoundPreactivation", "alpha * acc + bias is rounded to bf16 first">,
    GroupedMoe_Get<"::std::optional<::grouped_moe::ScheduleAttr>", "getSchedule", "how the kernel works">,
    GroupedMoe_Get<"void", "buildEquation", "the epilogue on one element",
        (ins "::grouped_moe::EquationBuilder &":$eq)>];
  let extraSharedClassDeclaration = [{
    ::grouped_moe::InputRole getInputRole(unsigned i) {
      return static_cast<::grouped_moe::InputRole>($_op.getInputRoles()[i]);
    }
    ::grouped_moe::NamedValue getOutputValue(unsigned i) {
      return static_cast<::grouped_moe::NamedValue>($_op.getOutputValues()[i]);
    }
  }];
}

def GroupedMoe_FusedProduct : OpInterface<"FusedProduct"> {
  let description = [{
    A generic op with an epilogue region, `gemm` or `wgrad`, as the lowering of epilogues sees it: a product of tiles,
    whose rows are those of lhs, or the columns of lhs for `wgrad`, and whose columns are E.
  }];
  let cppNamespace = "::grouped_moe";
  let methods = [
    GroupedMoe_Get<"::mlir::Value", "getOffsets", "(L) ends of groups">,
    GroupedMoe_Get<"::mlir::Value", "getNormConst", "(1) or (L), or null">,
    GroupedMoe_Get<"::mlir::OperandRange", "getInputs", "epilogue inputs">,
    GroupedMoe_Get<"::mlir::MutableOperandRange", "getInputsMutable", "the same, to change them">,
    GroupedMoe_Get<"::mlir::OperandRange", "getOutputs", "epilogue outputs">,
    GroupedMoe_Get<"::llvm::ArrayRef<int32_t>", "getOutputKinds", "an OutputKind for each output">,
    GroupedMoe_Get<"::grouped_moe::InputKind", "getInputKind", "how input i follows the elements", (ins "unsigned":$i)>,
    GroupedMoe_Get<"bool", "getPaired", "two accumulators for each element">,
    GroupedMoe_Get<"bool", "getConcatenated", "pairs are side by side, not in alternating blocks">,
    GroupedMoe_Get<"bool", "getNondeterministic", "sums in any order">,
    GroupedMoe_Get<"int64_t", "getGroups", "L">,
    GroupedMoe_Get<"int64_t", "getColumns", "E">,
    GroupedMoe_Get<"::mlir::Region &", "getEpilogue", "the epilogue on one element">,
    GroupedMoe_Get<"::std::optional<::grouped_moe::ScheduleAttr>", "getSchedule", "how the kernel works">];
  let extraClassDeclaration = !subst("$_op", "(*this)", epilogueFacts);
}

#endif // GROUPED_MOE_INTERFACES_TD
