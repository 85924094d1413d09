// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --mlir-print-op-generic | %gmoe-opt | FileCheck %s

// CHECK-LABEL: func.func @matrix
// CHECK-SAME: (%[[Q:.*]]: tensor<?x256xf8E4M3FN>, %[[S:.*]]: tensor<?x2x32x4x4xf8E8M0FNU>, %[[Y0:.*]]: tensor<?x256xf32>)
func.func @matrix(%q: tensor<?x256xf8E4M3FN>, %s: tensor<?x2x32x4x4xf8E8M0FNU>, %y0: tensor<?x256xf32>) -> tensor<?x256xf32> {
  // CHECK: grouped_moe.dequantize ins(%[[Q]] : tensor<?x256xf8E4M3FN> scales %[[S]] : tensor<?x2x32x4x4xf8E8M0FNU>)
  // CHECK-SAME: outs(%[[Y0]] : tensor<?x256xf32>) layout <row, whole, block = 32> -> tensor<?x256xf32>
  %y = grouped_moe.dequantize ins(%q : tensor<?x256xf8E4M3FN> scales %s : tensor<?x2x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x256xf32>) layout <row, whole, block = 32> -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}

// CHECK-LABEL: func.func @weights
func.func @weights(%q: memref<4x128x128xf8E5M2>, %s: memref<4x1x1x32x4x4xf8E8M0FNU>, %y: memref<4x128x128xbf16>) {
  // CHECK: outs(%{{.*}} : memref<4x128x128xbf16>) layout <row, whole, block = 32>{{$}}
  grouped_moe.dequantize ins(%q : memref<4x128x128xf8E5M2> scales %s : memref<4x1x1x32x4x4xf8E8M0FNU>)
      outs(%y : memref<4x128x128xbf16>) layout <row, whole, block = 32>
  return
}
