// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// The attributes: layout_c1, schedule_c1, schedule_c2, and their textual form.

// expected-error @below {{scale layout: block is 8 elements, expected 16 or 32 (layout_c1)}}
func.func private @f() attributes {a = #grouped_moe.scale_layout<row, whole, block = 8>}

// -----

// expected-error @below {{scale layout: block is -32 elements, expected 16 or 32 (layout_c1)}}
func.func private @f() attributes {a = #grouped_moe.scale_layout<row, whole, block = -32>}

// -----

// expected-error @below {{expected ::grouped_moe::ScaleDirection to be one of: row, column}}
// expected-error @below {{failed to parse GroupedMoe_ScaleLayoutAttr parameter 'direction'}}
func.func private @f() attributes {a = #grouped_moe.scale_layout<diagonal, whole, block = 32>}

// -----

// expected-error @below {{expected ::grouped_moe::ScaleGrouping to be one of: whole, per_group}}
// expected-error @below {{failed to parse GroupedMoe_ScaleLayoutAttr parameter 'grouping'}}
func.func private @f() attributes {a = #grouped_moe.scale_layout<row, some, block = 32>}

// -----

// expected-error @below {{expected 'block'}}
func.func private @f() attributes {a = #grouped_moe.scale_layout<row, whole, size = 32>}

// -----

// expected-error @below {{expected integer value}}
// expected-error @below {{failed to parse GroupedMoe_ScaleLayoutAttr parameter 'block'}}
func.func private @f() attributes {a = #grouped_moe.scale_layout<row, whole, block = big>}

// -----

// expected-error @below {{expected '<'}}
func.func private @f() attributes {a = #grouped_moe.scale_layout}

// -----

// expected-error @below {{schedule: tile has 2 and cluster has 2 extents, expected 3 (M, N, K) and 2 (M, N) (schedule_c1)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: tile has 3 and cluster has 1 extents, expected 3 (M, N, K) and 2 (M, N) (schedule_c1)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 4, accumulators = 2, cluster = [1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: every extent must be positive (schedule_c1)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 0, 128], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: every extent must be positive (schedule_c1)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 4, accumulators = 2, cluster = [-1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: every extent must be positive (schedule_c1)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 0, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: every extent must be positive (schedule_c1)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 4, accumulators = -1, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: stages is 33 and accumulators is 2, expected at most 32 and at most 2 (schedule_c2)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 33, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{schedule: stages is 4 and accumulators is 3, expected at most 32 and at most 2 (schedule_c2)}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 4, accumulators = 3, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{expected ::grouped_moe::SchedulerKind to be one of: static_persistent}}
// expected-error @below {{failed to parse GroupedMoe_ScheduleAttr parameter 'scheduler'}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, 128, 128], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = dynamic>}

// -----

// expected-error @below {{expected integer value}}
// expected-error @below {{failed to parse GroupedMoe_ScheduleAttr parameter 'tile'}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [128, x, 1], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{expected integer value}}
// expected-error @below {{failed to parse GroupedMoe_ScheduleAttr parameter 'tile'}}
func.func private @f() attributes {a = #grouped_moe.schedule<tile = [], stages = 4, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>}

// -----

// expected-error @below {{unknown attribute `layout` in dialect `grouped_moe`}}
func.func private @f() attributes {a = #grouped_moe.layout<row>}

// -----

func.func @misspelt(%a: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  // expected-error @below {{'grouped_moe.wgrad' op has no attribute 'acumulate' (attributes_c1); did you mean 'accumulate'?}}
  %r = grouped_moe.wgrad lhs(%a : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%a : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%d : tensor<2x64x64xf32>) attributes {acumulate} -> tensor<2x64x64xf32>
  return %r : tensor<2x64x64xf32>
}

// -----

func.func @foreign(%x: tensor<?x64xf32>, %q: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error @below {{'grouped_moe.quantize' op has no attribute 'color' (attributes_c1); drop it, or give it the prefix of a dialect}}
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil {color} -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @prefixed(%x: tensor<?x64xf32>, %q: tensor<?x64xf8E4M3FN>, %s: tensor<?x1x32x4x4xf8E8M0FNU>) {
  %r:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q, %s : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil {mine.color} -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

// expected-error @below {{'func.func' op grouped_moe.expected_rows is array<i64: 200, -1>, expected rows of groups: array<i64: ...>, at least one, each 0 to 2^31 - 1 (attributes_c2)}}
func.func @rows() attributes {grouped_moe.expected_rows = array<i64: 200, -1>} {
  return
}

// -----

// expected-error @below {{'func.func' op has no attribute "grouped_moe.expected_row", expected grouped_moe.expected_rows (attributes_c2)}}
func.func @misspelt() attributes {grouped_moe.expected_row = array<i64: 200>} {
  return
}
