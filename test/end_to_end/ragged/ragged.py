"""Groups that start at any row, or at any 32nd, on exact data: kernel, reference executor and NumPy agree on every byte, those
not to be written included. What no active row may read is poison: rows past the last offset, experts without rows, scale
bytes of no row. No order of the kernel has a hazard."""
import sys

import numpy as np
from equations import BF16
from exact_forward import GLU
from exact_forward import check as forward
from exact_gradients import C
from exact_gradients import check as gradient
from named import AMAX, ROW_SUM, column_sum, plain, quantized
from operands import exact as exact_named
from oracle import ALL, FP4, NVFP4
from products import POISON, exact
from quantizers import E2M1, E4M3, E5M2

# By what m_aligned promises. Every other group ends within a tile, within a warp where it may.
SPLITS = {1: ([200, 0, 56, 193], [1], [0, 0, 77, 0], [1, 2, 0, 3, 1, 130], [127, 129, 128, 31], [300, 0, 1]),
          32: ([32, 0, 96, 160], [224], [0, 0, 64, 0], [32, 32, 320], [160, 128, 32, 96])}
EXTRA = (0, 1, 63, 200)  # rows past the last offset
COLUMNS = (16, 160, 272)
ROWS = [quantized(E4M3, "row_group_scales_rceil"), quantized(E5M2, "row_group_scales_floor")]
DOWN = [quantized(E5M2, "column_group_scales_rceil"), quantized(E4M3, "column_group_scales_floor")]
ALL_INPUTS = ("alpha", "bias", "prob")


def splits():
    """(number, sizes, m_aligned, rows past the last offset)"""
    all_of_them = [(sizes, aligned) for aligned, lists in SPLITS.items() for sizes in lists]
    return [(i, sizes, aligned, EXTRA[i % 4] // aligned * aligned) for i, (sizes, aligned) in enumerate(all_of_them)]


def gemm():
    """Every format, N that fills a tile and not; f32, bf16, both, FP8."""
    outs = ([plain()], [plain(BF16)], [plain(), plain(BF16)], [plain(E4M3), plain(np.float16)])
    for i, sizes, aligned, extra in splits():
        for j, n in enumerate(COLUMNS):
            form = ALL[(i + j) % len(ALL)]
            k = (64, 192, 320)[(i + j) % 3]
            exact(form, n, k, outs[(i + 2 * j) % 4], sizes=sizes, extra_rows=extra, aligned=aligned, seed=3 * i + j,
                  memrefs=(i + j) % 2 == 0, static=i % 3 == 0).check("--check-inputs")


def promises():
    """Groups of whole tiles under every promise; scales of groups under the larger ones too."""
    for aligned in (1, 32, 128, 256):
        for form in (ALL[3], NVFP4):
            case = exact(form, 160, 320, [plain(), ROWS[0], DOWN[0]], sizes=[256, 0, 512], extra_rows=128, aligned=aligned,
                         per_group=True)
            case.check("--check-inputs")


def neighbours():
    """A group full of NaN, data and scales, beside others that end within its tile and begin behind it."""
    for i, sizes, aligned in ((0, [70, 61, 200], 1), (1, [1, 1, 1], 1), (2, [32, 64, 96], 32)):
        for form in (ALL[3], FP4[i % 3]):
            for middle in (0, 1, 2):
                outs = [plain(), plain(BF16), AMAX] + ([ROWS[0], DOWN[0]] if form not in FP4 else [ROWS[1]])
                case = exact(form, 160, 192, outs, sizes=sizes, extra_rows=32, aligned=aligned, seed=i)
                rows = slice(case.ends[middle] - sizes[middle], case.ends[middle])
                case.a[rows] = np.uint8(POISON[form.lhs]).view(form.lhs)
                case.sa[rows] = form.nan
                values = case.evaluate()["result"][0]
                assert np.isnan(values[rows]).all() and np.isfinite(np.delete(values, np.r_[rows], 0)).all()
                case.check()


def swiglu():
    outs = [ROWS[0], DOWN[0], plain(BF16, "preactivation"), AMAX, column_sum()]
    for i, sizes, aligned, extra in splits():
        n, concatenated = ((128, False), (192, False), (320, False), (512, True))[i % 4]
        forward("gemm_swiglu", sizes, n, 64, outs if i % 2 else outs[:2], (ALL_INPUTS, ("prob",), ())[i % 3],
                {"concatenated": concatenated}, extra_rows=extra, aligned=aligned, seed=i, **dict(GLU, hot=1))


def dswiglu():
    """dprob, dbias and maxima, with everything that is stored."""
    outs = [ROWS[0], DOWN[1], plain(BF16), ROW_SUM, AMAX, column_sum(), column_sum(BF16)]
    for i, sizes, aligned, extra in splits():
        n = (96, 160, 256)[i % 3]
        gradient("gemm_dswiglu", sizes, n, 64, outs, ALL_INPUTS + ("c",), c_type=(np.float32, BF16, E4M3)[i % 3],
                 extra_rows=extra, aligned=aligned, norm=np.array([0.5], np.float32) if i % 2 else None, seed=i, **C)


def others():
    """The rest of the family; FP4 rows."""
    fp4 = [quantized(E2M1, "row_group_scales_nearest"), quantized(E2M1, "row_group_scales_rceil"), plain(), AMAX]
    for i, sizes, aligned, extra in splits()[::3]:
        how = dict(extra_rows=extra, aligned=aligned, seed=i)
        forward("gemm_quant", sizes, 160, 96, fp4 + DOWN + [column_sum(BF16)], ALL_INPUTS, **how)
        forward("gemm_srelu", sizes, 96, 64, ROWS + [AMAX], ("alpha", "prob"), **how)
        relu = dict(c_gates=(0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 4.0), hot=2)
        gradient("gemm_dsrelu", sizes, 272, 64, [plain(), ROW_SUM, AMAX, column_sum()], ALL_INPUTS + ("c",), **how, **relu)
        gradient("gemm_dsrelu", sizes, 160, 64, [quantized(E4M3, "column_group_scales_rceil", "activation"), ROW_SUM],
                 ALL_INPUTS + ("c",), tile_n=256, **how, **relu)


def many():
    """More experts than threads of a CTA, most of them of no row or of a few; all but one empty."""
    for groups in (513, 1024):
        sizes = [(0, 1, 0, 33, 0, 0, 2)[g % 7] for g in range(groups)]
        case = exact(ALL[3], 32, 64, [plain(BF16), ROWS[0], DOWN[0]], sizes=sizes, extra_rows=5, aligned=1)
        case.check("--check-inputs")
    sizes = [0] * 200
    sizes[130] = 201
    exact(ALL[4], 160, 64, [plain(), AMAX, column_sum()], sizes=sizes, extra_rows=300, aligned=1).check()
    exact(ALL[4], 32, 64, [plain(), AMAX], sizes=[0, 0, 0], extra_rows=57, aligned=1).check()


def hazards():
    """Several tiles of a group, and several along a row, in several orders."""
    for seed in (1, 2, 3):
        how = dict(aligned=1 if seed != 3 else 32, extra_rows=0, seed=seed)
        sizes = SPLITS[how["aligned"]][0]
        options = ("--hazards=full", f"--schedule-seed={seed}")
        exact(ALL[3], 272, 320, [plain(), plain(BF16)], sizes=sizes, **how).check(*options)
        exact(NVFP4, 160, 320, [plain(BF16)], sizes=sizes, **how).check(*options)
        gradient_case("gemm_dswiglu", sizes, 160, how).check(*options)


def clusters():
    """Tiles of two CTAs, boxes for several of them, tiles of other widths, launch control, accumulators that overlap; a CTA
    of a cluster may have no row of the group."""
    shapes = (((256, 128), (2, 1)), ((256, 256), (2, 1)), ((128, 64), (2, 2)), ((128, 192), (1, 1)), ((256, 128), (4, 1)),
              ((128, 128), (4, 1)), ((128, 256), (1, 1)))
    for i, (tile, cluster) in enumerate(shapes):
        scheduler = ("static_persistent", "cluster_launch_control")[i % 2]
        schedule = lambda k: (f"#grouped_moe.schedule<tile = [{tile[0]}, {tile[1]}, {k}], stages = 2, "
                              f"accumulators = {1 + (i == 6)}, cluster = [{cluster[0]}, {cluster[1]}], scheduler = {scheduler}>")
        for j, (aligned, sizes) in enumerate(((1, [200, 0, 56, 193]), (1, [1, 2, 0, 3, 1, 130]), (32, [32, 0, 96, 160]),
                                              (128, [128, 0, 384, 128]))):
            how = dict(aligned=aligned, per_group=True, extra_rows=(0, 57, 32, 128)[j], seed=i + j)
            options = ("--hazards=full", f"--schedule-seed={i + j}")
            exact(ALL[3 + i % 2], (160, 272)[i % 2], 320, [plain(), ROWS[0], DOWN[0]] if i % 2 == 0 else [plain(BF16)], sizes=sizes,
                  schedule=schedule(128), **how).check(*options)
            exact(FP4[i % 3], 160, 320, [plain(BF16)], sizes=sizes, schedule=schedule(256), **how).check(*options)
            gradient_case("gemm_dswiglu", sizes, 160, dict(how, schedule=schedule(128))).check(*options)


def gradient_case(op, sizes, n, how):
    outs = [ROWS[0], DOWN[0], plain(BF16), ROW_SUM, AMAX, column_sum()]
    return exact_named(op, sizes, n, 64, outs, ALL_INPUTS + ("c",), c_type=BF16, **how, **C)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
