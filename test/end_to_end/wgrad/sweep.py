"""Programs of every kind at once, drawn at random: sweep.py FIRST COUNT runs COUNT of them."""
import sys

import numpy as np
from epilogues import ADDED, SCALED
from matrices import exact
from splits import KERNELS, schedule
from torchao import FORMATS, MAJORS, OUTS
from wgrad import F32, Epilogue


def draw(seed):
    rng = np.random.default_rng(seed)
    one_of = lambda choices: choices[rng.integers(len(choices))]
    aligned = one_of((32, 32, 128, 256))
    groups = int(rng.integers(1, 9))
    sizes = [aligned * int(rng.integers(0, max(2, 640 // aligned))) * int(rng.random() < 0.7) for _ in range(groups)]
    n, k = [16 * int(rng.integers(1, 25)) for _ in "nk"]
    majors = one_of(MAJORS)
    extra = 16 * int(rng.integers(0, 20)) + (0 if any(majors) else int(rng.integers(0, 16)))
    outs = [one_of(OUTS) for _ in range(rng.integers(1, 3))]
    how = schedule(*one_of(KERNELS), one_of((None, "[2, 128]", "[4, 128]", "[3, 256]"))) if rng.random() < 0.5 else ""
    inputs = {"alpha": rng.normal(size=groups).astype(F32), "more": rng.normal(size=(groups, n, k)).astype(one_of(OUTS))}
    region = one_of((None, None, Epilogue({"alpha": inputs["alpha"]}, SCALED, ", ".join(["%y"] * len(outs)),
                                          lambda acc, alpha: [acc * alpha] * len(outs)),
                     Epilogue(inputs, ADDED, ", ".join(["%z"] * len(outs)),
                              lambda acc, alpha, more: [acc * alpha + more] * len(outs))))
    accumulate = bool(rng.random() < 0.4)
    if region and not accumulate:  # experts without rows: epilogues.py
        sizes = [max(size, aligned) for size in sizes]
    return exact(sizes, n, k, outs, one_of(FORMATS), majors, extra, aligned, seed, schedule=how, epilogue=region,
                 accumulate=accumulate, memrefs=bool(rng.random() < 0.6), static=bool(rng.random() < 0.2))


first, count = map(int, sys.argv[1:3])
for seed in range(first, first + count):
    case = draw(seed)
    try:
        case.check(f"--schedule-seed={seed}")
    except (SystemExit, AssertionError) as failed:
        sys.exit(f"sweep {seed}: {failed}")
