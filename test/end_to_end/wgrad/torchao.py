"""The shapes of torchao's tests: both weight gradients of a gated layer, every major, format and output; tails, no rows."""
import sys

from matrices import exact
from wgrad import BF16, E4M3, E5M2, F16, F32

# D, F, rows of the experts.
CONFIGURATIONS = ((256, 256, [256, 0, 512, 256]), (256, 384, [512, 256]), (256, 256, [512]))
MAJORS = [(lhs, rhs) for lhs in (False, True) for rhs in (False, True)]
FORMATS = ((E4M3, E4M3), (E5M2, E5M2), (E4M3, E5M2), (E5M2, E4M3))
OUTS = (BF16, F32, F16)


def gradients():
    """(sizes, N, K) of dW13 and dW2."""
    for d, f, sizes in CONFIGURATIONS:
        yield sizes, 2 * f, d
        yield sizes, d, f


def majors():
    for i, (sizes, n, k) in enumerate(gradients()):
        for majors in MAJORS:
            exact(sizes, n, k, (BF16,), majors=majors, aligned=256, seed=i, memrefs=i % 2 == 0).check()


def formats():
    """E5M2 and mixtures; `majors` has E4M3."""
    for i, (sizes, n, k) in enumerate(gradients()):
        for j, dtypes in enumerate(FORMATS[1:]):
            out = OUTS[(i + j) % 3]
            exact(sizes, n, k, (out,), dtypes, MAJORS[(i // 3 + j) % 4], aligned=256, seed=i + j).check()


def outputs():
    """Every format with every output; two of them of one launch."""
    for i, dtypes in enumerate(FORMATS):
        for j, out in enumerate(OUTS):
            exact([128, 0, 256], 256, 128, (out,), dtypes, MAJORS[(i + j) % 4], seed=3 * i + j).check()
        for pair in ((F32, BF16), (BF16, F16), (F32, F32)):
            exact([128, 0, 256], 128, 256, pair, dtypes, MAJORS[i], seed=i, memrefs=i % 2 == 0).check()


def tails():
    """More rows than the last offset, all NaN; with N above 128 the layouts of whole and per-group scales part."""
    for i, majors in enumerate(MAJORS):
        for sizes in ([256], [256, 0, 512, 256]):
            exact(sizes, 512, 256, (OUTS[i % 3],), FORMATS[i], majors, extra_rows=256, aligned=256, seed=i).check()
        exact([128], 160, 272, (BF16,), FORMATS[i], majors, extra_rows=(57, 48, 128, 16)[i] if not any(majors) else 48).check()


def empty():
    """No rows at all, rows but no active ones, experts without rows at either end: +0 where no row is."""
    for majors in MAJORS:
        for out in OUTS:
            results = exact([0, 0, 0], 160, 128, (out,), majors=majors, aligned=256).check()
            assert not results[0].any()
            exact([0, 0], 128, 272, (out,), majors=majors, extra_rows=256, aligned=256).check()
        exact([0, 128, 0, 0, 256, 0], 160, 128, (F32, BF16), majors=majors, extra_rows=128).check()
        exact([0], 64, 64, (BF16,), majors=majors, memrefs=False).check()


def static():
    """Shapes without a dynamic extent, on memrefs and tensors."""
    for memrefs in (True, False):
        for majors in MAJORS:
            exact([128, 0, 256], 256, 160, (BF16,), majors=majors, extra_rows=128, static=True, memrefs=memrefs).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
