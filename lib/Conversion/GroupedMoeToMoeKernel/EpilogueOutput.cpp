#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueOutput.h"

using namespace mlir;
using namespace grouped_moe;

Value grouped_moe::pairColumn(FusedProduct op, KernelScope &kernel,
                              Value column, unsigned half) {
  if (op.getConcatenated()) {
    return kernel.add(column, half * op.getColumns());
  }
  // A chunk is a whole block of 32 columns.
  return kernel.add(kernel.mul(column, 2), 32 * half);
}

MemRefType grouped_moe::pointeeType(WgradOp op, unsigned output) {
  return MemRefType::get({op.getN(), op.getK()},
                         op.getOutputElementType(output));
}

Value EpilogueOutput::alloc(StringRef what, ArrayRef<int64_t> extents,
                            Type element) {
  auto type = moe_kernel::BufferType::get(
      b.getContext(), moe_kernel::BufferSpace::shared, extents, element);
  return moe_kernel::AllocOp::create(b, type, (what + Twine(output)).str());
}

std::unique_ptr<EpilogueOutput> grouped_moe::createEpilogueOutput(
    FusedProduct op, unsigned i, KernelScope &kernel,
    const EpilogueShape &shape, const Value &normConst) {
  switch (op.getOutputKind(i)) {
  case OutputKind::plain:
  case OutputKind::quantized:
    return createStoredOutput(op, i, kernel, shape, normConst);
  case OutputKind::row_sum:
  case OutputKind::group_column_sum:
  case OutputKind::group_amax:
    return createReducedOutput(op, i, kernel, shape);
  default:
    return nullptr;
  }
}
