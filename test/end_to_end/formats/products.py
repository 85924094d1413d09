"""Products of every operand format: `gemm` itself and the named ops, on exact or random data. What no active row may read
is poison: rows past the last offset, experts without rows, scale bytes of no element; outputs hold 0xFF before."""
from dataclasses import dataclass

import numpy as np
from named import Case
from operands import lowest_bit, offsets_of
from oracle import E2M1, E4M3, E5M2, E8M0, Format

SIZES = [128, 0, 256, 128]
# Numbers of each format, both zeros; their products have few bits.
ENTRIES = {E2M1: np.arange(16, dtype=np.uint8).view(E2M1).astype(np.float64),
           E4M3: (0.0, -0.0, 0.5, 1.125, -1.125, 2, -3, 3.5), E5M2: (0.0, -0.0, 0.5, 1.25, -1.5, 2, -3)}
SCALES = {E8M0: (0.25, 0.5, 1, 2, 4), E4M3: (0.625, 0.875, 1.125, 1.5, 2)}
POISON = {E2M1: 0x07, E4M3: 0x7F, E5M2: 0x7F}  # e2m1 has no NaN: its scales are


@dataclass
class Product(Case):
    """An `op` of gemm is that with a region that gives the accumulator to every output."""
    format: Format = None
    n_major: bool = False  # b, still (L, N, K) here, lies as (L, K, N)

    def __post_init__(self):
        self.generic = self.op == "gemm"
        self.op = "gemm_quant" if self.generic else self.op  # of the same value
        super().__post_init__()

    @property
    def nan(self):
        return self.format.nan

    def blocked(self, logical):
        return self.format.blocked(logical)

    def fixed(self):
        f, rest = self.format, super().fixed()[4:]
        scale = "e8m0" if f.scale == E8M0 else f.scale
        b = np.ascontiguousarray(self.b.swapaxes(1, 2)) if self.n_major else self.b
        return [("a", f.lhs, self.a, 0), ("sa", scale, self.lhs_scales(), 0), ("b", f.rhs, b, None),
                ("sb", scale, np.stack([f.blocked(s) for s in self.sb]), None)] + rest

    def program(self):
        text = super().program().replace("block = 32>", f"block = {self.format.block}>")
        if self.n_major:
            head, rhs = text.split("rhs(", 1)
            text = head + "rhs(" + rhs.replace("<row,", "<column,", 1)
        if not self.generic:
            return text
        values, types = [", ".join([x] * len(self.outs)) for x in ("%acc", "f32")]
        region = f"epilogue {{\n  ^bb0(%acc: f32):\n    grouped_moe.yield {values} : {types}\n  }}"
        text = text.replace("grouped_moe.gemm_quant", "grouped_moe.gemm")
        at = text.index("}", text.index("attributes {")) + 1
        return f"{text[:at]} {region}{text[at:]}"

    def garbage(self):
        return [np.full(x.nbytes, 0xFF, np.uint8).view(x.dtype).reshape(x.shape) for x in super().garbage()]

    def of_group(self, g):
        """Both operands of a group's product, in f64."""
        rows = slice(self.ends[g - 1] if g else 0, self.ends[g])
        return self.format.values(self.a[rows], self.sa[rows]), self.format.values(self.b[g], self.sb[g])

    def accumulate(self, precision=np.float64):
        """A sum that starts at 0 is never -0."""
        parts = [np.zeros((0, self.n))]
        with np.errstate(invalid="ignore"):
            for g, end in enumerate(self.ends):
                if end > (self.ends[g - 1] if g else 0):
                    a, b = self.of_group(g)
                    parts.append(a @ b.T + 0.0)
        return np.concatenate(parts).astype(precision)

    def assert_exact(self):
        """Every partial sum of products is a number of f32, in any order."""
        for g, end in enumerate(self.ends):
            if end > (self.ends[g - 1] if g else 0):
                a, b = self.of_group(g)
                most, unit = (np.abs(a) @ np.abs(b).T).max(), lowest_bit(a) * lowest_bit(b)
                assert most < 2.0**24 * unit, f"{self.name()}: sums of group {g} are not exact"

    def name(self):
        return f"{self.format.name} {super().name()} {[x.dtype.__name__ for x in self.outs]} {self.schedule}{' n-major' * self.n_major}"


def scale_bytes(rng, form, shape, step, numbers=None):
    """A scale of `numbers` for each block: neighbours differ, and blocks 4 and 16 apart."""
    numbers = form.encoded(SCALES[form.scale] if numbers is None else numbers)
    return numbers[(rng.integers(0, len(numbers), (*shape[:-1], 1)) + step * np.arange(shape[-1])) % len(numbers)]


def poisoned(form, sizes, a, b, sa, sb, extra_rows):
    """Elements and scale bytes with poison where there is no active row; the arguments of a product."""
    ends, f = offsets_of(sizes), form
    rest = np.zeros((extra_rows, a.shape[1]))
    a, b = np.concatenate([a, rest]).astype(f.lhs), b.astype(f.rhs)
    sa = np.concatenate([sa, np.full((extra_rows, sa.shape[1]), f.nan, np.uint8)])
    a[ends[-1] :] = np.uint8(POISON[f.lhs]).view(f.lhs)
    empty = np.asarray(sizes) == 0
    b[empty], sb[empty] = np.uint8(POISON[f.rhs]).view(f.rhs), f.nan
    return ends, a, b, sa, sb


def exact(form, n, k, outs, op="gemm", sizes=SIZES, extra_rows=0, seed=0, **rest):
    rng = np.random.default_rng(seed)
    rows, groups, blocks = sum(sizes), len(sizes), k // form.block
    a, b = rng.choice(ENTRIES[form.lhs], (rows, k)), rng.choice(ENTRIES[form.rhs], (groups, n, k))
    sa, sb = scale_bytes(rng, form, (rows, blocks), 2), scale_bytes(rng, form, (groups, n, blocks), 3)
    case = Product(op, *poisoned(form, sizes, a, b, sa, sb, extra_rows), list(outs), format=form, **rest)
    case.assert_exact()
    return case


def random_product(form, n, k, outs, op="gemm", sizes=SIZES, inputs=(), seed=0, c_type=np.float32, **rest):
    """Normal data, scales of any bits near 1: acc has a standard deviation near 1."""
    rng = np.random.default_rng(seed)
    rows, groups, blocks = sum(sizes), len(sizes), k // form.block
    a, b = rng.normal(size=(rows, k)), rng.normal(size=(groups, n, k))
    first, last, octave = {E8M0: (126, 129, 1), E4M3: (0x30, 0x41, 8)}[form.scale]
    shift = round(np.log2(k) / 2) * octave
    sa = rng.integers(first, last, (rows, blocks)).astype(np.uint8)
    sb = rng.integers(first - shift, last - shift, (groups, n, blocks)).astype(np.uint8)
    make = {"alpha": lambda: rng.uniform(0.5, 1.5, groups), "bias": lambda: rng.normal(size=(groups, n)),
            "prob": lambda: rng.normal(size=rows), "c": lambda: rng.normal(size=(rows, 2 * n))}
    values = {role: make[role]().astype(c_type if role == "c" else np.float32) for role in inputs}
    ends, a, b, sa, sb = poisoned(form, sizes, a, b, sa, sb, 0)
    return Product(op, ends, a, b, sa, sb, list(outs), values, format=form, **rest)


def schedule(form, columns, stages, accumulators):
    return (f"#grouped_moe.schedule<tile = [128, {columns}, {form.tile_k}], stages = {stages}, accumulators = {accumulators}, "
            "cluster = [1, 1], scheduler = static_persistent>")
