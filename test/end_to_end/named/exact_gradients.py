"""Gradients on exact data: kernel, reference executor and NumPy agree on every byte, sums included."""
import sys

import numpy as np
from equations import BF16, F32
from named import AMAX, ROW_SUM, column_sum, plain, quantized
from operands import exact, exactly_summable
from quantizers import E2M1, E4M3, E5M2

SKEWED = [0, 128, 0, 256, 128, 0]
ALL = ("alpha", "bias", "prob", "c")
QUANTIZED = [quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil")]
SUMS = [ROW_SUM, AMAX, column_sum()]
# Gates whose sigmoid is 0, 1/2 or 1, ups that keep sums short; numbers of every format of c.
C = dict(c_gates=(0.0, -0.0, 32.0, 64.0, -112.0, -128.0), c_ups=(0.0, 1.0, -1.0, 2.0, -3.0), hot=1)
C_TYPES = (np.float32, np.float16, BF16, E4M3, E5M2)


def check(*args, **named):
    case = exact(*args, **named)
    values = case.evaluate()
    for out in case.outs:
        if out.kind in ("row_sum", "group_column_sum"):
            x = np.concatenate(values[out.value], 1)
            assert exactly_summable(x, 1 if out.kind == "row_sum" else 0), case.name() + ": the data's sums are not exact"
    assert case.accumulate().any() and np.concatenate(values["result"], 1).any()
    case.check()
    return case


def dswiglu():
    for i, c_type in enumerate(C_TYPES):
        n = (64, 96, 128, 256, 320)[i]
        inputs = [("c",), ("prob", "c"), ALL, ("c", "alpha"), ("bias", "c", "prob")][i]
        check("gemm_dswiglu", SKEWED, n, 64, QUANTIZED + SUMS, inputs, c_type=c_type, extra_rows=128, seed=i, **C)
    for n in (128, 256):
        check("gemm_dswiglu", SKEWED, n, 64, [plain(BF16), *SUMS, column_sum(BF16)], ALL, {"concatenated": True}, c_type=BF16,
              extra_rows=128, seed=n, **C)
    check("gemm_dswiglu", [128, 128], 96, 96, [quantized(E2M1, "row_scales_nearest"), quantized(E4M3, "column_scales_floor")],
          ALL, {"round_preactivation": True}, norm=np.array([0.5, 0.01], F32), memrefs=False, gates=(257, 1, -3), **C)


def dgeglu():
    negative = dict(C, c_gates=(0.0, -0.0, -64.0, -112.0), c_ups=(0.0, 1.0, -3.0, 7.0, -7.0, 8.0, -8.0))
    for i, c_type in enumerate(C_TYPES):
        n = (320, 64, 128, 96, 256)[i]
        inputs = [ALL, ("c",), ("prob", "c"), ("c", "alpha"), ("bias", "c", "prob")][i]
        check("gemm_dgeglu", SKEWED, n, 64, QUANTIZED + SUMS, inputs, c_type=c_type, extra_rows=128, seed=i, **negative)
    # With a limit of 64 and a slope of 1 the sigmoid is 1 at the limit, where the masks still let through.
    for c_type in (np.float32, BF16, E5M2):
        above = {np.float32: np.nextafter(F32(64), F32(65)), BF16: 64.5, E5M2: 80.0}[c_type]
        at = dict(c_gates=(0.0, 32.0, 64.0, above, 128.0, -128.0), c_ups=(0.0, 8.0, 64.0, -64.0, above, -above), hot=1)
        case = check("gemm_dgeglu", SKEWED, 128, 64, QUANTIZED + [ROW_SUM, AMAX, plain()], ALL,
                     {"limit": 64, "slope": 1, "offset": 0.5, "concatenated": c_type == BF16}, c_type=c_type, seed=7, **at)
        assert_masks(case)


def assert_masks(case):
    """The data reaches both sides of each mask, with a gradient that is not 0 at the limit itself."""
    columns = case.n
    if case.concatenated:
        gate, up = np.split(case.inputs["c"].astype(F32), 2, 1)
    else:
        blocks = case.inputs["c"].astype(F32).reshape(case.rows, columns // 32, 2, 32)
        gate, up = blocks[:, :, 0].reshape(-1, columns), blocks[:, :, 1].reshape(-1, columns)
    dgate, dup = case.evaluate()["result"]
    active = case.ends[-1]
    gate, up = gate[:active], up[:active]
    assert (dgate[gate == 64] != 0).any() and not dgate[gate > 64].any()
    for sign in (1, -1):
        assert (dup[sign * up == 64] != 0).any() and not dup[sign * up > 64].any()


def dsrelu():
    data = dict(c_gates=(0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 4.0), hot=2)
    activation = [quantized(E4M3, "column_group_scales_rceil", "activation"), plain(BF16, "activation")]
    for i, c_type in enumerate(C_TYPES):
        n = (64, 96, 320, 128, 256)[i]
        inputs = [("c",), ALL, ("prob", "c"), ("c", "alpha"), ("bias", "c", "prob")][i]
        for form in ("gemm", "c"):
            check("gemm_dsrelu", SKEWED, n, 64, QUANTIZED + SUMS, inputs, {"preactivation": form}, c_type=c_type,
                  extra_rows=128, seed=i, **data)
    for form in ("gemm", "c"):
        check("gemm_dsrelu", SKEWED, 160, 64, [plain(E5M2), *activation, ROW_SUM, column_sum(BF16)], ALL,
              {"preactivation": form}, extra_rows=128, seed=6, **data)
        check("gemm_dsrelu", [128, 256], 128, 96, QUANTIZED, ALL, {"preactivation": form, "round_preactivation": True},
              c_type=BF16, norm=np.array([0.01], F32), memrefs=False, gates=(257, 1, -3), **data)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
