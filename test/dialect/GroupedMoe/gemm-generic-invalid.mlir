// RUN: %gmoe-opt %s -split-input-file -verify-diagnostics

// The grouped product in generic form, where attributes, segments and regions can be anything.

func.func @kinds_count(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op has 1 inputs and 2 input kinds (gemm_c8)}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1, 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @kinds_empty(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op has 1 inputs and 0 input kinds (gemm_c8)}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @unknown_input_kind(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: unknown kind 77 (gemm_c8)}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 77>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @negative_input_kind(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op input #0: unknown kind -1 (gemm_c8)}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: -1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @output_kinds_count(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op has 1 outputs and 0 output kinds (gemm_c9)}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @unknown_output_kind(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op output #0: unknown kind 55 (gemm_c9)}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 55>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @no_layout_property(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op requires attribute 'lhs_layout'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @no_input_kinds(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op requires attribute 'input_kinds'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @no_output_kinds(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op requires attribute 'output_kinds'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @layout_of_another_type(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{Invalid attribute `rhs_layout` in property conversion: 3 : i32}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = 3 : i32,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @kinds_of_another_type(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{Invalid attribute `input_kinds` in property conversion: [1]}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = [1], output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @schedule_of_another_type(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{Invalid attribute `schedule` in property conversion: unit}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>, schedule = unit}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @segments(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op operand count (7) does not match with the total size (8) specified in attribute 'operandSegmentSizes'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 2, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @segments_count(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{size mismatch in attribute conversion: 2 vs 8}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @no_segments(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op operand count (7) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @no_region(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op requires one region}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}>  : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @two_regions(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op requires one region}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  }, {
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @empty_region(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op region #0 ('epilogue') failed to verify constraint: region with 1 blocks}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @no_terminator(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op expects a non-empty block}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32):
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @unranked(%a: memref<*xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: memref<?xf32>, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op operand #0 must be ranked tensor or strided memref, but got 'memref<*xf8E4M3FN>'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<*xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, memref<?xf32>, memref<?x48xf32>) -> ()
  return
}

// -----

func.func @scalar(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x48x64xf8E4M3FN>,
    %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %p: f32, %d: memref<?x48xf32>) {
  // expected-error @below {{'grouped_moe.gemm' op operand #5 must be variadic of ranked tensor or strided memref, but got 'f32'}}
  "grouped_moe.gemm"(%a, %sa, %b, %sb, %o, %p, %d) <{
    lhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>, rhs_layout = #grouped_moe.scale_layout<row, whole, block = 32>,
    input_kinds = array<i32: 1>, output_kinds = array<i32: 0>, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0, 1, 1>}> ({
  ^bb0(%acc: f32, %x: f32): "grouped_moe.yield"(%acc) : (f32) -> ()
  }) : (memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>, memref<2x48x64xf8E4M3FN>,
      memref<2x1x1x32x4x4xf8E8M0FNU>, memref<2xi32>, f32, memref<?x48xf32>) -> ()
  return
}
