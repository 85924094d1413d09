"""Which cases a compiler must take and which it must refuse, with the label of the constraint in docs/spec/grouped_moe.md."""
from dataclasses import dataclass
from typing import Callable

from dimensions import FP4, PAIRED, PAIRED_C, PRODUCT, WGRAD, extent_k, numbers, sizes, tile_k

SHARED_BYTES, TENSOR_COLUMNS = 227 * 1024, 512  # of sm_100a
# Staging of one output: two slots of 32 columns of a tile's rows, of pairs of f32 at most. Sums take less.
STAGED_BYTES = 2 * 128 * 32 * 8
RESERVED_BYTES = 4096


@dataclass
class Rule:
    label: str
    reads: tuple
    broken: Callable
    why: str
    family: str
    late: bool  # seen when a kernel is made, which depends on the chip

    def applies(self, case):
        return (case["op"] == "wgrad") == (self.family == "wgrad") if self.family else True


RULES = []


def rule(label, reads, why, of=None, late=False):
    def add(broken):
        RULES.append(Rule(label, tuple(reads.split()), broken, why, of, late))
        return broken
    return add


def quantizes(rows, columns):
    return rows != "none" or columns != "none"


def pair_tile(tile):
    return numbers(tile)[0] == 256


rule("gemm_c3", "n", "N is a multiple of 16", "gemm")(lambda n: n % 16 != 0)
rule("wgrad_c2", "n", "N is a multiple of 16", "wgrad")(lambda n: n % 16 != 0)
rule("gemm_c3", "format k", "K is a multiple of 32, of 64 in FP4", "gemm")(
    lambda format, k: extent_k(format, k, 1) % (64 if format in FP4 else 32) != 0)
rule("gemm_c4", "format", "e4m3 scales have blocks of 16, FP8 data has blocks of 32", "gemm")(
    lambda format: format in ("nvfp4_32", "e4m3_16"))
rule("gemm_c2", "format", "FP8 rows meet FP8 weights", "gemm")(lambda format: format == "e4m3_e2m1")
rule("gemm_c4", "format layout", "FP4 has scales along K in a row layout alone")(
    lambda format, layout: format in FP4 and layout.endswith("n"))
rule("gemm_c7", "aligned", "m_aligned is 1, 32, 128 or 256", "gemm")(lambda aligned: aligned not in (1, 32, 128, 256))
rule("wgrad_c6", "aligned", "m_aligned is 32, 128 or 256", "wgrad")(lambda aligned: aligned not in (32, 128, 256))
rule("gemm_c16", "aligned scales", "groups within an atom have scales of their own")(
    lambda aligned, scales: 0 < aligned < 128 and scales != "per_group")
rule("gemm_c14", "op n halves", "gate and up are blocks of 32 columns, or halves of whole atoms")(
    lambda op, n, halves: n % (128 if halves == "concatenated" else 64 if op in PAIRED else 16) != 0
    or (op in PAIRED and halves == "concatenated" and n % 256 != 0))
rule("gemm_c8", "op n halves", "pairs alternate in blocks of 32 columns")(
    lambda op, n, halves: op in PAIRED_C and halves == "blocks" and n % 32 != 0)


@rule("gemm_c9", "op n rows columns", "a block of scales has 32 columns")
def blocks(op, n, rows, columns):
    return quantizes(rows, columns) and (n // 2 if op in PAIRED else n) % 32 != 0


rule("gemm_c16", "columns aligned", "FP4 down columns has pieces of 32 rows")(
    lambda columns, aligned: columns.startswith("e2m1") and aligned == 1)
rule("wgrad_c1", "format layout", "FP4 is summed along its fast extent", "wgrad")(
    lambda format, layout: format in FP4 and layout != "column_column")
rule("wgrad_c6", "format aligned", "FP4 is summed over 64 rows at once", "wgrad")(
    lambda format, aligned: format in FP4 and aligned == 32)
rule("gemm_c15", "rows columns norm", "norm_const is of quantized outputs")(
    lambda rows, columns, norm: norm != "none" and not quantizes(rows, columns))
rule("schedule_c3", "split", "a split has 2 parts at least")(lambda split: split.startswith("1_"))


@rule("schedule_c4", "tile", "tiles of 128 rows by 64, 128, 192 or 256, of 256 rows by 128 or 256", late=True)
def shape(tile):
    m, n = numbers(tile)
    return n not in {128: (64, 128, 192, 256), 256: (128, 256)}.get(m, ())


rule("schedule_c4", "cluster", "clusters of 1x1, 2x1, 4x1, 2x2", late=True)(lambda cluster: cluster not in WGRAD["cluster"])
rule("schedule_c4", "tile cluster", "a tile of 256 rows needs two CTAs along M", late=True)(
    lambda tile, cluster: pair_tile(tile) and numbers(cluster)[0] == 1)
rule("schedule_c4", "op tile halves", "concatenated gate and up are 128 columns each", late=True)(
    lambda op, tile, halves: op in PAIRED and halves == "concatenated" and numbers(tile)[1] != 256)
rule("schedule_c3", "cluster split", "parts of a split have no cluster", late=True)(
    lambda cluster, split: split != "none" and cluster != "1x1")


def scale_atoms(format):
    """Along K, in a stage."""
    return tile_k(format) // (4 * (16 if format in ("nvfp4", "fp4_16", "e4m3_16") else 32))


def operand_bytes(format, tile, stages):
    """Least bytes of all stages in one CTA."""
    m, n = numbers(tile)
    atoms = (1 + -(-n // 128)) * scale_atoms(format)
    return stages * ((128 + n * 128 // max(m, 128)) * 128 + atoms * 512)


@rule("schedule_c5", "format tile stages", "operands fit in shared memory", late=True)
def shared(format, tile, stages):
    return operand_bytes(format, tile, stages) > SHARED_BYTES


@rule("schedule_c5", "format tile stages accumulators", "accumulators, which may share half, and scales fit in tensor memory",
      late=True)
def tensor(format, tile, stages, accumulators):
    n = numbers(tile)[1]
    scales = stages * (1 + -(-n // 128)) * scale_atoms(format) * 4
    return accumulators * n - (accumulators - 1) * n // 2 + scales > TENSOR_COLUMNS


def broken(case, name=None):
    """The rules that a case breaks, of those whose dimensions it has; of those that read `name`."""
    return [r for r in (READERS[name] if name else RULES)
            if r.applies(case) and all(d in case for d in r.reads) and r.broken(*[case[d] for d in r.reads])]


READERS = {name: [r for r in RULES if name in r.reads] for name in {**PRODUCT, **WGRAD}}


def outputs(case):
    """How many arrays are staged at most."""
    return sum(case.get(d, "none") != "none" for d in ("plain", "rows", "columns", "saved"))


def is_unclear(case):
    """Whole cases that are not drawn: nothing is written, or room depends on how an output is staged."""
    if case.get("sums") == "none" and not outputs(case):
        return True
    n, slack = numbers(case["tile"])[1], 128 if case["layout"] in ("n", "apart_n", "row_row", "column_row") else 0
    staged = outputs(case) * STAGED_BYTES + 2 * 4 * 4 * 2 * n + RESERVED_BYTES + case["stages"] * slack * 128
    bytes_ = operand_bytes(case["format"], case["tile"], case["stages"])
    return bytes_ <= SHARED_BYTES < bytes_ + staged


def work(case):
    """Products of a case, whole tiles counted, and elements of its largest operand."""
    groups = sizes(case["groups"], case["aligned"])
    rows = sum(groups) + case["tail"]
    depth = case["width"] if case["op"] == "wgrad" else extent_k(case["format"], case["k"], case["stages"])
    weights = len(groups) * case["n"] * depth
    tiles = sum(-(-size // 128) * 128 for size in groups)
    return tiles * case["n"] * depth, max(weights, rows * case["n"])


SIZES = {"groups", "aligned", "tail", "n", "format", "stages"}


def is_too_big(case):
    """For a test of seconds."""
    if not SIZES <= case.keys() or ("width" if case["op"] == "wgrad" else "k") not in case:
        return False
    products, elements = work(case)
    return products > 8e8 or elements > 24e6
