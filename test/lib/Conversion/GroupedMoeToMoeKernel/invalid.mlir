// RUN: gmoe-opt %s --split-input-file --verify-diagnostics --grouped-moe-convert-to-kernel

func.func @unscheduled(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{has no schedule: run --grouped-moe-select-schedule, or write one}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
       epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @pair(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{schedule: tile is 256x128x128 and cluster 1x1, expected a cluster of 1x1, 2x1, 4x1 or 2x2 CTAs, of at least two along M for a tile of 256 rows (schedule_c4)}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [256, 128, 128], stages = 1, accumulators = 1, cluster = [1, 1], scheduler = static_persistent along row>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @huge(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{schedule: tile is 4611686018427387904x128x128 and cluster 1x1, expected}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [4611686018427387904, 128, 128], stages = 1, accumulators = 1, cluster = [1, 1], scheduler = static_persistent along row>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @crowd(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{expected a cluster of 1x1, 2x1, 4x1 or 2x2 CTAs}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 1, accumulators = 1, cluster = [2147483648, 8589934592], scheduler = static_persistent along row>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @tiles(%x: memref<?x131072xf8E4M3FN>, %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<1xi32>, %d: memref<1x131072x131072xf32>) {
  // expected-error@+1 {{schedule: 4294967296 clusters of 1 tiles, expected at most 2^31 - 1 tiles (wgrad_c2); use larger tiles, or fewer parts}}
  grouped_moe.wgrad
      lhs(%x : memref<?x131072xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x131072xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : memref<1xi32>) outs(%d : memref<1x131072x131072xf32>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 64, 128], stages = 2, accumulators = 1, cluster = [1, 1], scheduler = static_persistent along row, split = [1024, 1]>}
  return
}

// -----

func.func @tensors(%x: tensor<?x64xf32>, %q: tensor<?x64xf8E4M3FN>, %sf: tensor<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error@+1 {{operand #0 is of type 'tensor<?x64xf32>', expected a memref: bufferize before this pass}}
  %0:2 = grouped_moe.quantize ins(%x : tensor<?x64xf32>) outs(%q, %sf : tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x64xf8E4M3FN>, tensor<?x1x32x4x4xf8E8M0FNU>
  return
}

// -----

func.func @strided(%x: memref<?x64xf32, strided<[128, 1]>>, %q: memref<?x64xf8E4M3FN>, %sf: memref<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error@+1 {{expected a dense row-major memref; copy it to one first}}
  grouped_moe.quantize ins(%x : memref<?x64xf32, strided<[128, 1]>>) outs(%q, %sf : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return
}

// -----

func.func @threads(%w: memref<512x8192x8192xf8E4M3FN>, %w0: memref<512x8192x8192xf8E4M3FN>) {
  // expected-error@+1 {{takes 2147483648 threads, expected at most 2147483647; interleave fewer groups at a time}}
  grouped_moe.interleave_glu ins(%w : memref<512x8192x8192xf8E4M3FN>) outs(%w0 : memref<512x8192x8192xf8E4M3FN>)
  return
}

// -----

func.func @space(%x: memref<?x64xf32, 3>, %q: memref<?x64xf8E4M3FN>, %sf: memref<?x1x32x4x4xf8E8M0FNU>) {
  // expected-error@+1 {{operand #0 is of type 'memref<?x64xf32, 3>', expected a memref without a memory space: kernels take global memory}}
  grouped_moe.quantize ins(%x : memref<?x64xf32, 3>) outs(%q, %sf : memref<?x64xf8E4M3FN>, memref<?x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  return
}
