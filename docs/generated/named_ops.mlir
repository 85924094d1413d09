// Every named op with every operand, for equations.md: `OP: the names of the region's arguments` stands before each function.

// gemm_quant: acc alpha bias prob
func.func @gemm_quant(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>)
  return
}

// gemm_quant {weighted_bias}: acc alpha bias prob
func.func @gemm_quant_weighted_bias(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>) attributes {weighted_bias}
  return
}

// gemm_quant {round_preactivation}: acc alpha bias prob
func.func @gemm_quant_round_preactivation(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_quant lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>) attributes {round_preactivation}
  return
}

// gemm_swiglu: gate up alpha bias_gate bias_up prob
func.func @gemm_swiglu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x128xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x128xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>)
  return
}

// gemm_geglu: gate up alpha bias_gate bias_up prob
func.func @gemm_geglu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x128xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_geglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x128xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>)
  return
}

// gemm_situglu: gate up alpha bias_gate bias_up prob
func.func @gemm_situglu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x128x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x128xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_situglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x128x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x128xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>)
  return
}

// gemm_srelu: acc alpha bias prob
func.func @gemm_srelu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_srelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>)
  return
}

// gemm_srelu {bound = 8.0 : f32}: acc alpha bias prob
func.func @gemm_srelu_bound___8_0___f32(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %d0: memref<?x64xf32>) {
  grouped_moe.gemm_srelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob) outs(%d0 : memref<?x64xf32>) attributes {bound = 8.0 : f32}
  return
}

// gemm_dswiglu: acc alpha bias prob gate up
func.func @gemm_dswiglu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %c: memref<?x128xf32>, %d0: memref<?x128xf32>, %d1: memref<?xf32>) {
  grouped_moe.gemm_dswiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob, %c : memref<?x128xf32> as c) outs(%d0 : memref<?x128xf32>, %d1 : memref<?xf32> as row_sum)
  return
}

// gemm_dgeglu: acc alpha bias prob gate up
func.func @gemm_dgeglu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %c: memref<?x128xf32>, %d0: memref<?x128xf32>, %d1: memref<?xf32>) {
  grouped_moe.gemm_dgeglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob, %c : memref<?x128xf32> as c) outs(%d0 : memref<?x128xf32>, %d1 : memref<?xf32> as row_sum)
  return
}

// gemm_dsrelu: acc alpha bias prob c
func.func @gemm_dsrelu(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %c: memref<?x64xf32>, %d0: memref<?x64xf32>, %d1: memref<?xf32>, %d2: memref<?x64xf32>) {
  grouped_moe.gemm_dsrelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob, %c : memref<?x64xf32> as c) outs(%d0 : memref<?x64xf32>, %d1 : memref<?xf32> as row_sum, %d2 : memref<?x64xf32> as of activation)
  return
}

// gemm_dsrelu {preactivation = #grouped_moe<preactivation_form c>}: acc alpha bias prob c
func.func @gemm_dsrelu_preactivation____grouped_moe_preactivation_form_c_(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %b: memref<2x64x64xf8E4M3FN>, %sb: memref<2x1x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %alpha: memref<2xf32>, %bias: memref<2x64xf32>, %prob: memref<?xf32>, %c: memref<?x64xf32>, %d0: memref<?x64xf32>, %d1: memref<?xf32>, %d2: memref<?x64xf32>) {
  grouped_moe.gemm_dsrelu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x64x64xf8E4M3FN> scales %sb : memref<2x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) ins(%alpha : memref<2xf32> as alpha, %bias : memref<2x64xf32> as bias, %prob : memref<?xf32> as prob, %c : memref<?x64xf32> as c) outs(%d0 : memref<?x64xf32>, %d1 : memref<?xf32> as row_sum, %d2 : memref<?x64xf32> as of activation) attributes {preactivation = #grouped_moe<preactivation_form c>}
  return
}
