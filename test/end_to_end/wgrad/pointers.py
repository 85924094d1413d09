"""Gradients written through an array of pointers, one array for each expert."""
import sys

from matrices import exact
from splits import schedule
from torchao import FORMATS, MAJORS, OUTS

SIZES = [128, 0, 256, 0]


def overwritten():
    for i, out in enumerate(OUTS):
        for majors in MAJORS:
            exact(SIZES, 256, 160, (out,), FORMATS[i], majors, pointers=True, extra_rows=128, memrefs=i != 1).check()
    exact([256, 0, 512, 256], 512, 256, (OUTS[0],), pointers=True, aligned=256).check()
    exact([0, 0], 128, 128, (OUTS[0],), pointers=True, extra_rows=128).check()


def accumulated():
    for out in OUTS:
        exact(SIZES, 160, 272, (out,), pointers=True, accumulate=True).check()


def ragged():
    exact([32, 0, 1024, 64], 160, 64, (OUTS[0],), pointers=True, aligned=32, extra_rows=32).check()
    exact([(0, 32, 0)[g % 3] for g in range(130)], 64, 64, (OUTS[0],), pointers=True, aligned=32).check()


def split():
    for accumulate in (False, True):
        exact([1024, 0, 128], 160, 256, (OUTS[0],), pointers=True, accumulate=accumulate, schedule=schedule()).check()


def as_dense():
    """The same bytes as one dense array."""
    dense = exact(SIZES, 272, 128, (OUTS[1],), seed=9).check()[0]
    apart = exact(SIZES, 272, 128, (OUTS[1],), seed=9, pointers=True).check()[0]
    assert dense.tobytes() == apart.tobytes()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
