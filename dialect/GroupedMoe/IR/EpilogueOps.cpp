// What an epilogue region takes, yields and may hold.
#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace grouped_moe;

static bool isEpilogueType(Type type) {
  return type.isF32() || type.isF16() || type.isBF16() || type.isInteger(1) ||
         type.isInteger(32);
}

bool grouped_moe::isEpilogueOp(Operation *op) {
  if (!isa<
          // Selection and constants.
          arith::ConstantOp, arith::SelectOp, arith::CmpFOp, arith::CmpIOp,
          arith::BitcastOp,
          // f32 arithmetic, rounded to nearest even, never contracted.
          arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
          arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
          arith::MinNumFOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp,
          arith::UIToFPOp,
          // Masks and bit patterns.
          arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::AddIOp,
          arith::SubIOp, arith::MulIOp, arith::ShLIOp, arith::ShRUIOp,
          arith::ShRSIOp, arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp,
          // Functions.
          math::AbsFOp, math::FmaOp, math::CopySignOp, math::FloorOp,
          math::CeilOp, math::RoundEvenOp, math::TruncOp, math::SqrtOp,
          math::RsqrtOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
          math::TanhOp, math::ErfOp, SigmoidOp>(op)) {
    return false;
  }
  return llvm::all_of(op->getOperandTypes(), isEpilogueType) &&
         llvm::all_of(op->getResultTypes(), isEpilogueType);
}

bool grouped_moe::roundsAsAsked(Operation *op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op)) {
    arith::FastMathFlagsAttr flags = fast.getFastMathFlagsAttr();
    if (flags && flags.getValue() != arith::FastMathFlags::none) {
      return false;
    }
  }
  if (auto rounding = dyn_cast<arith::ArithRoundingModeInterface>(op)) {
    arith::RoundingModeAttr mode = rounding.getRoundingModeAttr();
    return !mode || mode.getValue() == arith::RoundingMode::to_nearest_even;
  }
  return true;
}

LogicalResult grouped_moe::verifyEpilogueRegion(FusedProduct op,
                                                StringRef signature,
                                                StringRef contents) {
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != op.getNumEpilogueArguments()) {
    return op->emitOpError()
           << "epilogue has " << body.getNumArguments()
           << " arguments, expected " << op.getNumEpilogueArguments()
           << ": the accumulator and one for each input, two for each that "
              "holds pairs ("
           << signature << ")";
  }
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    if (!argument.getType().isF32()) {
      return op->emitOpError()
             << "epilogue argument #" << i << ": type is " << argument.getType()
             << ", expected f32 (" << signature
             << "); inputs of other types are converted before the region";
    }
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getValues().size() != op.getNumYields()) {
    return op->emitOpError()
           << "epilogue yields " << (yield ? yield.getValues().size() : 0)
           << " values, expected " << op.getNumYields()
           << ": one for each output, two for each of pairs, none for scales ("
           << signature << ")";
  }
  auto refuse = [&](Operation &inner, StringRef what) {
    InFlightDiagnostic diag = op->emitOpError()
                              << "epilogue holds '" << inner.getName() << "'"
                              << what << " (" << contents << ")";
    diag.attachNote(inner.getLoc()) << "the operation is here";
    return diag;
  };
  for (Operation &inner : body.without_terminator()) {
    if (!roundsAsAsked(&inner)) {
      return refuse(inner,
                    " with a rounding mode or fastmath flags, but each "
                    "operation of an epilogue rounds to nearest even; drop the "
                    "attribute");
    }
    if (!isEpilogueOp(&inner)) {
      return refuse(inner, ", which is not a scalar operation of arith or math "
                           "that a kernel can compute");
    }
  }
  return success();
}
