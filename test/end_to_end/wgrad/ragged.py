"""Groups of any multiple of 32 rows, skewed, many; N and K that fill no tile."""
import sys

from matrices import exact
from torchao import FORMATS, MAJORS, OUTS
from wgrad import BF16, F32

EXTENTS = ((160, 272), (272, 64), (64, 160), (256, 256))


def skewed():
    """A group that ends inside a step of rows must not see the next one's, nor scale bytes of no row."""
    for i, sizes in enumerate(([32, 0, 1024, 64], [96, 160, 0, 224], [0, 32, 0], [32, 32, 32, 32, 32], [480, 0, 96])):
        for j, (n, k) in enumerate(EXTENTS):
            majors = MAJORS[(i + j) % 4]
            exact(sizes, n, k, (OUTS[(i + j) % 3],), FORMATS[j], majors, extra_rows=(0, 48, 128, 256)[j], aligned=32, seed=i).check()


def one_expert():
    """R above the only group's rows, by less and by more than an atom."""
    for extra in (32, 96, 128, 416):
        for n, k in EXTENTS:
            exact([96], n, k, (BF16,), majors=MAJORS[extra // 32 % 4], extra_rows=extra, aligned=32).check()


def many():
    """130 experts and more, most of them of no row or of 32."""
    sizes = [(0, 32, 0, 0, 32, 0, 0)[g % 7] for g in range(130)]
    sizes[17], sizes[128] = 160, 64
    for i, (n, k) in enumerate(((64, 160), (160, 64))):
        exact(sizes, n, k, (BF16,), FORMATS[i], MAJORS[i], aligned=32, extra_rows=64).check()
    sizes = [128 if g % 9 == 4 else 0 for g in range(130)]
    exact(sizes, 128, 64, (F32,), memrefs=False).check()
    # More than threads of a CTA, and as many as the largest one has.
    for groups in (513, 1024):
        exact([(0, 32, 0, 64, 0)[g % 5] for g in range(groups)], 32, 48, (BF16,), aligned=32, extra_rows=32).check()


def narrow():
    """Fewer columns than a block of scales has rows."""
    for n, k in ((16, 16), (48, 80), (16, 272), (144, 32)):
        for majors in MAJORS:
            exact([128, 0, 256], n, k, (F32, BF16), majors=majors, extra_rows=16, seed=n).check()


def aligned():
    """What a promise of 256 or 128 rows allows, a promise of 32 allows too, with its own number of atoms."""
    for aligned in (32, 128, 256):
        exact([256, 0, 512, 256], 272, 160, (BF16,), majors=(True, False), aligned=aligned, extra_rows=128).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
