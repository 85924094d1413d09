// RUN: %gmoe-opt %s --grouped-moe-check-scales -split-input-file -verify-diagnostics

// Of a function argument nothing is known, but its readers have to agree: flow_c5.

// One weight, used as it is and interleaved, by products of one kind.
func.func @weights(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<2x256x64xf8E4M3FN>,
    %s: tensor<2x2x1x32x4x4xf8E8M0FNU>, %w0: tensor<2x256x64xf8E4M3FN>, %s0: tensor<2x2x1x32x4x4xf8E8M0FNU>,
    %o: tensor<2xi32>, %h: tensor<?x128xbf16>)
    -> (tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>, tensor<?x128xbf16>) {
  // expected-note @below {{the other reader is here, side by side}}
  %i, %j = grouped_moe.interleave_glu ins(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32> -> tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: gate and up are read in alternating blocks of 32, but 'grouped_moe.interleave_glu' reads them side by side (flow_c5); make both concatenated, or neither; interleave_glu reorders weights and a bias}}
  %d = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h : tensor<?x128xbf16>)
      -> tensor<?x128xbf16>
  return %i, %j, %d : tensor<2x256x64xf8E4M3FN>, tensor<2x2x1x32x4x4xf8E8M0FNU>, tensor<?x128xbf16>
}

// -----

func.func @weights_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %w: memref<2x256x64xf8E4M3FN>,
    %s: memref<2x2x1x32x4x4xf8E8M0FNU>, %w0: memref<2x256x64xf8E4M3FN>, %s0: memref<2x2x1x32x4x4xf8E8M0FNU>,
    %o: memref<2xi32>, %h: memref<?x128xbf16>) {
  // expected-note @below {{the other reader is here, side by side}}
  grouped_moe.interleave_glu ins(%w : memref<2x256x64xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU>)
      outs(%w0, %s0 : memref<2x256x64xf8E4M3FN>, memref<2x2x1x32x4x4xf8E8M0FNU>) layout <row, whole, block = 32>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: gate and up are read in alternating blocks of 32, but 'grouped_moe.interleave_glu' reads them side by side (flow_c5); make both concatenated, or neither; interleave_glu reorders weights and a bias}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : memref<2x256x64xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%h : memref<?x128xbf16>)
  return
}

// -----

func.func @products(%a: tensor<?x64xf8E4M3FN>, %sa: tensor<?x1x32x4x4xf8E8M0FNU>, %w: tensor<2x256x64xf8E4M3FN>,
    %s: tensor<2x2x1x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %h: tensor<?x128xbf16>, %g: tensor<?x128xbf16>)
    -> (tensor<?x128xbf16>, tensor<?x128xbf16>) {
  // expected-note @below {{the other reader is here, side by side}}
  %d = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%h : tensor<?x128xbf16>) attributes {concatenated}
      -> tensor<?x128xbf16>
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: gate and up are read in alternating blocks of 32, but 'grouped_moe.gemm_swiglu' reads them side by side (flow_c5)}}
  %e = grouped_moe.gemm_swiglu lhs(%a : tensor<?x64xf8E4M3FN> scales %sa : tensor<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : tensor<2x256x64xf8E4M3FN> scales %s : tensor<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%g : tensor<?x128xbf16>)
      -> tensor<?x128xbf16>
  return %d, %e : tensor<?x128xbf16>, tensor<?x128xbf16>
}

// -----

func.func @products_in_memory(%a: memref<?x64xf8E4M3FN>, %sa: memref<?x1x32x4x4xf8E8M0FNU>, %w: memref<2x256x64xf8E4M3FN>,
    %s: memref<2x2x1x32x4x4xf8E8M0FNU>, %o: memref<2xi32>, %h: memref<?x128xbf16>, %g: memref<?x128xbf16>) {
  // expected-note @below {{the other reader is here, side by side}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : memref<2x256x64xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%h : memref<?x128xbf16>) attributes {concatenated}
  // expected-error @below {{'grouped_moe.gemm_swiglu' op rhs: gate and up are read in alternating blocks of 32, but 'grouped_moe.gemm_swiglu' reads them side by side (flow_c5)}}
  grouped_moe.gemm_swiglu lhs(%a : memref<?x64xf8E4M3FN> scales %sa : memref<?x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%w : memref<2x256x64xf8E4M3FN> scales %s : memref<2x2x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<2xi32>) outs(%g : memref<?x128xbf16>)
  return
}

// -----

func.func @layouts(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x?x32x4x4xf8E8M0FNU>, %y0: tensor<?x64xf32>, %z0: tensor<?x64xf32>)
    -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %row = tensor.cast %s : tensor<?x?x32x4x4xf8E8M0FNU> to tensor<?x1x32x4x4xf8E8M0FNU>
  %column = tensor.cast %s : tensor<?x?x32x4x4xf8E8M0FNU> to tensor<1x?x32x4x4xf8E8M0FNU>
  // expected-note @below {{the other reader is here, as #grouped_moe.scale_layout<row, whole, block = 32>}}
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %row : tensor<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : tensor<?x64xf32>) layout <row, whole, block = 32> -> tensor<?x64xf32>
  // expected-error @below {{'grouped_moe.dequantize' op data scales: layout is #grouped_moe.scale_layout<column, whole, block = 32> but 'grouped_moe.dequantize' reads them as #grouped_moe.scale_layout<row, whole, block = 32> (flow_c5); state the same layout, or quantize the matrix in each}}
  %z = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %column : tensor<1x?x32x4x4xf8E8M0FNU>)
      outs(%z0 : tensor<?x64xf32>) layout <column, whole, block = 32> -> tensor<?x64xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

func.func @groups(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %p: tensor<2xi32>,
    %y0: tensor<?x64xf32>, %z0: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  // expected-note @below {{the other reader is here}}
  %y = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU>) offsets(%o : tensor<2xi32>)
      outs(%y0 : tensor<?x64xf32>) layout <column, per_group, block = 32> -> tensor<?x64xf32>
  // expected-error @below {{'grouped_moe.dequantize' op data scales: offsets are others than those with which 'grouped_moe.dequantize' reads them, but in the layout #grouped_moe.scale_layout<column, per_group, block = 32> every group starts new atoms (flow_c5)}}
  %z = grouped_moe.dequantize ins(%q : tensor<?x64xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU>) offsets(%p : tensor<2xi32>)
      outs(%z0 : tensor<?x64xf32>) layout <column, per_group, block = 32> -> tensor<?x64xf32>
  return %y, %z : tensor<?x64xf32>, tensor<?x64xf32>
}

// -----

func.func @layouts_in_memory(%q: memref<?x64xf8E4M3FN>, %s: memref<?x?x32x4x4xf8E8M0FNU>, %y0: memref<?x64xf32>,
    %z0: memref<?x64xf32>) {
  %row = memref.cast %s : memref<?x?x32x4x4xf8E8M0FNU> to memref<?x1x32x4x4xf8E8M0FNU>
  %column = memref.cast %s : memref<?x?x32x4x4xf8E8M0FNU> to memref<1x?x32x4x4xf8E8M0FNU>
  // expected-note @below {{the other reader is here, as #grouped_moe.scale_layout<row, whole, block = 32>}}
  grouped_moe.dequantize ins(%q : memref<?x64xf8E4M3FN> scales %row : memref<?x1x32x4x4xf8E8M0FNU>)
      outs(%y0 : memref<?x64xf32>) layout <row, whole, block = 32>
  // expected-error @below {{'grouped_moe.dequantize' op data scales: layout is #grouped_moe.scale_layout<column, whole, block = 32> but 'grouped_moe.dequantize' reads them as #grouped_moe.scale_layout<row, whole, block = 32> (flow_c5); state the same layout, or quantize the matrix in each}}
  grouped_moe.dequantize ins(%q : memref<?x64xf8E4M3FN> scales %column : memref<1x?x32x4x4xf8E8M0FNU>)
      outs(%z0 : memref<?x64xf32>) layout <column, whole, block = 32>
  return
}

// -----

func.func @groups_in_memory(%q: memref<?x64xf8E4M3FN>, %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<2xi32>,
    %p: memref<2xi32>, %y0: memref<?x64xf32>, %z0: memref<?x64xf32>) {
  // expected-note @below {{the other reader is here}}
  grouped_moe.dequantize ins(%q : memref<?x64xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU>) offsets(%o : memref<2xi32>)
      outs(%y0 : memref<?x64xf32>) layout <column, per_group, block = 32>
  // expected-error @below {{'grouped_moe.dequantize' op data scales: offsets are others than those with which 'grouped_moe.dequantize' reads them, but in the layout #grouped_moe.scale_layout<column, per_group, block = 32> every group starts new atoms (flow_c5)}}
  grouped_moe.dequantize ins(%q : memref<?x64xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU>) offsets(%p : memref<2xi32>)
      outs(%z0 : memref<?x64xf32>) layout <column, per_group, block = 32>
  return
}
