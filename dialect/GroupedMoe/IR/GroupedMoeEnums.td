// Enumerations of the grouped_moe dialect.
#ifndef GROUPED_MOE_ENUMS_TD
#define GROUPED_MOE_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class GroupedMoe_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::grouped_moe";
  let genSpecializedAttr = 0;
}

def GroupedMoe_ScaleDirection : GroupedMoe_Enum<"ScaleDirection", "direction of a scale block", [
  I32EnumAttrCase<"row", 0>, I32EnumAttrCase<"column", 1>]>;

def GroupedMoe_ScaleGrouping : GroupedMoe_Enum<"ScaleGrouping", "where scale atoms start", [
  I32EnumAttrCase<"whole", 0>, I32EnumAttrCase<"per_group", 1>]>;

def GroupedMoe_Rounding : GroupedMoe_Enum<"ScaleRounding", "how a block's maximum becomes a scale", [
  I32EnumAttrCase<"rceil", 0>, I32EnumAttrCase<"floor", 1>, I32EnumAttrCase<"nearest", 2>]>;

def GroupedMoe_InputKind : GroupedMoe_Enum<"InputKind", "how an epilogue input follows the product's elements", [
  I32EnumAttrCase<"per_element", 0>, I32EnumAttrCase<"per_row", 1>,
  I32EnumAttrCase<"per_group", 2>, I32EnumAttrCase<"per_group_column", 3>]>;

def GroupedMoe_OutputKind : GroupedMoe_Enum<"OutputKind", "what becomes of a yielded value", [
  I32EnumAttrCase<"plain", 0>, I32EnumAttrCase<"quantized", 1>,
  // Scales: direction, `group` where every group starts new atoms, rounding, `block16` for blocks of 16 with f8E8M0FNU scales.
  I32EnumAttrCase<"row_scales_rceil", 2>, I32EnumAttrCase<"row_scales_floor", 3>,
  I32EnumAttrCase<"row_group_scales_rceil", 4>, I32EnumAttrCase<"row_group_scales_floor", 5>,
  I32EnumAttrCase<"column_scales_rceil", 6>, I32EnumAttrCase<"column_scales_floor", 7>,
  I32EnumAttrCase<"column_group_scales_rceil", 8>, I32EnumAttrCase<"column_group_scales_floor", 9>,
  I32EnumAttrCase<"row_scales_nearest", 10>, I32EnumAttrCase<"row_group_scales_nearest", 11>,
  // Reductions.
  I32EnumAttrCase<"row_sum", 12>, I32EnumAttrCase<"group_column_sum", 13>, I32EnumAttrCase<"group_amax", 14>,
  // More scales.
  I32EnumAttrCase<"column_scales_nearest", 15>, I32EnumAttrCase<"column_group_scales_nearest", 16>,
  I32EnumAttrCase<"row_scales_rceil_block16", 17>, I32EnumAttrCase<"row_scales_floor_block16", 18>,
  I32EnumAttrCase<"row_group_scales_rceil_block16", 19>, I32EnumAttrCase<"row_group_scales_floor_block16", 20>,
  I32EnumAttrCase<"column_scales_rceil_block16", 21>, I32EnumAttrCase<"column_scales_floor_block16", 22>,
  I32EnumAttrCase<"column_group_scales_rceil_block16", 23>, I32EnumAttrCase<"column_group_scales_floor_block16", 24>]>;

def GroupedMoe_InputRole : GroupedMoe_Enum<"InputRole", "what an input of a named op is", [
  I32EnumAttrCase<"c", 0>, I32EnumAttrCase<"alpha", 1>, I32EnumAttrCase<"bias", 2>, I32EnumAttrCase<"prob", 3>]>;

def GroupedMoe_NamedValue : GroupedMoe_Enum<"NamedValue", "a value that a named op computes for each element", [
  I32EnumAttrCase<"result", 0>, I32EnumAttrCase<"preactivation", 1>, I32EnumAttrCase<"dprob", 2>,
  I32EnumAttrCase<"activation", 3>]>;

def GroupedMoe_PreactivationForm : GroupedMoe_Enum<"PreactivationForm", "which operand of dsrelu is the pre-activation", [
  I32EnumAttrCase<"gemm", 0>, I32EnumAttrCase<"c", 1>]>;

def GroupedMoe_SchedulerKind : GroupedMoe_Enum<"SchedulerKind", "how CTAs find their tiles", [
  I32EnumAttrCase<"static_persistent", 0>, I32EnumAttrCase<"cluster_launch_control", 1>]>;
def GroupedMoe_RasterKind : GroupedMoe_Enum<"RasterKind", "in which order a group's tiles are taken", [
  I32EnumAttrCase<"row", 0>, I32EnumAttrCase<"short_side", 1>]>;

#endif // GROUPED_MOE_ENUMS_TD
