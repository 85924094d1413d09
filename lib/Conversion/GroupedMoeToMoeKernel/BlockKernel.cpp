#include "lib/Conversion/GroupedMoeToMoeKernel/BlockKernel.h"

#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace grouped_moe;

static Type elementOf(Value memref) {
  return cast<MemRefType>(memref.getType()).getElementType();
}

Value BlockOperands::rowsFirst() const {
  return isStoredTransposed(matrix, layout) ? destination : matrix;
}

BlockKernel::BlockKernel(const BlockOperands &operands)
    : operands(operands), kernel(operands.op, operands.kind, kWarps),
      b(kernel.body),
      shape(cast<MemRefType>(operands.rowsFirst().getType()).getShape()),
      batched(shape.size() == 3),
      scalesOfThread(kElements / operands.layout.getBlock()) {
  hostRows = batched ? kernel.hostConstant(shape[1])
                     : kernel.hostRows(operands.rowsFirst());
  GroupFacts groups; // one, from row 0
  groups.aligned = span();
  if (operands.offsets) {
    groups = {cast<MemRefType>(operands.offsets.getType()).getDimSize(0),
              operands.aligned};
  }
  hostAtoms = kernel.hostRaggedAtoms(hostRows, span(), groups);
}

Value BlockKernel::hostMul(Value x, int64_t y) {
  return arith::MulIOp::create(kernel.host, x, kernel.hostConstant(y));
}

Value BlockKernel::less(Value x, Value y) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
}

Value BlockKernel::atomsOf(Value groupRows) {
  return kernel.div(kernel.add(groupRows, span() - 1), span());
}

void BlockKernel::requireGroups(int64_t atomsAcross) {
  kernel.requireRows(operands.scales, hostMul(hostAtoms, atomsAcross));
  moe_kernel::RequireOffsetsOp::create(kernel.host, operands.offsets, hostRows,
                                       operands.aligned);
}

void BlockKernel::findGroup(Value atom) {
  Value offsets = kernel.addMemref(operands.offsets);
  int64_t groups = cast<MemRefType>(offsets.getType()).getDimSize(0);
  Value zero = kernel.constant(int64_t(0));
  // The rows and atoms so far, then those of the group once it is found.
  auto loop = scf::ForOp::create(b, zero, kernel.constant(groups),
                                 kernel.constant(int64_t(1)),
                                 ValueRange{zero, zero, zero, zero, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value rows = loop.getRegionIterArg(0), atoms = loop.getRegionIterArg(1);
    Value offset = moe_kernel::GlobalLoadOp::create(
        b, b.getI32Type(), offsets, ValueRange{loop.getInductionVar()});
    Value next = kernel.add(atoms, atomsOf(kernel.sub(offset, rows)));
    Value found = arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, atom, atoms),
        less(atom, next));
    auto keep = [&](Value value, unsigned i) -> Value {
      return arith::SelectOp::create(b, found, value, loop.getRegionIterArg(i));
    };
    scf::YieldOp::create(b, ValueRange{offset, next, keep(rows, 2),
                                       keep(offset, 3), keep(atoms, 4)});
  }
  begin = loop.getResult(2);
  end = loop.getResult(3);
  atomsBefore = loop.getResult(4);
  written = less(atom, loop.getResult(1));
}

void BlockKernel::whereWritten(function_ref<void()> build) {
  if (!written) {
    build();
    return;
  }
  kernel.onlyIf(written, build);
}

void BlockKernel::quantize(ScaleRounding rounding) {
  require();
  Value input = kernel.addMemref(operands.matrix);
  Value data = kernel.addOutput(dataMemref(operands.destination));
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
    moe_kernel::GlobalStoreOp::create(b, kernel.lowBytes(codes, scalesOfThread),
                                      scales, scaleAt);
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
  Value data = kernel.addMemref(dataMemref(operands.matrix));
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
