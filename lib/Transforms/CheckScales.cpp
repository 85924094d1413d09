#include "lib/Transforms/CheckScales.h"

#include "dialect/GroupedMoe/IR/GroupedMoeOps.h"
#include "dialect/GroupedMoe/IR/ScaledOperands.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/DenseMap.h"
#include <map>

namespace grouped_moe {
#define GEN_PASS_DEF_CHECKSCALES
#include "lib/Transforms/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;
using namespace grouped_moe;

namespace {
/// Who says what a value is: the op that wrote it, or one that read it so.
struct Source {
  Operation *op = nullptr;
  bool writes = false;
};

/// The matrix that a value is data or scales of.
struct Written {
  Operation *op;
  unsigned matrix; // of the op's flow
  std::string name;
  ScaleLayoutAttr layout; // null if it has no scales
  bool transposed;        // as it is stored
};

struct ScaleFact {
  ScaleLayoutAttr layout;
  Value offsets;
  Source source;
};

struct OrderFact {
  PairOrder order;
  Source source;
};

/// What is known of a value; of a function argument, at first nothing.
struct Facts {
  std::optional<Written> written;
  std::optional<ScaleFact> scales;
  std::map<unsigned, OrderFact> orders; // by axis
};

class Checker {
public:
  void run(Region &region);
  bool foundMistake() const { return mistakes != 0; }

private:
  void run(Operation &op);
  void read(Operation *op, const OperandFlow &flow);
  void write(Operation *op, const OperandFlow &flow);

  bool checkPartners(Operation *op, const MatrixOperand &matrix);
  bool checkLayout(Operation *op, const MatrixOperand &matrix);
  void checkOrder(Operation *op, const OperandFlow &flow,
                  const AlignedAxes &axes);
  void refuseOrder(Operation *op, const Twine &name, PairOrder expected,
                   const OrderFact &fact);

  /// Everything that `op` writes in memory is unknown from here on.
  void forgetWrites(Operation *op);
  void forget(Value memref);
  void forgetMemory();
  InFlightDiagnostic refuse(Operation *op) {
    ++mistakes;
    return op->emitOpError();
  }

  Facts &factsOf(Value value);

  llvm::DenseMap<Value, Facts> facts;
  unsigned mistakes = 0;
};
} // namespace

/// The value without casts of its type.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, memref::CastOp>(op)) {
      break;
    }
    value = op->getOperand(0);
  }
  return value;
}

/// The buffer that a memref is a view of.
static Value bufferOf(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>()) {
    value = view.getViewSource();
  }
  return value;
}

/// The same value, or equal constants.
static bool areSame(Value a, Value b) {
  a = stripCasts(a);
  b = stripCasts(b);
  if (a == b) {
    return true;
  }
  Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
  auto isConstant = [](Operation *op) {
    return op && (op->hasTrait<OpTrait::ConstantLike>() ||
                  isa<memref::GetGlobalOp>(op));
  };
  return isConstant(left) && isConstant(right) &&
         OperationEquivalence::isEquivalentTo(
             left, right, OperationEquivalence::IgnoreLocations);
}

static SmallVector<std::pair<Value, std::string>>
partsOf(const MatrixOperand &matrix) {
  SmallVector<std::pair<Value, std::string>> parts{{matrix.data, matrix.name}};
  if (matrix.scales) {
    parts.emplace_back(matrix.scales, matrix.name + " scales");
  }
  return parts;
}

Facts &Checker::factsOf(Value value) { return facts[stripCasts(value)]; }

void Checker::forget(Value memref) {
  Value buffer = bufferOf(memref);
  for (auto &[value, known] : facts) {
    if (isa<BaseMemRefType>(value.getType()) && bufferOf(value) == buffer) {
      known = Facts();
    }
  }
}

void Checker::forgetMemory() {
  for (auto &[value, known] : facts) {
    if (isa<BaseMemRefType>(value.getType())) {
      known = Facts();
    }
  }
}

void Checker::forgetWrites(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects && op->hasTrait<OpTrait::HasRecursiveMemoryEffects>()) {
    return;
  }
  for (Value operand : op->getOperands()) {
    if (!isa<BaseMemRefType>(operand.getType())) {
      continue;
    }
    SmallVector<MemoryEffects::EffectInstance> known;
    if (effects) {
      effects.getEffectsOnValue(operand, known);
    }
    bool writes = !effects || llvm::any_of(known, [](const auto &effect) {
      return !isa<MemoryEffects::Read>(effect.getEffect());
    });
    if (writes) {
      forget(operand);
    }
  }
}

/// Data and scales of one quantized matrix stay together (flow_c2); without
/// known scales at least the blocks must be those of the data (flow_c3).
bool Checker::checkPartners(Operation *op, const MatrixOperand &matrix) {
  const std::optional<Written> data = factsOf(matrix.data).written;
  const std::optional<Written> scales = factsOf(matrix.scales).written;
  if (!data) {
    return true;
  }
  if (matrix.transposed && !data->transposed) {
    InFlightDiagnostic diag = refuse(op);
    diag << matrix.name << ": is read as the transposed of a matrix, but "
         << data->name << " of '" << data->op->getName()
         << "' is that matrix itself (flow_c3); drop `" << matrix.name
         << "_transposed`";
    diag.attachNote(data->op->getLoc()) << "the data is written here";
    return false;
  }
  if (data->transposed && !matrix.transposed) {
    InFlightDiagnostic diag = refuse(op);
    diag << matrix.name << ": is read as it is, but " << data->name << " of '"
         << data->op->getName()
         << "' is stored transposed, columns first (flow_c3); pass data that "
            "is quantized along rows, as one more output of the op that makes "
            "it";
    diag.attachNote(data->op->getLoc()) << "the data is written here";
    return false;
  }
  if (scales) {
    if (data->op == scales->op && data->matrix == scales->matrix) {
      return true;
    }
    InFlightDiagnostic diag = refuse(op);
    diag << matrix.name << ": data is " << data->name << " of '"
         << data->op->getName() << "'";
    if (data->layout) {
      diag << ", quantized as " << data->layout;
    }
    diag << ", but the scales are those of " << scales->name << " of '"
         << scales->op->getName() << "', written as " << scales->layout
         << " (flow_c2); pass the data and the scales of one output";
    diag.attachNote(data->op->getLoc()) << "the data is written here";
    diag.attachNote(scales->op->getLoc()) << "the scales are written here";
    return false;
  }
  if (data->layout &&
      (data->layout.getDirection() != matrix.layout.getDirection() ||
       data->layout.getBlock() != matrix.layout.getBlock())) {
    InFlightDiagnostic diag = refuse(op);
    diag << matrix.name << ": layout is " << matrix.layout
         << " but the data was quantized as " << data->layout
         << ", in other blocks (flow_c3); pass data that is quantized in these "
            "blocks, as one more output of the op that makes it";
    diag.attachNote(data->op->getLoc()) << data->name << " is written here";
    return false;
  }
  return true;
}

/// Scales mean what they were written as (flow_c1), and what every reader says
/// (flow_c5).
bool Checker::checkLayout(Operation *op, const MatrixOperand &matrix) {
  bool perGroup = matrix.layout.getGrouping() == ScaleGrouping::per_group;
  Value offsets = perGroup ? matrix.offsets : Value();
  std::optional<ScaleFact> &known = factsOf(matrix.scales).scales;
  if (!known) {
    known = ScaleFact{matrix.layout, offsets, Source{op, false}};
    return true;
  }
  auto sourceText = [&](Diagnostic &diag) -> Diagnostic & {
    if (known->source.writes) {
      return diag << "they were written";
    }
    return diag << "'" << known->source.op->getName() << "' reads them";
  };
  StringRef label = known->source.writes ? "flow_c1" : "flow_c5";
  StringRef note = known->source.writes ? "the scales are written here"
                                        : "the other reader is here";
  bool sameLayout = known->layout == matrix.layout;
  if (sameLayout &&
      (!offsets || !known->offsets || areSame(offsets, known->offsets))) {
    return true;
  }
  InFlightDiagnostic diag = refuse(op);
  diag << matrix.name << " scales: ";
  if (sameLayout) {
    diag << "offsets are others than those with which ";
    sourceText(*diag.getUnderlyingDiagnostic())
        << ", but in the layout " << matrix.layout
        << " every group starts new atoms (" << label
        << "); give both ops the same offsets";
  } else {
    diag << "layout is " << matrix.layout << " but ";
    sourceText(*diag.getUnderlyingDiagnostic())
        << " as " << known->layout << " (" << label
        << "); state the same layout, or quantize the matrix in each";
  }
  Diagnostic &made = diag.attachNote(known->source.op->getLoc()) << note;
  if (!sameLayout) {
    made << ", as " << known->layout;
  }
  return false;
}

/// What to do about pairs in the other order.
static StringRef wayOut(Operation *op, PairOrder expected,
                        const OrderFact &fact) {
  if (isa<InterleaveGluOp>(op)) {
    return "interleave once, or leave it to a product that is concatenated";
  }
  if (isa<InterleaveGluOp>(fact.source.op) && fact.source.writes) {
    return "drop `concatenated`, or pass what interleave_glu reads";
  }
  return expected == PairOrder::alternating
             ? "make both concatenated, or neither; interleave_glu reorders "
               "weights and a bias"
             : "make both concatenated, or neither";
}

/// An op whose own order differs from what is known (flow_c4, flow_c5).
void Checker::refuseOrder(Operation *op, const Twine &name, PairOrder expected,
                          const OrderFact &fact) {
  InFlightDiagnostic diag = refuse(op);
  diag << name << ": gate and up are read " << describe(expected) << ", but ";
  if (fact.source.writes) {
    diag << "'" << fact.source.op->getName() << "' wrote them "
         << describe(fact.order) << " (flow_c4); ";
  } else {
    diag << "'" << fact.source.op->getName() << "' reads them "
         << describe(fact.order) << " (flow_c5); ";
  }
  diag << wayOut(op, expected, fact);
  diag.attachNote(fact.source.op->getLoc())
      << (fact.source.writes ? "the order is made here, "
                             : "the other reader is here, ")
      << describe(fact.order);
}

void Checker::checkOrder(Operation *op, const OperandFlow &flow,
                         const AlignedAxes &axes) {
  std::optional<OrderFact> shared;
  std::string sharedName;
  SmallVector<std::pair<Value, unsigned>> unknown;
  for (AlignedAxes::Axis place : axes.reads) {
    for (auto &[value, name] : partsOf(flow.reads[place.matrix])) {
      auto &orders = factsOf(value).orders;
      auto it = orders.find(place.axis);
      if (it == orders.end()) {
        unknown.emplace_back(value, place.axis);
        continue;
      }
      const OrderFact &fact = it->second;
      if (axes.order && fact.order != *axes.order) {
        return refuseOrder(op, name, *axes.order, fact);
      }
      if (axes.singles && fact.source.writes &&
          isa<InterleaveGluOp>(fact.source.op)) {
        InFlightDiagnostic diag = refuse(op);
        diag << name << ": comes from '" << fact.source.op->getName()
             << "', gate and up in alternating blocks of 32, but the op has "
                "one accumulator and treats them alike (flow_c4); make it "
                "paired, or pass what interleave_glu reads";
        diag.attachNote(fact.source.op->getLoc()) << "the order is made here";
        return;
      }
      if (shared && shared->order != fact.order) {
        InFlightDiagnostic diag = refuse(op);
        diag << name << ": gate and up lie " << describe(fact.order)
             << ", but in " << sharedName
             << ", which is read along with it, they lie "
             << describe(shared->order)
             << " (flow_c4); bring both into one order";
        diag.attachNote(fact.source.op->getLoc())
            << name << " has its order from here, " << describe(fact.order);
        diag.attachNote(shared->source.op->getLoc())
            << sharedName << " has its order from here, "
            << describe(shared->order);
        return;
      }
      if (!shared) {
        shared = fact;
        sharedName = name;
      }
    }
  }
  std::optional<PairOrder> order = axes.order;
  if (!order && shared) {
    order = shared->order;
  }
  if (!order) {
    return;
  }
  for (auto [value, axis] : unknown) {
    factsOf(value).orders[axis] = {*order, Source{op, false}};
  }
}

void Checker::read(Operation *op, const OperandFlow &flow) {
  bool fits = true;
  for (const MatrixOperand &matrix : flow.reads) {
    fits &= !matrix.layout ||
            (checkPartners(op, matrix) && checkLayout(op, matrix));
  }
  if (!fits) {
    return; // the order of other data says little
  }
  for (const AlignedAxes &axes : flow.axes) {
    checkOrder(op, flow, axes);
  }
}

void Checker::write(Operation *op, const OperandFlow &flow) {
  // What is read may be overwritten: facts are made before any is replaced.
  SmallVector<Facts> made(flow.writes.size());
  for (const AlignedAxes &axes : flow.axes) {
    std::optional<OrderFact> order;
    if (axes.newOrder || axes.order) {
      order = {axes.newOrder ? *axes.newOrder : *axes.order, Source{op, true}};
    }
    for (AlignedAxes::Axis place : axes.reads) {
      auto &orders = factsOf(flow.reads[place.matrix].data).orders;
      auto it = orders.find(place.axis);
      if (!order && it != orders.end()) {
        order = it->second;
      }
    }
    for (AlignedAxes::Axis place : axes.writes) {
      if (order) {
        made[place.matrix].orders[place.axis] = *order;
      }
    }
  }
  for (auto [i, matrix] : llvm::enumerate(flow.writes)) {
    made[i].written = Written{op, static_cast<unsigned>(i), matrix.name,
                              matrix.layout, matrix.transposed};
    for (auto &[value, name] : partsOf(matrix)) {
      if (isa<BaseMemRefType>(value.getType())) {
        forget(value);
      }
      Facts &known = factsOf(value);
      known = made[i];
      if (value == matrix.scales) {
        known.scales =
            ScaleFact{matrix.layout, matrix.offsets, Source{op, true}};
      }
    }
  }
}

void Checker::run(Operation &op) {
  if (std::optional<OperandFlow> flow = getOperandFlow(&op)) {
    read(&op, *flow);
    write(&op, *flow);
    return;
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    Facts copied = factsOf(copy.getSource());
    forget(copy.getTarget());
    factsOf(copy.getTarget()) = copied;
    return;
  }
  // What a region writes may be there before, from an earlier round, or not.
  auto forgetAll = [&] {
    op.walk([&](Operation *inner) { forgetWrites(inner); });
  };
  forgetAll();
  for (Region &region : op.getRegions()) {
    if (llvm::any_of(op.getOperandTypes(), llvm::IsaPred<BaseMemRefType>)) {
      forgetMemory(); // a block's argument may stand for it
    }
    run(region);
    forgetAll();
  }
}

void Checker::run(Region &region) {
  for (Block &block : region) {
    if (!region.hasOneBlock()) {
      forgetMemory(); // whatever block came before
    }
    for (Operation &op : block) {
      run(op);
    }
  }
}

LogicalResult grouped_moe::checkScales(Operation *function) {
  Checker checker;
  for (Region &region : function->getRegions()) {
    checker.run(region);
  }
  return failure(checker.foundMistake());
}

namespace {
struct CheckScalesPass : grouped_moe::impl::CheckScalesBase<CheckScalesPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (failed(checkScales(getOperation()))) {
      signalPassFailure();
    }
  }
};
} // namespace
