"""The program and exact data of a case. Scales of neighbouring blocks differ; what no active row may read is poison."""
import re
from dataclasses import dataclass

import epilogues
import matrices
import ml_dtypes
import numpy as np
import wgrad
from dimensions import GRADIENTS, PAIRED, PAIRED_C, extent_k, numbers, sizes, tile_k
from discrete import Discrete
from equations import BF16, F32, join
from exact_named import gates_of
from named import AMAX, ROW_SUM, Out, column_sum, plain, quantized
from operands import exactly_summable, sparse
from oracle import E2M1, E4M3, E5M2, E8M0, FP4_16, MXFP4, NVFP4, Format
from products import ENTRIES, SCALES, Product, poisoned, scale_bytes

FORMATS = {"e4m3": Format("e4m3", E4M3, E4M3, E8M0, 32), "e5m2": Format("e5m2", E5M2, E5M2, E8M0, 32),
           "e4m3_e5m2": Format("e4m3 x e5m2", E4M3, E5M2, E8M0, 32), "e5m2_e4m3": Format("e5m2 x e4m3", E5M2, E4M3, E8M0, 32),
           "mxfp4": MXFP4, "nvfp4": NVFP4, "fp4_16": FP4_16, "nvfp4_32": Format("NVFP4, 32", E2M1, E2M1, E4M3, 32),
           "e4m3_16": Format("e4m3, 16", E4M3, E4M3, E8M0, 16), "e4m3_e2m1": Format("e4m3 x e2m1", E4M3, E2M1, E8M0, 32)}
TYPES = {"f32": F32, "bf16": BF16, "f16": np.float16, "e4m3": E4M3, "e5m2": E5M2, "e2m1": E2M1}
# Scales by their type: of lhs, of gates, of other columns. Gates are multiples of 128: their sigmoid is 0, 1/2 or 1.
WHOLE = {E8M0: (1, 2, 4), E4M3: (1, 2, 3)}
WIDE = {E8M0: (64, 128, 256), E4M3: (64, 128, 192)}
NARROW = {E8M0: (0.5, 1, 2), E4M3: (0.625, 1.125, 1.75)}
GATES, UPS = (0.0, -0.0, 2, -2, 4, -4, 6, -6), (0.0, -0.0, 0.5, -1, 1.5, 2, -3, 6)
C_GATES, C_UPS = (0.0, -0.0, 32.0, 64.0, 80.0, -112.0, -128.0), (0.0, 1.0, -1.0, 2.0, -3.0, 64.0)
ANY = (0.0137, -3.3, 1 / 448, 0.7)  # factors of values that are not summed
# Elements of a row that are not 0, and how many numbers they and the factors are of: the first whose sums are exact is taken.
RICHNESS = ((0, 4), (9, 4), (3, 4), (2, 3), (1, 2), (1, 1))


@dataclass
class Swept(Product):
    def program(self):
        text = super().program()
        return text.replace(" of result", "") if self.generic else text


@dataclass
class SweptApart(Discrete, Swept):
    """Of experts apart."""


def schedule_of(case):
    m, n = numbers(case["tile"])
    split = case.get("split", "none")
    parts = "" if split == "none" else ", split = [%d, %d]" % tuple(numbers(split))
    return (f"#grouped_moe.schedule<tile = [{m}, {n}, {tile_k(case['format'])}], stages = {case['stages']}, "
            f"accumulators = {case['accumulators']}, cluster = [{case['cluster'].replace('x', ', ')}], "
            f"scheduler = {case['scheduler']} along {case['along']}{parts}>")


def outputs_of(case):
    outs = []
    for along, of_groups in (("row", ("per_group",)), ("column", ("per_group", "columns"))):
        dtype, _, rounding = case[along + "s"].partition("_")
        if dtype != "none":
            outs.append(quantized(TYPES[dtype], f"{along}{'_group' * (case['scales'] in of_groups)}_scales_{rounding}"))
    if case["plain"] != "none":
        outs.append(plain(TYPES[case["plain"]]))
    if case.get("saved", "none") != "none":
        outs.append(plain(TYPES[case["saved"]], "activation" if case["op"] == "gemm_dsrelu" else "preactivation"))
    dprob = [ROW_SUM] if case["op"] in GRADIENTS else [Out("row_sum", "result")]
    sums = {"amax": [AMAX], "dbias": [column_sum()], "dbias_bf16": [column_sum(BF16)], "dprob": dprob}
    return outs + (sum(sums.values(), []) if case["sums"] == "all" else sums.get(case["sums"], []))


def inputs_of(case):
    every = ("alpha", "bias", "prob")
    forward = {"none": (), "alpha": every[:1], "prob": every[2:], "both": every[::2]}.get(case.get("inputs", "none"), every)
    return forward + (("c",) if case["op"] in GRADIENTS else ())


def attributes_of(case):
    attributes = {"concatenated": case.get("halves") == "concatenated"}
    if "geglu" in case["op"]:
        attributes["limit"] = 64.0  # at a limit of 7 the sigmoid of a gate has more bits
    if case.get("relu_of") == "c":
        attributes["preactivation"] = "c"
    return attributes


def product(case, seed):
    for richness in RICHNESS:
        made = draw_product(case, seed, *richness)
        if is_exact(made):
            return made
    raise AssertionError("no exact data: the sums of this case have too many bits")


def tail_of(case, transposed):
    """Columns that are stored transposed start at multiples of 16 bytes, unless the case is about that."""
    tail, active = case["tail"], sum(sizes(case["groups"], case["aligned"]))
    if tail == "odd":
        return 5
    unit = {"e2m1": 32, "fp8": 16}.get(transposed, 1)
    return -(-(active + tail) // unit) * unit - active


def draw_product(case, seed, hot, variety):
    case = dict(case, tail=tail_of(case, case["columns"][:4]))
    rng, op, form = np.random.default_rng(seed), case["op"], FORMATS[case["format"]]
    groups, n, k = sizes(case["groups"], case["aligned"]), case["n"], extent_k(case["format"], case["k"], case["stages"])
    rows, extra, count, attributes = sum(groups), case["tail"], len(groups), attributes_of(case)
    is_gate = gates_of(op, n, attributes["concatenated"]) if op in PAIRED and n % 64 == 0 else np.zeros(n, bool)
    is_wide = is_gate | (op == "gemm_situglu")  # its ups too have a tanh of 0 or 1
    lhs_scales, few = WHOLE[form.scale], max(1, variety - 1)
    if hot == 0 and not is_wide.any():
        a, lhs_scales = rng.choice(ENTRIES[form.lhs], (rows, k)), SCALES[form.scale]
    else:
        a = sparse(rng, rows, k, (1, -1, 2, -3)[:variety], min(hot or 9, k))
    ups = ENTRIES[form.rhs] if hot == 0 else UPS[: 2 + 2 * few]
    b = np.where(is_wide[:, None], rng.choice(GATES, (count, n, k)), rng.choice(ups, (count, n, k)))
    blocks = k // form.block
    wide, narrow = [scale_bytes(rng, form, (count, n, blocks), 1, numbers[form.scale][: max(2, few)]) for numbers in (WIDE, NARROW)]
    if op == "gemm_situglu":
        wide = np.where(is_gate[:, None], wide, scale_bytes(rng, form, (count, n, blocks), 1, [2 * x for x in WIDE[form.scale]]))
    sa = scale_bytes(rng, form, (rows, blocks), 2, lhs_scales[: max(2, few)])
    sb = np.where(is_wide[:, None], wide, narrow)
    values = inputs(case, rng, groups, is_gate, variety)
    norm = {"none": None, "one": np.array([0.01], F32), "each": rng.choice((1, 0.5, 0.3, 0.7), count).astype(F32)}[case["norm"]]
    kind = SweptApart if case["layout"].startswith("apart") else Swept
    made = kind(op, *poisoned(form, groups, a, b, sa, sb, extra), outputs_of(case), values, attributes, norm=norm, format=form,
                 n_major=case["layout"].endswith("n"), aligned=case["aligned"], schedule=schedule_of(case),
                 memrefs=case["form"] != "tensor", static=case["form"] == "static")
    made.per_group = case["scales"] == "per_group"  # also where that is a mistake
    return made


def inputs(case, rng, groups, is_gate, variety):
    """By role; NaN where no row is. Of pairs, factors are whole."""
    op, rows, n = case["op"], sum(groups) + case["tail"], len(is_gate)
    summed = case["sums"] not in ("none", "amax") or op in PAIRED
    alphas = {"shared": 1, "alpha_of_two": 2}.get(case.get("inputs"), len(groups))
    wide = 256 if op == "gemm_situglu" else 1
    biases = np.where(is_gate, rng.choice((0, 128, -256), (len(groups), n)), wide * rng.choice((0, 1, -1), (len(groups), n)))
    halves = lambda: [rng.choice(x[: 2 + variety], (rows, n)) for x in (C_GATES, C_UPS)]
    make = {"alpha": lambda: rng.choice((1, -1, 2, 0, 3)[: 1 + variety] if summed else ANY, alphas), "bias": lambda: biases,
            "prob": lambda: rng.choice((1, -0.5, 2, 0, -1)[: 1 + variety], rows),
            "c": lambda: join(halves(), case["halves"] == "concatenated" or n % 32 != 0) if op in PAIRED_C else halves()[1]}
    values = {role: make[role]().astype(TYPES[case["c"]] if role == "c" else F32) for role in inputs_of(case)}
    for role, x in values.items():
        if role == "alpha" and alphas != len(groups):
            continue
        x[np.asarray(groups) == 0 if role in ("alpha", "bias") else np.arange(rows) >= sum(groups)] = np.nan
    return values


def is_exact(made):
    """Every partial sum of the product is a number of f32, and every sum of an output; sigmoids and tanh have one value."""
    try:
        made.assert_exact()
    except AssertionError:
        return False
    values = made.evaluate()
    assert not made.ends[-1] or made.accumulate().any(), "every product is 0"
    if made.op in PAIRED:
        gate = values["preactivation"][0]
        assert ((gate <= -104) | (gate == 0) | (gate >= 64)).all(), "a gate has an inexact sigmoid"
    for out in made.outs:
        x = np.concatenate(values[out.value], 1)
        ends = [0] + list(made.ends)
        if out.kind == "row_sum" and not exactly_summable(x, 1):
            return False
        if out.kind == "group_column_sum" and not all(exactly_summable(x[b:e], 0) for b, e in zip(ends, ends[1:]) if b < e):
            return False
    return True


def region_of(case, groups, rng):
    """Of a weight gradient: a factor, and an addend of each element."""
    if case["region"] == "none":
        return None
    few = {"shared": 1, "alpha_of_two": 2}.get(case["region"], groups)
    factors = {"alpha": np.resize(np.array([1.7, -0.77, 3e-3], F32), few)}
    if case["region"] == "no_argument":
        return wgrad.Epilogue(factors, "", "%acc", None)
    if case["region"] == "added":
        more = rng.choice(np.array([0.3, -7.1, 2e3], F32), (groups, case["n"], case["width"]))
        return wgrad.Epilogue(factors | {"more": more}, epilogues.ADDED, "%z", lambda acc, alpha, more: [acc * alpha + more])
    return wgrad.Epilogue(factors, epilogues.SCALED, "%y", lambda acc, alpha: [acc * alpha])


def weight_gradient(case, seed):
    groups, dtype = sizes(case["groups"], case["aligned"]), TYPES[case["plain"]]
    form, majors = FORMATS[case["format"]], [major == "column" for major in case["layout"].split("_")]
    tail = tail_of(case, "e2m1" if form.is_fp4 else "fp8" if any(majors) else "none")
    region = region_of(case, len(groups), np.random.default_rng(seed))
    rest = dict(schedule=schedule_of(case), memrefs=case["form"] != "tensor", static=case["form"] == "static",
                pointers=case["into"] == "pointers", accumulate=bool(case["accumulate"]), epilogue=region)
    for entries in (matrices.ENTRIES, (0, 1, -1), (0, 0, 0, 0, 1)):
        try:
            return matrices.exact(groups, case["n"], case["width"], (dtype,), (form.lhs, form.rhs), majors, tail,
                                  case["aligned"], seed, entries, block=form.block, fine=form.scale == E4M3, **rest)
        except AssertionError:
            continue
    raise AssertionError("no exact data: the sums of this case have too many bits")


def build(case, seed):
    return (weight_gradient if case["op"] == "wgrad" else product)(case, seed)


def transposed(text):
    """FP4 down columns with the extents exchanged."""
    for wide in set(re.findall(r"%d\d+ : (\w+<\d+x\S+xf4E2M1FN>) as quantized", text)):
        kind, n, rows = re.match(r"(\w+)<(\d+)x(\S+)xf4", wide).groups()
        text = text.replace(wide, f"{kind}<{rows}x{n}xf4E2M1FN>")
    return text


# Of mistakes: a value that is none, and the change of its program.
CHANGES = {"nvfp4_fp4_16": ("nvfp4", lambda text: re.sub(r"(%(?:sb|sf_x) ?: [^%]*?)f8E4M3FN", r"\1f8E8M0FNU", text)),
           "e2m1_rows": ("e2m1_rceil", transposed),
           "no_argument": ("no_argument", lambda text: text.replace(", %alpha_of: f32", ""))}


def text_of(case):
    """The program of a case that need not have exact data."""
    small = dict(case, groups="one", tail="odd" if case["tail"] == "odd" else 0)
    changes = []
    for name, value in case.items():
        if value in CHANGES:
            small[name], change = CHANGES[value]
            changes.append(change)
    text = (weight_gradient(small, 0) if case["op"] == "wgrad" else draw_product(small, 0, 1, 1)).program()
    for change in changes:
        assert change(text) != text, f"{case} is not what it says"
        text = change(text)
    return text
