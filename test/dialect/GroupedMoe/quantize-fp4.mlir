// RUN: %gmoe-opt %s | %gmoe-opt | FileCheck %s

// FP4 data along rows, in its three formats of scales.

// CHECK-LABEL: func @e8m0_32
// CHECK: quantize ins(%{{.*}} : tensor<?x192xbf16>) outs({{.*}} : tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32> rounding floor
// CHECK: dequantize ins(%{{.*}} : tensor<?x192xf4E2M1FN> scales %{{.*}} : tensor<?x2x32x4x4xf8E8M0FNU>)
func.func @e8m0_32(%x: tensor<?x192xbf16>, %q0: tensor<?x192xf4E2M1FN>, %s0: tensor<?x2x32x4x4xf8E8M0FNU>) -> tensor<?x192xbf16> {
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x192xbf16>)
      outs(%q0, %s0 : tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor -> tensor<?x192xf4E2M1FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %y = grouped_moe.dequantize ins(%q : tensor<?x192xf4E2M1FN> scales %s : tensor<?x2x32x4x4xf8E8M0FNU>)
      outs(%x : tensor<?x192xbf16>) layout <row, whole, block = 32> -> tensor<?x192xbf16>
  return %y : tensor<?x192xbf16>
}

// CHECK-LABEL: func @e8m0_16
// CHECK: layout <row, whole, block = 16> rounding rceil
func.func @e8m0_16(%x: memref<2x130x64xf16>, %q: memref<2x130x64xf4E2M1FN>, %s: memref<2x2x1x32x4x4xf8E8M0FNU>) {
  grouped_moe.quantize ins(%x : memref<2x130x64xf16>) outs(%q, %s : memref<2x130x64xf4E2M1FN>, memref<2x2x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 16> rounding rceil
  grouped_moe.dequantize ins(%q : memref<2x130x64xf4E2M1FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%x : memref<2x130x64xf16>) layout <row, whole, block = 16>
  return
}

// CHECK-LABEL: func @e4m3_16
// CHECK: layout <row, whole, block = 16> rounding nearest
func.func @e4m3_16(%x: memref<?x64xf32>, %q: memref<?x64xf4E2M1FN>, %s: memref<?x1x32x4x4xf8E4M3FN>) {
  grouped_moe.quantize ins(%x : memref<?x64xf32>) outs(%q, %s : memref<?x64xf4E2M1FN>, memref<?x1x32x4x4xf8E4M3FN>)
      layout <row, whole, block = 16> rounding nearest
  grouped_moe.dequantize ins(%q : memref<?x64xf4E2M1FN> scales %s : memref<?x1x32x4x4xf8E4M3FN>)
      outs(%x : memref<?x64xf32>) layout <row, whole, block = 16>
  return
}
