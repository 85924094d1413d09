"""Rows of 64 f32 values for the quantizers: each row's first block holds one special case, the second random data. With
`--columns N`, the same blocks down the columns of a matrix of N columns."""

import sys

import numpy as np

rng = np.random.default_rng(3)
powers = 2.0 ** np.arange(-149, 128).astype(np.float64)
maxima = np.concatenate([powers, 448 * powers[22:-9], 57344 * powers[:-16]]).astype(np.float32)
maxima = np.concatenate([maxima, np.nextafter(maxima, np.float32(0)), np.nextafter(maxima, np.float32(np.inf)),
                         np.float32([0.0, -0.0, 480, 957, np.inf, -np.inf, np.nan, np.finfo(np.float32).max])])
x = np.zeros((len(maxima), 64), np.float32)
# Fractions that hit ties and subnormals of the formats.
fractions = np.concatenate([[1, -1, 0, -0.0], rng.integers(-64, 65, 28) / 64]).astype(np.float32)
with np.errstate(invalid="ignore", over="ignore", under="ignore"):
    x[:, :32] = maxima[:, None] * fractions
x[:, 32:] = rng.normal(size=(len(maxima), 32)) * 2.0 ** rng.integers(-20, 20, (len(maxima), 1))
if len(sys.argv) > 2:
    columns = int(sys.argv[3])
    blocks = x.reshape(-1, 32)
    blocks = np.concatenate([blocks, np.zeros((-len(blocks) % columns, 32), np.float32)])
    x = np.ascontiguousarray(blocks.reshape(-1, columns, 32).transpose(0, 2, 1)).reshape(-1, columns)
np.save(sys.argv[1], x)
