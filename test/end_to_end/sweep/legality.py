"""Which cases a compiler must take and which it must refuse, with the label of the constraint in docs/spec/grouped_moe.md."""
from dataclasses import dataclass
from typing import Callable

from dimensions import PAIRED, PAIRED_C, WGRAD, extent_k, family, is_fp4, numbers, sizes, tile_k

SHARED_BYTES, TENSOR_COLUMNS = 227 * 1024, 512  # of sm_100a
RESERVED_BYTES = 2048  # barriers and the like
BITS = {"f32": 32, "bf16": 16, "f16": 16, "e4m3": 8, "e5m2": 8, "e2m1": 4, "none": 0}


@dataclass(eq=False)
class Rule:
    label: str
    reads: tuple  # dimensions
    optional: tuple  # of these; "none" of an op that has no such dimension
    broken: Callable
    why: str
    family: str
    late: bool  # seen when a kernel is made, which depends on the chip

    def of(self, op):
        """Of what it reads, the dimensions of an op other than `op`; None if it does not concern the op."""
        values = family(op)
        if self.family and (op == "wgrad") != (self.family == "wgrad"):
            return None
        if any(d not in values and d not in self.optional for d in self.reads):
            return None
        return tuple(d for d in self.reads if d in values and d != "op")

    def breaks(self, case):
        """By a case that has all it reads."""
        return self.broken(*[case.get(d, "none") for d in self.reads])


RULES, LIMITS = [], []  # what is legal; what is small enough for a test of seconds


def rule(label, reads, why, of=None, late=False, among=RULES):
    def add(broken):
        optional = tuple(name[:-1] for name in reads.split() if name.endswith("?"))
        among.append(Rule(label, tuple(reads.replace("?", "").split()), optional, broken, why, of, late))
        return broken
    return add


def quantizes(rows, columns):
    return rows != "none" or columns != "none"


def pair_tile(tile):
    return numbers(tile)[0] == 256


rule("gemm_c3", "n", "N is a multiple of 16", "gemm")(lambda n: n % 16 != 0)
rule("wgrad_c2", "n", "N is a multiple of 16", "wgrad")(lambda n: n % 16 != 0)
rule("gemm_c3", "format k", "K is a multiple of 32, of 64 in FP4", "gemm")(
    lambda format, k: extent_k(format, k, 1) % (64 if is_fp4(format) else 32) != 0)
for label, of in (("gemm_c4", "gemm"), ("wgrad_c3", "wgrad")):
    rule(label, "format", "e4m3 scales have blocks of 16, FP8 data has blocks of 32", of)(
        lambda format: format in ("nvfp4_32", "e4m3_16"))
    rule(label, "format", "scales of both operands are alike", of)(lambda format: format == "nvfp4_fp4_16")
rule("gemm_c2", "format", "FP8 rows meet FP8 weights", "gemm")(lambda format: format == "e4m3_e2m1")
rule("wgrad_c1", "format", "FP8 meets FP8", "wgrad")(lambda format: format == "e4m3_e2m1")
rule("gemm_c4", "format layout", "FP4 has scales along K in a row layout alone", "gemm")(
    lambda format, layout: is_fp4(format) and layout.endswith("n"))
rule("gemm_c7", "aligned", "m_aligned is 1, 32, 128 or 256", "gemm")(lambda aligned: aligned not in (1, 32, 128, 256))
rule("wgrad_c6", "aligned", "m_aligned is 1, 32, 128 or 256", "wgrad")(lambda aligned: aligned not in (1, 32, 128, 256))
rule("wgrad_c6", "aligned layout", "rows of a transposed operand are read in pieces of 16 bytes", "wgrad")(
    lambda aligned, layout: aligned == 1 and "column" in layout)
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
    lambda format, layout: is_fp4(format) and layout != "column_column")
rule("wgrad_c6", "format aligned", "FP4 is summed over 64 rows at once", "wgrad")(
    lambda format, aligned: is_fp4(format) and aligned in (1, 32))
rule("wgrad_c2", "layout tail form", "a static R of a transposed operand is a multiple of 16", "wgrad")(
    lambda layout, tail, form: "column" in layout and tail == "odd" and form == "static")
rule("gemm_c9", "columns tail form", "a static R is a multiple of 32 with FP4 down columns")(
    lambda columns, tail, form: columns.startswith("e2m1") and tail == "odd" and form == "static")
rule("gemm_c9", "columns", "FP4 down columns is stored transposed")(lambda columns: columns == "e2m1_rows")
rule("gemm_c9", "plain rows? columns? saved? sums?", "something is written")(
    lambda plain, *others: {plain, *others} == {"none"})
rule("gemm_c8", "inputs", "a factor is of each expert, or of all")(lambda inputs: inputs == "alpha_of_two")
rule("wgrad_c7", "region", "a factor is of each expert, or of all", "wgrad")(lambda region: region == "alpha_of_two")
rule("wgrad_c9", "region", "the region has an argument for each input", "wgrad")(lambda region: region == "no_argument")
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


def scale_atoms(format):
    """Along K, in a stage."""
    return tile_k(format) // (4 * (16 if format in ("nvfp4", "fp4_16", "nvfp4_fp4_16", "e4m3_16") else 32))


def stage_bytes(format, layout, tile):
    """Of one CTA: 128 rows of A; of two, each half of B, which comes in boxes of 128 columns where they are its major extent."""
    m, n = numbers(tile)
    held = n * 128 // max(m, 128)
    if layout in ("n", "apart_n", "row_row", "column_row"):
        held = -(-held // 128) * 128
    return (128 + held) * 128 + (1 + -(-n // 128)) * scale_atoms(format) * 512


@rule("schedule_c5", "format layout tile stages", "operands fit in shared memory", late=True)
def operands(format, layout, tile, stages):
    return stages * stage_bytes(format, layout, tile) + RESERVED_BYTES > SHARED_BYTES


@rule("schedule_c5", "op format layout tile stages n width? plain rows? columns? saved? sums? into?",
      "operands and staged outputs fit in shared memory", late=True)
def shared(op, format, layout, tile, stages, n, width, plain, rows, columns, saved, sums, into):
    """An output is staged in two slots of 32 columns, or 16; a sum down columns has a number of each warp."""
    result, other = 1 + (op in PAIRED_C), 1 + (op in PAIRED)
    own = (rows, columns, "none" if into == "pointers" else plain)
    bits = result * sum(BITS[x.split("_")[0]] for x in own) + other * BITS[saved]
    staged = 2 * 128 * (16 if (width if op == "wgrad" else n) % 32 else 32) * bits // 8
    sums_down = {"dbias": 1, "dbias_bf16": 1, "all": 2}.get(sums, 0) * 4 * 4 * 2 * numbers(tile)[1]
    return stages * stage_bytes(format, layout, tile) + staged + sums_down + RESERVED_BYTES > SHARED_BYTES


@rule("schedule_c5", "format tile stages accumulators", "accumulators, which may share half, and scales fit in tensor memory",
      late=True)
def tensor(format, tile, stages, accumulators):
    n = numbers(tile)[1]
    scales = stages * (1 + -(-n // 128)) * scale_atoms(format) * 4
    return accumulators * n - (accumulators - 1) * n // 2 + scales > TENSOR_COLUMNS


def broken(case):
    """The rules of legality that a whole case breaks."""
    return [r for r in RULES if r.of(case["op"]) is not None and r.breaks(case)]


def work(case):
    """Products of a case, whole tiles counted, and elements of its largest operand."""
    groups = sizes(case["groups"], case["aligned"])
    rows = sum(groups) + case["tail"]
    depth = case["width"] if case["op"] == "wgrad" else extent_k(case["format"], case["k"], case["stages"])
    weights = len(groups) * case["n"] * depth
    tiles = sum(-(-size // 128) * 128 for size in groups)
    return tiles * case["n"] * depth, max(weights, rows * case["n"])


@rule("", "op groups aligned tail n format stages k? width?", "seconds and memory", among=LIMITS)
def size(*values):
    products, elements = work(dict(zip(LIMITS[0].reads, values)))
    return products > 8e8 or elements > 24e6
