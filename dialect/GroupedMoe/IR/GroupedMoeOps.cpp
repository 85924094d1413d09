// Generated op definitions, and the custom pieces of their textual form.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"

using namespace mlir;
using namespace grouped_moe;

// ins(%x : type as kind, ...), absent when there are none.
static ParseResult
parseEpilogueInputs(OpAsmParser &parser,
                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputs,
                    SmallVectorImpl<Type> &types, DenseI32ArrayAttr &kinds) {
  SmallVector<int32_t> values;
  if (succeeded(parser.parseOptionalKeyword("ins"))) {
    auto one = [&]() -> ParseResult {
      StringRef keyword;
      if (parser.parseOperand(inputs.emplace_back()) ||
          parser.parseColonType(types.emplace_back()) ||
          parser.parseKeyword("as")) {
        return failure();
      }
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&keyword)) {
        return failure();
      }
      std::optional<InputKind> kind = symbolizeInputKind(keyword);
      if (!kind) {
        return parser.emitError(loc)
               << "unknown input kind '" << keyword
               << "', expected per_element, per_row, per_group or "
                  "per_group_column";
      }
      values.push_back(static_cast<int32_t>(*kind));
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, one)) {
      return failure();
    }
  }
  kinds = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}

static void printEpilogueInputs(OpAsmPrinter &printer, Operation *,
                                OperandRange inputs, TypeRange types,
                                DenseI32ArrayAttr kinds) {
  if (inputs.empty()) {
    return;
  }
  printer << "ins(";
  llvm::interleaveComma(
      llvm::zip(inputs, types, kinds.asArrayRef()), printer, [&](auto item) {
        auto [input, type, kind] = item;
        printer << input << " : " << type << " as "
                << stringifyInputKind(static_cast<InputKind>(kind));
      });
  printer << ") ";
}

// outs(%d : type [as kind], ...); plain is not printed.
static ParseResult
parseEpilogueOutputs(OpAsmParser &parser,
                     SmallVectorImpl<OpAsmParser::UnresolvedOperand> &outputs,
                     SmallVectorImpl<Type> &types, DenseI32ArrayAttr &kinds) {
  SmallVector<int32_t> values;
  auto one = [&]() -> ParseResult {
    if (parser.parseOperand(outputs.emplace_back()) ||
        parser.parseColonType(types.emplace_back())) {
      return failure();
    }
    OutputKind kind = OutputKind::plain;
    if (succeeded(parser.parseOptionalKeyword("as"))) {
      StringRef keyword;
      SMLoc loc = parser.getCurrentLocation();
      if (parser.parseKeyword(&keyword)) {
        return failure();
      }
      std::optional<OutputKind> parsed = symbolizeOutputKind(keyword);
      if (!parsed) {
        return parser.emitError(loc)
               << "unknown output kind '" << keyword
               << "', expected plain, quantized, row_sum, group_column_sum, "
                  "group_amax, or scales such as row_scales_rceil";
      }
      kind = *parsed;
    }
    values.push_back(static_cast<int32_t>(kind));
    return success();
  };
  if (parser.parseKeyword("outs") ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, one)) {
    return failure();
  }
  kinds = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}

static void printEpilogueOutputs(OpAsmPrinter &printer, Operation *,
                                 OperandRange outputs, TypeRange types,
                                 DenseI32ArrayAttr kinds) {
  printer << "outs(";
  unsigned next = 0;
  llvm::interleaveComma(llvm::zip(outputs, types), printer, [&](auto item) {
    printer << std::get<0>(item) << " : " << std::get<1>(item);
    auto kind = static_cast<OutputKind>(kinds[next++]);
    if (kind != OutputKind::plain) {
      printer << " as " << stringifyOutputKind(kind);
    }
  });
  printer << ")";
}

// One directive for both lists: an absent ins leaves no space behind.
static ParseResult parseEpilogueOperands(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputs,
    SmallVectorImpl<Type> &inputTypes, DenseI32ArrayAttr &inputKinds,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &outputs,
    SmallVectorImpl<Type> &outputTypes, DenseI32ArrayAttr &outputKinds) {
  return failure(
      parseEpilogueInputs(parser, inputs, inputTypes, inputKinds) ||
      parseEpilogueOutputs(parser, outputs, outputTypes, outputKinds));
}

static void printEpilogueOperands(OpAsmPrinter &printer, Operation *op,
                                  OperandRange inputs, TypeRange inputTypes,
                                  DenseI32ArrayAttr inputKinds,
                                  OperandRange outputs, TypeRange outputTypes,
                                  DenseI32ArrayAttr outputKinds) {
  printEpilogueInputs(printer, op, inputs, inputTypes, inputKinds);
  printEpilogueOutputs(printer, op, outputs, outputTypes, outputKinds);
}

#define GET_OP_CLASSES
#include "dialect/GroupedMoe/IR/GroupedMoeOps.cpp.inc"
