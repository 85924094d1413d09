"""Operands of named ops: exact ones, whose sums have no rounding in any order, and random ones."""
import numpy as np
from equations import F32, PAIRED, join
from named import Case
from quantizers import E4M3, E5M2

POISON = {E4M3: 0x7F, E5M2: 0x7F}


def offsets_of(sizes):
    return [int(end) for end in np.cumsum(sizes)]


def sparse(rng, rows, k, entries, hot):
    """`hot` entries in each row, 0 elsewhere; every fourth row is all 0, so that gates of 0 are not rare."""
    a = np.zeros((rows, k))
    for row in range(rows):
        if row % 4 != 3:
            a[row, rng.choice(k, hot, replace=False)] = rng.choice(entries, hot)
    return a


def exact(op, sizes, n, k, outs, inputs=(), attributes=None, gates=(0, 1, -1, 2), ups=(0, 1, -1, 2, -3), entries=(1, -1),
          alphas=(1, -1, 2), c_type=np.float32, c_gates=(0.0,), c_ups=(0.0,), extra_rows=0, dtype=E4M3, hot=3, seed=0,
          biases=(0, 1, -1), gate_biases=None, probs=(1, -0.5, 2, 0, -1), input_type=F32, norm=None, **rest):
    """Entries of a times entries of b (gates, or ups in columns of the other half) times powers of two; poison in all
    that no active row may read: rows past the last offset, experts without rows."""
    attributes = dict(attributes or {})
    rng = np.random.default_rng(seed)
    ends, groups = offsets_of(sizes), len(sizes)
    active, rows = ends[-1], ends[-1] + extra_rows
    concatenated = attributes.get("concatenated", False)

    def columns(first, second):
        """(L, N) of choices, a half of the columns from each list for pairs."""
        if op not in PAIRED:
            return lambda *lead: rng.choice(first, (*lead, n))
        def draw(*lead):
            halves = [rng.choice(choices, (int(np.prod(lead)), n // 2)) for choices in (first, second)]
            return join(halves, concatenated).reshape(*lead, n)
        return draw

    a = np.zeros((rows, k))
    a[:active] = sparse(rng, active, k, entries, hot)
    b = np.swapaxes(columns(gates, ups)(groups, k), 1, 2)
    a, b = a.astype(dtype), np.ascontiguousarray(b).astype(dtype)
    sa = rng.integers(127, 129, (rows, k // 32)).astype(np.uint8)
    sb = rng.integers(127, 129, (groups, n, k // 32)).astype(np.uint8)
    a[active:] = np.uint8(POISON[dtype]).view(dtype)
    sa[active:] = 0xFF
    empty = np.asarray(sizes) == 0
    b[empty], sb[empty] = np.uint8(POISON[dtype]).view(dtype), 0xFF
    values = {}
    for role in inputs:
        if role == "alpha":
            x = rng.choice(alphas, groups).astype(F32)
            x[empty] = np.nan
        elif role == "bias":
            x = columns(biases if gate_biases is None else gate_biases, biases)(groups).astype(F32)
            x[empty] = np.inf
        elif role == "prob":
            x = np.full(rows, np.nan, F32)
            x[:active] = rng.choice(probs, active)
        else:
            halves = [rng.choice(choices, (rows, n)) for choices in (c_gates, c_ups)]
            x = halves[0] if op == "gemm_dsrelu" else join(halves, concatenated)
            x[active:] = np.nan
            x = x.astype(c_type)
        values[role] = x if role == "c" else x.astype(input_type)
    return Case(op, ends, a, b, sa, sb, outs, values, attributes, norm=norm, **rest)


def random_case(op, sizes, n, k, outs, inputs=(), attributes=None, spread=1.0, c_type=np.float32, seed=0, norm=None, **rest):
    """Normal data: acc has a standard deviation near `spread`."""
    rng = np.random.default_rng(seed)
    ends, groups = offsets_of(sizes), len(sizes)
    rows = ends[-1]
    attributes = dict(attributes or {})
    pair_c = op in ("gemm_dswiglu", "gemm_dgeglu")
    a = rng.normal(size=(rows, k)).astype(E4M3)
    b = (rng.normal(size=(groups, n, k)) * spread / np.sqrt(k)).astype(F32)
    # Elements of b would be subnormal: their block's power of two is in the scale.
    sb = np.full((groups, n, k // 32), 127 - 6, np.uint8)
    b = (b * 2.0**6).astype(E4M3)
    sa = np.full((rows, k // 32), 127, np.uint8)
    sa, sb = (x + rng.integers(-1, 2, x.shape).astype(np.uint8) for x in (sa, sb))
    make = {"alpha": lambda: rng.uniform(0.5, 1.5, groups) * rng.choice([1, -1], groups),
            "bias": lambda: rng.normal(size=(groups, n)), "prob": lambda: rng.normal(size=rows),
            "c": lambda: rng.normal(size=(rows, 2 * n if pair_c else n)) * 3}
    values = {role: make[role]().astype(c_type if role == "c" else F32) for role in inputs}
    return Case(op, ends, a, b, sa, sb, outs, values, attributes, norm=norm, **rest)


def lowest_bit(x):
    """The smallest power of two that divides all of x."""
    mantissa, exponent = np.frexp(x[x != 0].astype(np.float64))
    whole = np.ldexp(mantissa, 53).astype(np.int64)
    return float(np.ldexp((whole & -whole).astype(np.float64), exponent - 53).min(initial=np.inf))


def exactly_summable(x, axis):
    """Whether sums of x along `axis` are exact in f32 in any order."""
    return x.size == 0 or float(np.abs(x).astype(np.float64).sum(axis).max()) < 2.0**24 * lowest_bit(x)
