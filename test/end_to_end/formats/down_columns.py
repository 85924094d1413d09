"""Outputs in FP4 down columns, stored columns first: NumPy, kernel and reference executor agree on every byte."""
import sys

import numpy as np
from equations import BF16
from exact_named import named
from named import AMAX, ROW_SUM, column_sum, plain, quantized
from oracle import E2M1, E4M3, E4M3_E5M2, MXFP4, NVFP4
from products import schedule

ROUNDINGS = ("rceil", "floor", "nearest", "rceil_block16", "floor_block16")
GROUP = [quantized(E2M1, f"column_group_scales_{rounding}") for rounding in ROUNDINGS]
WHOLE = [quantized(E2M1, f"column_scales_{rounding}") for rounding in ROUNDINGS]
NORMS = (None, np.array([0.01], np.float32), np.array([1, 0.5, 0.3, 0.7], np.float32))
# Sizes, m_aligned, rows past the last offset.
SPLITS = (([128, 0, 256, 128], 128, 96), ([96, 0, 160, 32], 32, 64), ([256, 512, 0, 256], 256, 0), ([32, 64, 224, 0], 32, 0))
OPERANDS = (MXFP4, NVFP4, E4M3_E5M2)
HAZARDS = ("--hazards=full", "--check-inputs")


def of(i, kinds=GROUP, value="result"):
    return quantized(E2M1, kinds[i % len(kinds)].scales, value)


def quant():
    for i, rounding in enumerate(ROUNDINGS):
        for j, n in enumerate((32, 64, 160, 288)):
            sizes, aligned, extra = SPLITS[(i + j) % 4]
            outs = [GROUP[i], (plain(), plain(BF16))[j % 2]] + [AMAX] * (j == 0)
            named(OPERANDS[(i + j) % 3], "gemm_quant", n, 192, outs, ("prob",), sizes=sizes, aligned=aligned, extra_rows=extra,
                  seed=i, hot=9, norm=NORMS[j % 3], memrefs=j != 1).check(*HAZARDS, f"--schedule-seed={i}")


def whole():
    for i, rounding in enumerate(ROUNDINGS):
        named(OPERANDS[i % 3], "gemm_quant", 160, 192, [WHOLE[i], GROUP[i], quantized(E4M3, "column_scales_rceil")], ("alpha",),
              extra_rows=160, seed=i, hot=9, norm=NORMS[i % 3], static=i == 1).check(*HAZARDS)


def rows():
    """Blocks of 16 with e8m0 scales along rows too."""
    for i, kind in enumerate(("row_scales_rceil_block16", "row_scales_floor_block16", "row_group_scales_rceil_block16",
                              "row_group_scales_floor_block16")):
        named(OPERANDS[i % 3], "gemm_quant", 96, 192, [quantized(E2M1, kind)], hot=9).check(*HAZARDS)


def glu():
    for i, (n, concatenated) in enumerate(((64, False), (192, False), (256, True), (512, True), (320, False))):
        sizes, aligned, extra = SPLITS[i % 4]
        outs = [of(i), of(i + 1, value="preactivation"), quantized(E2M1, "row_group_scales_nearest")]
        outs = outs[: 2 + (n // 2 % 64 == 0)]
        named(OPERANDS[i % 3], "gemm_swiglu", n, 192, outs, (("alpha", "bias", "prob"), ("prob",))[i % 2],
              {"concatenated": concatenated}, sizes=sizes, aligned=aligned, extra_rows=extra, seed=i, norm=NORMS[i % 3],
              memrefs=i != 1).check(*HAZARDS)


def gradients():
    for i, (n, concatenated) in enumerate(((32, False), (96, False), (128, True), (160, False))):
        sizes, aligned, extra = SPLITS[i % 4]
        named(OPERANDS[i % 3], "gemm_dswiglu", n, 192, [of(i + 2), ROW_SUM, plain(BF16)], (("alpha", "prob", "c"), ("prob", "c"))[i % 2],
              {"concatenated": concatenated}, sizes=sizes, aligned=aligned, extra_rows=extra, seed=i, norm=NORMS[i % 3]).check(*HAZARDS)


def pair(form, columns, accumulators, scheduler="static_persistent"):
    return (f"#grouped_moe.schedule<tile = [256, {columns}, {form.tile_k}], stages = 2, accumulators = {accumulators}, "
            f"cluster = [2, 1], scheduler = {scheduler}>")


def schedules():
    for i, form in enumerate(OPERANDS):
        for j, columns in enumerate((64, 128, 192, 256)):
            how = schedule(form, columns, 2, 1 if columns == 256 else 2)
            sizes, aligned, extra = SPLITS[(i + j) % 4]
            named(form, "gemm_quant", 288, 192, [of(i + j), column_sum()], ("prob",), sizes=sizes, aligned=aligned, extra_rows=extra,
                  schedule=how).check(*HAZARDS)
        for j, (columns, accumulators) in enumerate(((128, 2), (256, 1))):
            how = pair(form, columns, accumulators, ("static_persistent", "cluster_launch_control")[(i + j) % 2])
            sizes, aligned, extra = SPLITS[(i + j + 1) % 4]
            named(form, "gemm_swiglu", 320, 192, [of(i + j), plain(BF16, "preactivation")], ("prob",), sizes=sizes, aligned=aligned,
                  extra_rows=extra, schedule=how).check(*HAZARDS)


def one_scale():
    """A second scale of the whole tensor: one number as `alpha`."""
    for form in OPERANDS:
        for op in ("gemm_quant", "gemm_swiglu"):
            case = named(form, op, 128, 192, [plain(), of(2)], ("alpha", "prob"), extra_rows=64, alphas=(3,))
            case.inputs["alpha"] = case.inputs["alpha"][:1]
            case.check(*HAZARDS)


for name in sys.argv[1:]:
    globals()[name]()
