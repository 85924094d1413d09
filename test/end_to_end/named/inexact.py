"""Random data. The product against float64; the epilogue against NumPy on the kernel's own values; the quantizers bit for
bit on the kernel's own f32 values; end to end against the reference executor, with a count of what may differ."""
import sys

import numpy as np
from equations import F32, join, split
from named import AMAX, Case, Out, assert_same, column_sum, plain, quantized
from operands import random_case
from quantizers import E2M1, E4M3, E5M2

ALL = ("alpha", "bias", "prob")
SIZES = [128, 0, 256]
OPS = {"gemm_quant": [{}, {"weighted_bias": True}], "gemm_swiglu": [{}, {"concatenated": True}], "gemm_geglu": [{}],
       "gemm_situglu": [{}], "gemm_srelu": [{}, {"bound": 2.0}], "gemm_dswiglu": [{}], "gemm_dgeglu": [{}, {"concatenated": True}],
       "gemm_dsrelu": [{"preactivation": "gemm"}, {"preactivation": "c"}]}
NORM = np.array([0.01], F32)


def inputs_of(op):
    return ALL + ("c",) if op.startswith("gemm_d") else ALL


def columns_for(attributes):
    return 256 if attributes.get("concatenated") else 192


def decibels(got, want):
    noise = ((got - want) ** 2).sum()
    return np.inf if noise == 0 else 10 * np.log10((want**2).sum() / noise)


def product():
    """alpha * acc: at least 85 dB."""
    for k in (64, 256):
        case = random_case("gemm_quant", SIZES, 96, k, [plain()], ("alpha",), spread=3)
        got = case.run("--check")[0].astype(np.float64)
        group = np.searchsorted(case.ends, np.arange(case.rows), side="right")
        want = case.accumulate() * case.inputs["alpha"].astype(np.float64)[group][:, None]
        assert decibels(got, want) >= 85, f"K {k}: {decibels(got, want):.1f} dB"


def value_of(case, x, value):
    """The halves of a plain f32 output."""
    return split(x, case.concatenated) if case.columns_of(value)[1] else [x]


def within_units(got, want, units, what):
    error = np.abs(got.astype(np.float64) - want.astype(np.float64))
    bound = units * np.spacing(np.maximum(np.abs(got), np.abs(want))).astype(np.float64)
    assert (error <= bound).all(), f"{what}: {(error / bound).max() * units:.1f} units, expected {units}"


def epilogues():
    """From z as the kernel has it each forward result is within the 4 units of its functions and its own roundings."""
    for op, attributes in OPS.items():
        for extra in attributes:
            if op.startswith("gemm_d") or "weighted_bias" in extra:
                continue
            case = random_case(op, SIZES, columns_for(extra), 64, [plain(), plain(np.float32, "preactivation")], ALL, extra, spread=3)
            result, z = case.run("--check")
            # z of the data itself: alpha and bias are in it already.
            bare = Case(op, case.ends, case.a, case.b, case.sa, case.sb, case.outs, {"prob": case.inputs["prob"]}, extra)
            want = bare.evaluate(acc=z)["result"][0]
            # srelu's square doubles what its tanh may be off; situglu has three functions.
            within_units(result, want, {"gemm_quant": 0, "gemm_srelu": 0 if not extra else 12, "gemm_situglu": 18}.get(op, 8),
                         case.name())


def quantizers():
    """Quantized outputs, maxima and sums beside the same value in f32, of the same launch."""
    for i, (op, attributes) in enumerate(OPS.items()):
        # Odd ones quantize FP4 rows in place of columns: outputs take room.
        second = [quantized(E2M1, "row_scales_nearest"), quantized(E5M2, "column_scales_floor")][i % 2]
        outs = [plain(), quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil"), second, AMAX,
                column_sum()]
        case = random_case(op, SIZES, columns_for(attributes[-1]), 64, outs, inputs_of(op), attributes[-1], spread=3,
                           norm=NORM if i % 3 else None, seed=i)
        actual = case.run()
        halves = value_of(case, actual[0], "result")
        expected = case.expected({"result": halves})
        for got, want, what in zip(actual[:-1], expected, case.destinations()):
            assert_same(got, want, what[0], f"{case.name()}: {what[3]}")
        begin = 0
        for g, end in enumerate(case.ends):
            x = actual[0][begin:end].astype(np.float64)
            bound = (end - begin) * 2.0**-23 * np.abs(x).sum(0)
            assert (np.abs(actual[-1][g] - x.sum(0)) <= bound).all(), case.name() + ": column sum"
            begin = end


def sigmoid():
    """4 units in the last place wherever its value lies, subnormals included: dprob of r = up = 1 is gate * sigmoid(gate)."""
    rng = np.random.default_rng(2)
    case = random_case("gemm_dswiglu", [256], 256, 64, [plain(np.float32, "dprob")], ("bias", "c"))
    case.a = np.zeros_like(case.a)
    case.inputs["bias"] = np.ones((1, 256), F32)
    count = 256 * 64
    gate = np.concatenate([np.linspace(-110, 40, 2 * count), rng.normal(size=count) * 2, -(10.0 ** rng.uniform(-40, 2, count))])
    gate = gate.astype(F32).reshape(256, 256)
    case.inputs["c"] = join([gate, np.ones_like(gate)], False)
    got = case.run("--check")[0]
    g = gate.astype(np.float64)
    s = 1 / (1 + np.exp(-g))
    unit = lambda x: np.spacing(np.abs(x).astype(F32)).astype(np.float64)
    assert (np.abs(got - g * s) <= 4 * np.abs(g) * unit(s) + unit(g * s)).all()


def row_sums():
    """dprob against the sum of its own addends, yielded beside it."""
    for op in ("gemm_dswiglu", "gemm_dgeglu", "gemm_dsrelu"):
        outs = [plain(np.float32, "dprob"), Out("row_sum", "dprob")]
        case = random_case(op, SIZES, 320, 64, outs, ALL + ("c",), spread=3)
        addends, sums = case.run("--check")
        x = addends.astype(np.float64)
        assert (np.abs(sums - x.sum(1)) <= 320 * 2.0**-23 * np.abs(x).sum(1)).all(), case.name()


def order_of(codes):
    """Codes of FP8 in the order of their values."""
    codes = codes.astype(int)
    return np.where(codes & 0x80, -(codes & 0x7F), codes)


def reference():
    """Sums in another order move a value by a unit or two of f32: few codes, and by no more than one."""
    for op in ("gemm_swiglu", "gemm_geglu", "gemm_situglu", "gemm_dswiglu", "gemm_dgeglu"):
        outs = [quantized(E4M3, "row_scales_rceil"), quantized(E4M3, "column_group_scales_rceil"), quantized(E5M2, "row_scales_floor")]
        case = random_case(op, [256, 128, 0], 256, 128, outs, inputs_of(op), spread=3, seed=5)
        kernel, wanted = case.run(), case.run(device="reference")
        for at in range(0, len(kernel), 2):
            what = f"{case.name()}: output #{at}"
            data, scales = [(kernel[i], wanted[i]) for i in (at, at + 1)]
            off = np.abs(scales[0].astype(int) - scales[1])
            assert off.max() <= 1 and (off != 0).mean() <= 1e-4, f"{what}: {np.count_nonzero(off)} scales differ"
            steps = np.abs(order_of(data[0]) - order_of(data[1]))
            # A scale that differs moves the codes of its block: leave out as many.
            allowed = 1e-3 * steps.size + 32 * np.count_nonzero(off)
            assert np.count_nonzero(steps) <= allowed and (off.any() or steps.max() <= 1), f"{what}: {np.count_nonzero(steps)} codes differ"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
