"""Inexact data for gemm.mlir.in, and the float64 verdict on what the kernel made of it.

write DIR K N L ROWS:          operands as .npy files
check DIR RESULT TYPE K ENDS:  RESULT against float64 of the dequantized operands. f32: at least 85 dB; f16 and bf16: one
                               unit in the last place plus K 2^-23 sum |products|.
"""

import sys

import ml_dtypes
import numpy as np

FORMATS = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}


def blocked(scales):
    """Bytes of (rows, blocks) in atoms of 128 x 4, padding 0xFF."""
    rows, blocks = scales.shape
    out = np.full((-(-rows // 128), -(-blocks // 4), 32, 4, 4), 0xFF, np.uint8)
    for row in range(rows):
        for block in range(blocks):
            out[row // 128, block // 4, row % 32, row % 128 // 32, block % 4] = scales[row, block]
    return out


def write(folder, k, n, groups, rows):
    rng = np.random.default_rng(7)
    # Every finite e4m3 code; scales over 2^-8 .. 2^8.
    codes = lambda *shape: (rng.integers(0, 127, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)
    scales = lambda *shape: rng.integers(119, 136, shape).astype(np.uint8)
    a, b = codes(rows, k), codes(groups, n, k)
    sa, sb = scales(rows, k // 32), scales(groups, n, k // 32)
    np.savez(folder + "/logical.npz", a=a, b=b, sa=sa, sb=sb)
    np.save(folder + "/a.npy", a)
    np.save(folder + "/b.npy", b)
    np.save(folder + "/sfa.npy", blocked(sa))
    np.save(folder + "/sfb.npy", np.stack([blocked(s) for s in sb]))
    # Small enough that nothing overflows f16.
    np.save(folder + "/alpha.npy", (rng.normal(size=groups) * 2.0**-26).astype(np.float32))
    np.save(folder + "/prob.npy", rng.normal(size=rows).astype(np.float32))


def check(folder, result, kind, k, ends):
    data = np.load(folder + "/logical.npz")
    value = lambda q, s: q.view(ml_dtypes.float8_e4m3fn).astype(np.float64) * np.repeat(2.0 ** (s.astype(np.float64) - 127), 32, -1)
    a, b = value(data["a"], data["sa"]), value(data["b"], data["sb"])
    alpha, prob = np.load(folder + "/alpha.npy").astype(np.float64), np.load(folder + "/prob.npy").astype(np.float64)
    got = np.load(result)
    if kind == "bf16":
        got = got.view(ml_dtypes.bfloat16)
    got = got.astype(np.float64)
    start, worst, noise, power = 0, 0.0, 0.0, 0.0
    for group, end in enumerate(ends):
        rows = slice(start, end)
        factor = (alpha[group] * prob[rows])[:, None]
        want = a[rows] @ b[group].T * factor
        error = np.abs(got[rows] - want)
        noise, power = noise + (error**2).sum(), power + (want**2).sum()
        if kind != "f32":
            bound = np.abs(a[rows]) @ np.abs(b[group]).T * np.abs(factor) * k * 2.0**-23
            unit = np.abs(np.spacing(want.astype(FORMATS[kind]))).astype(np.float64)
            assert (error <= bound + unit).all(), f"group {group}: off by {(error - bound - unit).max()} beyond the bound"
        start = end
    decibel = 10 * np.log10(power / noise) if noise else np.inf
    print(f"{kind} {decibel:.1f} dB")
    assert kind != "f32" or decibel >= 85, "less than 85 dB"
    assert power > 0


if sys.argv[1] == "write":
    write(sys.argv[2], *map(int, sys.argv[3:7]))
else:
    check(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]), [int(e) for e in sys.argv[6].split(",")])
