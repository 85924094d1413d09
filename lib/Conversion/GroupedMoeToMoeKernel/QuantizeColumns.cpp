// Plain kernels of quantize and dequantize in column layouts: a thread for 32
// rows of a column, neighbours in neighbouring columns.
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

namespace {

/// Columns and blocks are rounded up to whole scale atoms, so that every byte
/// of an atom has a thread.
class ColumnKernel : public BlockKernel {
public:
  ColumnKernel(const BlockOperands &operands)
      : BlockKernel(operands), columns(shape.back()),
        columnAtoms(llvm::divideCeil(columns, kAtomRows)),
        threadsOfAtom(span() / kElements) {
    rows = kernel.addIndex(hostRows);
    atoms = kernel.addIndex(hostAtoms);
    int64_t threads = columnAtoms * kAtomRows * threadsOfAtom;
    grid = hostMul(hostAtoms, threads / kThreads * (batched ? shape[0] : 1));
  }

private:
  void require() override;
  /// The scales as a line of atoms: of two indices the second's extent would be
  /// dynamic.
  Value scaleMemref() override;
  Value dataMemref(Value data) override;
  void buildIndices() override;
  /// Elements past the end of the rows are zeros.
  Value load(Value matrix) override;
  void store(Value values, Value matrix) override;

  static bool isPieces(Value matrix) {
    auto type = cast<MemRefType>(matrix.getType());
    return isa<Float4E2M1FNType>(type.getElementType());
  }
  /// The thread's rows of a matrix that is stored transposed.
  SmallVector<Value> pieceAt() {
    Value ofColumn = kernel.mul(column, kernel.div(rows, kElements));
    return {kernel.add(ofColumn, kernel.div(row, kElements)),
            kernel.constant(int64_t(0))};
  }
  SmallVector<Value> elementAt(Value elementRow) const {
    SmallVector<Value> at = prefix;
    at.append({elementRow, column});
    return at;
  }

  int64_t columns, columnAtoms;
  int64_t threadsOfAtom; // along the rows
  Value rows, atoms;     // of the matrix, in the kernel
  Value column;
  SmallVector<Value> prefix; // the index of the matrix
};

} // namespace

void ColumnKernel::require() {
  if (batched) {
    return;
  }
  Value other = operands.rowsFirst() == operands.matrix ? operands.destination
                                                        : operands.matrix;
  bool isTransposed = isStoredTransposed(other, operands.layout);
  kernel.requireExtent(other, isTransposed ? 1 : 0, hostRows);
  if (isTransposed) {
    kernel.requireMultiple(other, 1, kPieceRows);
  }
  if (operands.offsets) {
    requireGroups(columnAtoms);
  } else {
    kernel.requireExtent(operands.scales, 1, hostAtoms);
  }
}

/// FP4 data as pieces of 32 rows of a column: the second extent, R's, would be
/// dynamic, and there may be more elements than 32 bits count.
Value ColumnKernel::dataMemref(Value data) {
  if (!isPieces(data)) {
    return data;
  }
  Value line = memref::CollapseShapeOp::create(
      kernel.host, data, ArrayRef<ReassociationIndices>{{0, 1}});
  auto type = cast<MemRefType>(data.getType());
  int64_t count = ShapedType::kDynamic;
  OpFoldResult extent;
  if (type.hasStaticShape()) {
    count = type.getNumElements() / kElements;
    extent = kernel.host.getIndexAttr(count);
  } else {
    Value ofColumn = arith::DivUIOp::create(kernel.host, hostRows,
                                            kernel.hostConstant(kElements));
    extent = hostMul(ofColumn, columns);
  }
  return memref::ExpandShapeOp::create(
      kernel.host, MemRefType::get({count, kElements}, type.getElementType()),
      line, ArrayRef<ReassociationIndices>{{0, 1}},
      ArrayRef<OpFoldResult>{extent, kernel.host.getIndexAttr(kElements)});
}

Value ColumnKernel::scaleMemref() {
  if (operands.offsets) {
    return operands.scales;
  }
  SmallVector<ReassociationIndices> line{{0, 1}};
  int64_t next = 2;
  if (batched) {
    line.front().push_back(next++);
  }
  for (int64_t i = 0; i < 3; ++i) {
    line.push_back({next++});
  }
  return memref::CollapseShapeOp::create(kernel.host, operands.scales, line);
}

void ColumnKernel::buildIndices() {
  Value item = kernel.add(kernel.mul(kernel.index(IndexKind::cta), kThreads),
                          kernel.index(IndexKind::thread));
  int64_t padded = columnAtoms * kAtomRows;
  column = kernel.rem(item, padded);
  Value block = kernel.div(item, padded);
  if (batched) {
    int64_t blocksOfMatrix = llvm::divideCeil(shape[1], span()) * threadsOfAtom;
    prefix.push_back(kernel.div(block, blocksOfMatrix));
    block = kernel.rem(block, blocksOfMatrix);
  }
  Value columnAtom = kernel.div(column, kAtomRows),
        atom = kernel.div(block, threadsOfAtom),
        inAtom = kernel.rem(block, threadsOfAtom);
  if (operands.offsets) {
    // Threads count the blocks of atoms, so that every group starts a new one.
    findGroup(atom);
    Value groupAtoms = atomsOf(kernel.sub(end, begin));
    Value local = kernel.sub(atom, atomsBefore);
    row = kernel.add(kernel.mul(local, span()), kernel.mul(inAtom, kElements));
    row = kernel.add(begin, row);
    Value line = kernel.mul(columnAtom, groupAtoms);
    scaleAt.push_back(kernel.add(kernel.mul(atomsBefore, columnAtoms),
                                 kernel.add(line, local)));
  } else {
    row = kernel.mul(block, kElements);
    begin = kernel.constant(int64_t(0));
    end = rows;
    Value line = columnAtom;
    if (batched) {
      line = kernel.add(kernel.mul(prefix.front(), columnAtoms), line);
    }
    scaleAt.push_back(kernel.add(kernel.mul(line, atoms), atom));
  }
  scaleAt.append({kernel.rem(column, 32),
                  kernel.div(kernel.rem(column, kAtomRows), 32),
                  kernel.mul(inAtom, scalesOfThread)});
  inside = arith::AndIOp::create(b, less(column, kernel.constant(columns)),
                                 less(row, end));
}

Value ColumnKernel::load(Value matrix) {
  if (isPieces(matrix)) {
    return moe_kernel::GlobalLoadOp::create(
        b, VectorType::get(kElements / 2, b.getI8Type()), matrix, pieceAt());
  }
  Type element = cast<MemRefType>(matrix.getType()).getElementType();
  element = element.getIntOrFloatBitWidth() == 8 ? b.getI8Type() : element;
  Value last = kernel.sub(end, kernel.constant(int64_t(1)));
  Value zero = arith::ConstantOp::create(b, element, b.getZeroAttr(element));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kElements; ++i) {
    Value at = kernel.add(row, kernel.constant(i));
    Value value = moe_kernel::GlobalLoadOp::create(
        b, element, matrix, elementAt(arith::MinSIOp::create(b, at, last)));
    elements.push_back(arith::SelectOp::create(b, less(at, end), value, zero));
  }
  return vector::FromElementsOp::create(b, VectorType::get(kElements, element),
                                        elements);
}

void ColumnKernel::store(Value values, Value matrix) {
  if (isPieces(matrix)) {
    moe_kernel::GlobalStoreOp::create(b, values, matrix, pieceAt());
    return;
  }
  for (int64_t i = 0; i < kElements; ++i) {
    Value at = kernel.add(row, kernel.constant(i));
    kernel.onlyIf(less(at, end), [&] {
      Value element = vector::ExtractOp::create(b, values, i);
      moe_kernel::GlobalStoreOp::create(b, element, matrix, elementAt(at));
    });
  }
}

std::unique_ptr<BlockKernel>
grouped_moe::createColumnKernel(const BlockOperands &operands) {
  return std::make_unique<ColumnKernel>(operands);
}
