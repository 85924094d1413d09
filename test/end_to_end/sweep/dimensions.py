"""The dimensions of programs and their values. A case is a value for each dimension of its family; one more value is one more
word here, and what it means one more line in the tables below or in programs.py."""
from functools import lru_cache

PAIRED = ("gemm_swiglu", "gemm_geglu", "gemm_situglu")  # gate and up are columns of the product
PAIRED_C = ("gemm_dswiglu", "gemm_dgeglu")  # gate and up are columns of c and of the result
GRADIENTS = PAIRED_C + ("gemm_dsrelu",)
PRODUCTS = ("gemm", "gemm_quant", "gemm_srelu") + PAIRED + GRADIENTS
FP4 = ("mxfp4", "nvfp4", "fp4_16")
FP8 = ("e4m3", "e5m2", "e4m3_e5m2", "e5m2_e4m3")

# How a kernel works.
SCHEDULE = {
    "tile": ("128x64", "128x128", "128x192", "128x256", "256x128", "256x256"),
    "cluster": ("1x1", "2x1", "4x1", "2x2"),
    "stages": (1, 2, 3, 4, 6),
    "accumulators": (1, 2),
    "scheduler": ("static_persistent", "cluster_launch_control"),
    "along": ("row", "short_side"),  # the order of a group's tiles
}
# Which rows belong to whom.
GROUPS = {
    "aligned": (256, 128, 32, 1),
    "groups": ("uniform", "skewed", "one", "last_empty", "only_one", "least", "odd_tiles", "none", "513", "896", "1024"),
    "tail": (0, 57, 304),  # rows past the last offset; more where columns need it
}
PRODUCT = {
    "op": PRODUCTS,
    "format": FP8 + FP4,
    "layout": ("k", "n", "apart_k", "apart_n"),  # the major extent of rhs: one array, or an address for each expert
    **SCHEDULE,
    **GROUPS,
    "scales": ("whole", "columns", "per_group"),  # in whose atoms: all in those of the matrix, down columns or all in a group's own
    "k": ("block", "part", "below", "above"),  # one block, part of a stage, a stage less and more than the pipeline has
    "n": (16, 64, 160, 192, 256, 272, 2880),
    "halves": ("blocks", "concatenated"),
    "inputs": ("none", "alpha", "prob", "both", "all", "shared"),  # shared: all, with one alpha for every expert
    "c": ("f32", "bf16", "f16", "e4m3", "e5m2"),
    "plain": ("none", "f32", "bf16", "f16", "e4m3", "e5m2"),
    "rows": ("none", "e4m3_rceil", "e5m2_floor", "e2m1_rceil", "e2m1_nearest", "e2m1_floor_block16"),
    "columns": ("none", "e4m3_rceil", "e5m2_floor", "e2m1_rceil", "e2m1_nearest", "e2m1_floor_block16"),
    "sums": ("none", "amax", "dbias", "dbias_bf16", "dprob", "all"),
    "saved": ("none", "bf16"),  # the pre-activation, or the activation of a gradient
    "relu_of": ("gemm", "c"),
    "norm": ("none", "one", "each"),
    "form": ("memref", "tensor", "static"),
}
WGRAD = {
    "op": ("wgrad",),
    "format": FP8 + FP4,
    "layout": ("row_row", "row_column", "column_row", "column_column"),  # how (R, N) and (R, K) lie
    **SCHEDULE,
    **GROUPS,
    "n": (16, 64, 160, 192, 256, 272, 2880),
    "width": (16, 64, 160, 272),
    "split": ("none", "4_128", "3_256"),
    "plain": ("f32", "bf16", "f16"),
    "region": ("none", "alpha", "shared", "added"),  # a factor of each expert, of all; that and an addend of each element
    "into": ("dense", "pointers"),
    "accumulate": (0, 1),
    "form": ("memref", "tensor", "static"),
}
# Values that no op takes.
MISTAKES = {
    "format": ("nvfp4_32", "e4m3_16", "e4m3_e2m1", "nvfp4_fp4_16"),
    "inputs": ("alpha_of_two",),
    "region": ("alpha_of_two", "no_argument"),
    "columns": ("e2m1_rows",),
    "tail": ("odd",),
    "tile": ("128x96", "64x128", "256x64", "512x128"),
    "cluster": ("3x1", "1x2", "8x1"),
    "aligned": (64, 0),
    "k": ("odd",),
    "n": (24,),
    "split": ("1_128",),
}
# Dimensions that only some ops have.
ONLY = {"halves": PAIRED + PAIRED_C, "c": GRADIENTS, "inputs": PRODUCTS[1:], "saved": PRODUCTS[2:6] + ("gemm_dsrelu",),
        "relu_of": ("gemm_dsrelu",)}


@lru_cache(None)
def family(op):
    """The dimensions of an op, with their values."""
    if op == "wgrad":
        return WGRAD
    return {name: values for name, values in PRODUCT.items() if op in ONLY.get(name, PRODUCTS)}


@lru_cache(None)
def numbers(text):
    """Of "256x128", "2x1", "4_128"."""
    return [int(x) for x in text.replace("_", "x").split("x")]


@lru_cache(None)
def sizes(groups, aligned):
    """Rows of each group: of a pattern, of a number of experts, or as "128+0+256" says."""
    if "+" in groups:
        return [int(size) for size in groups.split("+") if size]
    a = aligned if aligned in (128, 32, 1) else 256
    skewed = {256: [512, 0, 256, 256], 128: [256, 0, 128, 384], 32: [192, 0, 64, 224], 1: [200, 0, 56, 193]}[a]
    if groups.isdigit():  # most of them without rows, the first, those around 512 and the last with some
        count, few = int(groups), {256: 1, 128: 1, 32: 2, 1: 67}[a]
        owners = {0, 3, 511, 512, count - 1}
        return [a * few if g in owners else a * (aligned < 128 and g % 9 == 5) for g in range(count)]
    return {"uniform": [{256: 256, 128: 128, 32: 96, 1: 100}[a]] * 4, "skewed": skewed, "one": [skewed[0] or a],
            "last_empty": skewed[2:] + [0], "only_one": [0, 0, skewed[3], 0, 0], "least": [a] * (5 if a < 128 else 3),
            # Tiles of 128 rows, of 256 where groups are.
            "odd_tiles": {256: [768, 0, 256], 128: [384, 0, 128, 384], 32: [288, 0, 96, 352], 1: [300, 1, 100, 259]}[a],
            "none": [0, 0, 0]}[groups]


def is_fp4(form):
    """Also of mistakes."""
    return form.startswith(("mxfp4", "nvfp4", "fp4"))


def tile_k(form):
    """Elements of K in a stage: 128 bytes."""
    return 256 if is_fp4(form) else 128


def extent_k(form, k, stages):
    """Elements of K of a product: k itself if it is a number."""
    if isinstance(k, int):
        return k
    least, stage = (64, 256) if tile_k(form) == 256 else (32, 128)
    return {"block": least, "part": stage + 64, "below": stage * max(stages - 1, 1), "above": stage * stages + 3 * least,
            "odd": least + least // 2}[k]
