"""Forward ops on exact data: kernel, reference executor and NumPy agree on every byte, those not to be written included.

Gates lie where the sigmoid is 0, 1/2 or 1: multiples of 128, or what an attribute's limit makes of them.
"""
import itertools
import sys

import numpy as np
from equations import BF16
from named import AMAX, Out, column_sum, plain, quantized
from operands import exact, exactly_summable
from quantizers import E2M1, E4M3, E5M2

SKEWED = [0, 128, 0, 384, 128, 0]  # experts without rows first, inside and last
ALL = ("alpha", "bias", "prob")
GATES = (0, 128, -128, 256, -384)
GLU = dict(gates=GATES, gate_biases=(0, 128, -256), ups=(0, 1, -1, 2, -3, 5))
QUANTIZED = [quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil")]


def check(*args, **named):
    case = exact(*args, **named)
    for out in case.outs:
        if out.kind == "group_column_sum":
            x = np.concatenate(case.evaluate()[out.value], 1)
            assert exactly_summable(x, 0), case.name() + ": the data's sums are not exact"
    assert np.isfinite(case.accumulate()).all() and case.accumulate().any()
    case.check()


def quant():
    for i, present in enumerate(itertools.product((False, True), repeat=3)):
        inputs = tuple(role for role, there in zip(ALL, present) if there)
        n = (64, 96, 128, 256, 320)[i % 5]
        check("gemm_quant", SKEWED, n, 64, QUANTIZED + [plain(BF16), AMAX, column_sum()], inputs, extra_rows=128, seed=i)
    for inputs in (("bias", "prob"), ALL):
        check("gemm_quant", SKEWED, 160, 96, QUANTIZED + [plain(), AMAX, column_sum(BF16)], inputs, {"weighted_bias": True},
              extra_rows=256, seed=8)
    # 257 needs nine bits.
    rounding = dict(gates=(257, 1, -3), biases=(0, 1))
    check("gemm_quant", [128, 128], 64, 64, [plain(), plain(BF16, "preactivation"), *QUANTIZED], ALL,
          {"round_preactivation": True}, seed=9, **rounding)
    check("gemm_quant", SKEWED, 128, 64, [plain(np.float16), plain(E4M3), plain(E5M2), plain(np.float32)], ALL, seed=10)


def formats():
    """Each quantizer, with and without norm_const, one for all and one for each expert."""
    kinds = [(E4M3, "row_scales_floor"), (E5M2, "row_scales_rceil"), (E4M3, "row_group_scales_rceil"),
             (E5M2, "row_group_scales_floor"), (E4M3, "column_scales_rceil"), (E5M2, "column_scales_floor"),
             (E4M3, "column_group_scales_floor"), (E2M1, "row_scales_rceil"), (E2M1, "row_scales_floor"),
             (E2M1, "row_scales_nearest"), (E2M1, "row_group_scales_nearest"), (E2M1, "row_group_scales_rceil")]
    norms = [None, np.array([0.01], np.float32), np.array([1, 0.5, 0.3, 1, 0.7, 1], np.float32)]
    for i in range(0, len(kinds), 3):
        for j, norm in enumerate(norms):
            outs = [quantized(dtype, scales) for dtype, scales in kinds[i : i + 3]]
            n = (96, 160, 256)[(i + j) % 3]
            check("gemm_quant", SKEWED, n, 64, outs, ("alpha", "prob"), norm=norm, extra_rows=128, hot=5, seed=i,
                  memrefs=j != 2)


def swiglu():
    outs = QUANTIZED + [plain(BF16, "preactivation"), AMAX, column_sum()]
    small = dict(GLU, hot=1)
    for i, (n, inputs) in enumerate([(128, ("prob",)), (192, ALL), (320, ("bias",)), (256, ("alpha", "prob"))]):
        check("gemm_swiglu", SKEWED, n, 64, outs, inputs, extra_rows=128, seed=i, **small)
    check("gemm_swiglu", SKEWED, 64, 64, outs[:-1], (), **small)
    for n in (256, 512):  # F = 128 and 256
        check("gemm_swiglu", SKEWED, n, 64, outs + [Out("group_amax", "preactivation"), column_sum(value="preactivation")],
              ALL, {"concatenated": True}, seed=n, **small)
    check("gemm_swiglu", [256, 128], 192, 128, QUANTIZED, ALL, {"round_preactivation": True}, dtype=E5M2, hot=9, **GLU)
    check("gemm_swiglu", [128, 128], 256, 96, [quantized(E2M1, "row_scales_nearest"), quantized(E2M1, "row_scales_rceil")],
          ALL, memrefs=False, **GLU)


def geglu():
    outs = QUANTIZED + [plain(np.float32, "preactivation"), AMAX, column_sum(BF16)]
    # Nothing positive reaches a gate: 7 has no exact sigmoid.
    negative = dict(gates=(0, -64, -128, -384), ups=(0, 1, -1, 2, 5, 8), entries=(1,), gate_biases=(0, -64),
                    biases=(0, 1, -2), alphas=(1, 2), hot=1)
    for i, (n, inputs) in enumerate([(128, ()), (192, ALL), (320, ("prob", "bias"))]):
        check("gemm_geglu", SKEWED, n, 64, outs, inputs, extra_rows=128, seed=i, **negative)
    # A limit of 64 and a slope of 1 keep every gate where the sigmoid is exact.
    wide = dict(GLU, ups=(0, 16, -32, 64, -48), biases=(0, 8), hot=1)
    for attributes in ({"limit": 64, "slope": 1, "offset": 0.5}, {"limit": 64, "slope": 1, "offset": -2, "concatenated": True}):
        check("gemm_geglu", SKEWED, 256, 64, outs, ALL, attributes, seed=3, **wide)


def situglu():
    data = dict(gates=GATES, gate_biases=(0, 128), ups=(0, 256, -256, 384), biases=(0, 256), hot=2)
    data["ups"] = tuple(u for u in data["ups"] if u % 256 == 0)
    outs = QUANTIZED + [plain(), plain(BF16, "preactivation"), AMAX, column_sum()]
    for i, (n, inputs) in enumerate([(128, ()), (192, ALL), (256, ("prob",))]):
        check("gemm_situglu", SKEWED, n, 64, outs, inputs, extra_rows=128, seed=i, **data)
    check("gemm_situglu", SKEWED, 256, 64, outs, ALL, {"gate_bound": 2, "up_bound": 8, "concatenated": True}, **data)


def srelu():
    outs = QUANTIZED + [plain(BF16, "preactivation"), AMAX, column_sum()]
    for i, (n, inputs) in enumerate([(64, ()), (96, ALL), (320, ("bias",)), (256, ("alpha", "prob"))]):
        check("gemm_srelu", SKEWED, n, 64, outs, inputs, extra_rows=128, seed=i)
    check("gemm_srelu", [128], 128, 256, outs, ALL, {"round_preactivation": True}, hot=20, seed=4)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
