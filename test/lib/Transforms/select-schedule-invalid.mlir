// RUN: gmoe-opt %s --split-input-file --verify-diagnostics --grouped-moe-select-schedule

// -----

func.func @tile(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{schedule: tile is 64x128x128 and cluster 1x1, expected a tile of 128 rows by 64, 128, 192 or 256 columns, or of 256 rows by 128 or 256, and 128 of K (schedule_c4)}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [64, 128, 128], stages = 2, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @stages(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-note@-1 {{output #0 is stored by way of 16384 bytes}}
  // expected-error@+1 {{schedule: 7 stages of 33792 bytes, 16384 to stage outputs and 2048 reserved need 254976 bytes of shared memory, sm_100a has 232448; use fewer stages (schedule_c5)}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 7, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @columns(%a: memref<?x512xf4E2M1FN>, %sfa: memref<?x8x32x4x4xf8E4M3FN>, %b: memref<2x512x512xf4E2M1FN>,
    %sfb: memref<2x4x8x32x4x4xf8E4M3FN>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-note@+2 {{two accumulators may share half of their columns, 128; here they would share 144}}
  // expected-error@+1 {{schedule: 2 accumulators of 256 columns and the scales of 3 stages need 656 columns of tensor memory, sm_100a has 512; use one accumulator, a narrower tile or fewer stages (schedule_c5)}}
  grouped_moe.gemm
      lhs(%a : memref<?x512xf4E2M1FN> scales %sfa : memref<?x8x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      rhs(%b : memref<2x512x512xf4E2M1FN> scales %sfb : memref<2x4x8x32x4x4xf8E4M3FN> layout <row, whole, block = 16>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 256, 256], stages = 3, accumulators = 2, cluster = [1, 1], scheduler = static_persistent>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @cluster(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error@+1 {{schedule: tile is 128x128x128 and cluster 8x1, expected a cluster of 1x1, 2x1, 4x1 or 2x2 CTAs, of at least two along M for a tile of 256 rows (schedule_c4)}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 2, accumulators = 2, cluster = [8, 1], scheduler = static_persistent>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}

// -----

func.func @outputs(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>,
    %d0: memref<?x512xf32>, %d1: memref<?x512xf32>, %d2: memref<?x512xf32>, %d3: memref<?x512xf32>, %d4: memref<?x512xf32>, %d5: memref<?x512xf32>, %d6: memref<?x512xf32>) {
  // expected-note@-1 {{output #0 is stored by way of 32768 bytes}}
  // expected-note@-2 {{output #1 is stored by way of 32768 bytes}}
  // expected-note@-3 {{output #2 is stored by way of 32768 bytes}}
  // expected-note@-4 {{output #3 is stored by way of 32768 bytes}}
  // expected-note@-5 {{output #4 is stored by way of 32768 bytes}}
  // expected-note@-6 {{output #5 is stored by way of 32768 bytes}}
  // expected-note@-7 {{output #6 is stored by way of 32768 bytes}}
  // expected-error@+1 {{one stage of 25600 bytes, 229376 to stage outputs and 2048 reserved need 257024 bytes of shared memory, sm_100a has 232448; use fewer or narrower outputs (schedule_c5)}}
  grouped_moe.gemm
      lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>)
      outs(%d0 : memref<?x512xf32>, %d1 : memref<?x512xf32>, %d2 : memref<?x512xf32>, %d3 : memref<?x512xf32>, %d4 : memref<?x512xf32>, %d5 : memref<?x512xf32>, %d6 : memref<?x512xf32>) epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc, %acc, %acc, %acc, %acc, %acc, %acc : f32, f32, f32, f32, f32, f32, f32
  }
  return
}

// -----

func.func @split(%a: memref<?x256xf8E4M3FN>, %sfa: memref<?x2x32x4x4xf8E8M0FNU>, %b: memref<2x512x256xf8E4M3FN>,
    %sfb: memref<2x4x2x32x4x4xf8E8M0FNU>, %offsets: memref<2xi32>, %d: memref<?x512xbf16>) {
  // expected-error @below {{schedule: split divides the rows that a wgrad adds up, but this op has none (schedule_c3); drop it}}
  grouped_moe.gemm lhs(%a : memref<?x256xf8E4M3FN> scales %sfa : memref<?x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : memref<2x512x256xf8E4M3FN> scales %sfb : memref<2x4x2x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%offsets : memref<2xi32>) outs(%d : memref<?x512xbf16>)
      attributes {schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 2, accumulators = 1, cluster = [1, 1], scheduler = static_persistent, split = [2, 128]>} epilogue {
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }
  return
}
