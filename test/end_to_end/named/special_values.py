"""Infinities, NaN, subnormals and the largest numbers through epilogues and quantizers, byte for byte; NaN propagates."""
import sys

import numpy as np
from named import AMAX, plain, quantized
from equations import BF16, F32
from operands import exact
from quantizers import E2M1, E4M3, E5M2

INF, NAN = np.inf, np.nan
OUTS = [quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil"), quantized(E2M1, "row_scales_nearest"),
        plain(), plain(BF16), plain(E4M3), plain(E5M2), AMAX]
SIZES = [128, 0, 128]
SPECIAL = (0.0, -0.0, 1.0, INF, -INF, NAN, 3e38, 1e-40, -1e-45, 1e-38)
TINY = (0.0, 1.0, 1e-40, -1e-45, 3e-45, 1e-38, 2e-39)
HUGE = (0.0, 1.0, 3e38, 1e37, 65504.0, 65520.0, 1e5)


def check(op, inputs, attributes=None, **data):
    case = exact(op, SIZES, 128, 64, OUTS, inputs, attributes, hot=2, **data)
    case.check()
    return case


def gradients():
    for form in ("gemm", "c"):
        for c in (SPECIAL, TINY, HUGE):
            check("gemm_dsrelu", ("c", "prob"), {"preactivation": form}, c_gates=c)
    case = check("gemm_dswiglu", ("c", "prob"), c_gates=(0.0, -0.0, INF, -INF, NAN, 64.0, -128.0, 3e38, -3e38), c_ups=SPECIAL)
    assert np.isnan(case.expected()[-1][0]).all(), "no NaN reaches the maximum"
    check("gemm_dgeglu", ("c", "prob"), c_gates=(0.0, -0.0, -INF, NAN, -64.0, -128.0, -3e38), c_ups=SPECIAL + (7.0, -7.0))


def forward():
    bias = (0.0, INF, -INF, NAN, 3e38, -3e38)
    prob = (0.0, -0.0, INF, NAN, 1e-40, 3e38)
    gated = dict(gates=(0, 128, -128))
    for op, data in (("gemm_quant", {}), ("gemm_srelu", {}), ("gemm_swiglu", gated),
                     ("gemm_situglu", dict(gates=(0, 128, -256), ups=(0, 256, -256)))):
        check(op, ("bias", "prob"), biases=bias, gate_biases=bias, **data)
        check(op, ("prob",), probs=prob, **data)
    check("gemm_geglu", ("bias", "prob"), gates=(0, -64, -128), entries=(1,), gate_biases=(0.0, -INF, NAN),
          biases=(0.0, INF, -INF, NAN, 7.0, -7.0))


def norms():
    """A norm_const that is 0 or no number, or above 1: blocks of zeros stay zeros, tiny ones are no infinities."""
    for norm in (0.0, NAN, INF):
        case = exact("gemm_quant", SIZES, 96, 64, OUTS[:2] + [quantized(E5M2, "row_scales_floor")], norm=np.array([norm], F32))
        case.check()
    every = [(E4M3, "row_scales_rceil"), (E5M2, "row_scales_floor"), (E2M1, "row_scales_rceil"),
             (E4M3, "column_group_scales_rceil"), (E5M2, "column_scales_floor")]
    for norm in (2.0, 1000.0, 3e38):
        for probs in ((0, 1), (1e-40, 1e-38), (1e-36, 1e-45)):
            for gates in ((0, 1, -2), (0,)):
                exact("gemm_quant", SIZES, 96, 64, [quantized(*of) for of in every], ("prob",), gates=gates, probs=probs,
                      norm=np.array([norm], F32)).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
