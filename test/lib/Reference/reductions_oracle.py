"""Sums, maxima and pairs of grouped products against NumPy."""
import unittest

import numpy as np
from fused import Fused, Output, expect_quantized, quantized
from oracle import BF16, E4M3, same
from quantizer import groups_of

GROUPS = ([384], [128, 512], [128, 128, 384, 384, 512], [0, 0])


def exact(rng, shape):
    """Eighths: their sums are exact in f64."""
    return (rng.integers(-4000, 4000, shape) / 8).astype(np.float32)


def stored(x):
    return x.view(np.uint16) if x.dtype == BF16 else x


def split(z, concatenated):
    """The halves of pairs (.., 2 E)."""
    if concatenated:
        return np.split(z, 2, axis=-1)
    blocks = z.reshape(*z.shape[:-1], z.shape[-1] // 64, 2, 32)
    half = (*z.shape[:-1], z.shape[-1] // 2)
    return [np.ascontiguousarray(blocks[..., h, :]).reshape(half) for h in (0, 1)]


def join(gate, up, concatenated):
    if concatenated:
        return np.concatenate([gate, up], axis=-1)
    shape = (*gate.shape[:-1], gate.shape[-1] // 32, 32)
    both = np.stack([gate.reshape(shape), up.reshape(shape)], axis=-2)
    return both.reshape(*gate.shape[:-1], 2 * gate.shape[-1])


class Comparing(unittest.TestCase):
    def expect(self, have, want, name):
        self.assertTrue(same(have.view(want.dtype), want), f"{name}: {have.flat[:4]} {want.flat[:4]}")

    def expect_rows(self, have, want, out, name):
        """The first rows, and bytes of the destination behind them."""
        expected = out.destination.copy()
        expected[:len(want)] = stored(want)
        self.expect(have, expected, name)


class ReductionTest(Comparing):
    def check(self, x, ends):
        rows, n = x.shape
        groups = len(ends)
        outputs = [Output("row_sum", np.float32, (rows,)), Output("group_column_sum", np.float32, (groups, n), None),
                   Output("group_column_sum", BF16, (groups, n), None),
                   Output("group_amax", np.float32, (groups,), None)]
        actual = Fused(ends, n, 32, rows=rows).fuse(outputs, ["%i0"] * 4, [(x, "per_element")])
        wide = x.astype(np.float64)
        with np.errstate(all="ignore"):
            sums = np.stack([wide[b:e].sum(axis=0) for b, e in groups_of(ends)]).astype(np.float32)
            amax = np.array([np.abs(wide[b:e]).max(initial=0) for b, e in groups_of(ends)], np.float32)
            self.expect_rows(actual[0], wide[:ends[-1]].sum(axis=1).astype(np.float32), outputs[0], "row_sum")
            self.expect(actual[1], sums, "column sums")
            self.expect(actual[2], sums.astype(BF16), "column sums in bf16")
        self.expect(actual[3], amax, "amax")
        return actual

    def test_sums(self):
        for n in (16, 96, 1104):
            for ends in GROUPS:
                x = exact(np.random.default_rng(n), (ends[-1] + 77, n))
                x[ends[-1]:] = np.nan
                with self.subTest(n=n, ends=ends):
                    self.check(x, ends)

    def test_many_rows(self):
        """More rows of one group than the executor takes at a time."""
        x = exact(np.random.default_rng(5), (2560, 48))
        self.check(x, [128, 2304, 2560])

    def test_special_values(self):
        x = exact(np.random.default_rng(1), (512, 96))
        x[3, 5], x[130, 7], x[300, 9] = np.nan, np.inf, -np.inf
        x[301, 9], x[40:60] = np.inf, 2.0**-149
        actual = self.check(x, [128, 128, 256, 512])
        self.assertEqual(actual[3].view(np.uint32).tolist(), [0x7FFFFFFF, 0, 0x7F800000, 0x7F800000])
        self.assertEqual(np.isnan(actual[1]).sum(), 2)

    def test_one_rounding(self):
        """2^24 + 1 + 1: f32 additions would lose both ones."""
        x = np.zeros((128, 32), np.float32)
        x[:, 0], x[:, 1:3] = 2**24, 1
        out = Output("row_sum", np.float32, (128,))
        (sums,) = Fused([128], 32, 32).fuse([out], ["%i0"], [(x, "per_element")])
        self.assertTrue(np.all(sums == 2**24 + 2))


class PairTest(Comparing):
    def check_pairs(self, ends, n, concatenated):
        rows, e, groups = ends[-1] + 50, n // 2, len(ends)
        gemm = Fused(ends, n, 64, rows=rows, seed=n)
        gemm.a[ends[-1]:].view(np.uint8)[:] = 0x7F
        bias = gemm.rng.standard_normal((groups, n)).astype(np.float32)
        c = gemm.rng.standard_normal((rows, n)).astype(np.float16)
        prob = gemm.rng.standard_normal(rows).astype(np.float32)
        for out in (c, prob):
            out[ends[-1]:] = np.nan
        kinds = ["row_scales_rceil", "column_group_scales_floor", "column_scales_rceil"]
        narrow = [quantized(rows, n, E4M3, kind) for kind in kinds]
        single = quantized(rows, e, E4M3, "row_scales_floor")
        outputs = [Output("plain", np.float32, (rows, n)), *sum(narrow, []), *single,
                   Output("group_column_sum", BF16, (groups, n), None), Output("group_amax", np.float32, (groups, 2), None),
                   Output("plain", BF16, (rows, e)), Output("group_amax", np.float32, (groups,), None),
                   Output("row_sum", np.float32, (rows,))]
        body = """
    %z = arith.addf %gate, %i0 : f32
    %w = arith.addf %up, %i1 : f32
    %zz = arith.mulf %z, %i4 : f32
    %g = arith.addf %zz, %i2 : f32
    %u = arith.subf %w, %i3 : f32
    %one = arith.constant 1.0 : f32"""
        yields = ["%g", "%u"] * 4 + ["%g"] + ["%g", "%u"] * 2 + ["%u", "%g", "%one"]
        actual = gemm.fuse(outputs, yields, [(bias, "per_group_column"), (c, "per_element"), (prob, "per_row")], body,
                           paired=True, concatenated=concatenated)
        group = gemm.group_of_rows()
        last = ends[-1]
        gate, up = split(gemm.accumulate()[:last], concatenated)
        bias_gate, bias_up = split(bias, concatenated)
        c_gate, c_up = split(c[:last].astype(np.float32), concatenated)
        gate = (gate + bias_gate[group]) * prob[:last, None] + c_gate
        up = up + bias_up[group] - c_up
        z = np.full((rows, n), np.nan, np.float32)
        z[:last] = join(gate, up, concatenated)
        self.expect_rows(actual[0], z[:last], outputs[0], "pairs")
        for i, pair in enumerate(narrow):
            for have, want in zip(actual[1 + 2 * i:3 + 2 * i], expect_quantized(z, ends, pair)):
                self.assertTrue(np.array_equal(have, want), pair[1].kind)
        padded = np.full((rows, e), np.nan, np.float32)
        padded[:last] = gate
        for have, want in zip(actual[7:9], expect_quantized(padded, ends, single)):
            self.assertTrue(np.array_equal(have, want), "single")
        sums = np.stack([z[b:f].astype(np.float64).sum(axis=0) for b, f in groups_of(ends)]).astype(np.float32)
        self.expect(actual[9], sums.astype(BF16), "sums of pairs")
        amax = np.array([[np.abs(half[b:f]).max(initial=0) for half in (gate, up)] for b, f in groups_of(ends)])
        self.expect(actual[10], amax.astype(np.float32), "amax of halves")
        self.expect_rows(actual[11], up.astype(BF16), outputs[11], "up")
        self.expect(actual[12], amax[:, 0].astype(np.float32), "amax")
        self.assertTrue(np.all(actual[13][:last] == e))
        if last:
            swapped = join(up, gate, concatenated)
            self.assertFalse(np.array_equal(actual[0][:last], swapped), "gate and up swapped")
            other = join(gate, up, not concatenated)
            self.assertEqual(np.array_equal(actual[0][:last], other), e == 32, "arrangement")

    def test_interleaved(self):
        for n in (64, 192):
            for ends in GROUPS:
                with self.subTest(n=n, ends=ends):
                    self.check_pairs(ends, n, False)

    def test_concatenated(self):
        for ends in GROUPS:
            with self.subTest(ends=ends):
                self.check_pairs(ends, 256, True)

    def test_wide(self):
        self.check_pairs([128, 256], 2304, False)  # more columns than the executor takes at a time

    def test_pairs_of_one_accumulator(self):
        """As a gradient of a gated unit: one accumulator, pairs in and out."""
        for n, concatenated in ((96, False), (128, True)):
            gemm = Fused([128, 384], n, 32, seed=2)
            c = gemm.rng.standard_normal((384, 2 * n)).astype(BF16)
            outputs = [Output("plain", np.float32, (384, 2 * n)), Output("row_sum", np.float32, (384,))]
            body = """
    %g = arith.mulf %acc, %i1 : f32
    %u = arith.mulf %acc, %i0 : f32
    %zero = arith.subf %i0, %i0 : f32"""
            actual = gemm.fuse(outputs, ["%g", "%u", "%zero"], [(c, "per_element")], body, concatenated=concatenated)
            gate, up = split(c.astype(np.float32), concatenated)
            acc = gemm.accumulate()
            self.expect(actual[0], join(acc * up, acc * gate, concatenated), "gradient")
            self.assertTrue(np.all(actual[1] == 0))


if __name__ == "__main__":
    unittest.main()
