"""Gradients against float64 differences of the forward equations: what is not the derivative of the forward pass shows,
however it agrees with its own specification."""
import sys

import numpy as np
from equations import BF16, F32, join, split
from named import Out, plain
from operands import random_case

STEP = 2.0**-14
INPUTS = ("alpha", "bias", "prob", "c")
LIMIT, SLOPE, OFFSET = 7.0, float(F32(1.702)), 1.0


def logistic(x):
    return 1 / (1 + np.exp(-x))


def swiglu(gate, up):
    return up * gate * logistic(gate)


def geglu(gate, up):
    g, u = np.minimum(gate, LIMIT), np.clip(up, -LIMIT, LIMIT)
    return (u + OFFSET) * g * logistic(SLOPE * g)


def srelu(z):
    return np.maximum(z, 0) ** 2


def slope(f, x, side):
    """The derivative of f at x: from both sides, or where side is not 0 from there alone. Errors are of order STEP^2."""
    h = STEP * np.maximum(1, np.abs(x))
    both = (f(x + h) - f(x - h)) / (2 * h)
    signed = h * side
    with np.errstate(all="ignore"):
        one = (-3 * f(x) + 4 * f(x + signed) - f(x + 2 * signed)) / (2 * signed)
    return np.where(side == 0, both, one)


def close(got, want, scale, what):
    """Within 2^-16 of the largest value that the same factors reach in the row, and of the value."""
    error = np.abs(got.astype(np.float64) - want)
    bound = 2.0**-16 * (np.abs(want) + scale)
    assert np.isfinite(got).all() and want.any(), what
    assert (error <= bound).all(), f"{what}: {np.count_nonzero(error > bound)} off, by {(error / bound).max():.1f} bounds"


def upstream(case):
    """The gradient of the forward result over prob, and prob, in f64."""
    group = np.searchsorted(case.ends, np.arange(case.rows), side="right")
    r = case.accumulate() * case.inputs["alpha"].astype(np.float64)[group][:, None] + case.inputs["bias"].astype(np.float64)[group]
    assert (case.inputs["alpha"] != 1).all() and (case.inputs["prob"] != 1).all()
    return r, case.inputs["prob"].astype(np.float64)[:, None]


def gated(op, forward, limit, c_type, concatenated):
    outs = [plain(), Out("row_sum", "dprob")]
    case = random_case(op, [128, 0, 256], 128, 64, outs, INPUTS, {"concatenated": concatenated}, c_type=c_type, seed=3)
    gate, up = [x.astype(F32) for x in split(case.inputs["c"].astype(F32), concatenated)]
    side = [np.zeros(gate.shape), np.zeros(up.shape)]
    if limit:
        rng = np.random.default_rng(4)
        for x, limits, sides in ((gate, (limit,), side[0]), (up, (limit, -limit), side[1])):
            x[np.abs(np.abs(x) - limit) < 0.02] = 1  # no difference may reach across the limit
            for at in limits:
                exactly = rng.random(x.shape) < 0.1
                x[exactly], sides[exactly] = at, -np.sign(at)
        case.inputs["c"] = join([gate, up], concatenated).astype(c_type)
    gradient, dprob = case.run("--check")
    dgate, dup = split(gradient, concatenated)
    r, prob = upstream(case)
    gate, up = [x.astype(np.float64) for x in split(case.inputs["c"].astype(F32), concatenated)]
    scale = np.abs(r * prob).max(1, keepdims=True) * 8
    close(dgate, r * prob * slope(lambda x: forward(x, up), gate, side[0]), scale, f"{op}: dgate")
    close(dup, r * prob * slope(lambda x: forward(gate, x), up, side[1]), scale, f"{op}: dup")
    # The result is linear in prob: the difference of two of its values is the derivative.
    want = (r * ((prob + 1) * forward(gate, up) - prob * forward(gate, up))).sum(1)
    close(dprob, want, np.abs(r * forward(gate, up)).sum(1), f"{op}: dprob")
    if limit:
        # All but those with another factor of 0, such as up + offset.
        assert (dgate[gate == limit] != 0).mean() > 0.9 and (dup[np.abs(up) == limit] != 0).mean() > 0.9
        assert not dgate[gate > limit].any() and not dup[np.abs(up) > limit].any()


def dswiglu():
    for c_type, concatenated in ((np.float32, False), (BF16, True)):
        gated("gemm_dswiglu", swiglu, 0, c_type, concatenated)


def dgeglu():
    for c_type, concatenated in ((np.float32, False), (BF16, True)):
        gated("gemm_dgeglu", geglu, LIMIT, c_type, concatenated)


def dsrelu():
    """The form `c`: the gradient of srelu at the saved pre-activation. `gemm` is no derivative of it."""
    for c_type in (np.float32, np.float16):
        outs = [plain(), Out("row_sum", "dprob")]
        case = random_case("gemm_dsrelu", [128, 256], 96, 64, outs, INPUTS, {"preactivation": "c"}, c_type=c_type, seed=5)
        gradient, dprob = case.run("--check")
        r, prob = upstream(case)
        c = case.inputs["c"].astype(np.float64)
        close(gradient, r * prob * slope(srelu, c, np.zeros(c.shape)), np.abs(r * prob).max(1, keepdims=True) * 8, "dsrelu")
        close(dprob, (r * srelu(c)).sum(1), np.abs(r * srelu(c)).sum(1), "dsrelu: dprob")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
