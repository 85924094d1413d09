#include "lib/Conversion/GroupedMoeToMoeKernel/EpilogueRole.h"

#include "lib/Analysis/ScheduleSelection.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace grouped_moe;
using moe_kernel::IndexKind;

EpilogueRole::EpilogueRole(FusedProduct op, KernelScope &kernel,
                           int64_t rowUnit)
    : op(op), kernel(kernel), b(kernel.body),
      tileColumnsOfN(op.getSchedule()->getTile()[1]) {
  shape.columns = op.getColumns();
  shape.tileColumns = op.getPaired() ? tileColumnsOfN / 2 : tileColumnsOfN;
  shape.chunk = epilogueChunk(op);
  shape.tilesAlong = llvm::divideCeil(shape.columns, shape.tileColumns);
  shape.groups = op.getGroups();
  shape.overlap = accumulatorOverlap(op);
  shape.rowUnit = rowUnit;
  for (unsigned i = 0; i < op.getOutputs().size(); ++i) {
    outputs.push_back(createEpilogueOutput(op, i, kernel, shape, normConst));
    isStaged |= stagingBytes(op, i) != 0;
  }
}

void EpilogueRole::declareParameters(Value rows) {
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    InputKind kind = op.getInputKind(i);
    if (rows &&
        (kind == InputKind::per_element || kind == InputKind::per_row)) {
      kernel.requireRows(input, rows);
    }
    inputs.push_back(kernel.addMemref(input));
  }
  if (Value memref = op.getNormConst()) {
    normConstMemref = kernel.addMemref(memref);
  }
  for (auto &output : outputs) {
    if (output) {
      output->declareParameters(rows);
    }
  }
}

void EpilogueRole::declareBuffers() {
  for (auto &output : outputs) {
    if (output) {
      output->declareBuffers();
    }
  }
}

bool EpilogueRole::isRowScalar(unsigned i) {
  InputKind kind = op.getInputKind(i);
  return kind == InputKind::per_row || kind == InputKind::per_group;
}

Value EpilogueRole::arrayOf(unsigned i, const Tile &tile) {
  auto type = cast<MemRefType>(inputs[i].getType());
  if (!type.getElementType().isInteger(64)) {
    return inputs[i];
  }
  // What an output with addresses held.
  auto wgrad = cast<WgradOp>(op.getOperation());
  auto matrix =
      MemRefType::get({wgrad.getN(), wgrad.getK()}, *wgrad.getPointee());
  return moe_kernel::PointeeOp::create(b, matrix, inputs[i], tile.group);
}

/// An input as a chunk of f32 values, or one where it is the row's. A thread
/// without a row has zeros: another one may write what it would read, if it is
/// there at all.
Value EpilogueRole::loadInput(unsigned i, const Tile &tile, Value column,
                              unsigned half) {
  InputKind kind = op.getInputKind(i);
  bool byRow = kind == InputKind::per_element || kind == InputKind::per_row;
  if (!tile.isInside || !byRow) {
    return loadElements(i, tile, column, half);
  }
  return kernel.either(
      tile.isInside,
      [&] { return SmallVector<Value>{loadElements(i, tile, column, half)}; },
      [&] {
        Value zero = kernel.constant(0.0f);
        return SmallVector<Value>{
            isRowScalar(i) ? zero : kernel.splat(zero, shape.chunk)};
      })[0];
}

Value EpilogueRole::loadElements(unsigned i, const Tile &tile, Value column,
                                 unsigned half) {
  Value array = arrayOf(i, tile);
  auto arrayType = cast<MemRefType>(array.getType());
  Type element = arrayType.getElementType();
  Type type = element, f32 = b.getF32Type();
  if (op.isPairInput(i)) {
    column = pairColumn(op, kernel, column, half);
  }
  SmallVector<Value> at;
  switch (op.getInputKind(i)) {
  case InputKind::per_element:
    at = {tile.threadRow, column};
    if (arrayType.getRank() == 3) {
      at.insert(at.begin(), tile.group);
    }
    break;
  case InputKind::per_row:
    at = {tile.threadRow};
    break;
  case InputKind::per_group:
    at = {arrayType.getDimSize(0) == 1 ? kernel.constant(int64_t(0))
                                       : tile.group};
    break;
  case InputKind::per_group_column:
    at = {tile.group, column};
    break;
  }
  bool scalar = isRowScalar(i);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) {
    Value codes = moe_kernel::GlobalLoadOp::create(
        b, VectorType::get(shape.chunk, b.getI8Type()), array, at);
    return moe_kernel::DecodeOp::create(b, VectorType::get(shape.chunk, f32),
                                        codes, TypeAttr::get(element));
  }
  if (!scalar) {
    type = VectorType::get(shape.chunk, element);
    f32 = VectorType::get(shape.chunk, f32);
  }
  Value value = moe_kernel::GlobalLoadOp::create(b, type, array, at);
  if (!element.isF32()) {
    value = arith::ExtFOp::create(b, f32, value);
  }
  return value;
}

SmallVector<Value> EpilogueRole::takeAccumulators(Value accumulator,
                                                  Value accumulators,
                                                  Value position, Value at,
                                                  Value releases) {
  auto type = VectorType::get(shape.chunk, b.getF32Type());
  SmallVector<Value> columns{at};
  if (op.getPaired() && op.getConcatenated()) {
    columns.push_back(kernel.add(at, shape.tileColumns));
  } else if (op.getPaired()) {
    Value first = kernel.mul(at, 2);
    columns = {first, kernel.add(first, 32)};
  }
  SmallVector<Type> types(columns.size(), type);
  auto load = moe_kernel::LoadAccumulatorOp::create(
      b, types, accumulator, accumulators, position, columns);
  // Released as soon as the last of these columns is in registers, so that the
  // next tile's products overlap this one's stores.
  kernel.onlyIf(releases, [&] {
    moe_kernel::ReleaseOp::create(b, accumulators, position);
  });
  return load.getValues();
}

/// The region's operations on `lanes` elements at once; on one where all
/// operands are the same for the whole row.
SmallVector<Value> EpilogueRole::inlineSlice(ArrayRef<Value> arguments,
                                             int64_t lanes) {
  Block &region = op.getEpilogue().front();
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(region.getArguments(), arguments)) {
    mapping.map(from, to);
  }
  auto widened = [&](Value value) -> Value {
    Value known = mapping.lookup(value);
    return isa<VectorType>(known.getType()) ? known
                                            : kernel.splat(known, lanes);
  };
  for (Operation &inner : region.without_terminator()) {
    if (auto sigmoid = dyn_cast<SigmoidOp>(inner)) {
      mapping.map(sigmoid.getResult(), moe_kernel::SigmoidOp::create(
                                           b, widened(sigmoid.getOperand())));
      continue;
    }
    bool isScalar = llvm::none_of(inner.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapping.lookup(operand).getType());
    });
    if (isScalar) {
      b.clone(inner, mapping);
      continue;
    }
    OperationState state(inner.getLoc(), inner.getName());
    for (Value operand : inner.getOperands()) {
      state.operands.push_back(widened(operand));
    }
    for (Type type : inner.getResultTypes()) {
      state.types.push_back(VectorType::get(lanes, type));
    }
    state.attributes = inner.getAttrs();
    state.propertiesAttr = inner.getPropertiesAsAttribute();
    mapping.map(inner.getResults(), b.create(state)->getResults());
  }
  SmallVector<Value> yielded;
  for (Value value : region.getTerminator()->getOperands()) {
    yielded.push_back(widened(value));
  }
  return yielded;
}

/// The region on a chunk; regions with many functions in narrower slices, since
/// each function takes registers for its polynomial.
SmallVector<Value> EpilogueRole::inlineRegion(ArrayRef<Value> arguments) {
  int64_t lanes = std::min(shape.chunk, regionLanes(op));
  if (lanes == shape.chunk) {
    return inlineSlice(arguments, lanes);
  }
  SmallVector<Value> results;
  for (int64_t first = 0; first < shape.chunk; first += lanes) {
    SmallVector<Value> slices;
    for (Value argument : arguments) {
      if (!isa<VectorType>(argument.getType())) {
        slices.push_back(argument);
        continue;
      }
      slices.push_back(vector::ExtractStridedSliceOp::create(
          b, argument, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{lanes},
          ArrayRef<int64_t>{1}));
    }
    SmallVector<Value> parts = inlineSlice(slices, lanes);
    if (results.empty()) {
      results.assign(parts.size(),
                     kernel.splat(kernel.constant(0.0f), shape.chunk));
    }
    for (auto [result, part] : llvm::zip(results, parts)) {
      result = vector::InsertStridedSliceOp::create(
          b, part, result, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
    }
  }
  return results;
}

Tile EpilogueRole::describeTile(Value group, Value row, Value column,
                                Value end) {
  Tile tile;
  tile.group = group;
  tile.row = row;
  tile.column = op.getPaired() ? kernel.div(column, 2) : column;
  tile.thread = kernel.index(IndexKind::thread);
  tile.warp = kernel.index(IndexKind::warp);
  tile.lane = kernel.index(IndexKind::lane);
  tile.threadRow = kernel.add(row, tile.thread);
  tile.warpRow = kernel.add(row, kernel.mul(tile.warp, kWarpRows));
  tile.columnTile = kernel.div(column, tileColumnsOfN);
  if (shape.mayEndInside()) {
    auto compare = [&](arith::CmpIPredicate predicate, Value row) -> Value {
      return arith::CmpIOp::create(b, predicate, row, end);
    };
    // A warp whose rows exist or not together decides as one.
    tile.isInside =
        compare(arith::CmpIPredicate::ult,
                shape.splitsWarps() ? tile.threadRow : tile.warpRow);
    tile.warpIsInside = shape.splitsWarps()
                            ? compare(arith::CmpIPredicate::ule,
                                      kernel.add(tile.warpRow, kWarpRows))
                            : tile.isInside;
  }
  if (normConstMemref) {
    bool isShared =
        cast<MemRefType>(normConstMemref.getType()).getDimSize(0) == 1;
    normConst = moe_kernel::GlobalLoadOp::create(
        b, b.getF32Type(), normConstMemref,
        isShared ? kernel.constant(int64_t(0)) : group);
  }
  return tile;
}

int64_t EpilogueRole::fineRows() {
  int64_t rows = 0; // atoms span 128 rows, or 64
  for (auto &output : outputs) {
    rows = std::max(rows, output ? output->fineRows() : 0);
  }
  return rows;
}

void EpilogueRole::describeGroup(Tile &tile, Value begin, Value end,
                                 Value atoms, Value fineAtoms) {
  tile.begin = begin;
  tile.end = end;
  tile.fineAtoms = fineAtoms;
  bool isPadded = !shape.mayEndInside();
  Value shift; // to where the group begins with the padding before it
  if (!isPadded) {
    shift = kernel.sub(kernel.mul(atoms, kEpilogueThreads), begin);
  }
  auto padded = [&](Value row) {
    return isPadded ? row : kernel.add(row, shift);
  };
  auto tilesBefore = [&](Value row) {
    return kernel.div(padded(row), kEpilogueThreads);
  };
  tile.paddedRow = padded(tile.threadRow);
  tile.paddedWarpRow = padded(tile.warpRow);
  tile.rowTile = tilesBefore(tile.row);
  tile.firstRowTile = tilesBefore(begin);
  tile.endRowTile =
      tilesBefore(isPadded ? end : kernel.add(end, kEpilogueThreads - 1));
}

Value EpilogueRole::zerosOutside(const Tile &tile, Value values) {
  Value zeros = kernel.splat(kernel.constant(0.0f), shape.chunk);
  return arith::SelectOp::create(b, tile.isInside, values, zeros);
}

void EpilogueRole::describeOrder(Tile &tile, Value accumulators,
                                 Value position) {
  if (shape.overlap > 0) {
    Value phase =
        moe_kernel::PhaseOp::create(b, b.getI32Type(), accumulators, position);
    tile.isSecond = kernel.equal(phase, 1);
  }
}

/// Columns of E in front of which the first `columns` of the accumulators lie.
int64_t EpilogueRole::coveringColumns(int64_t columns) {
  int64_t ofChunk =
      op.getPaired() && !op.getConcatenated() ? 2 * shape.chunk : shape.chunk;
  return llvm::divideCeil(columns, ofChunk) * shape.chunk;
}

/// Of two accumulators that overlap, the second one shares its first columns
/// and is read from there on; the first one shares its last columns, and what
/// lies behind columnsInOrder is read first.
EpilogueRole::Order EpilogueRole::orderOf(const Tile &tile, Value width) {
  if (!tile.isSecond) {
    return {Value(), width};
  }
  int64_t front = shape.columnsInOrder(), back = shape.tileColumns - front;
  int64_t covering = coveringColumns(shape.overlap);
  Value isWhole = kernel.equal(width, shape.tileColumns);
  Value isFirst = arith::XOrIOp::create(
      b, tile.isSecond,
      arith::ConstantOp::create(b, b.getBoolAttr(true)).getResult());
  Value fromBack = arith::AndIOp::create(b, isFirst, isWhole);
  // Gate and up side by side share the end of up, which may be all of it.
  Value ofFirst =
      covering <= back
          ? arith::SelectOp::create(b, isWhole, kernel.constant(back), width)
                .getResult()
          : width;
  Value ofSecond = arith::MinUIOp::create(b, width, kernel.constant(covering));
  return {arith::SelectOp::create(b, fromBack, kernel.constant(front),
                                  kernel.constant(int64_t(0))),
          arith::SelectOp::create(b, tile.isSecond, ofSecond, ofFirst)};
}

ResultRange EpilogueRole::forChunks(const Tile &tile, ValueRange carried,
                                    Body body) {
  // Columns of this tile inside the matrix.
  Value left =
      arith::SubIOp::create(b, kernel.constant(shape.columns), tile.column);
  Value width =
      arith::MinUIOp::create(b, left, kernel.constant(shape.tileColumns));
  Order order = orderOf(tile, width);
  auto loop = scf::ForOp::create(b, kernel.constant(int64_t(0)), width,
                                 kernel.constant(shape.chunk), carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value step = loop.getInductionVar(), at = step;
  auto endsAt = [&](Value column, Value end) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                 kernel.add(column, shape.chunk), end);
  };
  Value releases = endsAt(step, order.shared), isLast = releases;
  if (order.first) {
    at = kernel.add(step, order.first);
    Value end = kernel.constant(shape.tileColumns);
    at = arith::SelectOp::create(b, kernel.less(at, shape.tileColumns), at,
                                 kernel.sub(at, end));
    isLast = endsAt(at, width);
  }
  SmallVector<Value> next =
      body(at, isLast, releases, loop.getRegionIterArgs());
  if (!next.empty()) { // else the loop has its yield
    scf::YieldOp::create(b, next);
  }
  return loop.getResults();
}

Value EpilogueRole::buildTile(const Tile &tile, function_ref<void()> wait,
                              Take take, Value slot) {
  // Scalars of the row do not depend on the product: loaded while it runs.
  SmallVector<Value> scalars(inputs.size());
  for (unsigned i = 0; i < inputs.size(); ++i) {
    if (isRowScalar(i)) {
      scalars[i] = loadInput(i, tile, Value(), 0);
    }
  }
  SmallVector<Value> carried{slot};
  SmallVector<unsigned> counts;
  for (auto &output : outputs) {
    SmallVector<Value> start = output ? output->start() : SmallVector<Value>();
    counts.push_back(start.size());
    carried.append(start);
  }

  bool wantZeros = tile.isInside && llvm::any_of(outputs, [](auto &output) {
                     return output && output->wantsZeros();
                   });

  wait();
  auto build = [&](Value at, Value isLast, Value releases,
                   ValueRange before) -> SmallVector<Value> {
    Chunk chunk;
    chunk.at = at;
    chunk.column = kernel.add(tile.column, at);
    chunk.slot = before.front();
    SmallVector<Value> arguments = take(at, releases);
    chunk.last = isLast;
    for (unsigned i = 0; i < inputs.size(); ++i) {
      for (unsigned half = 0; half < (op.isPairInput(i) ? 2 : 1); ++half) {
        arguments.push_back(
            scalars[i] ? scalars[i] : loadInput(i, tile, chunk.column, half));
      }
    }
    SmallVector<Value> values = inlineRegion(arguments);
    if (wantZeros) { // for all outputs, so that only one of the two is live
      for (Value &value : values) {
        value = zerosOutside(tile, value);
      }
    }

    SmallVector<Value> next{
        isStaged
            ? arith::XOrIOp::create(b, chunk.slot, kernel.constant(int64_t(1)))
                  .getResult()
            : chunk.slot};
    if (isStaged) {
      moe_kernel::AcquireStagingOp::create(b, kStagingSlots - 1);
    }
    ValueRange left = values;
    before = before.drop_front();
    for (auto [output, count] : llvm::zip(outputs, counts)) {
      if (output) {
        next.append(output->take(tile, chunk, left.take_front(output->halves()),
                                 before.take_front(count)));
        left = left.drop_front(output->halves());
        before = before.drop_front(count);
      }
    }
    if (isStaged) {
      moe_kernel::PublishStagingOp::create(b);
      for (auto &output : outputs) {
        if (output) {
          output->store(tile, chunk);
        }
      }
      moe_kernel::CommitStoresOp::create(b);
    }
    return next;
  };
  ResultRange ended = forChunks(tile, carried, build);
  ValueRange results = ended.drop_front();
  for (auto [output, count] : llvm::zip(outputs, counts)) {
    if (output) {
      output->leave(tile, results.take_front(count));
      results = results.drop_front(count);
    }
  }
  reduce(tile);
  return ended[0];
}

/// Reductions over warps and CTAs: their barriers and arrivals are shared.
void EpilogueRole::reduce(const Tile &tile) {
  bool meet = false;
  for (auto &output : outputs) {
    meet |= output && output->meets();
  }
  if (meet) {
    moe_kernel::BarrierOp::create(b);
  }
  SmallVector<EpilogueOutput *> arriving;
  SmallVector<Value> counters, indices, counts;
  for (auto &output : outputs) {
    if (!output) {
      continue;
    }
    output->combine(tile);
    if (auto arrival = output->arrival(tile)) {
      arriving.push_back(output.get());
      counters.push_back(arrival->counters);
      indices.push_back(arrival->index);
      counts.push_back(arrival->count);
    }
  }
  if (arriving.empty()) {
    if (meet) { // before the next tile's parts
      moe_kernel::BarrierOp::create(b);
    }
    return;
  }
  SmallVector<Type> flags(arriving.size(), b.getI1Type());
  auto last =
      moe_kernel::LastArrivalOp::create(b, flags, counters, indices, counts);
  for (auto [output, isLast] : llvm::zip(arriving, last.getLast())) {
    kernel.onlyIf(isLast, [&, output = output] { output->complete(tile); });
  }
}

void EpilogueRole::buildEnd() {
  if (isStaged) {
    moe_kernel::AcquireStagingOp::create(b, /*pending=*/0);
  }
}
