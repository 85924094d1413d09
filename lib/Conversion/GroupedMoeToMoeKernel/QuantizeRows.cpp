// Plain kernels of quantize and dequantize along rows.
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

namespace {

/// Rows and blocks are rounded up to whole scale atoms, so that every byte of
/// an atom has a thread.
class RowKernel : public BlockKernel {
public:
  RowKernel(const BlockOperands &operands)
      : BlockKernel(operands), pieces(shape.back() / kElements),
        paddedPieces(llvm::alignTo(shape.back() / operands.layout.getBlock(),
                                   kAtomBlocks) /
                     scalesOfThread) {
    if (!operands.offsets) {
      rows = kernel.addIndex(hostRows);
    }
    Value threads =
        hostMul(hostAtoms, kAtomRows * paddedPieces * (batched ? shape[0] : 1));
    grid = kernel.hostCeilDiv(threads, kThreads);
  }

private:
  void require() override {
    if (batched) {
      return;
    }
    kernel.requireRows(operands.destination, hostRows);
    if (operands.offsets) {
      requireGroups(blockAtoms());
      return;
    }
    kernel.requireRows(operands.scales, hostAtoms);
  }

  void buildIndices() override {
    Value cta = kernel.index(IndexKind::cta);
    Value thread = kernel.index(IndexKind::thread);
    Value item = kernel.add(kernel.mul(cta, kThreads), thread);
    Value piece = kernel.rem(item, paddedPieces);
    row = kernel.div(item, paddedPieces);
    SmallVector<Value> prefix;
    if (batched) {
      int64_t paddedRows = llvm::alignTo(shape[1], kAtomRows);
      prefix.push_back(kernel.div(row, paddedRows));
      row = kernel.rem(row, paddedRows);
    }
    Value block = kernel.mul(piece, scalesOfThread);
    Value atom = kernel.div(row, kAtomRows),
          inAtom = kernel.rem(row, kAtomRows);
    Value atomOfBlock = kernel.div(block, kAtomBlocks), last = rows;
    if (operands.offsets) {
      // Threads count the rows of atoms, so that every group starts a new one.
      findGroup(atom);
      Value local = kernel.mul(kernel.sub(atom, atomsBefore), kAtomRows);
      row = kernel.add(begin, kernel.add(local, inAtom));
      last = end;
      scaleAt = {kernel.add(kernel.mul(atom, blockAtoms()), atomOfBlock)};
    } else {
      scaleAt = prefix;
      scaleAt.append({atom, atomOfBlock});
    }
    scaleAt.append({kernel.rem(inAtom, 32), kernel.div(inAtom, 32),
                    kernel.rem(block, kAtomBlocks)});
    dataAt = prefix;
    dataAt.append({row, kernel.mul(piece, kElements)});
    Value inRows =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, last);
    Value inPieces = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, piece,
                                           kernel.constant(pieces));
    inside = arith::AndIOp::create(b, inRows, inPieces);
  }

  Value load(Value matrix) override {
    Type element = cast<MemRefType>(matrix.getType()).getElementType();
    int64_t bits = kElements * element.getIntOrFloatBitWidth();
    Type loaded =
        element.getIntOrFloatBitWidth() <= 8 ? b.getI8Type() : element;
    auto type = VectorType::get(bits / loaded.getIntOrFloatBitWidth(), loaded);
    return moe_kernel::GlobalLoadOp::create(b, type, matrix, dataAt);
  }

  void store(Value values, Value matrix) override {
    moe_kernel::GlobalStoreOp::create(b, values, matrix, dataAt);
  }

  /// Atoms across the blocks of a row.
  int64_t blockAtoms() const {
    return paddedPieces * scalesOfThread / kAtomBlocks;
  }

  int64_t pieces, paddedPieces; // threads of a row
  Value rows;                   // of the matrix, in the kernel
  SmallVector<Value> dataAt;
};

} // namespace

std::unique_ptr<BlockKernel>
grouped_moe::createRowKernel(const BlockOperands &operands) {
  return std::make_unique<RowKernel>(operands);
}
