"""Operands of weight gradients: exact ones, whose sums have no rounding in any order, and random ones. What no active row
may read is poison: rows past the last offset, scale bytes of no element."""
from dataclasses import dataclass

import numpy as np
from column_scales import factors, write
from wgrad import E2M1, E4M3, E5M2, F32, Case

# NaN of both signs; infinities where a format has them; e2m1 has neither, but scales have.
POISON = {E4M3: (0x7F, 0xFF), E5M2: (0x7C, 0x7F, 0xFC), E2M1: (0x07, 0x0F)}
ENTRIES = (0, 1, -1, 2, -3)


@dataclass
class Operand:
    """(R, width) elements and the bytes of their scales, (atoms, 32, 4, 4)."""
    data: np.ndarray
    scales: np.ndarray
    transposed: bool = False
    block: int = 32
    fine: bool = False  # scales of e4m3

    @property
    def dtype(self):
        return self.data.dtype.type

    @property
    def width(self):
        return self.data.shape[1]

    def stored(self):
        return np.ascontiguousarray(self.data.T) if self.transposed else self.data

    def values(self, sizes, group):
        """Of a group's rows, exact, in f64."""
        begin = sum(sizes[:group])
        data = self.data[begin : begin + sizes[group]].astype(np.float64)
        with np.errstate(invalid="ignore"):
            return data * self.factors(sizes, group)

    def factors(self, sizes, group):
        return factors(self.scales, self.width, sizes, group, self.block, self.fine)


def operand(rng, values, sizes, rows, dtype, aligned, transposed=False, scale_bytes=None, block=32, fine=False):
    """`values` (active rows, width); a scale byte of 126, 127 or 128 for each block, of e4m3 one of 0.5 to 2, or what
    `scale_bytes` makes of its shape."""
    active, width = values.shape
    tail = np.resize(np.array(POISON[dtype], np.uint8), (rows - active, width)).view(dtype)
    data = np.concatenate([values.astype(dtype), tail])
    make = scale_bytes or (lambda shape: rng.choice((0x30, 0x38, 0x3C, 0x40), shape) if fine else rng.integers(126, 129, shape))
    logical = [make((width, -(-size // block))).astype(np.uint8) for size in sizes]
    return Operand(data, write(logical, width, sizes, rows, aligned, block, 0x7F if fine else 0xFF), transposed, block, fine)


def lowest_bit(x):
    """The smallest power of two that divides all of x."""
    mantissa, exponent = np.frexp(x[x != 0].astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    return float(np.ldexp((whole & -whole).astype(np.float64), exponent - 53).min(initial=np.inf))


def assert_exact(case):
    """Every partial sum of products is a number of f32, in any order."""
    codes = [np.unique(x.data[: sum(case.sizes)].view(np.uint8)).view(x.dtype) for x in (case.lhs, case.rhs)]
    data_unit = lowest_bit(codes[0]) * lowest_bit(codes[1])
    for g, rows in enumerate(case.sizes):
        # Products of a block of rows are multiples of the product of its lowest bits.
        least = [np.array([lowest_bit(row) for row in x.factors(case.sizes, g)[:: x.block]]) for x in (case.lhs, case.rhs)]
        unit = data_unit * (least[0] * least[1]).min(initial=np.inf)
        lhs, rhs = np.abs(case.lhs.values(case.sizes, g)), np.abs(case.rhs.values(case.sizes, g))
        assert not rows or (lhs.T @ rhs).max() < 2.0**24 * unit, f"{case.name()}: sums of group {g} are not exact"


def exact(sizes, n, k, outs=(F32,), dtypes=(E4M3, E4M3), majors=(False, False), extra_rows=0, aligned=128, seed=0,
          entries=ENTRIES, scale_bytes=(None, None), block=32, fine=False, **rest):
    rng = np.random.default_rng(seed)
    active = sum(sizes)
    lhs, rhs = [operand(rng, rng.choice(entries, (active, width)), sizes, active + extra_rows, dtype, aligned, major, scales,
                        block, fine)
                for width, dtype, major, scales in zip((n, k), dtypes, majors, scale_bytes)]
    if rest.get("accumulate") and "old" not in rest:
        rest["old"] = [rng.integers(-50, 50, (len(sizes), n, k)).astype(F32) for _ in outs]
    case = Case(list(sizes), lhs, rhs, list(outs), aligned, **rest)
    assert_exact(case)
    return case


def random_case(sizes, n, k, outs=(F32,), dtypes=(E4M3, E4M3), majors=(False, False), aligned=128, seed=0, block=32, fine=False,
                **rest):
    """Normal data."""
    rng = np.random.default_rng(seed)
    lhs, rhs = [operand(rng, rng.normal(size=(sum(sizes), width)), sizes, sum(sizes), dtype, aligned, major, None, block, fine)
                for width, dtype, major in zip((n, k), dtypes, majors)]
    return Case(list(sizes), lhs, rhs, list(outs), aligned, **rest)
