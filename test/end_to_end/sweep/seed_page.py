"""The support surface of cuDNN front-end's grouped_gemm_dsrelu, with the page's tile of 256 x 256 on two CTAs and groups of 256
rows: seed_page.py fp4|fp8|tiles|discrete. docs/guides/from_cudnn_dsrelu.md names what each shows."""
import random
import sys

from checking import run
from dimensions import FP4
from drawing import draw
from legality import broken

PAGE = {"op": "gemm_dsrelu", "layout": "k", "tile": "256x256", "cluster": "2x1", "stages": 2, "accumulators": 1, "aligned": 256,
        "inputs": "both", "sums": "all", "saved": "none", "k": "part", "relu_of": "gemm"}
C_TYPES = ("f32", "f16", "bf16", "e4m3", "e5m2")


def fp4():
    """D of f16, bf16 and f32, no scales; both sizes of scale vectors and both types; every C."""
    for i, form in enumerate(FP4):
        for j, d in enumerate(("f16", "bf16", "f32")):
            yield {"format": form, "plain": d, "rows": "none", "columns": "none", "norm": "none", "c": C_TYPES[(3 * i + j) % 5],
                   "scales": "whole", "n": (272, 256)[j % 2], "groups": ("skewed", "one")[i % 2], "tail": 304 * (j == 1)}


def fp8():
    """D_row and D_col of e4m3 and e5m2 with their scales, norm_const; discrete_col_sfd and not."""
    for i, form in enumerate(("e4m3", "e5m2")):
        for j, d in enumerate(("e4m3_rceil", "e5m2_floor")):
            for scales in ("columns", "whole"):
                yield {"format": form, "plain": "none", "rows": d, "columns": d, "norm": "one", "c": C_TYPES[2 * i + j], "stages": 1,
                       "scales": scales, "n": (160, 256)[j], "groups": ("uniform", "odd_tiles")[i], "tail": 304 * (j == 1)}


def tiles():
    """TILE_M of one CTA and of two, TILE_N 128 and 256; the derivative with C as the pre-activation, and one alpha."""
    rest = {"format": "mxfp4", "plain": "bf16", "rows": "none", "columns": "none", "norm": "none", "c": "bf16", "scales": "whole",
            "n": 272, "groups": "skewed", "tail": 57}
    for tile, cluster in (("128x128", "1x1"), ("128x256", "1x1"), ("256x128", "2x1"), ("256x256", "2x1"), ("128x128", "2x1")):
        for relu_of in ("gemm", "c"):
            yield dict(rest, tile=tile, cluster=cluster, relu_of=relu_of, inputs="both" if relu_of == "gemm" else "shared")


def discrete():
    """An address for each expert: FP4, and FP8 of both majors."""
    for form, layout in (("mxfp4", "apart_k"), ("nvfp4", "apart_k"), ("e4m3", "apart_k"), ("e4m3", "apart_n"), ("e5m2", "apart_n")):
        yield {"format": form, "layout": layout, "plain": "bf16", "rows": "none", "columns": "none", "norm": "none", "c": "bf16",
               "scales": "whole", "n": 272, "groups": "skewed", "tail": 304}


def complete(part, seed):
    case = draw(random.Random(seed), fixed=PAGE | part)
    assert case and not broken(case), part
    return case, seed


if __name__ == "__main__":
    sys.exit(run([complete(part, seed) for name in sys.argv[1:] for seed, part in enumerate(globals()[name]())]))
