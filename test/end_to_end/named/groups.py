"""Groups at their limits: none with rows, no rows at all, one, more experts than warps; every op, every sum."""
import sys

import numpy as np
from named import AMAX, ROW_SUM, column_sum, plain, quantized
from operands import exact
from quantizers import E4M3, E5M2

FORWARD = ("gemm_quant", "gemm_swiglu", "gemm_geglu", "gemm_situglu", "gemm_srelu")
GRADIENTS = ("gemm_dswiglu", "gemm_dgeglu", "gemm_dsrelu")
# Exact for every op: gates and ups of 0 where an op has no other, and sums short.
DATA = {"gemm_swiglu": dict(gates=(0, 128, -128), gate_biases=(0, 128)),
        "gemm_geglu": dict(gates=(0, -64, -128), entries=(1,), alphas=(1, 2), gate_biases=(0, -64)),
        "gemm_situglu": dict(gates=(0, 128, -256), gate_biases=(0, 128), ups=(0, 256, -256), biases=(0, 256)),
        "gemm_dswiglu": dict(c_gates=(0.0, 64.0, -128.0), c_ups=(0.0, 1.0, -2.0)),
        "gemm_dgeglu": dict(c_gates=(0.0, -64.0, -128.0), c_ups=(0.0, 1.0, -7.0, 8.0)),
        "gemm_dsrelu": dict(c_gates=(0.0, 1.0, -1.0, 2.0))}
# m_aligned is the promise; 256 is its default.
PATTERNS = {"all_empty": ([0, 0, 0], 256, 128), "no_rows": ([0, 0, 0], 0, 256), "one_expert": ([256], 128, 256),
            "last_only": ([0, 0, 128], 0, 128), "one_expert_no_rows": ([0], 128, 128)}


def outs_of(op):
    outs = [quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil"), plain(), AMAX, column_sum()]
    return outs + [ROW_SUM] if op in GRADIENTS else outs


def inputs_of(op):
    return ("alpha", "bias", "prob") + (("c",) if op in GRADIENTS else ())


def run(pattern):
    sizes, extra, aligned = PATTERNS[pattern]
    for i, op in enumerate(FORWARD + GRADIENTS):
        case = exact(op, sizes, 128, 64, outs_of(op), inputs_of(op), extra_rows=extra, aligned=aligned, hot=1, seed=i,
                     **DATA.get(op, {}))
        results = case.check()
        amax, dbias = results[5], results[6]
        for g, rows in enumerate(sizes):
            if rows == 0:  # written, not left as it was
                assert not amax[g].any() and not dbias[g].any(), case.name()


def many():
    """130 experts, one in three with rows; an image serves any of them."""
    sizes = [128 if g % 3 == 0 else 0 for g in range(130)]
    for op in ("gemm_swiglu", "gemm_dswiglu"):
        exact(op, sizes, 64 if op in GRADIENTS else 128, 64, outs_of(op), inputs_of(op), hot=1, **DATA[op]).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        many() if name == "many" else run(name)
