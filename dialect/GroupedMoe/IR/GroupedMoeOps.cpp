// Generated op definitions, and the custom pieces of their textual form.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"

#include "dialect/GroupedMoe/IR/StructuredOps.h"

using namespace mlir;
using namespace grouped_moe;

using Operands = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;
using Types = SmallVectorImpl<Type>;
using Numbers = DenseI32ArrayAttr;

/// A word of an enumeration.
template <typename EnumT>
static ParseResult parseWord(OpAsmParser &parser,
                             std::optional<EnumT> (*symbolize)(StringRef),
                             StringRef what, StringRef expected,
                             SmallVectorImpl<int32_t> &values) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword)) {
    return failure();
  }
  std::optional<EnumT> value = symbolize(keyword);
  if (!value) {
    return parser.emitError(loc) << "unknown " << what << " '" << keyword
                                 << "', expected " << expected;
  }
  values.push_back(static_cast<int32_t>(*value));
  return success();
}

// ins(%x : type as word, ...), absent when there are none.
template <typename EnumT>
static ParseResult parseInputs(OpAsmParser &parser, Operands &inputs,
                               Types &types, Numbers &numbers,
                               std::optional<EnumT> (*symbolize)(StringRef),
                               StringRef what, StringRef expected) {
  SmallVector<int32_t> values;
  if (succeeded(parser.parseOptionalKeyword("ins"))) {
    auto one = [&]() -> ParseResult {
      return failure(
          parser.parseOperand(inputs.emplace_back()) ||
          parser.parseColonType(types.emplace_back()) ||
          parser.parseKeyword("as") ||
          parseWord<EnumT>(parser, symbolize, what, expected, values));
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, one)) {
      return failure();
    }
  }
  numbers = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}

template <typename EnumT>
static void printInputs(OpAsmPrinter &printer, OperandRange inputs,
                        TypeRange types, Numbers numbers,
                        StringRef (*stringify)(EnumT)) {
  if (inputs.empty()) {
    return;
  }
  printer << "ins(";
  llvm::interleaveComma(llvm::zip(inputs, types, numbers.asArrayRef()), printer,
                        [&](auto item) {
                          auto [input, type, number] = item;
                          printer << input << " : " << type << " as "
                                  << stringify(static_cast<EnumT>(number));
                        });
  printer << ") ";
}

/// The value that an output of a named op has unless it says otherwise.
static NamedValue defaultValue(OutputKind kind) {
  return kind == OutputKind::row_sum ? NamedValue::dprob : NamedValue::result;
}

// outs(%d : type [as [kind] [of value]], ...); plain is not printed, and
// neither is the default value. `values` is null where outputs have none.
static ParseResult parseOutputs(OpAsmParser &parser, Operands &outputs,
                                Types &types, Numbers &kinds, Numbers *values) {
  SmallVector<int32_t> kindList, valueList;
  auto one = [&]() -> ParseResult {
    if (parser.parseOperand(outputs.emplace_back()) ||
        parser.parseColonType(types.emplace_back())) {
      return failure();
    }
    size_t before = valueList.size();
    bool isNamed = succeeded(parser.parseOptionalKeyword("as"));
    auto parseValue = [&]() -> ParseResult {
      return parseWord<NamedValue>(parser, symbolizeNamedValue, "value",
                                   "result, preactivation, dprob or activation",
                                   valueList);
    };
    if (isNamed && values && succeeded(parser.parseOptionalKeyword("of"))) {
      kindList.push_back(static_cast<int32_t>(OutputKind::plain));
      return parseValue();
    }
    if (!isNamed) {
      kindList.push_back(static_cast<int32_t>(OutputKind::plain));
    } else if (parseWord<OutputKind>(
                   parser, symbolizeOutputKind, "output kind",
                   "plain, quantized, row_sum, group_column_sum, group_amax, "
                   "or scales such as row_scales_rceil",
                   kindList)) {
      return failure();
    }
    if (isNamed && values && succeeded(parser.parseOptionalKeyword("of")) &&
        parseValue()) {
      return failure();
    }
    if (valueList.size() == before) {
      auto kind = static_cast<OutputKind>(kindList.back());
      valueList.push_back(static_cast<int32_t>(defaultValue(kind)));
    }
    return success();
  };
  if (parser.parseKeyword("outs") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, one)) {
    return failure();
  }
  kinds = parser.getBuilder().getDenseI32ArrayAttr(kindList);
  if (values) {
    *values = parser.getBuilder().getDenseI32ArrayAttr(valueList);
  }
  return success();
}

static void printOutputs(OpAsmPrinter &printer, OperandRange outputs,
                         TypeRange types, Numbers kinds, Numbers values) {
  printer << "outs(";
  unsigned next = 0;
  llvm::interleaveComma(llvm::zip(outputs, types), printer, [&](auto item) {
    printer << std::get<0>(item) << " : " << std::get<1>(item);
    auto kind = static_cast<OutputKind>(kinds[next]);
    NamedValue value =
        values ? static_cast<NamedValue>(values[next]) : defaultValue(kind);
    ++next;
    bool isPlain = kind == OutputKind::plain;
    bool isDefault = value == defaultValue(kind);
    if (isPlain && isDefault) {
      return;
    }
    printer << " as";
    if (!isPlain) {
      printer << " " << stringifyOutputKind(kind);
    }
    if (!isDefault) {
      printer << " of " << stringifyNamedValue(value);
    }
  });
  printer << ")";
}

// One directive for both lists: an absent ins leaves no space behind.
static ParseResult parseEpilogueOperands(OpAsmParser &parser, Operands &inputs,
                                         Types &inputTypes, Numbers &inputKinds,
                                         Operands &outputs, Types &outputTypes,
                                         Numbers &outputKinds) {
  return failure(
      parseInputs<InputKind>(parser, inputs, inputTypes, inputKinds,
                             symbolizeInputKind, "input kind",
                             "per_element, per_row, per_group or "
                             "per_group_column") ||
      parseOutputs(parser, outputs, outputTypes, outputKinds, nullptr));
}

static void printEpilogueOperands(OpAsmPrinter &printer, Operation *,
                                  OperandRange inputs, TypeRange inputTypes,
                                  Numbers inputKinds, OperandRange outputs,
                                  TypeRange outputTypes, Numbers outputKinds) {
  printInputs<InputKind>(printer, inputs, inputTypes, inputKinds,
                         stringifyInputKind);
  printOutputs(printer, outputs, outputTypes, outputKinds, Numbers());
}

static ParseResult parseNamedOperands(OpAsmParser &parser, Operands &inputs,
                                      Types &inputTypes, Numbers &inputRoles,
                                      Operands &outputs, Types &outputTypes,
                                      Numbers &outputKinds,
                                      Numbers &outputValues) {
  return failure(
      parseInputs<InputRole>(parser, inputs, inputTypes, inputRoles,
                             symbolizeInputRole, "input",
                             "alpha, bias, prob or c") ||
      parseOutputs(parser, outputs, outputTypes, outputKinds, &outputValues));
}

static void printNamedOperands(OpAsmPrinter &printer, Operation *,
                               OperandRange inputs, TypeRange inputTypes,
                               Numbers inputRoles, OperandRange outputs,
                               TypeRange outputTypes, Numbers outputKinds,
                               Numbers outputValues) {
  printInputs<InputRole>(printer, inputs, inputTypes, inputRoles,
                         stringifyInputRole);
  printOutputs(printer, outputs, outputTypes, outputKinds, outputValues);
}

// epilogue { ... }, or nothing for the region that yields the accumulator for
// every output.
static ParseResult parseOptionalEpilogue(OpAsmParser &parser, Region &region,
                                         const Operands &outputs) {
  if (succeeded(parser.parseOptionalKeyword("epilogue"))) {
    return parser.parseRegion(region);
  }
  OpBuilder b(parser.getContext());
  Location loc = parser.getEncodedSourceLoc(parser.getCurrentLocation());
  Block &body = region.emplaceBlock();
  Value acc = body.addArgument(b.getF32Type(), loc);
  b.setInsertionPointToStart(&body);
  YieldOp::create(b, loc, SmallVector<Value>(outputs.size(), acc));
  return success();
}

static void printOptionalEpilogue(OpAsmPrinter &printer, Operation *,
                                  Region &region, OperandRange outputs) {
  Block &body = region.front();
  auto yield = dyn_cast<YieldOp>(body.front());
  auto isAccumulator = [&](Value value) {
    return value == body.getArgument(0);
  };
  if (body.getNumArguments() == 1 && yield &&
      yield.getValues().size() == outputs.size() &&
      llvm::all_of(yield.getValues(), isAccumulator)) {
    return;
  }
  printer << " epilogue ";
  printer.printRegion(region);
}

#define GET_OP_CLASSES
#include "dialect/GroupedMoe/IR/GroupedMoeOps.cpp.inc"
