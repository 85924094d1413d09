// Plain kernels of quantize and dequantize along rows: one thread for each
// block of 32 elements.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

namespace {

constexpr int64_t kWarps = 4;
constexpr int64_t kBlock = 32;

/// A kernel over the blocks of a (groups x) rows x columns matrix; rows and
/// blocks are rounded up to whole scale atoms, so that every byte of an atom
/// has a thread.
class BlockKernel {
public:
  BlockKernel(Operation *op, StringRef kind, Value matrix)
      : kernel(op, kind, kWarps), b(kernel.body) {
    auto shape = cast<MemRefType>(matrix.getType()).getShape();
    batched = shape.size() == 3;
    blocks = shape.back() / kBlock;
    paddedBlocks = llvm::alignTo(blocks, kAtomBlocks);
    Value rowsIndex = memrefRows(matrix, shape);
    rows = kernel.addIndex(rowsIndex);
    Value paddedRows = arith::MulIOp::create(
        kernel.host, kernel.hostCeilDiv(rowsIndex, kAtomRows),
        kernel.hostConstant(kAtomRows * paddedBlocks *
                            (batched ? shape[0] : 1)));
    grid = kernel.hostCeilDiv(paddedRows, kWarps * 32);
    if (batched) {
      paddedRowsPerGroup = llvm::alignTo(shape[1], kAtomRows);
    }
  }

  /// Decomposes the thread's number: group, row, block, and where its scale is.
  void buildIndices() {
    Value cta = kernel.index(IndexKind::cta);
    Value thread = kernel.index(IndexKind::thread);
    Value item = kernel.add(kernel.mul(cta, kWarps * 32), thread);
    block = kernel.rem(item, paddedBlocks);
    row = kernel.div(item, paddedBlocks);
    SmallVector<Value> prefix;
    if (batched) {
      prefix.push_back(kernel.div(row, paddedRowsPerGroup));
      row = kernel.rem(row, paddedRowsPerGroup);
    }
    scaleAt = prefix;
    scaleAt.append({kernel.div(row, kAtomRows), kernel.div(block, kAtomBlocks),
                    kernel.rem(row, 32),
                    kernel.div(kernel.rem(row, kAtomRows), 32),
                    kernel.rem(block, kAtomBlocks)});
    dataAt = prefix;
    dataAt.append({row, kernel.mul(block, kBlock)});
    Value inRows =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, rows);
    Value inBlocks = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, block,
                                           kernel.constant(blocks));
    inside = arith::AndIOp::create(b, inRows, inBlocks);
  }

  Type vectorOf(Type element) { return VectorType::get(kBlock, element); }

  KernelScope kernel;
  ImplicitLocOpBuilder &b;
  int64_t blocks, paddedBlocks, paddedRowsPerGroup = 0;
  bool batched;
  Value grid, rows, row, block, inside;
  SmallVector<Value> scaleAt, dataAt;

private:
  Value memrefRows(Value matrix, ArrayRef<int64_t> shape) {
    return batched ? kernel.hostConstant(shape[1]) : kernel.hostRows(matrix);
  }
};

} // namespace

LogicalResult grouped_moe::lowerQuantize(QuantizeOp op) {
  if (op.getLayout().getDirection() == ScaleDirection::column) {
    return lowerQuantizeColumns(op);
  }
  BlockKernel k(op, "quantize", op.getInput());
  ImplicitLocOpBuilder &b = k.b;
  KernelScope &kernel = k.kernel;
  if (!k.batched) {
    Value rows = kernel.hostRows(op.getInput());
    kernel.requireRows(op.getData(), rows);
    kernel.requireRows(op.getScales(), kernel.hostCeilDiv(rows, kAtomRows));
  }
  Value input = kernel.addMemref(op.getInput());
  Value data = kernel.addOutput(op.getData());
  Value scales = kernel.addOutput(op.getScales());
  k.buildIndices();

  Type f32 = b.getF32Type(), i8 = b.getI8Type();
  Type format = cast<MemRefType>(op.getData().getType()).getElementType();
  auto branch = scf::IfOp::create(b, TypeRange{b.getI32Type()}, k.inside,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Type element = cast<MemRefType>(input.getType()).getElementType();
    Value x = moe_kernel::GlobalLoadOp::create(b, k.vectorOf(element), input,
                                               k.dataAt);
    if (!element.isF32()) {
      x = arith::ExtFOp::create(b, k.vectorOf(f32), x);
    }
    QuantizedBlock block =
        quantizeRow(kernel, x, {format, op.getRounding(), Value()});
    moe_kernel::GlobalStoreOp::create(b, block.codes, data, k.dataAt);
    scf::YieldOp::create(b, block.scales);
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, kernel.constant(int64_t(0)));
  }
  Value byte = arith::TruncIOp::create(b, i8, branch.getResult(0));
  moe_kernel::GlobalStoreOp::create(b, byte, scales, k.scaleAt);
  kernel.finish(k.grid);
  return success();
}

LogicalResult grouped_moe::lowerDequantize(DequantizeOp op) {
  if (op.getLayout().getDirection() == ScaleDirection::column) {
    return lowerDequantizeColumns(op);
  }
  BlockKernel k(op, "dequantize", op.getData());
  ImplicitLocOpBuilder &b = k.b;
  KernelScope &kernel = k.kernel;
  if (!k.batched) {
    Value rows = kernel.hostRows(op.getData());
    kernel.requireRows(op.getOutput(), rows);
    kernel.requireRows(op.getScales(), kernel.hostCeilDiv(rows, kAtomRows));
  }
  Value data = kernel.addMemref(op.getData());
  Value scales = kernel.addMemref(op.getScales());
  Value output = kernel.addOutput(op.getOutput());
  k.buildIndices();

  auto branch = scf::IfOp::create(b, k.inside, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Type f32 = b.getF32Type(), i8 = b.getI8Type();
    Type format = cast<MemRefType>(data.getType()).getElementType();
    Type element = cast<MemRefType>(output.getType()).getElementType();
    Value codes =
        moe_kernel::GlobalLoadOp::create(b, k.vectorOf(i8), data, k.dataAt);
    Value values = moe_kernel::DecodeOp::create(b, k.vectorOf(f32), codes,
                                                TypeAttr::get(format));
    Value code = moe_kernel::GlobalLoadOp::create(b, i8, scales, k.scaleAt);
    Value factor =
        powerOfTwo(kernel, arith::ExtUIOp::create(b, b.getI32Type(), code));
    Value product =
        arith::MulFOp::create(b, values, kernel.splat(factor, kBlock));
    if (!element.isF32()) {
      product = arith::TruncFOp::create(b, k.vectorOf(element), product);
    }
    moe_kernel::GlobalStoreOp::create(b, product, output, k.dataAt);
  }
  kernel.finish(k.grid);
  return success();
}
