"""Grouped products against NumPy, bit for bit."""
import unittest

import numpy as np
from oracle import BF16, E4M3, E5M2, same
from product import Product


class GemmTest(unittest.TestCase):
    def expect(self, actual, expected, rows):
        """Rows past the last offset keep the destination's 7."""
        self.assertTrue(same(actual[:rows], expected[:rows].astype(actual.dtype)))
        self.assertTrue(np.all(actual[rows:].astype(np.float32) == 7))

    def test_groups(self):
        for ends in ([128], [0, 128], [128, 128, 384, 384], [0, 0, 0], [128] * 5, [256, 256, 256, 384]):
            for dtype in (E4M3, E5M2):
                gemm = Product(ends, 48, 160, rows=ends[-1] + 77, dtype=dtype, seed=len(ends))
                # Nothing past the last offset may matter.
                gemm.a[ends[-1]:].view(np.uint8)[:] = 0x7F
                gemm.sa[ends[-1]:] = 255
                for out in (np.float32, np.float16, BF16):
                    with np.errstate(over="ignore"):
                        self.expect(gemm.run("", out, yielded="%acc"), gemm.accumulate().astype(out), ends[-1])

    def test_no_rows(self):
        gemm = Product([0, 0], 16, 32)
        self.assertEqual(gemm.run("", np.float32, yielded="%acc").shape, (0, 16))

    def test_sizes(self):
        """More columns than a chunk of the executor, more depth, 131 groups."""
        for ends, n, k in (([128], 1104, 32), ([128, 256], 32, 1056), ([128 * (g // 40) for g in range(131)], 16, 32)):
            gemm = Product(ends, n, k, seed=k)
            self.expect(gemm.run("", np.float32, yielded="%acc"), gemm.accumulate(), ends[-1])

    def test_epilogue(self):
        ends = [128, 128, 384]
        gemm = Product(ends, 80, 96, rows=400, seed=3)
        rng = gemm.rng
        c = rng.standard_normal((400, 80)).astype(np.float16)
        prob = rng.standard_normal(400).astype(np.float32)
        prob[::7], prob[::5] = 0, -0.0
        alpha = np.array([-1.7, 3, 0.3], np.float32)
        bias = rng.standard_normal((3, 80)).astype(BF16)
        for x in (c, prob):
            x[384:] = np.nan
        body = """
    %0 = arith.mulf %acc, %i2 : f32
    %1 = arith.addf %0, %i3 : f32
    %2 = arith.mulf %1, %i1 : f32
    %r = arith.subf %2, %i0 : f32"""
        inputs = [(c, "per_element"), (prob, "per_row"), (alpha, "per_group"), (bias, "per_group_column")]
        g = gemm.group_of_rows()
        z = gemm.accumulate()[:384] * alpha[g][:, None] + bias.astype(np.float32)[g]
        expected = z * prob[:384, None] - c[:384].astype(np.float32)
        for out in (np.float32, np.float16, BF16):
            with np.errstate(over="ignore"):
                self.expect(gemm.run(body, out, inputs), expected.astype(out), 384)

    def test_nan_scale(self):
        gemm = Product([128, 256], 16, 64)
        gemm.sa[5, 1], gemm.sb[1, 3, 0] = 255, 255
        actual = gemm.run("", np.float32, yielded="%acc")
        expected = gemm.accumulate()
        self.assertTrue(np.isnan(expected[5]).all() and np.isnan(expected[128:, 3]).all())
        self.assertEqual(np.isnan(expected).sum(), 16 + 128)
        self.expect(actual, expected, 256)

    def test_bad_offsets(self):
        for ends, rows, words in (([256, 128], 256, ("group 1 ends at row 128", "at least 256")),
                                  ([128, 384], 256, ("group 1 ends at row 384", "at most 256")),
                                  ([-128, 128], 256, ("group 0 ends at row -128", "0 or more")),
                                  ([64, 128], 256, ("group 0 ends at row 64", "multiple of m_aligned, 128"))):
            gemm = Product([128, 256], 16, 32, rows=rows)
            gemm.ends = ends
            text = gemm.run("", np.float32, yielded="%acc", expect=1)
            for word in words:
                self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
