// RUN: gmoe-opt %s --split-input-file --verify-diagnostics

func.func @rank(%dy: tensor<1x?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{'grouped_moe.wgrad' op lhs: rank is 3, expected 2: (R, N) (wgrad_c1)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<1x?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @rank_transposed(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op rhs: rank is 1, expected 2: (K, R) (wgrad_c1)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {rhs_transposed} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @elements(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xbf16>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op rhs: element type is 'bf16', expected f8E4M3FN, f8E5M2 or f4E2M1FN (wgrad_c1); quantize it down its columns with grouped_moe.quantize}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xbf16> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @dynamic_n(%dy: tensor<?x?xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op lhs: N is dynamic, expected a static positive multiple of 16 (wgrad_c2); pad it with zeros}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x?xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @odd_k(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x520xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op rhs: K is 520, expected a static positive multiple of 16 (wgrad_c2)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x520xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @forgot_transposed(%dy: tensor<256x?xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op lhs: N is dynamic}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<256x?xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @huge(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x2147483648xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{expected extents of at most 2147483647: kernels count in 32 bits (wgrad_c2)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x2147483648xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @rows(%dy: tensor<256x256xf8E4M3FN>, %sdy: tensor<4x32x4x4xf8E8M0FNU>, %x: tensor<512x512xf8E4M3FN>, %sx: tensor<16x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op rhs: has 512 rows but lhs has 256 (wgrad_c2)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<256x256xf8E4M3FN> scales %sdy : tensor<4x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<512x512xf8E4M3FN> scales %sx : tensor<16x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @scale_elements(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xi8>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op lhs scales: element type is 'i8', expected f8E8M0FNU (wgrad_c3)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xi8> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @whole(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op lhs scales: layout is #grouped_moe.scale_layout<column, whole, block = 32>, expected <column, per_group, block = 32> (wgrad_c3): the product runs along the rows of each group; quantize down the columns with that layout}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, whole, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @rowwise(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op rhs scales: layout is #grouped_moe.scale_layout<row, whole, block = 32>, expected <column, per_group, block = 32> (wgrad_c3)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @block(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op rhs scales: block is 16 elements}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 16>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @scale_shape(%dy: tensor<384x256xf8E4M3FN>, %sdy: tensor<7x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op lhs scales: scale shape is 7x32x4x4, expected 6x32x4x4 for layout #grouped_moe.scale_layout<column, per_group, block = 32> of a matrix of shape 384x256 (wgrad_c4)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<384x256xf8E4M3FN> scales %sdy : tensor<7x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @scale_shape_ragged(%dy: tensor<384x256xf8E4M3FN>, %sdy: tensor<6x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op lhs scales: scale shape is 6x32x4x4, expected 14x32x4x4}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<384x256xf8E4M3FN> scales %sdy : tensor<6x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 32 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @offsets(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi64>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op offsets: type is 'tensor<4xi64>', expected a static number of i32, one cumulative end for each group (wgrad_c5)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi64>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @aligned(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op m_aligned is 64 rows, expected 1, 32, 128 or 256 (wgrad_c6)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 64 : i64} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @input_kind(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>, %e: tensor<?xf32>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op input #0: type is 'tensor<?xf32>' as per_row, expected per_group with L = 4 or 1, or per_element with (L, N, K) = (4, 256, 512), of f32, f16 or bf16 (wgrad_c7)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      ins(%e : tensor<?xf32> as per_row) outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} epilogue { ^bb0(%a: f32, %b: f32): grouped_moe.yield %a : f32 } -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @input_shape(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>, %e: tensor<3xf32>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op input #0: type is 'tensor<3xf32>' as per_group, expected}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      ins(%e : tensor<3xf32> as per_group) outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} epilogue { ^bb0(%a: f32, %b: f32): grouped_moe.yield %a : f32 } -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @output_shape(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x512x256xbf16>) -> tensor<4x512x256xbf16> {
  // expected-error @below {{op output #0: type is 'tensor<4x512x256xbf16>', expected (L, N, K) = (4, 256, 512) of f32, f16 or bf16, or L = 4 addresses of i64 and the attribute pointee, one of these types (wgrad_c8)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x512x256xbf16>) attributes {m_aligned = 128 : i64} -> tensor<4x512x256xbf16>
  return %dw : tensor<4x512x256xbf16>
}

// -----

func.func @output_elements(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xf8E4M3FN>) -> tensor<4x256x512xf8E4M3FN> {
  // expected-error @below {{op output #0: type is 'tensor<4x256x512xf8E4M3FN>'}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xf8E4M3FN>) attributes {m_aligned = 128 : i64} -> tensor<4x256x512xf8E4M3FN>
  return %dw : tensor<4x256x512xf8E4M3FN>
}

// -----

func.func @no_pointee(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{op output #0: type is 'tensor<4xi64>'}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4xi64>) attributes {m_aligned = 128 : i64} -> tensor<4xi64>
  return %dw : tensor<4xi64>
}

// -----

func.func @pointee(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4xi64>) -> tensor<4xi64> {
  // expected-error @below {{op output #0: type is 'tensor<4xi64>'}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4xi64>) attributes {pointee = f64} -> tensor<4xi64>
  return %dw : tensor<4xi64>
}

// -----

func.func @lonely_pointee(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op pointee is given, but no output is an array of i64 addresses (wgrad_c8); drop it}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {pointee = f32} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @arguments(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @below {{op epilogue has 2 arguments, expected 1: the accumulator and one for each input, two for each that holds pairs (wgrad_c9)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {m_aligned = 128 : i64} epilogue { ^bb0(%a: f32, %b: f32): grouped_moe.yield %a : f32 } -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @split(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %dw0: tensor<4x256x512xbf16>) -> tensor<4x256x512xbf16> {
  // expected-error @+3 {{schedule: split is [1, 128], expected [parts, rows], 2 to 1024 parts of 1 to 2^30 rows (schedule_c3)}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%dw0 : tensor<4x256x512xbf16>) attributes {schedule = #grouped_moe.schedule<tile = [128, 128, 128], stages = 3, accumulators = 2, cluster = [1, 1], scheduler = static_persistent, split = [1, 128]>} -> tensor<4x256x512xbf16>
  return %dw : tensor<4x256x512xbf16>
}

// -----

func.func @output_kind(%dy: tensor<?x256xf8E4M3FN>, %sdy: tensor<?x32x4x4xf8E8M0FNU>, %x: tensor<?x512xf8E4M3FN>, %sx: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<4xi32>, %m: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{op output #0: only plain outputs exist (wgrad_c8); quantize the result with an op of its own}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<?x256xf8E4M3FN> scales %sdy : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<?x512xf8E4M3FN> scales %sx : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<4xi32>)
      outs(%m : tensor<4xf32> as group_amax) -> tensor<4xf32>
  return %dw : tensor<4xf32>
}

// -----

func.func @same_memref(%dy: memref<?x256xf8E4M3FN>, %sdy: memref<?x32x4x4xf8E8M0FNU>, %x: memref<?x512xf8E4M3FN>, %sx: memref<?x32x4x4xf8E8M0FNU>, %o: memref<4xi32>, %d: memref<4x256x512xf32>) {
  // expected-error @below {{op output #0 is the same memref as operand #6, give it its own (wgrad_c8)}}
  grouped_moe.wgrad lhs(%dy : memref<?x256xf8E4M3FN> scales %sdy : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : memref<?x512xf8E4M3FN> scales %sx : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : memref<4xi32>)
      outs(%d : memref<4x256x512xf32>, %d : memref<4x256x512xf32>) epilogue { ^bb0(%a: f32): grouped_moe.yield %a, %a : f32, f32 }
  return
}

// -----

func.func @producer(%dy: tensor<256x256xf32>, %x: tensor<256x512xf8E4M3FN>, %sx: tensor<8x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d: tensor<2x256x512xf32>,
    %q0: tensor<256x256xf8E4M3FN>, %s0: tensor<2x2x32x4x4xf8E8M0FNU>) -> tensor<2x256x512xf32> {
  // expected-note @below {{the scales are made here}}
  %q, %s = grouped_moe.quantize ins(%dy : tensor<256x256xf32>) outs(%q0, %s0 : tensor<256x256xf8E4M3FN>, tensor<2x2x32x4x4xf8E8M0FNU>)
      layout <column, whole, block = 32> rounding rceil -> tensor<256x256xf8E4M3FN>, tensor<2x2x32x4x4xf8E8M0FNU>
  // expected-error @below {{op lhs: layout is #grouped_moe.scale_layout<column, per_group, block = 32> but the scales were written as #grouped_moe.scale_layout<column, whole, block = 32> (wgrad_c11)}}
  %dw = grouped_moe.wgrad lhs(%q : tensor<256x256xf8E4M3FN> scales %s : tensor<2x2x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<256x512xf8E4M3FN> scales %sx : tensor<8x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%d : tensor<2x256x512xf32>) -> tensor<2x256x512xf32>
  return %dw : tensor<2x256x512xf32>
}

// -----

func.func @transposed_rows(%dy: tensor<256x136xf8E4M3FN>, %sdy: tensor<6x32x4x4xf8E8M0FNU>, %x: tensor<136x512xf8E4M3FN>, %sx: tensor<12x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>, %d: tensor<2x256x512xf32>) -> tensor<2x256x512xf32> {
  // expected-error @below {{op lhs: R is 136, expected a multiple of 16 of a transposed operand: multiples of 16 bytes from column to column (wgrad_c2); pad it, or do not transpose}}
  %dw = grouped_moe.wgrad lhs(%dy : tensor<256x136xf8E4M3FN> scales %sdy : tensor<6x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%x : tensor<136x512xf8E4M3FN> scales %sx : tensor<12x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>) offsets(%o : tensor<2xi32>)
      outs(%d : tensor<2x256x512xf32>) attributes {m_aligned = 32 : i64, lhs_transposed} -> tensor<2x256x512xf32>
  return %dw : tensor<2x256x512xf32>
}

// -----

func.func @groups(%dy: memref<?x32xf8E4M3FN>, %s: memref<?x32x4x4xf8E8M0FNU>, %o: memref<2147483648xi32>, %d: memref<2147483648x32x32xf32>) {
  // expected-error @below {{op L is 2147483648, N 32, K 32, expected at most 2147483647 tiles of 128 x 128: kernels count in 32 bits (wgrad_c2)}}
  grouped_moe.wgrad lhs(%dy : memref<?x32xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%dy : memref<?x32xf8E4M3FN> scales %s : memref<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : memref<2147483648xi32>) outs(%d : memref<2147483648x32x32xf32>)
  return
}

// -----

func.func @no_addresses(%dy: tensor<?x32xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>) -> tensor<2xi64> {
  %p = tensor.empty() : tensor<2xi64>
  // expected-error @below {{op output #0: is an empty tensor, but the op reads the addresses in it (wgrad_c8); pass an argument of the function}}
  %r = grouped_moe.wgrad lhs(%dy : tensor<?x32xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%dy : tensor<?x32xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%p : tensor<2xi64>) attributes {pointee = f32} -> tensor<2xi64>
  return %r : tensor<2xi64>
}

// -----

func.func @accumulate_nothing(%dy: tensor<?x32xf8E4M3FN>, %s: tensor<?x32x4x4xf8E8M0FNU>, %o: tensor<2xi32>) -> tensor<2x32x32xf32> {
  %p = tensor.empty() : tensor<2x32x32xf32>
  // expected-error @below {{op output #0: is an empty tensor, but the op adds to what it holds (wgrad_c8); pass an argument of the function, or drop `accumulate`}}
  %r = grouped_moe.wgrad lhs(%dy : tensor<?x32xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      rhs(%dy : tensor<?x32xf8E4M3FN> scales %s : tensor<?x32x4x4xf8E8M0FNU> layout <column, per_group, block = 32>)
      offsets(%o : tensor<2xi32>) outs(%p : tensor<2x32x32xf32>) attributes {accumulate} -> tensor<2x32x32xf32>
  return %r : tensor<2x32x32xf32>
}
