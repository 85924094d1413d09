"""Every format over N and K on exact data, every form of the kernel: shapes_of_formats.py FORMAT..., numbers in ALL."""
import sys

import numpy as np
from equations import BF16
from named import plain
from oracle import ALL, FP4
from products import exact, schedule

COLUMNS = (16, 160, 272, 256)
# In FP4: one instruction, a part of a stage, a stage, a part of an atom behind it, more than the stages.
DEPTHS = (64, 192, 256, 320, 832)
KERNELS = ((128, 2, 1), (128, 3, 2), (256, 2, 1), (128, 4, 2), (256, 3, 1), (128, 2, 2), (128, 4, 1))
OUTS = ([plain()], [plain(BF16)], [plain(), plain(BF16)])


def check(form):
    seed = ALL.index(form)
    for n in COLUMNS:
        for k in DEPTHS:
            kernel = KERNELS[seed % len(KERNELS)] if seed % 5 else None
            case = exact(form, n, k, OUTS[seed % 3], extra_rows=(57, 128, 0)[seed // 2 % 3], seed=seed,
                         memrefs=seed % 2 == 0, static=seed % 4 == 3, n_major=form not in FP4 and seed % 3 == 1,
                         schedule=schedule(form, *kernel) if kernel else "")
            assert np.isfinite(case.accumulate()).all() and case.accumulate().all(1).mean() > 0.5
            case.check()
            seed += 1


if __name__ == "__main__":
    for number in sys.argv[1:]:
        check(ALL[int(number)])
