"""Every operation of an epilogue against NumPy, bit for bit."""
import math
import unittest
from fractions import Fraction

import numpy as np
from oracle import BF16, NAMES, same
from product import Product

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
    "grouped_moe.sigmoid": wide(lambda x: 1 / (1 + np.exp(-x))),
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
        self.gemm = Product([128], 32, 32)
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
