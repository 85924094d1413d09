"""Scales of every byte: row r of lhs has byte r, column n of rhs one of a few. Products overflow and underflow f32: a sum of
products below 2^-149, each outside of f32, may be anything that small.
"""
import sys

import ml_dtypes
import numpy as np

folder = sys.argv[1]
row_bytes = np.arange(256, dtype=np.uint8)
column_bytes = np.resize(np.array([0, 1, 64, 126, 127, 128, 190, 253, 254, 255], np.uint8), 64)


def atoms(scales):
    """(rows) bytes of one block to (rows / 128, 1, 32, 4, 4), padding 0xFF."""
    full = np.full((-(-len(scales) // 128), 4, 32, 4), 0xFF, np.uint8)
    full[..., 0].reshape(-1)[:len(scales)] = scales
    return np.ascontiguousarray(full.transpose(0, 2, 1, 3))[:, None]


if len(sys.argv) == 2:
    np.save(folder + "/a.npy", np.full((256, 32), 0x38, np.uint8))  # 1
    np.save(folder + "/sfa.npy", atoms(row_bytes))
    np.save(folder + "/b.npy", np.resize(np.array([0x38, 0x38, 0x38, 0xB8], np.uint8), (1, 64, 32)))  # 1, 1, 1, -1
    np.save(folder + "/sfb.npy", atoms(column_bytes)[None])
else:
    value = lambda b: np.where(b == 255, np.nan, 2.0 ** (b.astype(np.float64) - 127))
    with np.errstate(over="ignore"):
        product = value(row_bytes)[:, None] * value(column_bytes)
        want = (16 * product).astype(np.float32)
    got = np.load(sys.argv[2])
    tiny = (product < 2.0**-149) & (np.abs(got) <= 32 * 2.0**-149)
    same = (got == want) | (np.isnan(got) & np.isnan(want)) | tiny
    assert same.all(), [(i, got[tuple(i)], want[tuple(i)]) for i in np.argwhere(~same)[:4]]
    assert np.isinf(want).any() and (want == 0).any() and np.isnan(want).any()
