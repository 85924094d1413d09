"""Random data: the kernel against the reference executor within the bounds of --check, and against float64."""
import numpy as np
from matrices import random_case
from splits import schedule
from torchao import FORMATS, MAJORS
from wgrad import BF16, F16, F32

WANTED = 85  # dB


def decibels(got, want):
    noise = ((got - want) ** 2).sum()
    return np.inf if noise == 0 else 10 * np.log10((want**2).sum() / noise)


for i, (sizes, n, k, aligned) in enumerate((([256, 0, 512, 256], 512, 256, 256), ([512, 256], 256, 384, 256),
                                            ([32, 0, 1024, 64], 160, 272, 32), ([2048], 128, 128, 128))):
    for how in ("", schedule()):
        case = random_case(sizes, n, k, (F32,), FORMATS[i], MAJORS[i], aligned, seed=i, schedule=how)
        got = case.run("--check")[0]
        quality = decibels(got.astype(np.float64), case.sums())
        assert quality >= WANTED, f"{case.name()}: {quality:.1f} dB"
        for group, rows in enumerate(sizes):
            assert rows or not got[group].view(np.uint32).any(), case.name() + ": not +0"
    for out in (BF16, F16):
        case = random_case(sizes, n, k, (out,), FORMATS[i], MAJORS[3 - i], aligned, seed=i)
        got = case.run("--check")[0].astype(np.float64)
        # Half a unit in the last place of every element, and the order of the sums.
        want, unit = case.sums(), 2.0 ** -(8 if out == BF16 else 11)
        slack = 2.0**-15 * np.abs(want).max()
        assert (np.abs(got - want) <= 1.01 * unit * np.abs(want) + slack).all(), case.name()
