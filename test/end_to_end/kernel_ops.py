"""Arguments for kernel_ops.mlir, and what it must make of them."""

import sys

import ml_dtypes
import numpy as np

mode, prefix = sys.argv[1:]
ctas = 3
rows = 128 * ctas
rng = np.random.default_rng(5)
x = (rng.normal(size=(rows, 32)) * 4).astype(np.float32)
x[7, 3] = -1000
x[300, 9] = np.nan
garbage = 0x5A

if mode == "make":
    shapes = {"f32": ((rows, 96), "f4"), "bf16": ((rows, 32), "u2"), "f16": ((rows, 16), "f2"), "packed": ((rows, 16), "i1"),
              "bytes": ((rows,), "i1"), "columns": ((8 * ctas, 32), "f4"), "rows": ((rows, 32), "f4"),
              "partial": ((ctas + 1, 32), "f4"), "total": ((2, 32), "f4"), "counters": ((4,), "i4"), "exchanged": ((2 * ctas, 32), "f4"), "nothing": ((0, 16), "i1")}
    np.save(prefix + ".x.npy", x)
    for name, (shape, code) in shapes.items():
        count = int(np.prod(shape)) * np.dtype(code).itemsize
        np.save(f"{prefix}.{name}.npy", np.full(count, garbage, np.uint8).view(code).reshape(shape))
    sys.exit()


def expect(name, want):
    got = np.load(f"{prefix}.{name}.out.npy")
    want = np.ascontiguousarray(want)
    same = got.view(np.uint8) == want.view(np.uint8).reshape(got.view(np.uint8).shape)
    if want.dtype == np.float32:
        same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
    if not np.all(same):
        sys.exit(f"{name}: {np.argwhere(~same)[:4].tolist()} differ: {got[~np.isin(got, want)][:4]}")


def tree(block):
    """The documented order of column_sum: lanes 16 apart, then 8, 4, 2, 1."""
    for half in (16, 8, 4, 2, 1):
        block = block[:half] + block[half:]
    return block[0]


expect("f32", np.concatenate([x + np.float32(i) for i in range(3)], 1))
expect("bf16", np.where(np.isnan(x), np.uint16(0x7FFF), x.astype(ml_dtypes.bfloat16).view(np.uint16)))
half = x[:, 16:].astype(np.float16)
expect("f16", half)
codes = np.clip(np.nan_to_num(x, nan=6), -6, 6).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
expect("packed", codes[:, ::2] | codes[:, 1::2] << 4)
blocks = x.reshape(-1, 32, 32)
sums = np.array([tree(b) for b in blocks], np.float32)
columns = np.stack([np.abs(blocks).max(1), sums], 1)
expect("columns", columns.reshape(-1, 32))
expect("rows", np.repeat(sums, 32, 0))
most = np.abs(blocks[:, :, 0]).max(1)
expect("bytes", np.repeat(np.minimum(most, 448).astype(ml_dtypes.float8_e4m3fn).view(np.uint8), 32))
partial = sums.reshape(ctas, 4, 32)
partial = ((partial[:, 0] + partial[:, 1]) + partial[:, 2]) + partial[:, 3]
total = np.zeros(32, np.float32)
for p in partial:
    total = total + p
expect("partial", np.concatenate([partial, total[None]]))
expect("total", np.stack([np.full(32, 128.0 * ctas / 32, np.float32), np.abs(x).max(0)]))
expect("counters", np.zeros(4, np.int32))
expect("exchanged", np.tile(np.roll(np.arange(64, dtype=np.float32), 32).reshape(2, 32), (ctas, 1)))
