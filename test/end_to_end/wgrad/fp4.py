"""Gradients of FP4 operands: MXFP4, NVFP4, and blocks of 16 with e8m0 scales; both are stored transposed."""
import sys

import numpy as np
from epilogues import ADDED, SCALED, addends, alphas
from matrices import exact, random_case
from wgrad import BF16, E2M1, F16, F32, Epilogue

FORMS = {"MXFP4": dict(block=32), "NVFP4": dict(block=16, fine=True), "FP4 e8m0 16": dict(block=16)}
FP4 = dict(dtypes=(E2M1, E2M1), majors=(True, True))
ENTRIES = (0.0, -0.0, 0.5, -1, 1.5, 2, -3, 4, 6)
SIZES = [384, 0, 128, 640]
SHAPES = ((32, 64), (160, 272), (64, 32), (272, 160), (256, 128))


def schedule(columns=128, stages=3, accumulators=2, rows=128, cluster=(1, 1), scheduler="static_persistent", split=None):
    of = f", split = {split}" if split else ""
    return (f"#grouped_moe.schedule<tile = [{rows}, {columns}, 256], stages = {stages}, accumulators = {accumulators}, "
            f"cluster = [{cluster[0]}, {cluster[1]}], scheduler = {scheduler}{of}>")


def fp4(form, sizes, n, k, outs=(F32,), **rest):
    return exact(sizes, n, k, outs, entries=ENTRIES, **FP4, **FORMS[form], **rest)


def shapes():
    for form in FORMS:
        for i, (n, k) in enumerate(SHAPES):
            extra = (0, 32, 160)[i % 3]
            fp4(form, SIZES, n, k, ((F32,), (BF16, F32), (F16,))[i % 3], extra_rows=extra, seed=i, memrefs=i % 2 == 0,
                static=i == 4).check("--hazards=full", f"--schedule-seed={i}")


def groups():
    """Half a stage, none, many; the promise of 256 rows."""
    for form in FORMS:
        for sizes, aligned, extra in (([128], 128, 0), ([0, 0], 128, 128), ([256, 0, 512], 256, 256), ([128] * 7 + [0, 128], 128, 96)):
            fp4(form, sizes, 160, 96, (BF16,), aligned=aligned, extra_rows=extra).check("--hazards=full")


def tiles():
    for i, form in enumerate(FORMS):
        for j, columns in enumerate((64, 128, 192, 256)):
            accumulators = 1 if columns == 256 else 2
            fp4(form, SIZES, 160, 272, schedule=schedule(columns, 2, accumulators), seed=j).check("--hazards=full", devices=("emulator",))
        for columns, accumulators in ((128, 2), (256, 1)):
            pair = schedule(columns, 2, accumulators, 256, (2, 1), ("static_persistent", "cluster_launch_control")[i % 2])
            fp4(form, SIZES, 272, 288, schedule=pair, extra_rows=32).check("--hazards=full", devices=("emulator",))


def split():
    for form in FORMS:
        for parts in ("[4, 128]", "[2, 256]", "[3, 384]", "[64, 128]"):
            fp4(form, [1024, 0, 128, 640], 160, 96, (BF16,), schedule=schedule(split=parts), extra_rows=64).check("--hazards=full", devices=("emulator",))


def combined():
    """Regions, accumulation and addresses; a second scale of the tensor and of each expert."""
    for form in FORMS:
        inputs = {"alpha": alphas(), "more": addends(160, 96, F32)}
        region = Epilogue(inputs, ADDED, "%z, %acc", lambda acc, alpha, more: [acc * alpha + more, acc])
        fp4(form, SIZES, 160, 96, (BF16, F32), epilogue=region).check()
        one = Epilogue({"alpha": np.array([-0.37], F32)}, SCALED, "%y", lambda acc, alpha: [acc * alpha])
        fp4(form, SIZES, 160, 96, (F32,), epilogue=one, memrefs=False).check()
        fp4(form, SIZES, 160, 96, (F32,), accumulate=True).check()
        fp4(form, SIZES, 160, 96, (BF16,), pointers=True).check()


def inexact():
    """Random data, within the bounds of --check and the same in every order."""
    for form, rest in FORMS.items():
        case = random_case(SIZES, 160, 272, (F32,), **FP4, **rest)
        got = case.run("--check", "--hazards=full", "--schedule-seed=3")[0].astype(np.float64)
        want = case.sums()
        assert ((got - want) ** 2).sum() <= 1e-10 * (want**2).sum() and want.any(), case.name()


for name in sys.argv[1:]:
    globals()[name]()
