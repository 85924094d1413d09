// Scales along rows, by groups: generated data, offsets that break their contract, a product's scales that are read back.

// RUN: gmoe-compile %s -o %t.gmoe 2>&1 | count 0
// RUN: gmoe-run %t.gmoe --entry=there_and_back --device=emulator --check --check-inputs --tolerance=bitwise --hazards=full | FileCheck %s
// RUN: gmoe-run %t.gmoe --entry=there_and_back --device=emulator --arg 1=offsets:32,32,256,288 --rows 333 --check --tolerance=bitwise
// RUN: gmoe-run %t.gmoe --entry=there_and_back --device=emulator --arg 1=offsets:0,0,0,0 --rows 0 --check --tolerance=bitwise
// RUN: not gmoe-run %t.gmoe --entry=there_and_back --device=emulator --arg 1=offsets:0,40,256,288 --check-inputs 2>&1 | FileCheck %s --check-prefix=ALIGNED
// RUN: gmoe-run %t.gmoe --entry=back --device=emulator --check --check-inputs --tolerance=bitwise
// RUN: gmoe-run %t.gmoe --entry=of_product --device=emulator --check --tolerance=bitwise
// ALIGNED: 40

// CHECK: argument #2 {{.*}}f4E2M1FN {{.*}} passed
// CHECK: argument #3 {{.*}}f8E4M3FN {{.*}} passed
// CHECK: argument #4 {{.*}}bf16 {{.*}} passed
func.func @there_and_back(%x: memref<?x192xf32>, %o: memref<4xi32>, %q: memref<?x192xf4E2M1FN>, %s: memref<?x32x4x4xf8E4M3FN>,
    %y: memref<?x192xbf16>) {
  grouped_moe.quantize ins(%x : memref<?x192xf32>) offsets(%o : memref<4xi32>)
      outs(%q, %s : memref<?x192xf4E2M1FN>, memref<?x32x4x4xf8E4M3FN>)
      layout <row, per_group, block = 16> rounding nearest {m_aligned = 32 : i64}
  grouped_moe.dequantize ins(%q : memref<?x192xf4E2M1FN> scales %s : memref<?x32x4x4xf8E4M3FN>) offsets(%o : memref<4xi32>)
      outs(%y : memref<?x192xbf16>) layout <row, per_group, block = 16> {m_aligned = 32 : i64}
  return
}

func.func @back(%q: memref<?x96xf8E5M2>, %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<4xi32>, %y: memref<?x96xf32>) {
  grouped_moe.dequantize ins(%q : memref<?x96xf8E5M2> scales %s : memref<?x32x4x4xf8E8M0FNU>) offsets(%o : memref<4xi32>)
      outs(%y : memref<?x96xf32>) layout <row, per_group, block = 32> {m_aligned = 32 : i64}
  return
}

// The layout of a product's row_group_scales.
func.func @of_product(%a: tensor<?x128xf8E4M3FN>, %sfa: tensor<?x1x32x4x4xf8E8M0FNU>, %b: tensor<3x128x128xf8E4M3FN>,
    %sfb: tensor<3x1x1x32x4x4xf8E8M0FNU>, %o: tensor<3xi32>, %q0: tensor<?x128xf4E2M1FN>, %s0: tensor<?x32x4x4xf8E4M3FN>,
    %y0: tensor<?x128xf32>) -> tensor<?x128xf32> {
  %q, %s = grouped_moe.gemm
      lhs(%a : tensor<?x128xf8E4M3FN> scales %sfa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x128x128xf8E4M3FN> scales %sfb : tensor<3x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<3xi32>)
      outs(%q0 : tensor<?x128xf4E2M1FN> as quantized, %s0 : tensor<?x32x4x4xf8E4M3FN> as row_group_scales_nearest)
      attributes {m_aligned = 128 : i64} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  } -> tensor<?x128xf4E2M1FN>, tensor<?x32x4x4xf8E4M3FN>
  %y = grouped_moe.dequantize ins(%q : tensor<?x128xf4E2M1FN> scales %s : tensor<?x32x4x4xf8E4M3FN>) offsets(%o : tensor<3xi32>)
      outs(%y0 : tensor<?x128xf32>) layout <row, per_group, block = 16> {m_aligned = 128 : i64} -> tensor<?x128xf32>
  return %y : tensor<?x128xf32>
}
