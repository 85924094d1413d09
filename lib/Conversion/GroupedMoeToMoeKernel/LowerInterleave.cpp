// The plain kernel of interleave_glu: every thread moves one piece of a row, at
// most 16 bytes of it, or of the scales of one.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

namespace {

constexpr int64_t kWarps = 4;
constexpr int64_t kThreads = kWarps * 32;
constexpr int64_t kRows = 32; // of a block
constexpr int64_t kPieceBytes = 16;

struct Pieces {
  int64_t length;          // elements
  int64_t items;           // pieces of data
  int64_t scaleLength = 1; // bytes
  int64_t ctas;            // that move data
  int64_t scaleCtas = 0;   // behind them

  explicit Pieces(InterleaveGluOp op);
};

class InterleaveKernel {
public:
  InterleaveKernel(InterleaveGluOp op, const Pieces &pieces)
      : op(op), pieces(pieces), kernel(op, "interleave_glu", kWarps),
        b(kernel.body),
        shape(cast<MemRefType>(op.getInput().getType()).getShape()) {}

  void build();

private:
  Value sourceRow(Value row);
  Type pieceOf(Type element, int64_t length);
  void moveData(Value item);
  void moveScales(Value item);

  InterleaveGluOp op;
  const Pieces &pieces;
  KernelScope kernel;
  ImplicitLocOpBuilder &b;
  ArrayRef<int64_t> shape;
  Value input, data, scales, dataScales;
};

} // namespace

Pieces::Pieces(InterleaveGluOp op) {
  auto type = cast<MemRefType>(op.getInput().getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  // A piece of a bias ends with its block, one of weights with its row.
  int64_t run = type.getRank() == 2 ? kRows : type.getShape().back();
  length = std::gcd(kPieceBytes / bytes, run);
  items = type.getNumElements() / length;
  ctas = llvm::divideCeil(items, kThreads);
  if (op.getScales()) {
    scaleLength = std::gcd(kAtomBlocks, run / 32);
    scaleCtas = cast<MemRefType>(op.getScales().getType()).getNumElements() /
                (scaleLength * kThreads);
  }
}

/// The row of the concatenated weights that row `row` of the blocks comes from.
Value InterleaveKernel::sourceRow(Value row) {
  Value half = kernel.rem(kernel.div(row, kRows), 2);
  Value block = kernel.div(row, 2 * kRows);
  Value inHalf = kernel.add(kernel.mul(block, kRows), kernel.rem(row, kRows));
  return kernel.add(kernel.mul(half, shape[1] / 2), inHalf);
}

/// 8-bit floats travel as bytes.
Type InterleaveKernel::pieceOf(Type element, int64_t length) {
  if (element.getIntOrFloatBitWidth() == 8) {
    element = b.getI8Type();
  }
  return length == 1 ? element : VectorType::get(length, element);
}

/// The item-th piece of data; a piece of a rank-2 array lies in one block.
void InterleaveKernel::moveData(Value item) {
  int64_t length = pieces.length, along = shape.back() / length;
  SmallVector<Value> from, to;
  Value at = kernel.mul(kernel.rem(item, along), length);
  Value outer = kernel.div(item, along);
  if (shape.size() == 2) {
    from = {outer, sourceRow(at)};
    to = {outer, at};
  } else {
    Value group = kernel.div(outer, shape[1]);
    Value row = kernel.rem(outer, shape[1]);
    from = {group, sourceRow(row), at};
    to = {group, row, at};
  }
  Type piece =
      pieceOf(cast<MemRefType>(data.getType()).getElementType(), length);
  Value value = moe_kernel::GlobalLoadOp::create(b, piece, input, from);
  moe_kernel::GlobalStoreOp::create(b, value, data, to);
}

/// The item-th piece of the destination's atoms; all of a piece, or none of it,
/// belongs to elements.
void InterleaveKernel::moveScales(Value item) {
  ArrayRef<int64_t> atoms = cast<MemRefType>(scales.getType()).getShape();
  int64_t scaleLength = pieces.scaleLength;
  int64_t along = kAtomBlocks / scaleLength;
  Value byte = kernel.mul(kernel.rem(item, along), scaleLength);
  Value quarter = kernel.rem(kernel.div(item, along), 4);
  Value lane = kernel.rem(kernel.div(item, 4 * along), 32);
  Value atom = kernel.div(item, kAtomBytes / scaleLength);
  Value atomColumn = kernel.rem(atom, atoms[2]);
  Value atomRow = kernel.rem(kernel.div(atom, atoms[2]), atoms[1]);
  Value group = kernel.div(atom, atoms[1] * atoms[2]);

  Value row = kernel.add(
      kernel.add(kernel.mul(atomRow, kAtomRows), kernel.mul(quarter, kRows)),
      lane);
  Value block = kernel.add(kernel.mul(atomColumn, kAtomBlocks), byte);
  Value inside = arith::AndIOp::create(b, kernel.less(row, shape[1]),
                                       kernel.less(block, shape[2] / 32));
  Type piece = pieceOf(b.getI8Type(), scaleLength);
  auto branch = scf::IfOp::create(b, TypeRange{piece}, inside,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value source = sourceRow(row);
    SmallVector<Value> from = {group,
                               kernel.div(source, kAtomRows),
                               atomColumn,
                               kernel.rem(source, 32),
                               kernel.div(kernel.rem(source, kAtomRows), 32),
                               byte};
    Value value = moe_kernel::GlobalLoadOp::create(b, piece, scales, from);
    scf::YieldOp::create(b, value);
    b.setInsertionPointToStart(branch.elseBlock());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(piece));
    scf::YieldOp::create(b, zero);
  }
  SmallVector<Value> to = {group, atomRow, atomColumn, lane, quarter, byte};
  moe_kernel::GlobalStoreOp::create(b, branch.getResult(0), dataScales, to);
}

void InterleaveKernel::build() {
  input = kernel.addMemref(op.getInput());
  data = kernel.addOutput(op.getData());
  if (op.getScales()) {
    scales = kernel.addMemref(op.getScales());
    dataScales = kernel.addOutput(op.getDataScales());
  }
  Value cta = kernel.index(IndexKind::cta);
  Value thread = kernel.index(IndexKind::thread);
  Value item = kernel.add(kernel.mul(cta, kThreads), thread);
  auto isData = scf::IfOp::create(b, kernel.less(item, pieces.items),
                                  /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isData.thenBlock());
    moveData(item);
  }
  if (op.getScales()) {
    Value first = kernel.constant(pieces.ctas * kThreads);
    Value isScales =
        arith::CmpIOp::create(b, arith::CmpIPredicate::uge, item, first);
    auto branch = scf::IfOp::create(b, isScales, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    moveScales(arith::SubIOp::create(b, item, first));
  }
  kernel.finish(kernel.hostConstant(pieces.ctas + pieces.scaleCtas));
}

LogicalResult grouped_moe::lowerInterleave(InterleaveGluOp op) {
  Pieces pieces(op);
  int64_t threads = (pieces.ctas + pieces.scaleCtas) * kThreads;
  constexpr int64_t limit = std::numeric_limits<int32_t>::max();
  if (threads > limit) {
    return op.emitOpError()
           << "takes " << threads << " threads, expected at most " << limit
           << "; interleave fewer groups at a time";
  }
  InterleaveKernel(op, pieces).build();
  return success();
}
