#include "lib/Conversion/GroupedMoeToMoeKernel/BlockKernel.h"

#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace grouped_moe;

static Type elementOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

BlockKernel::BlockKernel(const BlockOperands &operands)
    : operands(operands), kernel(operands.op, operands.kind, kWarps),
      b(kernel.body),
      shape(cast<MemRefType>(operands.matrix.getType()).getShape()),
      batched(shape.size() == 3),
      scalesOfThread(kElements / operands.layout.getBlock()) {
  hostRows = batched ? kernel.hostConstant(shape[1])
                     : kernel.hostRows(operands.matrix);
}

Value BlockKernel::hostMul(Value x, int64_t y) {
  return arith::MulIOp::create(kernel.host, x, kernel.hostConstant(y));
}

Value BlockKernel::less(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

Value BlockKernel::atomsOf(Value groupRows) {
  int64_t span = getRaggedSpan(operands.layout);
  return kernel.div(kernel.add(groupRows, span - 1), span);
}

void BlockKernel::requireGroups(int64_t atomsAcross) {
  Value offsets = operands.offsets;
  GroupFacts groups{cast<MemRefType>(offsets.getType()).getDimSize(0),
                    operands.aligned};
  Value rowAtoms =
      kernel.hostRaggedAtoms(hostRows, getRaggedSpan(operands.layout), groups);
  kernel.requireRows(operands.scales, hostMul(rowAtoms, atomsAcross));
  moe_kernel::RequireOffsetsOp::create(kernel.host, offsets, hostRows,
                                       operands.aligned);
}

/// The rows of the group that `row` is in. Past the last offset none is.
void BlockKernel::findGroup() {
  constexpr int64_t none = std::numeric_limits<int32_t>::max();
  Value offsets = kernel.addMemref(operands.offsets);
  int64_t groups = cast<MemRefType>(offsets.getType()).getDimSize(0);
  Value zero = kernel.constant(int64_t(0)), noEnd = kernel.constant(none);
  auto loop = scf::ForOp::create(b, zero, kernel.constant(groups),
                                 kernel.constant(int64_t(1)),
                                 ValueRange{zero, noEnd, zero, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value offset = moe_kernel::GlobalLoadOp::create(
        b, b.getI32Type(), offsets, ValueRange{loop.getInductionVar()});
    Value behind = less(row, offset); // `row` is in this group or before it
    Value first =
        arith::SelectOp::create(b, behind, loop.getRegionIterArg(0), offset);
    Value nearest = arith::MinSIOp::create(b, loop.getRegionIterArg(1), offset);
    Value last =
        arith::SelectOp::create(b, behind, nearest, loop.getRegionIterArg(1));
    // The atoms of the groups that end at or before `row`.
    Value rows = kernel.sub(offset, loop.getRegionIterArg(2));
    Value passed = kernel.add(loop.getRegionIterArg(3), atomsOf(rows));
    Value before =
        arith::SelectOp::create(b, behind, loop.getRegionIterArg(3), passed);
    scf::YieldOp::create(b, ValueRange{first, last, offset, before});
  }
  begin = loop.getResult(0);
  end = loop.getResult(1);
  atomsBefore = loop.getResult(3);
  written = less(end, noEnd);
}

void BlockKernel::whereWritten(function_ref<void()> build) {
  if (!written) {
    build();
    return;
  }
  kernel.onlyIf(written, build);
}

/// The low bytes of a word: a scalar, or a vector of several.
static Value bytesOf(KernelScope &kernel, Value word, int64_t count) {
  ImplicitLocOpBuilder &b = kernel.body;
  Value narrow = arith::TruncIOp::create(b, b.getIntegerType(8 * count), word);
  return count == 1
             ? narrow
             : vector::BitCastOp::create(b,
                                         VectorType::get(count, b.getI8Type()),
                                         kernel.splat(narrow, 1))
                   .getResult();
}

void BlockKernel::clearRest(Value scales) {
  if (!written || operands.aligned % getRaggedSpan(operands.layout) == 0) {
    return; // bytes of no element have threads of their own
  }
  Value isLast = less(end, kernel.add(row, kElements + 1));
  kernel.onlyIf(isLast, [&] {
    Value zero = bytesOf(kernel, kernel.constant(int64_t(0)), scalesOfThread);
    for (int64_t i = 1; i < kAtomBlocks; ++i) {
      SmallVector<Value> at(scaleAt);
      at[rowsAxis] = kernel.add(at[rowsAxis], i);
      kernel.onlyIf(kernel.less(at[rowsAxis], kAtomBlocks), [&] {
        moe_kernel::GlobalStoreOp::create(b, zero, scales, at);
      });
    }
  });
}

void BlockKernel::quantize(ScaleRounding rounding) {
  require();
  Value input = kernel.addMemref(operands.matrix);
  Value data = kernel.addOutput(operands.destination);
  Value scales = kernel.addOutput(scaleMemref());
  buildIndices();
  BlockFormat format{elementOf(data), rounding, Value(),
                     operands.layout.getBlock()};
  whereWritten([&] {
    auto convert = [&]() -> SmallVector<Value> {
      Value x = load(input);
      if (!elementOf(input).isF32()) {
        x = arith::ExtFOp::create(b, VectorType::get(kElements, b.getF32Type()),
                                  x);
      }
      QuantizedBlock block = quantizeRow(kernel, x, format);
      store(block.codes, data);
      return {block.scales};
    };
    // Threads of padding write scales of 0.
    Value codes = kernel.either(inside, convert, [&]() -> SmallVector<Value> {
      return {kernel.constant(int64_t(0))};
    })[0];
    moe_kernel::GlobalStoreOp::create(b, bytesOf(kernel, codes, scalesOfThread),
                                      scales, scaleAt);
    clearRest(scales);
  });
  kernel.finish(grid);
}

Value BlockKernel::loadFactors(Value scales) {
  Type i8 = b.getI8Type();
  Type format = elementOf(scales);
  auto wide = [&](Value code) -> Value {
    return scaleValue(kernel, arith::ExtUIOp::create(b, b.getI32Type(), code),
                      format);
  };
  if (scalesOfThread == 1) {
    Value code = moe_kernel::GlobalLoadOp::create(b, i8, scales, scaleAt);
    return kernel.splat(wide(code), kElements);
  }
  Value codes = moe_kernel::GlobalLoadOp::create(
      b, VectorType::get(scalesOfThread, i8), scales, scaleAt);
  SmallVector<Value> factors;
  for (int64_t i = 0; i < scalesOfThread; ++i) {
    factors.append(operands.layout.getBlock(),
                   wide(vector::ExtractOp::create(b, codes, i)));
  }
  return vector::FromElementsOp::create(
      b, VectorType::get(kElements, b.getF32Type()), factors);
}

void BlockKernel::dequantize() {
  require();
  Value data = kernel.addMemref(operands.matrix);
  Value scales = kernel.addMemref(scaleMemref());
  Value output = kernel.addOutput(operands.destination);
  buildIndices();
  whereWritten([&] {
    kernel.onlyIf(inside, [&] {
      Type element = elementOf(output);
      Value values = moe_kernel::DecodeOp::create(
          b, VectorType::get(kElements, b.getF32Type()), load(data),
          TypeAttr::get(elementOf(data)));
      Value product = arith::MulFOp::create(b, values, loadFactors(scales));
      if (!element.isF32()) {
        product = arith::TruncFOp::create(
            b, VectorType::get(kElements, element), product);
      }
      store(product, output);
    });
  });
  kernel.finish(grid);
}

template <typename Op>
static std::unique_ptr<BlockKernel> create(Op op, StringRef kind, Value matrix,
                                           Value destination) {
  BlockOperands operands{op,
                         kind,
                         matrix,
                         destination,
                         op.getScales(),
                         op.getOffsets(),
                         op.getLayout(),
                         static_cast<int64_t>(op.getMAligned())};
  return op.getLayout().getDirection() == ScaleDirection::row
             ? createRowKernel(operands)
             : createColumnKernel(operands);
}

LogicalResult grouped_moe::lowerQuantize(QuantizeOp op) {
  create(op, "quantize", op.getInput(), op.getData())
      ->quantize(op.getRounding());
  return success();
}

LogicalResult grouped_moe::lowerDequantize(DequantizeOp op) {
  create(op, "dequantize", op.getData(), op.getOutput())->dequantize();
  return success();
}
