"""Groups of any number of rows: the last block of 32 rows has some of a neighbour, which must reach nothing."""
import sys

import numpy as np
from epilogues import ADDED
from matrices import POISON, exact
from torchao import FORMATS, OUTS
from wgrad import BF16, F32, Epilogue, assert_same

PATTERNS = ([200, 0, 56, 193], [1, 1, 130, 0, 3], [77], [0, 0, 129], [1] * 7, [31, 33, 32, 1, 127, 129])
EXTENTS = ((160, 272), (272, 64), (64, 160), (256, 256))


def schedule(rows=128, columns=128, stages=3, accumulators=2, cluster="[1, 1]", scheduler="static_persistent", split=""):
    return (f"#grouped_moe.schedule<tile = [{rows}, {columns}, 128], stages = {stages}, accumulators = {accumulators}, "
            f"cluster = {cluster}, scheduler = {scheduler}{split}>")


def cut(sizes, n, k, outs=(BF16,), **rest):
    return exact(sizes, n, k, outs, aligned=1, **rest)


def patterns():
    for i, sizes in enumerate(PATTERNS):
        for j, (n, k) in enumerate(EXTENTS):
            cut(sizes, n, k, (OUTS[(i + j) % 3],), dtypes=FORMATS[j], extra_rows=(0, 45, 128, 3)[j], seed=i).check()


def schedules():
    """Pairs, clusters, launch control, parts; no order of CTAs and warps has a hazard."""
    kinds = [dict(rows=256, cluster="[2, 1]", stages=2), dict(cluster="[2, 2]"), dict(cluster="[4, 1]", columns=64),
             dict(scheduler="cluster_launch_control"), dict(split=", split = [4, 128]"), dict(stages=1, accumulators=1),
             dict(rows=256, cluster="[2, 1]", stages=2, split=", split = [2, 128]"),
             dict(rows=256, columns=256, cluster="[2, 1]", stages=2, scheduler="cluster_launch_control")]
    for i, kind in enumerate(kinds):
        for sizes in ([200, 0, 391, 3], [1, 0, 33]):
            case = cut(sizes, 272, 288, (F32,), schedule=schedule(**kind), seed=i)
            case.check("--hazards=full", f"--schedule-seed={i}", devices=("emulator",))


def neighbours():
    """Every row of a group is NaN: so is its gradient, and that of no other."""
    sizes = [33, 70, 1, 130]
    for group in range(len(sizes)):
        case = cut(sizes, 64, 80, (F32,), seed=group)
        want = case.expected()[0]
        want[group] = np.nan
        begin = sum(sizes[:group])
        for operand in (case.lhs, case.rhs):
            operand.data[begin : begin + sizes[group]] = np.array(POISON[operand.dtype][0], np.uint8).view(operand.dtype)
        assert_same(case.run()[0], want, sizes, f"group {group} of NaN")


def many():
    """More groups than threads of a CTA, and as many as the largest one has."""
    for groups in (513, 1024):
        cut([(0, 1, 0, 37, 0)[g % 5] for g in range(groups)], 32, 48, extra_rows=7).check()


def regions():
    sizes = [45, 128, 0, 7]
    cut(sizes, 160, 144, (BF16, F32), accumulate=True).check()
    rng = np.random.default_rng(0)
    inputs = {"alpha": np.array([1.7, 0.9, 2, -0.3], F32), "more": rng.normal(size=(4, 160, 144)).astype(F32)}
    region = Epilogue(inputs, ADDED, "%z", lambda acc, alpha, more: [acc * alpha + more])
    cut([45, 128, 1, 7], 160, 144, (F32,), epilogue=region).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
