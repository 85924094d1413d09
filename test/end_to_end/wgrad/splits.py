"""Groups divided into parts along their rows: the same exact bytes, and of inexact sums the same bytes in every run."""
import sys

import numpy as np
from epilogues import ADDED
from matrices import exact, random_case
from torchao import FORMATS, MAJORS
from wgrad import BF16, BITS, F16, F32, Epilogue

SIZES = [1024, 0, 128, 384]


def schedule(columns=128, stages=3, accumulators=2, split="[4, 128]", rows=128, cluster="[1, 1]", scheduler="static_persistent"):
    of = f", split = {split}" if split else ""
    return (f"#grouped_moe.schedule<tile = [{rows}, {columns}, 128], stages = {stages}, accumulators = {accumulators}, "
            f"cluster = {cluster}, scheduler = {scheduler}{of}>")


# An accumulator of 256 columns fills what one has of two.
KERNELS = [(128, stages, accumulators) for stages in (1, 2, 3) for accumulators in (1, 2)] + [(256, 2, 1), (256, 3, 1)]
CLUSTERS = [dict(cluster="[2, 1]"), dict(cluster="[4, 1]", columns=64), dict(cluster="[2, 2]"), dict(rows=256, cluster="[2, 1]"),
            dict(rows=256, cluster="[4, 1]", stages=2), dict(rows=256, cluster="[2, 2]", stages=2, columns=256)]


def same_bytes():
    """Parts of 128 rows and more, more parts than rows, one part; the bytes are those of no split, which NumPy has. The
    reference executor reads no schedule: once is enough."""
    kernel_only = dict(devices=("emulator",))
    for i, kernel in enumerate(KERNELS):
        for split in ("[4, 128]", None):
            exact(SIZES, 160, 384, (BF16,), FORMATS[i % 4], MAJORS[i % 4], schedule=schedule(*kernel, split),
                  extra_rows=128, seed=i).check(**({} if i == 0 else kernel_only))
    for split in ("[2, 128]", "[2, 256]", "[3, 128]", "[16, 128]", "[4, 4096]", "[64, 128]"):
        for out in (F32, F16):
            exact(SIZES, 160, 272, (out,), schedule=schedule(split=split)).check(**kernel_only)


def clusters():
    """A CTA of a cluster has parts of its own tiles, or none past the matrix."""
    for i, kind in enumerate(CLUSTERS):
        for j, (n, k) in enumerate(((160, 384), (384, 272), (528, 64))):
            scheduler = ("static_persistent", "cluster_launch_control")[(i + j) % 2]
            case = exact(SIZES, n, k, (BF16,), FORMATS[i % 4], MAJORS[j], schedule=schedule(scheduler=scheduler, **kind), seed=i)
            case.check("--hazards=full", f"--schedule-seed={j}", devices=("emulator",))
        exact([1056, 0, 480], 272, 160, (F32,), aligned=32, accumulate=True, schedule=schedule(**kind)).check()


def groups():
    for sizes, aligned, extra in (([32, 0, 1024, 64], 32, 48), ([1056, 32, 480], 32, 0), ([0, 0], 128, 256), ([0, 0], 128, 0),
                                  ([512], 128, 128), ([128 * (g % 3) for g in range(40)], 128, 0)):
        for majors in MAJORS[1:3]:
            exact(sizes, 160, 128, (BF16, F32), majors=majors, aligned=aligned, extra_rows=extra,
                  schedule=schedule()).check()


def combined():
    """What is added, computed or kept is so once, of the sum of all parts."""
    rng = np.random.default_rng(3)
    for memrefs in (True, False):
        exact(SIZES, 160, 256, (BF16, F32), accumulate=True, schedule=schedule(), memrefs=memrefs).check()
    inputs = {"alpha": np.array([1.7, 0.9, -0.3, 3e-3], F32), "more": rng.normal(size=(4, 256, 160)).astype(F32)}
    region = Epilogue(inputs, ADDED, "%z, %acc", lambda acc, alpha, more: [acc * alpha + more, acc])
    for accumulate in (False, True):
        exact([1024, 256, 128, 384], 256, 160, (BF16, F32), epilogue=region, accumulate=accumulate,
              schedule=schedule()).check()


def repeatable():
    """Random data: no order of CTAs and warps moves a bit, whether split or not."""
    pair = schedule(rows=256, cluster="[2, 1]")
    for how, seeds in ((schedule(), 20), (schedule(256, 3, 1), 20), (schedule(split=None), 5), (pair, 10)):
        case = random_case(SIZES, 160, 128, (F32,), schedule=how)
        first = case.run("--schedule-seed=1")[0]
        assert np.isfinite(first).all() and first.any()
        for seed in range(2, 2 + seeds):
            again = case.run(f"--schedule-seed={seed}")[0]
            same = np.array_equal(first.view(BITS[F32]), again.view(BITS[F32]))
            assert same, f"{case.name()}: seed {seed} gives other bytes"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
