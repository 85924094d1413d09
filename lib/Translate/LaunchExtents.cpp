#include "lib/Translate/LaunchExtents.h"

#include "dialect/MoeKernel/IR/MoeKernelOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace grouped_moe;
namespace abi = gmoe::abi;

Value grouped_moe::sourceOf(Value memref) {
  while (auto cast = memref.getDefiningOp<memref::CastOp>()) {
    memref = cast.getSource();
  }
  return memref;
}

int32_t LaunchExtents::expression(abi::ExprKind kind, int32_t lhs, int32_t rhs,
                                  int64_t value) {
  abi::Expr expr(value, lhs, rhs, kind);
  for (auto [i, other] : llvm::enumerate(exprs)) {
    if (other.kind() == kind && other.lhs() == lhs && other.rhs() == rhs &&
        other.value() == value) {
      return i;
    }
  }
  exprs.push_back(expr);
  return exprs.size() - 1;
}

int32_t LaunchExtents::fold(abi::ExprKind kind, int32_t lhs, int32_t rhs) {
  bool isProduct = kind == abi::ExprKind::Mul;
  const abi::Expr &a = exprs[lhs], &b = exprs[rhs];
  if (b.kind() == abi::ExprKind::Constant) {
    if (b.value() == 1) {
      return lhs;
    }
    if (a.kind() == abi::ExprKind::Constant) {
      return constant(isProduct ? a.value() * b.value()
                                : a.value() / b.value());
    }
  }
  if (isProduct && a.kind() == abi::ExprKind::Constant && a.value() == 1) {
    return rhs;
  }
  return expression(kind, lhs, rhs, 0);
}

FailureOr<int32_t> LaunchExtents::extent(Value memref, int64_t axis) {
  memref = sourceOf(memref);
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(axis)) {
    return constant(type.getDimSize(axis));
  }
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>()) {
    return evaluate(alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)]);
  }
  auto argument = dyn_cast<BlockArgument>(memref);
  if (!argument) {
    return func.emitOpError()
           << "an extent of " << type << " is not known when a launch starts";
  }
  Axis leader = leaderOf({argument.getArgNumber(), axis});
  auto it = required.find(leader);
  if (it != required.end() && active.insert(leader).second) {
    FailureOr<int32_t> value = failure();
    if (auto index = dyn_cast<Value>(it->second)) {
      value = evaluate(index);
    } else {
      value = constant(*getConstantIntValue(it->second));
    }
    active.erase(leader);
    return value;
  }
  return expression(abi::ExprKind::Dim, leader.first, leader.second, 0);
}

/// The first of the extents that are the same number.
LaunchExtents::Axis LaunchExtents::leaderOf(Axis axis) {
  auto member = leaders.findLeader(axis);
  if (member == leaders.member_end()) {
    return axis;
  }
  return *std::min_element(member, leaders.member_end());
}

FailureOr<int32_t> LaunchExtents::evaluate(Value index) {
  auto known = values.find(index);
  if (known != values.end()) {
    return known->second;
  }
  APInt value;
  if (matchPattern(index, m_ConstantInt(&value))) {
    return constant(value.getSExtValue());
  }
  Operation *op = index.getDefiningOp();
  auto binary = [&](abi::ExprKind kind) -> FailureOr<int32_t> {
    FailureOr<int32_t> lhs = evaluate(op->getOperand(0));
    FailureOr<int32_t> rhs = evaluate(op->getOperand(1));
    if (failed(lhs) || failed(rhs)) {
      return failure();
    }
    return expression(kind, *lhs, *rhs, 0);
  };
  FailureOr<int32_t> result = failure();
  if (!op) {
    return func.emitOpError() << "an index argument cannot be part of a launch "
                                 "program; take it from an extent";
  }
  using K = abi::ExprKind;
  result =
      TypeSwitch<Operation *, FailureOr<int32_t>>(op)
          .Case([&](memref::DimOp dim) -> FailureOr<int32_t> {
            std::optional<int64_t> axis = dim.getConstantIndex();
            auto type = dyn_cast<MemRefType>(dim.getSource().getType());
            if (!axis || !type || *axis < 0 || *axis >= type.getRank()) {
              return dim.emitOpError()
                     << "takes an extent of an axis that is not constant";
            }
            return extent(dim.getSource(), *axis);
          })
          .Case([&](moe_kernel::SmCountOp) {
            return expression(K::SmCount, 0, 0, 0);
          })
          .Case([&](arith::AddIOp) { return binary(K::Add); })
          .Case([&](arith::SubIOp) { return binary(K::Sub); })
          .Case([&](arith::MulIOp) { return binary(K::Mul); })
          .Case<arith::CeilDivUIOp, arith::CeilDivSIOp>(
              [&](auto) { return binary(K::CeilDiv); })
          .Case<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(
              [&](auto) { return binary(K::FloorDiv); })
          .Case<arith::MinUIOp, arith::MinSIOp>(
              [&](auto) { return binary(K::Min); })
          .Case<arith::MaxUIOp, arith::MaxSIOp>(
              [&](auto) { return binary(K::Max); })
          .Default([&](Operation *other) -> FailureOr<int32_t> {
            return other->emitOpError()
                   << "cannot be part of a launch program: extents are built "
                      "from constants, dim, +, -, *, /, min and max";
          });
  // A value that depends on an extent under evaluation may differ outside.
  if (succeeded(result) && active.empty()) {
    values[index] = *result;
  }
  return result;
}

/// The extent of an argument that an index is, by way of allocations that are
/// as large; none if it is something else.
std::optional<LaunchExtents::Axis> LaunchExtents::freeAxis(Value memref,
                                                           int64_t axis) {
  memref = sourceOf(memref);
  auto type = cast<MemRefType>(memref.getType());
  if (axis < 0 || axis >= type.getRank() || !type.isDynamicDim(axis)) {
    return std::nullopt;
  }
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    return Axis(argument.getArgNumber(), axis);
  }
  auto alloc = memref.getDefiningOp<memref::AllocOp>();
  return alloc
             ? freeAxis(alloc.getDynamicSizes()[type.getDynamicDimIndex(axis)])
             : std::nullopt;
}

std::optional<LaunchExtents::Axis> LaunchExtents::freeAxis(Value index) {
  auto dim = index.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt;
  if (!axis || !isa<MemRefType>(dim.getSource().getType())) {
    return std::nullopt;
  }
  return freeAxis(dim.getSource(), *axis);
}

/// Which argument extents must equal what. Of several that are the same number,
/// such as the rows of two activations, the first is free and the others follow
/// it; any other statement about an argument gives its expression, and the rest
/// must agree with what is known then.
LogicalResult LaunchExtents::collect() {
  SmallVector<moe_kernel::RequireExtentOp> requires_;
  for (auto op : func.getBody().front().getOps<moe_kernel::RequireExtentOp>()) {
    requires_.push_back(op);
  }
  for (auto op : requires_) {
    std::optional<Axis> have = freeAxis(op.getMemref(), op.getAxis());
    std::optional<Axis> want = freeAxis(op.getExtent());
    if (have && want) {
      leaders.unionSets(*have, *want);
    }
  }
  for (auto op : requires_) {
    std::optional<Axis> have = freeAxis(op.getMemref(), op.getAxis());
    if (have && !freeAxis(op.getExtent()) &&
        isa<BlockArgument>(sourceOf(op.getMemref()))) {
      required.try_emplace(leaderOf(*have), op.getExtent());
    }
  }
  Builder b(func.getContext());
  for (auto op : requires_) {
    // A static extent says what the dynamic one that it must equal is.
    int64_t have = op.getMemref().getType().getDimSize(op.getAxis());
    std::optional<Axis> want = freeAxis(op.getExtent());
    if (want && !ShapedType::isDynamic(have)) {
      required.try_emplace(leaderOf(*want), b.getIndexAttr(have));
    }
  }
  for (auto op : requires_) {
    FailureOr<int32_t> have = extent(op.getMemref(), op.getAxis());
    FailureOr<int32_t> want = evaluate(op.getExtent());
    if (failed(have) || failed(want)) {
      return failure();
    }
    if (*have != *want) {
      return op.emitOpError()
             << "a buffer of type " << op.getMemref().getType()
             << " has a row count of its own, but its op needs that of another "
                "operand; give it a dynamic extent, or size it from that "
                "operand's (tensor.dim)";
    }
  }
  return success();
}
