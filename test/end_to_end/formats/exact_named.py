"""Operands of the named ops in FP4 with exact sums; gates have a sigmoid of 0, 1/2 or 1."""
import numpy as np
from equations import F32, PAIRED, PAIRED_C, join
from operands import exactly_summable, sparse
from oracle import E4M3, E8M0
from products import SIZES, Product, poisoned, scale_bytes

# Scales of lhs are whole; gates are multiples of 128, codes and scales of their columns of rhs make them so.
WHOLE = {E8M0: (1, 2, 4), E4M3: (1, 2, 3)}
WIDE = {E8M0: (64, 128, 256), E4M3: (64, 128, 192)}
NARROW = {E8M0: (0.5, 1, 2), E4M3: (0.625, 1.125, 1.75)}
GATES, UPS = (0.0, -0.0, 2, -2, 4, -4, 6, -6), (0.0, -0.0, 0.5, -1, 1.5, 2, -3, 6)
C_GATES, C_UPS = (0.0, -0.0, 32.0, 64.0, -112.0, -128.0), (0.0, 1.0, -1.0, 2.0, -3.0)


def gates_of(op, n, concatenated):
    """Which columns of the product are gates."""
    column = np.arange(n)
    is_gate = column < n // 2 if concatenated else column // 32 % 2 == 0
    return is_gate & (op in PAIRED)


def named(form, op, n, k, outs, inputs=(), attributes=None, sizes=SIZES, extra_rows=57, seed=0, hot=1, c_type=F32,
          alphas=(1, -1, 2, 3), **rest):
    """`hot` elements of a row of lhs are not 0. Of pairs `alphas` are whole."""
    rng = np.random.default_rng(seed)
    attributes = dict(attributes or {})
    rows, groups, blocks = sum(sizes), len(sizes), k // form.block
    is_gate = gates_of(op, n, attributes.get("concatenated", False))
    a = sparse(rng, rows, k, (1, -1, 2, -3), hot)
    codes = [rng.choice(codes, (groups, n, k)) for codes in (GATES, UPS)]
    scales = [scale_bytes(rng, form, (groups, n, blocks), 1, numbers[form.scale]) for numbers in (WIDE, NARROW)]
    b, sb = [np.where(is_gate[:, None], *both) for both in (codes, scales)]
    sa = scale_bytes(rng, form, (rows, blocks), 1, WHOLE[form.scale])
    ends, a, b, sa, sb = poisoned(form, sizes, a, b, sa, sb, extra_rows)
    make = {"alpha": lambda: rng.choice(alphas, groups),
            "bias": lambda: np.where(is_gate, rng.choice((0, 128, -256), (groups, n)), rng.choice((0, 1, -1), (groups, n))),
            "prob": lambda: rng.choice((1, -0.5, 2, 0, -1), rows + extra_rows),
            "c": lambda: join([rng.choice(x, (rows + extra_rows, n)) for x in (C_GATES, C_UPS)],
                              attributes.get("concatenated", False))}
    values = {role: make[role]().astype(c_type if role == "c" else F32) for role in inputs}
    for role, x in values.items():
        x[np.asarray(sizes) == 0 if role in ("alpha", "bias") else np.arange(len(x)) >= rows] = np.nan
    case = Product(op, ends, a, b, sa, sb, list(outs), values, attributes, format=form, **rest)
    case.assert_exact()
    assert_gates(case)
    return case


def assert_gates(case):
    """The sigmoid of every gate is exact, and each of its three values is reached; so are sums of rows and columns."""
    values = case.evaluate()
    if case.op in PAIRED or case.op in PAIRED_C:
        gate = values["preactivation"][0] if case.op in PAIRED else np.array(C_GATES)
        low, zero, high = gate <= -104, gate == 0, gate >= 32
        assert (low | zero | high).all() and low.any() and zero.any() and high.any(), case.name()
    for out in case.outs:
        if out.kind in ("row_sum", "group_column_sum"):
            x = np.concatenate(values[out.value], 1)
            assert exactly_summable(x, 1 if out.kind == "row_sum" else 0), f"{case.name()}: {out.kind} is not exact"
    assert np.concatenate(values["result"], 1).any() and case.accumulate().any()
