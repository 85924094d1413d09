// RUN: %gmoe-opt %s --grouped-moe-check-scales -split-input-file -verify-diagnostics

// What memory holds is what was written last, if that is known.

// A buffer that is used again: rows first, then columns.
func.func @used_again(%x: memref<64x64xf32>, %q: memref<64x64xf8E4M3FN>, %s: memref<1x1x32x4x4xf8E8M0FNU>, %y: memref<64x64xf32>) {
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <row, whole, block = 32>
  grouped_moe.quantize ins(%y : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <column, whole, block = 32>
  return
}

// -----

// Somebody else may have written the scales: a function, another view, a store.
func.func private @repack(memref<1x1x32x4x4xf8E8M0FNU>)
func.func @others(%x: memref<64x64xf32>, %q: memref<64x64xf8E4M3FN>, %s: memref<1x1x32x4x4xf8E8M0FNU>,
    %t: memref<1x1x32x4x4xf8E8M0FNU>, %u: memref<1x1x32x4x4xf8E8M0FNU>, %byte: f8E8M0FNU, %y: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  memref.copy %s, %t : memref<1x1x32x4x4xf8E8M0FNU> to memref<1x1x32x4x4xf8E8M0FNU>
  memref.copy %s, %u : memref<1x1x32x4x4xf8E8M0FNU> to memref<1x1x32x4x4xf8E8M0FNU>
  call @repack(%s) : (memref<1x1x32x4x4xf8E8M0FNU>) -> ()
  %part = memref.subview %t[0, 0, 0, 0, 0] [1, 1, 32, 4, 2] [1, 1, 1, 1, 1]
      : memref<1x1x32x4x4xf8E8M0FNU> to memref<1x1x32x4x2xf8E8M0FNU, strided<[512, 512, 16, 4, 1]>>
  memref.store %byte, %part[%c0, %c0, %c0, %c0, %c0] : memref<1x1x32x4x2xf8E8M0FNU, strided<[512, 512, 16, 4, 1]>>
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %u : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <column, whole, block = 32>
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %t : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <column, whole, block = 32>
  return
}

// -----

// Reading changes nothing.
func.func private @look(memref<1x1x32x4x4xf8E8M0FNU>)
func.func @loaded(%x: memref<64x64xf32>, %q: memref<64x64xf8E4M3FN>, %s: memref<1x1x32x4x4xf8E8M0FNU>,
    %t: memref<1x1x32x4x4xf8E8M0FNU>, %y: memref<64x64xf32>) -> f8E8M0FNU {
  %c0 = arith.constant 0 : index
  // expected-note @below {{the scales are written here, as #grouped_moe.scale_layout<row, whole, block = 32>}}
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  %byte = memref.load %s[%c0, %c0, %c0, %c0, %c0] : memref<1x1x32x4x4xf8E8M0FNU>
  memref.copy %s, %t : memref<1x1x32x4x4xf8E8M0FNU> to memref<1x1x32x4x4xf8E8M0FNU>
  call @look(%t) : (memref<1x1x32x4x4xf8E8M0FNU>) -> ()
  // expected-error @below {{'grouped_moe.dequantize' op data scales: layout is #grouped_moe.scale_layout<column, whole, block = 32> but they were written as #grouped_moe.scale_layout<row, whole, block = 32> (flow_c1)}}
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <column, whole, block = 32>
  return %byte : f8E8M0FNU
}

// -----

// A loop's first round reads what stood there before it, the others what the round before wrote.
func.func @loop(%x: memref<64x64xf32>, %q: memref<64x64xf8E4M3FN>, %s: memref<1x1x32x4x4xf8E8M0FNU>, %y: memref<64x64xf32>,
    %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  scf.for %i = %c0 to %n step %c1 {
    grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
        layout <row, whole, block = 32>
    // expected-note @below {{the scales are written here}}
    grouped_moe.quantize ins(%y : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
        layout <column, whole, block = 32> rounding rceil
    // expected-error @below {{'grouped_moe.dequantize' op data scales: layout is #grouped_moe.scale_layout<row, whole, block = 32> but they were written as #grouped_moe.scale_layout<column, whole, block = 32> (flow_c1)}}
    grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
        layout <row, whole, block = 32>
  }
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <row, whole, block = 32>
  return
}

// -----

// Behind a branch either block may have written.
func.func @branch(%x: memref<64x64xf32>, %q: memref<64x64xf8E4M3FN>, %s: memref<1x1x32x4x4xf8E8M0FNU>, %y: memref<64x64xf32>,
    %which: i1) {
  cf.cond_br %which, ^rows, ^columns
^rows:
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil
  cf.br ^end
^columns:
  grouped_moe.quantize ins(%x : memref<64x64xf32>) outs(%q, %s : memref<64x64xf8E4M3FN>, memref<1x1x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil
  cf.br ^end
^end:
  grouped_moe.dequantize ins(%q : memref<64x64xf8E4M3FN> scales %s : memref<1x1x32x4x4xf8E8M0FNU>) outs(%y : memref<64x64xf32>)
      layout <row, whole, block = 32>
  return
}
