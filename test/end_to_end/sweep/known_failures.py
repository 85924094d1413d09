"""Failures that others have met with such kernels, a function each: known_failures.py KIND... docs/guides/known_failures.md says
which kinds there are, and which other tests concern them."""
import sys

from checking import run
from dimensions import FP8, family

COMMON = {"format": "e4m3", "tile": "128x128", "cluster": "1x1", "stages": 2, "accumulators": 1, "aligned": 128, "groups": "skewed",
          "tail": 304, "n": 160, "plain": "f32"}
PRODUCT = {"layout": "k", "scales": "whole", "k": 160, "halves": "blocks", "inputs": "both", "c": "bf16"}
WGRAD = {"layout": "row_row", "width": 160, "split": "none", "region": "none", "into": "dense", "accumulate": 0}
TILES = (("128x64", "1x1"), ("128x128", "2x1"), ("128x192", "1x1"), ("128x256", "1x1"), ("256x128", "2x1"), ("256x256", "2x1"))


def case_of(op, **changes):
    values = COMMON | (WGRAD if op == "wgrad" else PRODUCT) | {"op": op} | changes
    if values["aligned"] < 128 and op != "wgrad":
        values["scales"] = "per_group"
    return {name: values.get(name, choices[0]) for name, choices in family(op).items()}


def barrier_parity():
    """Stages 2 to 6 by 1 to 13 steps along K, more tiles than CTAs: K shorter than the pipeline and longer, by any remainder."""
    for stages in range(2, 7):
        for steps in range(1, 14):
            yield case_of("gemm", tile="128x64", stages=stages, accumulators=1 + steps % 2, k=128 * steps, n=336,
                          groups="128+0+256", tail=0)
        every = "+".join(str(128 * steps) for steps in range(1, 14))
        yield case_of("wgrad", tile="128x64", stages=stages, accumulators=1 + stages % 2, groups=every, tail=0, n=336, width=64,
                      layout="row_column")


def more_experts_than_threads():
    """Sums over groups with one thread a group; of most groups nothing is to be done."""
    for groups in ("511", "513", "896", "1024"):
        yield case_of("gemm", groups=groups, n=48, k=64)
        yield case_of("gemm_swiglu", groups=groups, n=64, k=32, aligned=1, rows="e4m3_rceil", columns="e5m2_floor", sums="all")
        yield case_of("wgrad", groups=groups, n=48, width=16, aligned=32)


def multicast_across_groups():
    """Odd tiles in a group, a cluster of several along M: a CTA must not take the weights of its neighbour's expert."""
    for i, cluster in enumerate(("2x1", "4x1", "2x2")):
        for tile in ("128x128", "256x128"):
            for aligned in (128, 1):
                yield case_of("gemm", cluster=cluster, tile=tile, aligned=aligned, groups="odd_tiles", n=272, k=416)
        yield case_of("wgrad", cluster=cluster, groups="384+0+128+384", n=272, width=272, layout=("row_row", "column_row")[i % 2])
        yield case_of("gemm_dswiglu", cluster=cluster, groups="128+128+0+128", n=160, k=288, sums="all", rows="e4m3_rceil")


def padding_scales():
    """Scale bytes of no element are NaN: K / 32 no multiple of 4, rows 129 to 255 of a tile, columns behind N."""
    for k in (32, 96, 160, 288, 416):
        yield case_of("gemm", k=k, n=16 * (k // 32))
    for form in ("mxfp4", "nvfp4", "fp4_16"):
        yield case_of("gemm", format=form, k=64)
        yield case_of("gemm", format=form, k=320, n=272)
    for tile, cluster in TILES:
        yield case_of("gemm", tile=tile, cluster=cluster, groups="128+128+384", n=176)
        yield case_of("gemm", tile=tile, cluster=cluster, aligned=1, groups="129+255+1", n=176, accumulators=1)


def every_expert():
    """Five experts with different weights and scales, N no multiple of 128."""
    for n in (48, 160, 272):
        for layout in ("k", "n", "apart_k", "apart_n"):
            yield case_of("gemm", groups="128+128+128+128+128", n=n, layout=layout)
        yield case_of("wgrad", groups="128+128+128+128+128", n=n)


def scale_slices_of_wide_tiles():
    """M of 256 and K of several stages, scales that differ from block to block."""
    for form, k in (("e4m3", 832), ("e5m2", 512), ("mxfp4", 832), ("nvfp4", 832), ("fp4_16", 1088)):
        for tile in ("256x128", "256x256"):
            yield case_of("gemm", format=form, tile=tile, cluster="2x1", k=k, n=272, groups="256+0+512", aligned=256)


def layouts_under_any_tile():
    """Scales lie where the layout says, whatever the tile is."""
    for tile, cluster in TILES:
        yield case_of("gemm_quant", tile=tile, cluster=cluster, rows="e4m3_rceil", columns="e4m3_rceil", n=288)
        yield case_of("wgrad", tile=tile, cluster=cluster, n=272, width=144, groups="128+256")


def column_scales_per_group():
    """One group with more rows behind it and N above 128; two groups with N of 128, where the layouts coincide, and of 256."""
    for groups in ("128+", "384+", "128+256"):
        for n in (128, 256):
            yield case_of("wgrad", groups=groups, n=n, width=256)
            yield case_of("gemm_quant", groups=groups, n=n, scales="columns", columns="e4m3_rceil")


def nothing_to_do():
    """Experts without rows first, last, in a row, all of them; no row at all: no stage is left filled, every sum is written."""
    for groups in ("0+0+0", "0+128", "128+0", "0+0+128+0+0", "0+"):
        for tail in (0, 304):
            yield case_of("gemm_dsrelu", groups=groups, tail=tail, sums="all", cluster="2x1")
            yield case_of("wgrad", groups=groups, tail=tail)


def accumulator_in_use():
    """Several tiles for a CTA, epilogues longer than a product and shorter; two accumulators apart, and two that overlap."""
    for k in (32, 832):
        for tile, accumulators in (("128x128", 1), ("128x128", 2), ("128x256", 2)):
            yield case_of("gemm_swiglu", tile=tile, accumulators=accumulators, n=1536, k=k, groups="256+128+384", rows="e4m3_rceil",
                          sums="all")
        yield case_of("gemm_swiglu", tile="256x256", cluster="2x1", accumulators=2, n=2560, k=k, groups="256+128+384", plain="bf16")
        yield case_of("wgrad", tile="256x256", cluster="2x1", accumulators=2, n=1536, width=1280, groups="128+256", tail=0)
        for op in ("gemm", "gemm_swiglu"):  # parts of a tile that are no half of it, of 6 chunks and of 3
            yield case_of(op, format="nvfp4", tile="128x192", stages=4, accumulators=2, n=1152, k=k * 2, groups="256+128+384",
                          rows="e4m3_rceil", plain="none", sums="all")


def launch_control_responses():
    """Clusters that take over what others would have done, in several orders, some of which say too early that nothing is left."""
    for i, cluster in enumerate(("1x1", "2x1", "4x1", "2x2")):
        for op in ("gemm", "gemm_dsrelu", "wgrad"):
            for along in ("row", "short_side"):
                yield case_of(op, scheduler="cluster_launch_control", cluster=cluster, along=along, n=528, groups="odd_tiles",
                              sums="all" if op == "gemm_dsrelu" else "none")


def gate_and_up():
    """F of 64, 96 and 352: blocks of 32 columns, and tiles that end within one of each."""
    for f in (64, 96, 352):
        for op in ("gemm_swiglu", "gemm_geglu", "gemm_situglu"):
            yield case_of(op, n=2 * f, rows="e4m3_rceil", saved="bf16")
        for op in ("gemm_dswiglu", "gemm_dgeglu"):
            yield case_of(op, n=f, rows="e4m3_rceil", columns="e5m2_floor", sums="amax")


def formats_told_apart():
    """Every pair of FP8 formats, into every FP8 format."""
    for form in FP8:
        for rows in ("e4m3_rceil", "e5m2_floor"):
            yield case_of("gemm_quant", format=form, rows=rows, columns=rows, plain="e5m2" if rows[1] == "4" else "e4m3")
        yield case_of("wgrad", format=form)


if __name__ == "__main__":
    sys.exit(run([(case, seed) for name in sys.argv[1:] for seed, case in enumerate(globals()[name]())]))
