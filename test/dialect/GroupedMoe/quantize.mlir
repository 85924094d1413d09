// RUN: %gmoe-opt %s | FileCheck %s
// RUN: %gmoe-opt %s --mlir-print-op-generic | %gmoe-opt | FileCheck %s

// CHECK-LABEL: func.func @matrix
// CHECK-SAME: (%[[X:.*]]: tensor<?x256xf32>, %[[Q0:.*]]: tensor<?x256xf8E4M3FN>, %[[S0:.*]]: tensor<?x2x32x4x4xf8E8M0FNU>)
func.func @matrix(%x: tensor<?x256xf32>, %q0: tensor<?x256xf8E4M3FN>, %s0: tensor<?x2x32x4x4xf8E8M0FNU>)
    -> (tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>) {
  // CHECK: grouped_moe.quantize ins(%[[X]] : tensor<?x256xf32>)
  // CHECK-SAME: outs(%[[Q0]], %[[S0]] : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
  // CHECK-SAME: layout <row, whole, block = 32> rounding rceil -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<?x256xf32>)
      outs(%q0, %s0 : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
  return %q, %s : tensor<?x256xf8E4M3FN>, tensor<?x2x32x4x4xf8E8M0FNU>
}

// Rank 3: one atom grid for each group. 200 rows make 2 atoms, 160 columns make 5 blocks in 2 atoms.
// CHECK-LABEL: func.func @weights
func.func @weights(%w: memref<4x200x160xbf16>, %q: memref<4x200x160xf8E5M2>, %s: memref<4x2x2x32x4x4xf8E8M0FNU>) {
  // CHECK: layout <row, whole, block = 32> rounding floor{{$}}
  grouped_moe.quantize ins(%w : memref<4x200x160xbf16>)
      outs(%q, %s : memref<4x200x160xf8E5M2>, memref<4x2x2x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding floor
  return
}

// CHECK-LABEL: func.func @static_rows
func.func @static_rows(%x: memref<300x32xf16>, %q: memref<300x32xf8E4M3FN>, %s: memref<3x1x32x4x4xf8E8M0FNU>) {
  // CHECK: grouped_moe.quantize ins(%{{.*}} : memref<300x32xf16>)
  grouped_moe.quantize ins(%x : memref<300x32xf16>)
      outs(%q, %s : memref<300x32xf8E4M3FN>, memref<3x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return
}

// A strided view is a matrix too; no rows are a matrix of no rows.
// CHECK-LABEL: func.func @views
func.func @views(%x: memref<?x64xf32, strided<[128, 1], offset: ?>>, %q: memref<?x64xf8E4M3FN>,
    %s: memref<?x1x32x4x4xf8E8M0FNU>, %e: memref<0x64xf32>, %eq: memref<0x64xf8E4M3FN>, %es: memref<0x1x32x4x4xf8E8M0FNU>) {
  // CHECK: grouped_moe.quantize ins(%{{.*}} : memref<?x64xf32, strided<[128, 1], offset: ?>>)
  grouped_moe.quantize ins(%x : memref<?x64xf32, strided<[128, 1], offset: ?>>)
      outs(%q, %s : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  // CHECK: grouped_moe.quantize ins(%{{.*}} : memref<0x64xf32>)
  grouped_moe.quantize ins(%e : memref<0x64xf32>)
      outs(%eq, %es : memref<0x64xf8E4M3FN>, memref<0x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return
}
