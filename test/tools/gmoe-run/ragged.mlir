// Groups that may start at any row do, in generated offsets; what breaks a promise is found on request.

// Sizes 67, 0, 134 and 67: more than one tile, and none that ends with one.
// RUN: gmoe-run %s --device=reference --entry=anywhere --result 0=%t.npy | FileCheck %s --check-prefix=ANYWHERE
// ANYWHERE: result #0{{ *}}[268, 64]
// RUN: gmoe-run %s --device=reference --entry=anywhere --rows 100 | FileCheck %s --check-prefix=ROWS
// ROWS: result #0{{ *}}[100, 64]
// RUN: gmoe-run %s --device=emulator --entry=anywhere --check --check-inputs --arg 4=offsets:5,6,6,200 --rows 230
// Sizes 32, 0, 64 and 32.
// RUN: gmoe-run %s --device=emulator --entry=by_warps --check --check-inputs | FileCheck %s --check-prefix=WARPS
// WARPS: result #0{{ *}}[128, 64]

// RUN: not gmoe-run %s --device=emulator --entry=by_warps --check-inputs --arg 4=offsets:32,40,64,96 2>&1 | FileCheck %s --check-prefix=PROMISE
// RUN: not gmoe-run %s --device=reference --entry=by_warps --arg 4=offsets:32,40,64,96 2>&1 | FileCheck %s --check-prefix=PROMISE
// PROMISE: 40{{.*}}32
// RUN: not gmoe-run %s --device=emulator --entry=anywhere --check-inputs --arg 4=offsets:7,6,9,9 --rows 9 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: 6{{.*}}7

func.func @anywhere(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x32x4x4xf8E8M0FNU>, %b: tensor<4x64x64xf8E4M3FN>,
    %sb: tensor<4x1x1x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %d: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = grouped_moe.gemm_quant lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<4x64x64xf8E4M3FN> scales %sb : tensor<4x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<4xi32>) outs(%d : tensor<?x64xbf16>) attributes {m_aligned = 1 : i64} -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}

func.func @by_warps(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x32x4x4xf8E8M0FNU>, %b: tensor<4x64x64xf8E4M3FN>,
    %sb: tensor<4x1x1x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %d: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %r = grouped_moe.gemm_quant lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%b : tensor<4x64x64xf8E4M3FN> scales %sb : tensor<4x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<4xi32>) outs(%d : tensor<?x64xbf16>) attributes {m_aligned = 32 : i64} -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}
