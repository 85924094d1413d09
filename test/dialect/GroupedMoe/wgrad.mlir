// RUN: gmoe-opt %s | gmoe-opt | FileCheck %s
// RUN: gmoe-opt %s --mlir-print-op-generic | gmoe-opt | FileCheck %s

!dy = tensor<?x256xf8E4M3FN>
!x = tensor<?x512xf8E5M2>
!sf = tensor<?x32x4x4xf8E8M0FNU>

// Without a region the value is the accumulator, and nothing is printed.
// CHECK-LABEL: func.func @plain
// CHECK: grouped_moe.wgrad lhs(%{{[^ ]*}} : tensor<?x256xf8E4M3FN> scales %{{[^ ]*}} : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
// CHECK-SAME: rhs(%{{[^ ]*}} : tensor<?x512xf8E5M2> scales %{{[^ ]*}} : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
// CHECK-SAME: offsets(%{{[^ ]*}} : tensor<4xi32>) outs(%{{[^ ]*}} : tensor<4x256x512xbf16>) attributes {m_aligned = 32 : i64} -> tensor<4x256x512xbf16>
func.func @plain(%dy: !dy, %sdy: !sf, %x: !x, %sx: !sf, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  %dw = grouped_moe.wgrad lhs(%dy : !dy scales %sdy : !sf layout <column, per_group, block = 32>)
      rhs(%x : !x scales %sx : !sf layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 32 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// CHECK-LABEL: func.func @region
// CHECK: ins(%{{[^ ]*}} : tensor<4xf32> as per_group, %{{[^ ]*}} : tensor<4x256x512xf16> as per_element)
// CHECK-SAME: outs(%{{[^ ]*}} : tensor<4x256x512xbf16>, %{{[^ ]*}} : tensor<4x256x512xf32>) epilogue {
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[AL:.*]]: f32, %[[C:.*]]: f32):
// CHECK: } -> tensor<4x256x512xbf16>, tensor<4x256x512xf32>
func.func @region(%dy: !dy, %sdy: !sf, %x: !x, %sx: !sf, %o: tensor<4xi32>, %al: tensor<4xf32>, %c: tensor<4x256x512xf16>,
    %d0: tensor<4x256x512xbf16>, %e0: tensor<4x256x512xf32>) -> (tensor<4x256x512xbf16>, tensor<4x256x512xf32>) {
  %d:2 = grouped_moe.wgrad lhs(%dy : !dy scales %sdy : !sf layout <column, per_group, block = 32>)
      rhs(%x : !x scales %sx : !sf layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      ins(%al : tensor<4xf32> as per_group, %c : tensor<4x256x512xf16> as per_element)
      outs(%d0 : tensor<4x256x512xbf16>, %e0 : tensor<4x256x512xf32>) epilogue {
  ^bb0(%acc: f32, %a: f32, %b: f32):
    %0 = arith.mulf %acc, %a : f32
    %1 = arith.addf %0, %b : f32
    grouped_moe.yield %1, %0 : f32, f32
  } -> tensor<4x256x512xbf16>, tensor<4x256x512xf32>
  return %d#0, %d#1 : tensor<4x256x512xbf16>, tensor<4x256x512xf32>
}

// Stored transposed, added to arrays of their own.
// CHECK-LABEL: func.func @addresses
// CHECK: outs(%{{[^ ]*}} : memref<4xi64>) attributes {accumulate, lhs_transposed, pointee = f32, rhs_transposed, schedule = #grouped_moe.schedule<{{.*}}, split = [4, 128]>}
func.func @addresses(%dy: memref<256x?xf8E4M3FN>, %sdy: memref<?x32x4x4xf8E8M0FNU>, %x: memref<512x?xf8E4M3FN>,
    %sx: memref<?x32x4x4xf8E8M0FNU>, %o: memref<4xi32>, %p: memref<4xi64>) {
  grouped_moe.wgrad lhs(%dy : memref<256x?xf8E4M3FN> scales %sdy : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<512x?xf8E4M3FN> scales %sx : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : memref<4xi32>) outs(%p : memref<4xi64>)
      attributes {accumulate, lhs_transposed, rhs_transposed, pointee = f32,
        schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 3, accumulators = 2, cluster = [1, 1], scheduler = static_persistent, split = [4, 128]>}
  return
}

// Scales of static shape: floor(R / 128) + L atoms of rows where groups start anywhere.
// CHECK-LABEL: func.func @static
func.func @static(%dy: tensor<320x160xf8E4M3FN>, %sdy: tensor<10x32x4x4xf8E8M0FNU>, %x: tensor<320x16xf8E4M3FN>,
    %sx: tensor<5x32x4x4xf8E8M0FNU>, %o: tensor<3xi32>, %d0: tensor<3x160x16xf32>) -> tensor<3x160x16xf32> {
  %d = grouped_moe.wgrad lhs(%dy : tensor<320x160xf8E4M3FN> scales %sdy : tensor<10x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<320x16xf8E4M3FN> scales %sx : tensor<5x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : tensor<3xi32>) outs(%d0 : tensor<3x160x16xf32>) attributes {m_aligned = 32 : i64} -> tensor<3x160x16xf32>
  return %d : tensor<3x160x16xf32>
}
