"""The reference executor against NumPy and ml_dtypes, bit for bit."""
import unittest
from fractions import Fraction

import numpy as np
from oracle import (BF16, E4M3, E5M2, NAMES, block_scales, dequantize64, quantize, run, same, type_of, unblock_scales)

LAYOUT = "layout <row, whole, block = 32>"


def quantize_program(shape, scale_shape, source, target, rounding):
    x, q, s = type_of(source, shape), type_of(target, shape), type_of("e8m0", scale_shape)
    return f"""
func.func @quantize(%x: {x}) -> ({q}, {s}) {{
  %q0 = tensor.empty() : {q}
  %s0 = tensor.empty() : {s}
  %q, %s = grouped_moe.quantize ins(%x : {x}) outs(%q0, %s0 : {q}, {s}) {LAYOUT} rounding {rounding} -> {q}, {s}
  return %q, %s : {q}, {s}
}}"""


def special_blocks():
    """f32 blocks of 32 whose maximum is each special value, and mixtures."""
    f = np.float32
    peaks = [0.0, 448.0, 480.0, 957.0, 57344.0, 6e-38, 1.3e-36, 1e-30, 1.0, np.finfo(f).max, np.finfo(f).tiny]
    peaks += [2.0**e for e in range(-149, -99)]
    peaks += [float(np.nextafter(f(2.0**e), f(0))) for e in range(-148, 128)]
    peaks += [float(np.nextafter(f(448 * 2.0**e), f(s))) for e in range(-130, 119) for s in (0, np.inf)]
    peaks += [448 * 2.0**e for e in range(-130, 119)]
    peaks += [np.inf, -np.inf, np.nan]
    rng = np.random.default_rng(1)
    blocks = []
    for peak in peaks:
        block = (rng.uniform(-1, 1, 32) * (peak if np.isfinite(peak) else 1)).astype(f)
        block[rng.integers(32)] = peak
        block[rng.integers(32)] *= f(-1)
        blocks.append(block)
    mixed = rng.standard_normal((40, 32)).astype(f) * np.exp2(rng.integers(-149, 120, (40, 32))).astype(f)
    mixed[0, 3], mixed[0, 9] = np.inf, np.nan
    mixed[1, :] = -0.0
    return np.concatenate([np.array(blocks, f), mixed])


class Quantize(unittest.TestCase):
    def check(self, x, target, rounding):
        expected, scales = quantize(x.astype(np.float32), target, rounding)
        blocked = block_scales(scales)
        program = quantize_program(x.shape, blocked.shape, x.dtype.type, target, rounding)
        data, actual = run(program, [x], [target, np.uint8])
        self.assertTrue(np.array_equal(actual, blocked), "scales: %s" % np.argwhere(actual != blocked)[:4])
        differ = data.view(np.uint8) != expected.view(np.uint8)
        self.assertFalse(differ.any(), "data: %s" % np.argwhere(differ)[:4])

    def test_special_values(self):
        blocks = special_blocks()
        x = blocks[: len(blocks) // 5 * 5].reshape(-1, 160)  # 5 blocks a row: padding blocks and rows
        for target in (E4M3, E5M2):
            for rounding in ("rceil", "floor"):
                with self.subTest(target=target, rounding=rounding):
                    self.check(x, target, rounding)

    def test_half_inputs_and_rank_3(self):
        rng = np.random.default_rng(2)
        for source in (np.float16, BF16, np.float32):
            self.check((rng.standard_normal((3, 130, 96)) * 7).astype(source), E4M3, "rceil")

    def test_golden(self):
        for peak, rounding, scale, byte in ((480, "rceil", 128, 0x77), (480, "floor", 127, 0x7E)):
            x = np.zeros((1, 32), np.float32)
            x[0, 5] = peak
            data, scales = run(quantize_program((1, 32), (1, 1, 32, 4, 4), np.float32, E4M3, rounding), [x],
                               [np.uint8, np.uint8])
            self.assertEqual((scales.flat[0], data[0, 5]), (scale, byte))
        for rounding, value in (("floor", 896), ("rceil", 960)):
            x = np.full((1, 32), 957, np.float32)
            data, scales = run(quantize_program((1, 32), (1, 1, 32, 4, 4), np.float32, E4M3, rounding), [x],
                               [E4M3, np.uint8])
            self.assertEqual(dequantize64(data, unblock_scales(scales, 1, 1))[0, 0], value)


class Dequantize(unittest.TestCase):
    def test_every_byte(self):
        data = np.broadcast_to(np.arange(256, dtype=np.uint8), (256, 256))
        scales = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 8, axis=1)
        for source in (E4M3, E5M2):
            values = np.ascontiguousarray(data).view(source)
            for target in (np.float32, np.float16, BF16):
                q, y = type_of(source, (256, 256)), type_of(target, (256, 256))
                s = type_of("e8m0", (2, 2, 32, 4, 4))
                program = f"""
func.func @dequantize(%q: {q}, %s: {s}) -> {y} {{
  %y0 = tensor.empty() : {y}
  %y = grouped_moe.dequantize ins(%q : {q} scales %s : {s}) outs(%y0 : {y}) {LAYOUT} -> {y}
  return %y : {y}
}}"""
                (actual,) = run(program, [values, block_scales(scales)], [target])
                with np.errstate(all="ignore"):
                    expected = dequantize64(values, scales).astype(np.float32).astype(target)
                self.assertTrue(same(actual, expected), f"{source} {target}")


class Gemm:
    """Random operands of one product, and its program."""

    def __init__(self, ends, n, k, rows=None, dtype=E4M3, aligned=128, seed=0, finite=True):
        rng = np.random.default_rng(seed)
        self.ends, self.n, self.k, self.dtype, self.aligned = ends, n, k, dtype, aligned
        self.rows = ends[-1] if rows is None else rows
        groups = len(ends)
        draw = lambda *shape: self.finite_bytes(rng.integers(0, 256, shape, np.uint8)).view(dtype)
        self.a, self.b = draw(self.rows, k), draw(groups, n, k)
        # A narrow range of scales: sums of products are exact in f64 in any order.
        scales = lambda *shape: rng.integers(126, 129, shape, np.uint8)
        self.sa, self.sb = scales(self.rows, k // 32), scales(groups, n, k // 32)
        self.rng = rng

    def finite_bytes(self, data):
        if self.dtype == E5M2:  # 22 bits of exponent range would not be exact
            data = (data & 0x83) | (((data >> 2) & 7) + 12 << 2).astype(np.uint8)
        bad = (data & 0x7F) == 0x7F if self.dtype == E4M3 else (data & 0x7C) == 0x7C
        return np.where(bad, 0, data).astype(np.uint8)

    def accumulate(self):
        acc = np.zeros((self.rows, self.n), np.float32)
        begin = 0
        for g, end in enumerate(self.ends):
            a = dequantize64(self.a[begin:end], self.sa[begin:end])
            acc[begin:end] = (a @ dequantize64(self.b[g], self.sb[g]).T).astype(np.float32)
            begin = end
        return acc

    def group_of_rows(self):
        return np.searchsorted(self.ends, np.arange(self.ends[-1]), side="right")

    def run(self, body, out, inputs=(), yielded="%r", poison=0xFF, expect=0, destination=None):
        """inputs: (array, kind); the region sees them as %i0, %i1, ..."""
        blocked = [block_scales(self.sa, poison), block_scales(self.sb, poison)]
        offsets = np.array(self.ends, np.int32)
        fixed = [(self.a, "a", self.dtype), (blocked[0], "sa", "e8m0"), (self.b, "b", self.dtype),
                 (blocked[1], "sb", "e8m0"), (offsets, "offsets", np.int32)]
        types = {name: type_of(d, x.shape, name in ("a", "sa")) for x, name, d in fixed}
        extra = [("x%d" % i, type_of(x.dtype.type, x.shape, kind in ("per_element", "per_row")), kind)
                 for i, (x, kind) in enumerate(inputs)]
        d = type_of(out, (self.rows, self.n), True)
        signature = ", ".join([f"%{n}: {t}" for n, t in types.items()] + [f"%{n}: {t}" for n, t, _ in extra] +
                              [f"%d0: {d}"])
        ins = "ins(%s)" % ", ".join(f"%{n} : {t} as {k}" for n, t, k in extra) if extra else ""
        block = ", ".join(["%acc: f32"] + [f"%i{i}: f32" for i in range(len(extra))])
        program = f"""
func.func @product({signature}) -> {d} {{
  %d = grouped_moe.gemm lhs(%a : {types["a"]} scales %sa : {types["sa"]} {LAYOUT})
      rhs(%b : {types["b"]} scales %sb : {types["sb"]} {LAYOUT}) offsets(%offsets : {types["offsets"]}) {ins}
      outs(%d0 : {d}) attributes {{m_aligned = {self.aligned} : i64}} epilogue {{
  ^bb0({block}):
{body}
    grouped_moe.yield {yielded} : f32
  }} -> {d}
  return %d : {d}
}}"""
        if destination is None:
            destination = np.full((self.rows, self.n), 7, np.float32).astype(out)
        arguments = [x for x, _, _ in fixed] + [x for x, _ in inputs] + [destination]
        result = run(program, arguments, [out], expect)
        return result if expect else result[0]


class GemmTest(unittest.TestCase):
    def expect(self, actual, expected, rows):
        """Rows past the last offset keep the destination's 7."""
        self.assertTrue(same(actual[:rows], expected[:rows].astype(actual.dtype)))
        self.assertTrue(np.all(actual[rows:].astype(np.float32) == 7))

    def test_groups(self):
        for ends in ([128], [0, 128], [128, 128, 384, 384], [0, 0, 0], [128] * 5, [256, 256, 256, 384]):
            for dtype in (E4M3, E5M2):
                gemm = Gemm(ends, 48, 160, rows=ends[-1] + 77, dtype=dtype, seed=len(ends))
                # Nothing past the last offset may matter.
                gemm.a[ends[-1]:].view(np.uint8)[:] = 0x7F
                gemm.sa[ends[-1]:] = 255
                for out in (np.float32, np.float16, BF16):
                    with np.errstate(over="ignore"):
                        self.expect(gemm.run("", out, yielded="%acc"), gemm.accumulate().astype(out), ends[-1])

    def test_no_rows(self):
        gemm = Gemm([0, 0], 16, 32)
        self.assertEqual(gemm.run("", np.float32, yielded="%acc").shape, (0, 16))

    def test_sizes(self):
        """More columns than a chunk of the executor, more depth, 131 groups."""
        for ends, n, k in (([128], 1104, 32), ([128, 256], 32, 1056), ([128 * (g // 40) for g in range(131)], 16, 32)):
            gemm = Gemm(ends, n, k, seed=k)
            self.expect(gemm.run("", np.float32, yielded="%acc"), gemm.accumulate(), ends[-1])

    def test_epilogue(self):
        ends = [128, 128, 384]
        gemm = Gemm(ends, 80, 96, rows=400, seed=3)
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
        gemm = Gemm([128, 256], 16, 64)
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
            gemm = Gemm([128, 256], 16, 32, rows=rows)
            gemm.ends = ends
            text = gemm.run("", np.float32, yielded="%acc", expect=1)
            for word in words:
                self.assertIn(word, text)


SPECIAL = np.array([0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3e38, -3e38,
                    1e-38, 7.25, 100.7, -88.2, 2**24 + 1, 2**31, 0.1, -0.3, 65504, 65520, 1e5, 3.14159, -2.71828, 12345.678,
                    5e-8, 1.0000001], np.float32)


def fma(x, y, z):
    out = np.empty_like(x)
    for i in np.ndindex(x.shape):
        a, b, c = (float(v[i]) for v in (x, y, z))
        if all(map(np.isfinite, (a, b, c))):
            exact = Fraction(a) * Fraction(b) + Fraction(c)
            out[i] = nearest32(exact) if exact else np.float32(np.float64(a) * b + c)
        else:
            out[i] = np.float32(np.float64(a) * b + c)
    return out


def nearest32(exact):
    """The f32 nearest to a fraction, ties to even."""
    guess = np.float32(float(exact))
    near = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    if any(not np.isfinite(v) for v in near):
        return guess
    return min(near, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))


def wide(function):
    """In f64, rounded to f32."""
    return lambda x, y: function(x.astype(np.float64)).astype(np.float32)


def erf(x):
    import math
    return np.vectorize(math.erf)(x)


BINARY = {
    "arith.addf": lambda x, y: x + y,
    "arith.subf": lambda x, y: x - y,
    "arith.mulf": lambda x, y: x * y,
    "arith.divf": lambda x, y: x / y,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.copysign": np.copysign,
}
UNARY = {
    "arith.negf": lambda x, y: -x,
    "math.absf": lambda x, y: np.abs(x),
    "math.floor": lambda x, y: np.floor(x),
    "math.ceil": lambda x, y: np.ceil(x),
    "math.trunc": lambda x, y: np.trunc(x),
    "math.roundeven": lambda x, y: np.rint(x),
    "math.sqrt": lambda x, y: np.sqrt(x),
    "math.rsqrt": wide(lambda x: 1 / np.sqrt(x)),
    "math.exp": wide(np.exp),
    "math.exp2": wide(np.exp2),
    "math.log": wide(np.log),
    "math.log2": wide(np.log2),
    "math.tanh": wide(np.tanh),
    "math.erf": wide(erf),
}
PREDICATES = {
    "oeq": lambda x, y, u: ~u & (x == y), "ogt": lambda x, y, u: x > y, "oge": lambda x, y, u: x >= y,
    "olt": lambda x, y, u: x < y, "ole": lambda x, y, u: x <= y, "one": lambda x, y, u: ~u & (x != y),
    "ord": lambda x, y, u: ~u, "ueq": lambda x, y, u: u | (x == y), "ugt": lambda x, y, u: u | (x > y),
    "uge": lambda x, y, u: u | (x >= y), "ult": lambda x, y, u: u | (x < y), "ule": lambda x, y, u: u | (x <= y),
    "une": lambda x, y, u: x != y, "uno": lambda x, y, u: u, "true": lambda x, y, u: np.ones_like(u),
    "false": lambda x, y, u: np.zeros_like(u),
}
INTEGERS = {
    "andi": lambda a, b: a & b, "ori": lambda a, b: a | b, "xori": lambda a, b: a ^ b, "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b, "muli": lambda a, b: a * b,
}


class EpilogueTest(unittest.TestCase):
    """Each operation on all pairs of special values: 32 columns by 128 rows."""

    def setUp(self):
        self.gemm = Gemm([128], 32, 32)
        self.x = np.ascontiguousarray(np.broadcast_to(SPECIAL, (128, 32)))
        self.y = np.ascontiguousarray(np.broadcast_to(np.tile(SPECIAL, 4)[:, None], (128, 32)))
        self.old = np.seterr(all="ignore")

    def tearDown(self):
        np.seterr(**self.old)

    def check(self, body, expected, name):
        actual = self.gemm.run(body, np.float32, [(self.x, "per_element"), (self.y, "per_element")])
        self.assertTrue(same(actual, expected.astype(np.float32)),
                        "%s: %s" % (name, [(self.x[i], self.y[i], actual[i], expected[i]) for i in np.ndindex(128, 32)
                                           if not same(actual[i].reshape(1), expected[i].reshape(1))][:4]))

    def test_binary(self):
        for op, function in BINARY.items():
            expected = function(self.x, self.y)
            if op in ("arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf"):
                # numpy leaves the sign of zeros open; +0 counts as the larger one.
                zeros = (self.x == 0) & (self.y == 0)
                both = np.signbit(self.x) & np.signbit(self.y)
                either = np.signbit(self.x) | np.signbit(self.y)
                negative = both if "max" in op else either
                expected = np.where(zeros, np.where(negative, np.float32(-0.0), np.float32(0)), expected)
            self.check(f"    %r = {op} %i0, %i1 : f32", expected, op)

    def test_unary(self):
        for op, function in UNARY.items():
            self.check(f"    %r = {op} %i0 : f32", function(self.x, self.y), op)

    def test_fma(self):
        z = np.float32(-1.1)
        body = "    %z = arith.constant -1.1 : f32\n    %r = math.fma %i0, %i1, %z : f32"
        self.check(body, fma(self.x, self.y, np.full_like(self.x, z)), "fma")

    def test_comparisons(self):
        unordered = np.isnan(self.x) | np.isnan(self.y)
        for predicate, function in PREDICATES.items():
            body = f"""    %c = arith.cmpf {predicate}, %i0, %i1 : f32
    %r = arith.select %c, %i0, %i1 : f32"""
            self.check(body, np.where(function(self.x, self.y, unordered), self.x, self.y), predicate)

    def test_integers(self):
        a, b = self.x.view(np.int32), self.y.view(np.int32)
        head = "    %v = arith.bitcast %i0 : f32 to i32\n    %w = arith.bitcast %i1 : f32 to i32\n"
        for op, function in INTEGERS.items():
            self.check(head + f"    %c = arith.{op} %v, %w : i32\n    %r = arith.sitofp %c : i32 to f32",
                       function(a, b).astype(np.float32), op)
        shift = "    %k = arith.constant 5 : i32\n"
        for op, value in (("shli", a << 5), ("shrui", (a.view(np.uint32) >> 5).view(np.int32)), ("shrsi", a >> 5)):
            self.check(head + shift + f"    %c = arith.{op} %v, %k : i32\n    %r = arith.sitofp %c : i32 to f32",
                       value.astype(np.float32), op)
        unsigned = self.x.view(np.uint32).astype(np.float32)
        self.check(head + "    %r = arith.uitofp %v : i32 to f32", unsigned, "uitofp")
        for predicate, value in (("slt", a < b), ("ult", a.view(np.uint32) < b.view(np.uint32)), ("eq", a == b),
                                 ("sge", a >= b), ("ugt", a.view(np.uint32) > b.view(np.uint32)), ("ne", a != b)):
            for extend, sign in (("extui", 1), ("extsi", -1)):
                self.check(head + f"""    %c = arith.cmpi {predicate}, %v, %w : i32
    %e = arith.{extend} %c : i1 to i32
    %r = arith.sitofp %e : i32 to f32""", value.astype(np.float32) * sign + np.float32(0), predicate)

    def test_narrow_floats(self):
        for dtype in (np.float16, BF16):
            t = NAMES[dtype]
            x, y = self.x.astype(dtype), self.y.astype(dtype)
            for op in ("addf", "subf", "mulf", "divf"):
                body = f"""    %v = arith.truncf %i0 : f32 to {t}
    %w = arith.truncf %i1 : f32 to {t}
    %c = arith.{op} %v, %w : {t}
    %r = arith.extf %c : {t} to f32"""
                value = BINARY["arith." + op](x.astype(np.float32), y.astype(np.float32)).astype(dtype)
                self.check(body, value.astype(np.float32), op + t)


if __name__ == "__main__":
    unittest.main()
