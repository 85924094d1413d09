// RUN: %gmoe-opt %s | FileCheck %s

// The examples of the named ops' descriptions.

// CHECK-COUNT-8: = grouped_moe.gemm_

func.func @e0(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x256x256xf8E4M3FN>, %sfb: tensor<4x2x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %c: tensor<?x512xbf16>, %d0: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %d = grouped_moe.gemm_dgeglu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sfb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob, %c : tensor<?x512xbf16> as c)
    outs(%d0 : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %d : tensor<?x512xbf16>
}

func.func @e1(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x256x256xf8E4M3FN>, %sfb: tensor<4x2x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %c: tensor<?x256xbf16>, %d0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %d = grouped_moe.gemm_dsrelu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sfb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob, %c : tensor<?x256xbf16> as c)
    outs(%d0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}

func.func @e2(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x256x256xf8E4M3FN>, %sfb: tensor<4x2x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %c: tensor<?x512xbf16>, %d0: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %d = grouped_moe.gemm_dswiglu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sfb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob, %c : tensor<?x512xbf16> as c)
    outs(%d0 : tensor<?x512xbf16>) -> tensor<?x512xbf16>
  return %d : tensor<?x512xbf16>
}

func.func @e3(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x512x256xf8E4M3FN>, %sfb: tensor<4x4x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %d0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %d = grouped_moe.gemm_geglu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob)
    outs(%d0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}

func.func @e4(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x256x256xf8E4M3FN>, %sfb: tensor<4x2x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %d0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %d = grouped_moe.gemm_quant
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sfb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob)
    outs(%d0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}

func.func @e5(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x512x256xf8E4M3FN>, %sfb: tensor<4x4x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %d0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %d = grouped_moe.gemm_situglu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob)
    outs(%d0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}

func.func @e6(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x256x256xf8E4M3FN>, %sfb: tensor<4x2x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %d0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %d = grouped_moe.gemm_srelu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x256x256xf8E4M3FN> scales %sfb : tensor<4x2x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob)
    outs(%d0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}

func.func @e7(%a: tensor<?x256xf8E4M3FN>, %sfa: tensor<?x2x32x4x4xf8E8M0FNU>, %b: tensor<4x512x256xf8E4M3FN>, %sfb: tensor<4x4x2x32x4x4xf8E8M0FNU>, %offsets: tensor<4xi32>, %prob: tensor<?xf32>, %d0: tensor<?x256xbf16>) -> tensor<?x256xbf16> {
  %d = grouped_moe.gemm_swiglu
    lhs(%a : tensor<?x256xf8E4M3FN> scales %sfa : tensor<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    rhs(%b : tensor<4x512x256xf8E4M3FN> scales %sfb : tensor<4x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
    offsets(%offsets : tensor<4xi32>)
    ins(%prob : tensor<?xf32> as prob)
    outs(%d0 : tensor<?x256xbf16>) -> tensor<?x256xbf16>
  return %d : tensor<?x256xbf16>
}
