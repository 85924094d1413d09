"""Quantized outputs of grouped products against NumPy, byte for byte: columns, groups, FP4, norm_const."""
import unittest

import numpy as np
from fused import Fused, expect_quantized, quantized
from oracle import E4M3, E5M2, block_scales
from quantizer import E2M1, LARGEST, along_rows, down_columns, groups_of, special_blocks

GROUPS = ([384], [128, 512], [128, 128, 384, 384, 512], [0, 128, 128, 512, 512])


def values_of(ends, n, largest, down, block=32):
    """Special blocks down the columns or along the rows, NaN past the last offset."""
    last = ends[-1]
    blocks = special_blocks(largest, last * n // block, block)
    x = (np.ascontiguousarray(blocks.reshape(last // block, n, block).transpose(0, 2, 1)).reshape(last, n) if down else
         blocks.reshape(last, n))
    return np.concatenate([x, np.full((77, n), np.nan, np.float32)])


class Quantizing(unittest.TestCase):
    def run_values(self, x, ends, outputs, norm=None):
        """Quantizes x, whatever the product is."""
        gemm = Fused(ends, x.shape[1], 32, rows=len(x))
        yields = ["%i0"] * sum(out.kind == "quantized" for out in outputs)
        return gemm.fuse(outputs, yields, [(x, "per_element")], norm=norm)

    def check(self, x, ends, kinds, dtype, norm=None):
        outputs = [quantized(len(x), x.shape[1], dtype, kind, len(ends)) for kind in kinds]
        actual = self.run_values(x, ends, sum(outputs, []), norm)
        for i, (kind, pair) in enumerate(zip(kinds, outputs)):
            expected = expect_quantized(x, ends, pair, 1.0 if norm is None else norm)
            for name, have, want in zip(("data", "scales"), actual[2 * i:2 * i + 2], expected):
                self.assertEqual(have.shape, want.shape)
                differ = np.argwhere(have != want)
                self.assertEqual(len(differ), 0, f"{name} of {kind}, {ends}, {x.shape}: {differ[:4].tolist()}")


class QuantizedTest(Quantizing):
    def test_columns(self):
        for n in (96, 128, 256):
            for ends in GROUPS:
                for dtype in (E4M3, E5M2):
                    with self.subTest(n=n, ends=ends, dtype=dtype):
                        self.check(values_of(ends, n, LARGEST[dtype], True), ends,
                                   ["column_scales_rceil", "column_scales_floor", "column_group_scales_rceil",
                                    "column_group_scales_floor"], dtype)

    def test_rows(self):
        for n in (96, 256):
            for ends in GROUPS:
                for dtype in (E4M3, E5M2):
                    with self.subTest(n=n, ends=ends, dtype=dtype):
                        self.check(values_of(ends, n, LARGEST[dtype], False), ends,
                                   ["row_scales_rceil", "row_scales_floor", "row_group_scales_rceil",
                                    "row_group_scales_floor"], dtype)

    def test_fp4(self):
        for n in (96, 128, 288):
            for ends in GROUPS:
                with self.subTest(n=n, ends=ends):
                    self.check(values_of(ends, n, 6, False), ends,
                               ["row_scales_rceil", "row_scales_floor", "row_group_scales_rceil"], E2M1)
                    self.check(values_of(ends, n, 6, False, 16), ends,
                               ["row_scales_nearest", "row_group_scales_nearest"], E2M1)

    def test_norm_const(self):
        for ends in GROUPS:
            for norm in ([2.0], [0.3], [1e-3], [1e4], [0.5, 1, 2, 1.7, 3][:len(ends)]):
                if len(norm) not in (1, len(ends)):
                    continue
                with self.subTest(ends=ends, norm=norm):
                    for dtype in (E4M3, E5M2):
                        self.check(values_of(ends, 96, LARGEST[dtype], False), ends,
                                   ["row_scales_rceil", "row_scales_floor"], dtype, norm)
                        self.check(values_of(ends, 96, LARGEST[dtype], True), ends,
                                   ["column_group_scales_rceil", "column_scales_floor"], dtype, norm)
                    self.check(values_of(ends, 96, 6, False, 16), ends, ["row_scales_nearest"], E2M1, norm)
                    self.check(values_of(ends, 96, 6, False), ends, ["row_scales_rceil", "row_scales_floor"], E2M1, norm)

    def test_no_rows(self):
        outputs = quantized(256, 96, E4M3, "column_group_scales_rceil")
        actual = self.run_values(np.full((256, 96), np.nan, np.float32), [0, 0], outputs)
        for have, out in zip(actual, outputs):
            self.assertTrue(np.array_equal(have, out.destination))


class ControlTest(Quantizing):
    """What a mistake would give must not compare equal."""

    def setUp(self):
        self.ends, n = [128, 128, 512], 256
        self.x = values_of(self.ends, n, 448, True)
        self.outputs = quantized(len(self.x), n, E4M3, "column_group_scales_rceil")
        self.data, self.scales = self.run_values(self.x, self.ends, self.outputs)
        expected = expect_quantized(self.x, self.ends, self.outputs)
        self.assertTrue(np.array_equal(self.scales, expected[1]) and np.array_equal(self.data, expected[0]))
        self.last = self.x[:512]

    def test_whole_matrix_scales(self):
        logical = np.concatenate([down_columns(self.last[b:e], E4M3, "rceil")[1] for b, e in groups_of(self.ends)], 1)
        whole = block_scales(logical).reshape(-1, 32, 4, 4)
        self.assertEqual(sorted(whole.flat), sorted(self.scales[:len(whole)].flat))
        self.assertFalse(np.array_equal(whole, self.scales[:len(whole)]))

    def test_roundings(self):
        outputs = quantized(len(self.x), 256, E4M3, "column_group_scales_floor")
        data, scales = expect_quantized(self.x, self.ends, outputs)
        self.assertFalse(np.array_equal(scales, self.scales))
        self.assertFalse(np.array_equal(data, self.data))

    def test_direction(self):
        codes, _ = along_rows(self.last, E4M3, "rceil")
        self.assertFalse(np.array_equal(codes, self.data[:512]))

    def test_flipped_byte(self):
        flipped = self.scales.copy()
        flipped[1, 3, 2, 1] ^= 1
        self.assertFalse(np.array_equal(flipped, expect_quantized(self.x, self.ends, self.outputs)[1]))

    def test_norm_const_of_another_group(self):
        norm = [1.0, 2.0, 0.5]
        data, scales = self.run_values(self.x, self.ends, self.outputs, norm)
        self.assertTrue(np.array_equal(scales, expect_quantized(self.x, self.ends, self.outputs, norm)[1]))
        self.assertFalse(np.array_equal(scales, expect_quantized(self.x, self.ends, self.outputs, norm[::-1])[1]))


if __name__ == "__main__":
    unittest.main()
