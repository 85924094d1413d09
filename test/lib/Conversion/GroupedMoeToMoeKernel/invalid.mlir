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
