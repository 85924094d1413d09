"""Named ops with FP4 operands and quantized rows: NumPy, kernel and reference executor agree on every byte."""
import sys

import numpy as np
from equations import BF16
from exact_named import named
from named import AMAX, ROW_SUM, column_sum, plain, quantized
from oracle import E2M1, E4M3, E5M2, FP4, MXFP4, NVFP4
from products import schedule

ROWS = {MXFP4: quantized(E2M1, "row_scales_rceil"), NVFP4: quantized(E2M1, "row_scales_nearest")}
NORMS = (None, np.array([0.01], np.float32), np.array([1, 0.5, 0.3, 0.7], np.float32))
SHAPES = ((160, 192), (256, 320), (96, 64), (320, 832))
PAIRS = ((192, 192, False), (256, 320, True), (64, 64, False), (512, 832, True))
ALL = ("alpha", "bias", "prob")
# As a second scale of NVFP4: any number.
SECOND = (0.0137, -3.3, 1 / 448, 0.7)


def rows_of(form):
    return ROWS.get(form, ROWS[MXFP4])


def quant():
    for form in FP4:
        for i, (n, k) in enumerate(SHAPES):
            inputs = (("alpha",), ALL, ("alpha", "prob"), ("bias",))[i]
            outs = [rows_of(form), quantized(E4M3, "row_scales_rceil"), (plain(), plain(BF16))[i % 2]]
            outs += [AMAX] if i % 2 else [quantized(E5M2, "column_group_scales_rceil")]
            named(form, "gemm_quant", n, k, outs, inputs, seed=i, hot=9, alphas=SECOND, norm=NORMS[i % 3], memrefs=i != 1).check()


def swiglu():
    for form in FP4:
        for i, (n, k, concatenated) in enumerate(PAIRS):
            outs = [rows_of(form), plain(BF16, "preactivation"), quantized(E4M3, "column_group_scales_rceil")]
            named(form, "gemm_swiglu", n, k, outs, (ALL, ("prob",), ("alpha",), ALL)[i], {"concatenated": concatenated}, seed=i,
                  norm=NORMS[i % 3], memrefs=i != 1).check()


def dswiglu():
    for form in FP4:
        for i, (n, k, concatenated) in enumerate(((96, 192, False), (128, 320, True), (64, 64, False), (256, 832, True))):
            outs = [rows_of(form), ROW_SUM, (plain(), plain(BF16))[i % 2]]
            named(form, "gemm_dswiglu", n, k, outs, (("alpha", "prob", "c"), ("prob", "c"), ("c",), ALL + ("c",))[i],
                  {"concatenated": concatenated}, seed=i, c_type=(BF16, np.float32)[i % 2], norm=NORMS[i % 3]).check()


def srelu():
    for form in FP4:
        for i, (n, k) in enumerate(SHAPES):
            outs = [rows_of(form), plain(BF16, "preactivation"), quantized(E4M3, "row_scales_floor")]
            named(form, "gemm_srelu", n, k, outs, (ALL, ("alpha",), (), ("prob",))[i], seed=i, hot=9, norm=NORMS[i % 3]).check()


def schedules():
    """Two accumulators, and tiles that hold gate and up side by side; sums and maxima."""
    for form in (MXFP4, NVFP4):
        for i, kernel in enumerate(((128, 2, 2), (128, 3, 1), (256, 2, 1))):
            how = schedule(form, *kernel)
            named(form, "gemm_quant", 272 - 16, 832, [rows_of(form), plain(), AMAX, column_sum()], ("prob",), seed=i,
                  schedule=how).check()
            named(form, "gemm_swiglu", 320, 832, [rows_of(form), plain(BF16, "preactivation")], ("alpha", "prob"), seed=i,
                  schedule=how).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
