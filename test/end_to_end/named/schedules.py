"""Sums, maxima and bytes do not depend on the order in which CTAs and warps run; no order has a hazard."""
import sys

import numpy as np
from equations import BF16, PAIRED
from named import AMAX, Out, column_sum, plain, quantized
from operands import random_case
from quantizers import E4M3, E5M2

ALL = ("alpha", "bias", "prob")
GRADIENTS = ("gemm_dswiglu", "gemm_dgeglu", "gemm_dsrelu")
OPS = ("gemm_quant", "gemm_swiglu", "gemm_geglu", "gemm_situglu", "gemm_srelu") + GRADIENTS
# Several tiles down a group, N of several along a row, and more of them than the emulator has SMs.
SIZES = [512, 0, 256]


def case_of(op, **named):
    """Every reduction of an op at once."""
    n = 640 if op in PAIRED else 320
    value = "dprob" if op in GRADIENTS else "result"
    outs = [Out("row_sum", value), AMAX, column_sum(), column_sum(BF16), quantized(E4M3, "row_scales_rceil"),
            quantized(E5M2, "column_group_scales_rceil")]
    inputs = ALL + ("c",) if op in GRADIENTS else ALL
    return random_case(op, SIZES, n, 64, outs, inputs, spread=3, **named)


def repeatable():
    for op in OPS:
        case = case_of(op)
        first = case.run("--schedule-seed=1")
        for seed in range(2, 6):
            for i, (x, y) in enumerate(zip(case.run(f"--schedule-seed={seed}"), first)):
                same = np.array_equal(x.view(np.uint8), y.view(np.uint8))
                assert same, f"{case.name()}: {case.destinations()[i][3]} depends on the order, seed {seed}"


def nondeterministic():
    """Sums by atomics: correct, in whatever order."""
    for op in ("gemm_quant", "gemm_swiglu") + GRADIENTS:
        case = case_of(op, nondeterministic=True)
        case.outs = case.outs[:4]
        report = {}
        case.run("--check", "--schedule-seed=3", report=report)
        assert report["passed"] and report["launches"] == 1


def hazards():
    for op in OPS:
        case = case_of(op)
        for seed in (1, 2, 3):
            report = {}
            case.run("--hazards=full", f"--schedule-seed={seed}", report=report)
            assert report["launches"] == 1, f"{case.name()}: {report['launches']} launches"
            assert not report["hazards"], f"{case.name()}, seed {seed}: {report['hazards']}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
