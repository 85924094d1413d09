// Destinations of every kind: shapes for R rows, data made up for pairs and norm_const, packed FP4.

// RUN: gmoe-run %s --device=reference --entry=tensors --check | FileCheck %s --check-prefix=TABLE
// RUN: gmoe-run %s --device=reference --entry=tensors --rows 700 --check | FileCheck %s --check-prefix=ROWS
// RUN: gmoe-run %s --device=reference --entry=tensors --rows 0 --check | FileCheck %s --check-prefix=NONE
// RUN: gmoe-run %s --device=reference --entry=memrefs --arg 5=const:0.5 --check | FileCheck %s --check-prefix=MEMREFS

// Kernels compute the same bytes; also of zeros, which c * 2^127 must not make NaN.
// RUN: gmoe-run %s --device=emulator --entry=tensors --check --tolerance=bitwise | FileCheck %s --check-prefix=TABLE
// RUN: gmoe-run %s --device=emulator --entry=memrefs --arg 0=const:0 --arg 5=const:2 --check --tolerance=bitwise

// A file of packed FP4 comes back as a destination.
// RUN: gmoe-run %s --device=reference --entry=memrefs --result 4=%t.fp4.npy
// RUN: gmoe-run %s --device=reference --entry=memrefs --arg 12=%t.fp4.npy --result 4=%t.again.npy
// RUN: cmp %t.fp4.npy %t.again.npy
// RUN: not gmoe-run %s --device=reference --entry=memrefs --rows 512 --arg 12=%t.fp4.npy 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: --rows 512: the arguments have 384 rows

// Groups of 128, 0 and 256 rows; 192 columns of pairs.
// TABLE: result #0 [384, 192] f8E4M3FN 0 inf yes passed
// TABLE-NEXT: result #1 [2, 3, 32, 4, 4] f8E8M0FNU 0 inf yes passed
// TABLE-NEXT: result #2 [384, 192] f8E4M3FN 0 inf yes passed
// TABLE-NEXT: result #3 [6, 32, 4, 4] f8E8M0FNU 0 inf yes passed
// TABLE-NEXT: result #4 [384, 96] f4E2M1FN 0 inf yes passed
// TABLE-NEXT: result #5 [3, 2, 32, 4, 4] f8E4M3FN 0 inf yes passed
// TABLE-NEXT: result #6 [384] f32 0 inf yes passed
// TABLE-NEXT: result #7 [3, 192] bf16 0 inf yes passed
// TABLE-NEXT: result #8 [3, 2] f32 0 inf yes passed

// ROWS: result #1 [2, 6, 32, 4, 4]
// ROWS: result #3 [12, 32, 4, 4]
// ROWS: result #5 [6, 2, 32, 4, 4]
// ROWS: result #6 [700]
// NONE: result #1 [2, 0, 32, 4, 4]
// NONE: result #3 [0, 32, 4, 4]
// NONE: result #8 [3, 2] f32 0 inf yes passed
func.func @tensors(%a: tensor<?x64xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<3x192x64xf8E4M3FN>,
    %sfb: tensor<3x2x1x32x4x4xf8E8M0FNU>, %offsets: tensor<3xi32>, %norm: tensor<3xf32>, %bias: tensor<3x192xf32>,
    %c: tensor<?x192xbf16>, %q0: tensor<?x192xf8E4M3FN>, %s0: tensor<2x?x32x4x4xf8E8M0FNU>,
    %q1: tensor<?x192xf8E4M3FN>, %s1: tensor<?x32x4x4xf8E8M0FNU>, %q2: tensor<?x96xf4E2M1FN>,
    %s2: tensor<?x2x32x4x4xf8E4M3FN>, %sum0: tensor<?xf32>, %dbias0: tensor<3x192xbf16>, %amax0: tensor<3x2xf32>)
    -> (tensor<?x192xf8E4M3FN>, tensor<2x?x32x4x4xf8E8M0FNU>, tensor<?x192xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>,
        tensor<?x96xf4E2M1FN>, tensor<?x2x32x4x4xf8E4M3FN>, tensor<?xf32>, tensor<3x192xbf16>, tensor<3x2xf32>) {
  %r:9 = grouped_moe.gemm
      lhs(%a : tensor<?x64xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x192x64xf8E4M3FN> scales %sfb : tensor<3x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>) norm_const(%norm : tensor<3xf32>)
      ins(%bias : tensor<3x192xf32> as per_group_column, %c : tensor<?x192xbf16> as per_element)
      outs(%q0 : tensor<?x192xf8E4M3FN> as quantized, %s0 : tensor<2x?x32x4x4xf8E8M0FNU> as column_scales_rceil,
           %q1 : tensor<?x192xf8E4M3FN> as quantized, %s1 : tensor<?x32x4x4xf8E8M0FNU> as column_group_scales_floor,
           %q2 : tensor<?x96xf4E2M1FN> as quantized, %s2 : tensor<?x2x32x4x4xf8E4M3FN> as row_scales_nearest,
           %sum0 : tensor<?xf32> as row_sum, %dbias0 : tensor<3x192xbf16> as group_column_sum,
           %amax0 : tensor<3x2xf32> as group_amax)
      attributes {m_aligned = 128 : i64, paired} epilogue {
  ^bb0(%gate: f32, %up: f32, %gb: f32, %ub: f32, %gc: f32, %uc: f32):
    %g = arith.addf %gate, %gb : f32
    %u = arith.addf %up, %uc : f32
    %h = arith.addf %g, %u : f32
    grouped_moe.yield %g, %u, %u, %g, %h, %h, %g, %u, %g, %u : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  } -> tensor<?x192xf8E4M3FN>, tensor<2x?x32x4x4xf8E8M0FNU>, tensor<?x192xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>,
       tensor<?x96xf4E2M1FN>, tensor<?x2x32x4x4xf8E4M3FN>, tensor<?xf32>, tensor<3x192xbf16>, tensor<3x2xf32>
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8 : tensor<?x192xf8E4M3FN>,
      tensor<2x?x32x4x4xf8E8M0FNU>, tensor<?x192xf8E4M3FN>, tensor<?x32x4x4xf8E8M0FNU>, tensor<?x96xf4E2M1FN>,
      tensor<?x2x32x4x4xf8E4M3FN>, tensor<?xf32>, tensor<3x192xbf16>, tensor<3x2xf32>
}

// MEMREFS: argument #8 [384, 128] f8E5M2 0 inf yes passed
// MEMREFS-NEXT: argument #9 [3, 1, 32, 4, 4] f8E8M0FNU 0 inf yes passed
// MEMREFS-NEXT: argument #10 [384, 128] f8E5M2 0 inf yes passed
// MEMREFS-NEXT: argument #11 [3, 32, 4, 4] f8E8M0FNU 0 inf yes passed
// MEMREFS-NEXT: argument #12 [384, 128] f4E2M1FN 0 inf yes passed
// MEMREFS-NEXT: argument #13 [6, 32, 4, 4] f8E4M3FN 0 inf yes passed
// MEMREFS-NEXT: argument #14 [3] f32 0 inf yes passed
func.func @memrefs(%a: memref<?x32xf8E5M2>, %sfa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<3x128x32xf8E5M2>,
    %sfb: memref<3x1x1x32x4x4xf8E8M0FNU>, %offsets: memref<3xi32>, %norm: memref<1xf32>, %prob: memref<?xf32>,
    %alpha: memref<3xf32>, %q0: memref<?x128xf8E5M2>, %s0: memref<?x1x32x4x4xf8E8M0FNU>, %q1: memref<?x128xf8E5M2>,
    %s1: memref<?x32x4x4xf8E8M0FNU>, %q2: memref<?x128xf4E2M1FN>, %s2: memref<?x32x4x4xf8E4M3FN>,
    %amax: memref<3xf32>) {
  grouped_moe.gemm
      lhs(%a : memref<?x32xf8E5M2> scales %sfa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<3x128x32xf8E5M2> scales %sfb : memref<3x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<3xi32>) norm_const(%norm : memref<1xf32>)
      ins(%prob : memref<?xf32> as per_row, %alpha : memref<3xf32> as per_group)
      outs(%q0 : memref<?x128xf8E5M2> as quantized, %s0 : memref<?x1x32x4x4xf8E8M0FNU> as row_scales_floor,
           %q1 : memref<?x128xf8E5M2> as quantized, %s1 : memref<?x32x4x4xf8E8M0FNU> as row_group_scales_rceil,
           %q2 : memref<?x128xf4E2M1FN> as quantized, %s2 : memref<?x32x4x4xf8E4M3FN> as row_group_scales_nearest,
           %amax : memref<3xf32> as group_amax)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32, %p: f32, %al: f32):
    %x = arith.mulf %acc, %al : f32
    %y = arith.mulf %x, %p : f32
    grouped_moe.yield %y, %y, %y, %y : f32, f32, f32, f32
  }
  return
}
