"""Adding to what is there, once rounded; groups without rows keep every byte. Overwriting leaves +0 there."""
import sys

import numpy as np
from matrices import exact
from torchao import MAJORS
from wgrad import BF16, BITS, F16, F32, KEPT

SIZES = [128, 0, 256, 0]


def values():
    for i, out in enumerate((F32, BF16, F16)):
        for memrefs in (True, False):
            for n, k in ((256, 128), (160, 272)):
                case = exact(SIZES, n, k, (out,), majors=MAJORS[i], accumulate=True, memrefs=memrefs, extra_rows=128, seed=i)
                kept(case.check()[0])
    exact([256, 0, 512, 256], 512, 256, (BF16,), aligned=256, accumulate=True, extra_rows=256).check()
    exact([32, 0, 96, 64], 160, 64, (F32,), aligned=32, accumulate=True).check()


def kept(result):
    for g, rows in enumerate(SIZES):
        if rows == 0:
            assert (np.ascontiguousarray(result[g]).view(BITS[result.dtype.type]) == KEPT[result.dtype.type]).all()


def rounded_once():
    """The product is not rounded to bf16 before it is added: sums of 9 bits and more, and old values of an odd last bit."""
    case = exact(SIZES, 128, 128, (BF16,), accumulate=True, entries=(1, 2, -3), seed=4)
    sums, old = case.sums().astype(F32), case.destinations()[0].astype(F32)
    twice = sums.astype(BF16).astype(F32) + old
    rows = np.asarray(SIZES) != 0
    assert (twice.astype(BF16) != (sums + old).astype(BF16))[rows].any(), "the data does not tell the two apart"
    case.check()


def two_outputs():
    """Both take the same value, each adds it to its own."""
    for memrefs in (True, False):
        exact(SIZES, 128, 256, (F32, BF16), accumulate=True, memrefs=memrefs).check()


def nothing():
    """No rows: nothing is added, no byte changes."""
    for extra in (0, 256):
        exact([0, 0], 128, 160, (F32, BF16), accumulate=True, extra_rows=extra, aligned=256).check()


def overwritten():
    """NaN everywhere before, +0 without a sign afterwards where there is no row."""
    for out in (F32, BF16, F16):
        case = exact(SIZES, 160, 128, (out,))
        assert np.isnan(case.destinations()[0].astype(F32)).all()
        result = case.check()[0]
        assert not np.ascontiguousarray(result[1]).view(np.uint8).any() and result[0].any()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
