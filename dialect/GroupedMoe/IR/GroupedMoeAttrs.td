// Attributes of the grouped_moe dialect.
#ifndef GROUPED_MOE_ATTRS_TD
#define GROUPED_MOE_ATTRS_TD

include "dialect/GroupedMoe/IR/GroupedMoeDialect.td"
include "dialect/GroupedMoe/IR/GroupedMoeEnums.td"
include "mlir/IR/AttrTypeBase.td"

class GroupedMoe_Attr<string name, string mnem> : AttrDef<GroupedMoe_Dialect, name> {
  let mnemonic = mnem;
}

def GroupedMoe_ScaleLayoutAttr : GroupedMoe_Attr<"ScaleLayout", "scale_layout"> {
  let summary = "what the bytes of a blocked scale tensor mean";
  let description = [{
    A block of `block` consecutive elements along a row (`row`) or down a column (`column`) shares one scale. Scales are
    stored in atoms of 512 bytes, `32x4x4`: 128 rows (columns, for `column`) by 4 blocks. In the `whole` form atoms are
    laid over the whole matrix, `[L x] RM x RK x 32 x 4 x 4`; in the `per_group` form every group starts a new atom,
    `atoms x 32 x 4 x 4`. The two have equal byte counts for many shapes, so no length check can tell them apart: the
    layout is part of the op.

    Constraints: `layout_c1` block is 16 or 32.

    ```mlir
    #grouped_moe.scale_layout<row, whole, block = 32>
    ```
  }];
  let parameters = (ins
    EnumParameter<GroupedMoe_ScaleDirection>:$direction,
    EnumParameter<GroupedMoe_ScaleGrouping>:$grouping,
    "int64_t":$block);
  let assemblyFormat = "`<` $direction `,` $grouping `,` `block` `=` $block `>`";
  let genVerifyDecl = 1;
}

def GroupedMoe_ScheduleAttr : GroupedMoe_Attr<"Schedule", "schedule"> {
  let summary = "how one kernel computes a grouped product";
  let description = [{
    The decision is in the IR: printed, and overridable by writing it. `tile` is M, N, K of a CTA tile in elements;
    `stages` the depth of the operand ring in shared memory; `accumulators` the number of tiles in tensor memory;
    `cluster` the CTAs of a cluster along M and N. Whether a chip has the room is checked when the kernel is built.
    With 256 rows two CTAs, neighbours along M, multiply together. Two accumulators for which tensor memory is short overlap.

    `static_persistent` gives tile c, c + C, ... to cluster c of the C that the chip runs at once; with
    `cluster_launch_control` a cluster that is done takes over the tile of one that has not been launched. `along` tells in
    which direction a group's tiles are taken: a `row` of the output (the default), or the `short_side` of the group, so that
    operands are read again while they are in the cache. Results do not depend on either.

    `split`, of a `wgrad` alone, is [parts, rows]: a group with more rows than max(R / parts, rows), rounded up to 128, is
    divided into parts of that many, whose sums are added in order. Without it groups are not divided.

    Constraints: `schedule_c1` every extent is positive; `schedule_c2` stages is at most 32 and accumulators at most 2;
    `schedule_c3` split is empty, or 2 to 1024 parts of 1 to 2^30 rows.

    ```mlir
    #grouped_moe.schedule<tile = [128, 256, 128], stages = 4, accumulators = 1, cluster = [1, 1], scheduler = static_persistent>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$tile,
    "int64_t":$stages,
    "int64_t":$accumulators,
    ArrayRefParameter<"int64_t">:$cluster,
    EnumParameter<GroupedMoe_SchedulerKind>:$scheduler,
    DefaultValuedParameter<"::grouped_moe::RasterKind", "::grouped_moe::RasterKind::row">:$raster,
    OptionalArrayRefParameter<"int64_t">:$split);
  let assemblyFormat = [{
    `<` `tile` `=` `[` $tile `]` `,` `stages` `=` $stages `,` `accumulators` `=` $accumulators `,`
        `cluster` `=` `[` $cluster `]` `,` `scheduler` `=` $scheduler (`along` $raster^)? (`,` `split` `=` `[` $split^ `]`)? `>`
  }];
  let genVerifyDecl = 1;
}

#endif // GROUPED_MOE_ATTRS_TD
