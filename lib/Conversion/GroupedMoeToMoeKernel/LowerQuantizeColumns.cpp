// Plain kernels of quantize and dequantize in column layouts: one thread for
// each block of 32 rows of a column, neighbours in neighbouring columns.
#include "lib/Conversion/GroupedMoeToMoeKernel/Lowering.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaleLayout.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/BlockScale.h"
#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

namespace {

constexpr int64_t kWarps = 4;
constexpr int64_t kBlock = 32; // rows
constexpr int64_t kAtomSpan = kBlock * kAtomBlocks;

/// Columns and blocks are rounded up to whole scale atoms, so that every byte
/// of an atom has a thread.
class ColumnKernel {
public:
  ColumnKernel(Operation *op, StringRef kind, Value matrix, Value scales,
               Value offsets, uint64_t aligned)
      : kernel(op, kind, kWarps), b(kernel.body), hostScales(scales),
        hostOffsets(offsets), aligned(static_cast<int64_t>(aligned)) {
    ArrayRef<int64_t> shape = cast<MemRefType>(matrix.getType()).getShape();
    batched = shape.size() == 3;
    columns = shape.back();
    columnAtoms = llvm::divideCeil(columns, kAtomRows);
    hostRows =
        batched ? kernel.hostConstant(shape[1]) : kernel.hostRows(matrix);
    Value rowAtoms = kernel.hostCeilDiv(hostRows, kAtomSpan);
    rows = kernel.addIndex(hostRows);
    atoms = kernel.addIndex(rowAtoms);
    int64_t threads = columnAtoms * kAtomRows * kAtomBlocks;
    grid =
        hostMul(rowAtoms, threads / (kWarps * 32) * (batched ? shape[0] : 1));
    blocksOfMatrix =
        batched ? llvm::divideCeil(shape[1], kAtomSpan) * kAtomBlocks : 0;
  }

  /// What a launch needs of the operands; `partner` has the matrix's shape.
  void require(Value partner) {
    if (batched) {
      return;
    }
    kernel.requireRows(partner, hostRows);
    if (hostOffsets) {
      GroupFacts groups{cast<MemRefType>(hostOffsets.getType()).getDimSize(0),
                        aligned};
      Value rowAtoms = kernel.hostRaggedAtoms(hostRows, kAtomSpan, groups);
      kernel.requireRows(hostScales, hostMul(rowAtoms, columnAtoms));
      moe_kernel::RequireOffsetsOp::create(kernel.host, hostOffsets, hostRows,
                                           aligned);
    } else {
      kernel.requireExtent(hostScales, 1,
                           kernel.hostCeilDiv(hostRows, kAtomSpan));
    }
  }

  /// The scales as a line of atoms: of two indices the second's extent would be
  /// dynamic.
  Value scaleAtoms() {
    if (hostOffsets) {
      return hostScales;
    }
    SmallVector<ReassociationIndices> line{{0, 1}};
    int64_t next = 2;
    if (batched) {
      line.front().push_back(next++);
    }
    for (int64_t i = 0; i < 3; ++i) {
      line.push_back({next++});
    }
    return memref::CollapseShapeOp::create(kernel.host, hostScales, line);
  }

  /// Decomposes the thread's number: column, rows, and where its scale is.
  void buildIndices();
  /// Builds what threads do whose scale is in an atom that is written: all but
  /// those of rows past the last offset.
  template <typename Build> void whereWritten(Build build) {
    if (!hostOffsets) {
      build();
      return;
    }
    kernel.onlyIf(written, build);
  }
  /// Clears the bytes of the group's last atom behind its last block.
  void clearRest(Value scales);
  /// The block's elements; those past the end of the rows are zeros.
  Value loadBlock(Value matrix, Type element);
  void storeBlock(Value values, Value matrix);

  KernelScope kernel;
  ImplicitLocOpBuilder &b;
  Value grid, inside;
  SmallVector<Value> scaleAt;

private:
  Value hostMul(Value x, int64_t y) {
    return arith::MulIOp::create(kernel.host, x, kernel.hostConstant(y));
  }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
  }
  Value atomsOf(Value groupRows) {
    return kernel.div(kernel.add(groupRows, kAtomSpan - 1), kAtomSpan);
  }
  void findGroup(Value offsets);
  SmallVector<Value> elementAt(Value elementRow) const {
    SmallVector<Value> at = prefix;
    at.append({elementRow, column});
    return at;
  }

  Value hostScales, hostOffsets, hostRows;
  int64_t aligned; // rows that every group starts at a multiple of
  bool batched;
  int64_t columns, columnAtoms, blocksOfMatrix;
  Value rows, atoms; // of the matrix, in the kernel
  Value column, row; // of the block's first element
  Value begin, end;  // of the rows that may share the block's atoms
  Value atomsBefore; // of the groups in front, along the rows
  Value written;
  SmallVector<Value> prefix; // the index of the matrix
};

} // namespace

/// The rows of the group that `row` is in. Past the last offset none is.
void ColumnKernel::findGroup(Value offsets) {
  constexpr int64_t none = std::numeric_limits<int32_t>::max();
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

void ColumnKernel::buildIndices() {
  Value offsets = hostOffsets ? kernel.addMemref(hostOffsets) : Value();
  Value item = kernel.add(kernel.mul(kernel.index(IndexKind::cta), kWarps * 32),
                          kernel.index(IndexKind::thread));
  int64_t padded = columnAtoms * kAtomRows;
  column = kernel.rem(item, padded);
  Value block = kernel.div(item, padded);
  if (batched) {
    prefix.push_back(kernel.div(block, blocksOfMatrix));
    block = kernel.rem(block, blocksOfMatrix);
  }
  row = kernel.mul(block, kBlock);
  Value columnAtom = kernel.div(column, kAtomRows),
        atom = kernel.div(block, kAtomBlocks);
  if (offsets) {
    findGroup(offsets);
    Value groupAtoms = atomsOf(kernel.sub(end, begin));
    block = kernel.div(kernel.sub(row, begin), kBlock); // of the group
    Value line = kernel.mul(columnAtom, groupAtoms);
    scaleAt.push_back(
        kernel.add(kernel.mul(atomsBefore, columnAtoms),
                   kernel.add(line, kernel.div(block, kAtomBlocks))));
  } else {
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
                  kernel.rem(block, kAtomBlocks)});
  inside = arith::AndIOp::create(b, less(column, kernel.constant(columns)),
                                 less(row, end));
}

void ColumnKernel::clearRest(Value scales) {
  if (!hostOffsets || aligned % kAtomSpan == 0) {
    return; // bytes of no element have threads of their own
  }
  Value isLast = less(end, kernel.add(row, kBlock + 1));
  kernel.onlyIf(isLast, [&] {
    Value zero = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
    for (int64_t i = 1; i < kAtomBlocks; ++i) {
      SmallVector<Value> at(scaleAt);
      at.back() = kernel.add(at.back(), i);
      kernel.onlyIf(kernel.less(at.back(), kAtomBlocks), [&] {
        moe_kernel::GlobalStoreOp::create(b, zero, scales, at);
      });
    }
  });
}

Value ColumnKernel::loadBlock(Value matrix, Type element) {
  Value last = kernel.sub(end, kernel.constant(int64_t(1)));
  Value zero = arith::ConstantOp::create(b, element, b.getZeroAttr(element));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kBlock; ++i) {
    Value at = kernel.add(row, kernel.constant(i));
    Value value = moe_kernel::GlobalLoadOp::create(
        b, element, matrix, elementAt(arith::MinSIOp::create(b, at, last)));
    elements.push_back(arith::SelectOp::create(b, less(at, end), value, zero));
  }
  return vector::FromElementsOp::create(b, VectorType::get(kBlock, element),
                                        elements);
}

void ColumnKernel::storeBlock(Value values, Value matrix) {
  for (int64_t i = 0; i < kBlock; ++i) {
    Value at = kernel.add(row, kernel.constant(i));
    kernel.onlyIf(less(at, end), [&] {
      Value element = vector::ExtractOp::create(b, values, i);
      moe_kernel::GlobalStoreOp::create(b, element, matrix, elementAt(at));
    });
  }
}

LogicalResult grouped_moe::lowerQuantizeColumns(QuantizeOp op) {
  ColumnKernel k(op, "quantize", op.getInput(), op.getScales(), op.getOffsets(),
                 op.getMAligned());
  ImplicitLocOpBuilder &b = k.b;
  KernelScope &kernel = k.kernel;
  k.require(op.getData());
  Value input = kernel.addMemref(op.getInput());
  Value data = kernel.addOutput(op.getData());
  Value scales = kernel.addOutput(k.scaleAtoms());
  k.buildIndices();
  k.whereWritten([&] {
    auto branch = scf::IfOp::create(b, TypeRange{b.getI32Type()}, k.inside,
                                    /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      Type element = cast<MemRefType>(input.getType()).getElementType();
      Type format = cast<MemRefType>(data.getType()).getElementType();
      Value x = k.loadBlock(input, element);
      if (!element.isF32()) {
        x = arith::ExtFOp::create(b, VectorType::get(kBlock, b.getF32Type()),
                                  x);
      }
      QuantizedBlock block =
          quantizeRow(kernel, x, {format, op.getRounding(), Value()});
      k.storeBlock(block.codes, data);
      scf::YieldOp::create(b, block.scales);
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, kernel.constant(int64_t(0)));
    }
    Value byte = arith::TruncIOp::create(b, b.getI8Type(), branch.getResult(0));
    moe_kernel::GlobalStoreOp::create(b, byte, scales, k.scaleAt);
    k.clearRest(scales);
  });
  kernel.finish(k.grid);
  return success();
}

LogicalResult grouped_moe::lowerDequantizeColumns(DequantizeOp op) {
  ColumnKernel k(op, "dequantize", op.getData(), op.getScales(),
                 op.getOffsets(), op.getMAligned());
  ImplicitLocOpBuilder &b = k.b;
  KernelScope &kernel = k.kernel;
  k.require(op.getOutput());
  Value data = kernel.addMemref(op.getData());
  Value scales = kernel.addMemref(k.scaleAtoms());
  Value output = kernel.addOutput(op.getOutput());
  k.buildIndices();
  k.whereWritten([&] {
    auto branch = scf::IfOp::create(b, k.inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Type i8 = b.getI8Type();
    Type format = cast<MemRefType>(data.getType()).getElementType();
    Type element = cast<MemRefType>(output.getType()).getElementType();
    Value values = moe_kernel::DecodeOp::create(
        b, VectorType::get(kBlock, b.getF32Type()), k.loadBlock(data, i8),
        TypeAttr::get(format));
    Value code = moe_kernel::GlobalLoadOp::create(b, i8, scales, k.scaleAt);
    Value factor =
        powerOfTwo(kernel, arith::ExtUIOp::create(b, b.getI32Type(), code));
    Value product =
        arith::MulFOp::create(b, values, kernel.splat(factor, kBlock));
    if (!element.isF32()) {
      product =
          arith::TruncFOp::create(b, VectorType::get(kBlock, element), product);
    }
    k.storeBlock(product, output);
  });
  kernel.finish(k.grid);
  return success();
}
