"""A layer over groups as a router makes them, in one function: f32 rows are quantized, multiplied, activated, quantized again
and multiplied again, with no row of padding anywhere. Byte for byte what NumPy has, group by group."""
import os
import subprocess
import sys
import tempfile

import numpy as np
from equations import BF16, F32, evaluate, split
from named import bytes_of, scales_of, values_of
from operands import lowest_bit
from quantizers import E4M3, atoms_of, quantize_rows, tall_of

K, F, GARBAGE = 64, 64, 0xA5
PROGRAM = """
func.func @layer(%x: memref<?x{K}xf32>, %o: memref<{L}xi32>, %w1: memref<{L}x{N}x{K}xf8E4M3FN>, %s1: memref<{L}x1x1x32x4x4xf8E8M0FNU>,
    %w2: memref<{L}x{K}x{F}xf8E4M3FN>, %s2: memref<{L}x1x1x32x4x4xf8E8M0FNU>, %q: memref<?x{K}xf8E4M3FN>, %sq: memref<?x32x4x4xf8E8M0FNU>,
    %h: memref<?x{F}xf8E4M3FN>, %sh: memref<?x32x4x4xf8E8M0FNU>, %y: memref<?x{K}xbf16>) {{
  grouped_moe.quantize ins(%x : memref<?x{K}xf32>) offsets(%o : memref<{L}xi32>)
      outs(%q, %sq : memref<?x{K}xf8E4M3FN>, memref<?x32x4x4xf8E8M0FNU>)
      layout <row, per_group, block = 32> rounding rceil {{m_aligned = 1 : i64}}
  grouped_moe.gemm_swiglu
      lhs(%q : memref<?x{K}xf8E4M3FN> scales %sq : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%w1 : memref<{L}x{N}x{K}xf8E4M3FN> scales %s1 : memref<{L}x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<{L}xi32>)
      outs(%h : memref<?x{F}xf8E4M3FN> as quantized, %sh : memref<?x32x4x4xf8E8M0FNU> as row_group_scales_rceil)
      attributes {{m_aligned = 1 : i64}}
  grouped_moe.gemm
      lhs(%h : memref<?x{F}xf8E4M3FN> scales %sh : memref<?x32x4x4xf8E8M0FNU> layout <row, per_group, block = 32>)
      rhs(%w2 : memref<{L}x{K}x{F}xf8E4M3FN> scales %s2 : memref<{L}x1x1x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      offsets(%o : memref<{L}xi32>) outs(%y : memref<?x{K}xbf16>) attributes {{m_aligned = 1 : i64}} epilogue {{
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }}
  return
}}
"""


def expected(x, w1, w2):
    """One group: codes and scales of x and of h, and y; scales of weights are 1."""
    q, sq = quantize_rows(x, E4M3, "row_scales_rceil", F32(1))
    one = np.full((1, K // 32), 127, np.uint8)
    acc = (values_of(q.view(E4M3), sq) @ values_of(w1, one).T).astype(F32)
    h = evaluate("gemm_swiglu", split(acc, False), None, None, None, None, {})["result"][0]
    c, sc = quantize_rows(h, E4M3, "row_scales_rceil", F32(1))
    values = values_of(c.view(E4M3), sc)
    assert (np.abs(values) @ np.abs(w2.astype(np.float64)).T).max(initial=0) < 2.0**24 * min(lowest_bit(values), 2.0**20)
    return q, sq, c, sc, (values @ w2.astype(np.float64).T).astype(F32).astype(BF16)


def run(sizes, extra, options):
    rng = np.random.default_rng(len(sizes))
    ends, groups = [int(e) for e in np.cumsum(sizes)], len(sizes)
    rows, atoms = ends[-1] + extra, tall_of(ends[-1] + extra, groups, 1)
    x = np.zeros((rows, K), F32)
    x[np.arange(rows), rng.integers(0, K, rows)] = rng.choice((0, 1, -1, 2), rows)
    x[ends[-1] :] = np.nan
    # Gates are multiples of 128, where the sigmoid is exact; w1 has their blocks of 32 columns in front of those of ups.
    is_gate = np.arange(2 * F) // 32 % 2 == 0
    w1 = np.where(is_gate[:, None], rng.choice((0, 128, -128), (groups, 2 * F, K)), rng.choice((0, 1, -1, 2), (groups, 2 * F, K)))
    w2 = rng.choice((0, 1, -1), (groups, K, F))
    w1, w2 = w1.astype(E4M3), w2.astype(E4M3)
    ones = lambda lines: np.stack([scales_of(np.full((lines, 2), 127, np.uint8))] * groups)
    fill = lambda shape, dtype: np.full(int(np.prod(shape)) * np.dtype(dtype).itemsize, GARBAGE, np.uint8).view(dtype).reshape(shape)
    held = [fill((rows, K), np.uint8), fill((atoms, 32, 4, 4), np.uint8), fill((rows, F), np.uint8), fill((atoms, 32, 4, 4), np.uint8),
            fill((rows, K), np.uint16)]
    want = [array.copy() for array in held]
    at = begin = 0
    for g, end in enumerate(ends):
        q, sq, c, sc, y = expected(x[begin:end], w1[g], w2[g])
        want[0][begin:end], want[2][begin:end], want[4][begin:end] = q, c, y.view(np.uint16)
        for array, logical in ((want[1], sq), (want[3], sc)):
            blocked = atoms_of(logical).reshape(-1, 32, 4, 4)
            array[at : at + len(blocked)] = blocked
        at, begin = at + -(-(end - begin) // 128), end
    assert want[4][: ends[-1]].any()
    arguments = [x, np.array(ends, np.int32), w1, ones(2 * F), w2, ones(K), *held]
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(f"{folder}/in.mlir", "w") as file:
            file.write(PROGRAM.format(L=groups, K=K, F=F, N=2 * F))
        command = ["gmoe-run", f"{folder}/in.mlir", "--device=emulator", "--check", "--tolerance=bitwise", "--check-inputs", *options]
        for i, array in enumerate(arguments):
            np.save(f"{folder}/a{i}.npy", bytes_of(array))
            command.append(f"--arg={i}={folder}/a{i}.npy")
        command += [f"--result={i}={folder}/r{i}.npy" for i in range(len(want))]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        for i, array in enumerate(want):
            assert np.array_equal(np.load(f"{folder}/r{i}.npy"), array), f"result {i} of groups {sizes}"


if __name__ == "__main__":
    for seed, sizes in enumerate(([200, 0, 56, 193], [1, 1, 130, 0, 3], [77], [0, 0, 129])):
        for extra in (0, 45):
            run(sizes, extra, ["--hazards=full", f"--schedule-seed={seed}"])
