"""Random data in every format: the emulator against the reference executor within the bounds of --check, and float64; no
hazard in any form of the kernel and any order."""
import sys

import numpy as np
from equations import BF16
from named import plain, quantized
from oracle import ALL, E2M1, E4M3, FP4, MXFP4, NVFP4
from products import random_product, schedule


def decibels(got, want):
    noise = ((got - want) ** 2).sum()
    return np.inf if noise == 0 else 10 * np.log10((want**2).sum() / noise)


def inexact():
    for i, form in enumerate(ALL):
        for n, k in ((272, 832), (160, 192)):
            case = random_product(form, n, k, [plain(), plain(BF16)], seed=i)
            got = case.run("--check")[0].astype(np.float64)
            assert decibels(got, case.accumulate()) >= 85, f"{case.name()}: {decibels(got, case.accumulate()):.1f} dB"
    for i, form in enumerate(FP4):
        for op, inputs in (("gemm_quant", ("alpha",)), ("gemm_swiglu", ("alpha", "prob")), ("gemm_dswiglu", ("prob", "c")),
                           ("gemm_srelu", ("bias",))):
            random_product(form, 320, 320, [plain()], op, inputs=inputs, seed=i).run("--check")


def hazards():
    for i, form in enumerate(ALL):
        for kernel in ((128, 2, 2), (128, 4, 1), (256, 2 + i % 2, 1)):
            case = random_product(form, 272, 832, [plain(), plain(BF16)], schedule=schedule(form, *kernel))
            without_hazards(case)
    for form, rows in ((MXFP4, "row_scales_rceil"), (NVFP4, "row_scales_nearest")):
        for op, inputs in (("gemm_quant", ("alpha",)), ("gemm_swiglu", ("alpha",)), ("gemm_dswiglu", ("c",)), ("gemm_srelu", ())):
            outs = [quantized(E2M1, rows), quantized(E4M3, "column_group_scales_rceil")]
            without_hazards(random_product(form, 320, 832, outs, op, inputs=inputs))


def without_hazards(case):
    for seed in (1, 2, 3):
        report = {}
        case.run("--hazards=full", f"--schedule-seed={seed}", report=report)
        assert report["launches"] == 1 and not report["hazards"], f"{case.name()}, seed {seed}: {report['hazards']}"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
