#include "dialect/GroupedMoe/IR/GroupedProduct.h"

#include "mlir/IR/BuiltinTypes.h"

#include "dialect/GroupedMoe/IR/GroupedMoeInterfaces.cpp.inc"

using namespace mlir;
using namespace grouped_moe;

namespace {
struct ScaleKind {
  OutputKind kind;
  ScaleDirection direction;
  ScaleGrouping grouping;
  ScaleRounding rounding;
  int64_t block = 32;
};
} // namespace

/// What the name of a kind of scales says; null for other kinds.
static const ScaleKind *lookupScaleKind(OutputKind kind) {
  using K = OutputKind;
  constexpr auto row = ScaleDirection::row, column = ScaleDirection::column;
  constexpr auto whole = ScaleGrouping::whole;
  constexpr auto perGroup = ScaleGrouping::per_group;
  constexpr auto rceil = ScaleRounding::rceil, floor = ScaleRounding::floor;
  constexpr auto nearest = ScaleRounding::nearest;
  static constexpr ScaleKind kinds[] = {
      {K::row_scales_rceil, row, whole, rceil},
      {K::row_scales_floor, row, whole, floor},
      {K::row_scales_nearest, row, whole, nearest, 16},
      {K::row_group_scales_rceil, row, perGroup, rceil},
      {K::row_group_scales_floor, row, perGroup, floor},
      {K::row_group_scales_nearest, row, perGroup, nearest, 16},
      {K::column_scales_rceil, column, whole, rceil},
      {K::column_scales_floor, column, whole, floor},
      {K::column_group_scales_rceil, column, perGroup, rceil},
      {K::column_group_scales_floor, column, perGroup, floor},
      {K::column_scales_nearest, column, whole, nearest, 16},
      {K::column_group_scales_nearest, column, perGroup, nearest, 16},
      {K::row_scales_rceil_block16, row, whole, rceil, 16},
      {K::row_scales_floor_block16, row, whole, floor, 16},
      {K::row_group_scales_rceil_block16, row, perGroup, rceil, 16},
      {K::row_group_scales_floor_block16, row, perGroup, floor, 16},
      {K::column_scales_rceil_block16, column, whole, rceil, 16},
      {K::column_scales_floor_block16, column, whole, floor, 16},
      {K::column_group_scales_rceil_block16, column, perGroup, rceil, 16},
      {K::column_group_scales_floor_block16, column, perGroup, floor, 16}};
  for (const ScaleKind &known : kinds) {
    if (known.kind == kind) {
      return &known;
    }
  }
  return nullptr;
}

void grouped_moe::addProductEffects(GroupedProduct op, EffectList &effects) {
  addEffects(op, op.getOutputs(), effects);
  if (op.isRhsDiscrete()) { // memory that no operand stands for
    effects.emplace_back(MemoryEffects::Read::get());
  }
}

ShapedType grouped_moe::detail::typeBehind(Value value,
                                           std::optional<Type> pointee) {
  auto type = cast<ShapedType>(value.getType());
  if (!pointee) {
    return type;
  }
  auto one = cast<RankedTensorType>(*pointee);
  SmallVector<int64_t> shape{type.getDimSize(0)};
  llvm::append_range(shape, one.getShape());
  return RankedTensorType::get(shape, one.getElementType());
}

bool grouped_moe::detail::isScaleKind(OutputKind kind) {
  return ::lookupScaleKind(kind) != nullptr;
}

ScaleRounding grouped_moe::detail::scaleRoundingOf(OutputKind kind) {
  const ScaleKind *known = lookupScaleKind(kind);
  return known ? known->rounding : ScaleRounding::rceil;
}

ScaleLayoutAttr grouped_moe::detail::scaleLayoutOf(Operation *op,
                                                   OutputKind kind) {
  const ScaleKind *known = lookupScaleKind(kind);
  if (!known) {
    return {};
  }
  return ScaleLayoutAttr::get(op->getContext(), known->direction,
                              known->grouping, known->block);
}

bool grouped_moe::detail::isPair(Value input, int64_t columns, InputKind kind) {
  if (kind != InputKind::per_element && kind != InputKind::per_group_column) {
    return false;
  }
  auto type = cast<ShapedType>(input.getType());
  return type.getRank() == 2 && type.getDimSize(1) == 2 * columns;
}

bool grouped_moe::detail::isPair(Value output, int64_t columns, OutputKind kind,
                                 unsigned columnAxis) {
  auto type = cast<ShapedType>(output.getType());
  if (type.getRank() != 2) {
    return false;
  }
  return type.getDimSize(columnAxis) ==
         (kind == OutputKind::group_amax ? 2 : 2 * columns);
}
