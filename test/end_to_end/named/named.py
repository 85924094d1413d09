"""Programs of named ops: their IR, operands, value in NumPy, and runs on the emulator."""
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from equations import BF16, F32, PAIRED, PAIRED_C, evaluate, join, split
from quantizers import E2M1, E4M3, E5M2, atoms_of, codes, group_atoms, is_transposed, quantize, scale_shape, tall_of

NAMES = {E4M3: "f8E4M3FN", E5M2: "f8E5M2", E2M1: "f4E2M1FN", BF16: "bf16", np.float16: "f16", np.float32: "f32",
         np.int32: "i32", "e8m0": "f8E8M0FNU"}
LAYOUT = "layout <row, whole, block = 32>"
GARBAGE = 0x5A  # what destinations hold before


@dataclass
class Out:
    """An output: its kind, value and element; `scales` is the kind of the scales after a quantized one."""
    kind: str
    value: str = "result"
    dtype: type = np.float32
    scales: str = ""


def plain(dtype=np.float32, value="result"):
    return Out("plain", value, dtype)


def quantized(dtype=E4M3, scales="row_scales_rceil", value="result"):
    return Out("quantized", value, dtype, scales)


ROW_SUM = Out("row_sum", "dprob")
AMAX = Out("group_amax")


def column_sum(dtype=np.float32, value="result"):
    return Out("group_column_sum", value, dtype)


def stored(dtype):
    """How .npy holds it."""
    if dtype == BF16:
        return np.uint16
    return np.uint8 if dtype in (E4M3, E5M2, E2M1, "e8m0") else dtype


def stored_shape(dtype, shape):
    return (*shape[:-1], shape[-1] // 2) if dtype == E2M1 else tuple(shape)


def bytes_of(x):
    """As .npy holds x: of f4E2M1FN two in a byte, the first in its low half."""
    codes = x.view(stored(x.dtype.type))
    return codes[..., ::2] | codes[..., 1::2] << 4 if x.dtype == E2M1 else codes


def type_of(dtype, shape, dynamic=None):
    extents = ["?" if i == dynamic else str(extent) for i, extent in enumerate(shape)]
    return "x".join(extents + [NAMES[dtype]])


def attribute_text(name, value):
    if value is True:
        return name
    if name == "preactivation":
        return f"preactivation = #grouped_moe<preactivation_form {value}>"
    return f"{name} = {float(value)!r} : f32"


@dataclass
class Case:
    """One named op. a (R, K) and b (L, N, K) are elements, sa and sb their logical scale bytes."""
    op: str
    ends: list
    a: np.ndarray
    b: np.ndarray
    sa: np.ndarray
    sb: np.ndarray
    outs: list
    inputs: dict = field(default_factory=dict)  # role: array
    attributes: dict = field(default_factory=dict)
    norm: np.ndarray = None
    memrefs: bool = True
    nondeterministic: bool = False
    aligned: int = 128
    schedule: str = ""
    static: bool = False  # no extent is dynamic
    tile_n: int = 0  # columns of a CTA tile, where the compiler is not to choose
    per_group: bool = False  # the scales of a; so they are where groups start within atoms
    nan = 0xFF  # a scale byte
    launches = 1

    def __post_init__(self):
        self.rows, self.k = self.a.shape
        self.groups, self.n, _ = self.b.shape
        self.dtype = self.a.dtype.type
        self.concatenated = self.attributes.get("concatenated", False)
        self.per_group |= self.aligned % 128 != 0

    def columns_of(self, value):
        """Columns of a value and whether it is a pair."""
        if self.op in PAIRED:
            return (self.n, True) if value == "preactivation" else (self.n // 2, False)
        pair = self.op in PAIRED_C and value == "result"
        return (2 * self.n if pair else self.n), pair

    def destinations(self):
        """(dtype, shape, dynamic extent, kind text) for each array that is written."""
        arrays = []
        for out in self.outs:
            columns, pair = self.columns_of(out.value)
            of = "" if out.value == ("dprob" if out.kind == "row_sum" else "result") else " of " + out.value
            shape = {"row_sum": (self.rows,), "group_column_sum": (self.groups, columns),
                     "group_amax": (self.groups, 2) if pair else (self.groups,)}.get(out.kind, (self.rows, columns))
            by_row = out.kind in ("plain", "quantized", "row_sum")
            transposed = is_transposed(out.dtype, out.scales)
            arrays.append((out.dtype, shape[::-1] if transposed else shape, int(transposed) if by_row else None, out.kind + of))
            if out.scales:
                element = E4M3 if "nearest" in out.scales else "e8m0"
                dynamic = 1 if out.scales.startswith("column_scales") else 0
                arrays.append((element, scale_shape(out.scales, self.rows, columns, self.groups, self.aligned), dynamic, out.scales))
        return arrays

    def blocked(self, logical):
        return scales_of(logical)

    def lhs_scales(self):
        """With NaN as padding, atoms of no group included."""
        if not self.per_group:
            return self.blocked(self.sa)
        used = group_atoms(self.blocked, self.sa, self.ends)
        wide = self.blocked(self.sa[:0]).shape[1]
        atoms = np.full((tall_of(self.rows, self.groups, self.aligned) * wide, 32, 4, 4), self.nan, np.uint8)
        atoms[: len(used)] = used
        return atoms

    def fixed(self):
        return [("a", self.dtype, self.a, 0), ("sa", "e8m0", self.lhs_scales(), 0), ("b", self.dtype, self.b, None),
                ("sb", "e8m0", np.stack([scales_of(s) for s in self.sb]), None),
                ("offsets", np.int32, np.array(self.ends, np.int32), None)] + (
                    [("norm", np.float32, self.norm, None)] if self.norm is not None else [])

    def program(self):
        shaped = "memref" if self.memrefs else "tensor"
        text = lambda dtype, shape, dynamic: f"{shaped}<{type_of(dtype, shape, None if self.static else dynamic)}>"
        t = {name: text(dtype, x.shape, dynamic) for name, dtype, x, dynamic in self.fixed()}
        ins = [(role, text(x.dtype.type, x.shape, 0 if role in ("c", "prob") else None))
               for role, x in self.inputs.items()]
        outs = [(f"d{i}", text(d, s, dynamic), kind) for i, (d, s, dynamic, kind) in enumerate(self.destinations())]
        signature = ", ".join([f"%{name}: {what}" for name, what in t.items()] + [f"%{role}: {what}" for role, what in ins]
                              + [f"%{name}: {what}" for name, what, _ in outs])
        attributes = [attribute_text(name, value) for name, value in self.attributes.items() if value is not False]
        attributes += [f"m_aligned = {self.aligned} : i64"] + ["nondeterministic"] * self.nondeterministic
        attributes += [f"schedule = {self.schedule}"] if self.schedule else []
        inputs = "ins(%s)" % ", ".join(f"%{role} : {what} as {role}" for role, what in ins) if ins else ""
        norm = f"norm_const(%norm : {t['norm']})" if "norm" in t else ""
        types = ", ".join(what for _, what, _ in outs)
        names = ", ".join(f"%r{i}" for i in range(len(outs)))
        result = "" if self.memrefs else f"{names} = "
        arrow = "" if self.memrefs else f" -> {types}"
        returned = "return" if self.memrefs else f"return {names} : {types}"
        return f"""func.func @entry({signature}){"" if self.memrefs else f" -> ({types})"} {{
  {result}grouped_moe.{self.op}
      lhs(%a : {t["a"]} scales %sa : {t["sa"]} {LAYOUT.replace("whole", "per_group") if self.per_group else LAYOUT}) rhs(%b : {t["b"]} scales %sb : {t["sb"]} {LAYOUT})
      offsets(%offsets : {t["offsets"]}) {norm} {inputs}
      outs({", ".join(f"%{name} : {what} as {kind}" for name, what, kind in outs)})
      attributes {{{", ".join(attributes)}}}{arrow}
  {returned}
}}
"""

    def garbage(self):
        return [np.full(int(np.prod(stored_shape(d, s))) * np.dtype(stored(d)).itemsize, GARBAGE, np.uint8)
                .view(stored(d)).reshape(stored_shape(d, s)) for d, s, _, _ in self.destinations()]

    def accumulate(self, precision=np.float64):
        acc, begin = np.zeros((self.ends[-1], self.n), precision), 0
        for g, end in enumerate(self.ends):
            if begin < end:
                acc[begin:end] = values_of(self.a[begin:end], self.sa[begin:end]) @ values_of(self.b[g], self.sb[g]).T
            begin = end
        return acc

    def evaluate(self, acc=None):
        """The values of the active rows, each a list of halves."""
        active, wide = self.ends[-1], {role: x.astype(F32) for role, x in self.inputs.items()}
        group = np.searchsorted(self.ends, np.arange(active), side="right")
        acc = self.accumulate().astype(F32) if acc is None else acc
        halves = lambda x, pair: None if x is None else split(x, self.concatenated) if pair else [x]
        row = lambda x: None if x is None else x[:, None]
        alpha, bias, prob, c = [wide.get(role) for role in ("alpha", "bias", "prob", "c")]
        return evaluate(self.op, halves(acc, self.op in PAIRED), row(None if alpha is None else np.resize(alpha, self.groups)[group]),
                        halves(None if bias is None else bias[group], self.op in PAIRED),
                        row(None if prob is None else prob[:active]),
                        halves(None if c is None else c[:active], self.op in PAIRED_C), self.attributes)

    def expected(self, values=None):
        """What the destinations hold afterwards. Sums are exact sums, rounded once."""
        values = self.evaluate() if values is None else values
        arrays, at = self.garbage(), 0
        active = self.ends[-1]
        bounds = list(zip([0] + self.ends[:-1], self.ends))
        norm = F32(1) if self.norm is None else self.norm
        for out in self.outs:
            target, x = arrays[at], join(values[out.value], self.concatenated)
            if out.kind == "plain":
                target[:active] = convert(x, out.dtype)
            elif out.kind == "quantized":
                quantize(x, out.dtype, out.scales, self.ends, norm, target, arrays[at + 1])
                at += 1
            elif out.kind == "row_sum":
                target[:active] = x.astype(np.float64).sum(1)
            elif out.kind == "group_column_sum":
                sums = np.stack([x[begin:end].astype(np.float64).sum(0) for begin, end in bounds]).astype(F32)
                target[...] = convert(sums, out.dtype)
            else:
                halves = np.stack([[np.abs(half[begin:end]).max(initial=0) for half in values[out.value]] for begin, end in bounds])
                target[...] = halves.reshape(target.shape)
            at += 1
        return arrays

    def run(self, *options, device="emulator", report=None):
        """Runs the program; returns what the destinations hold. `report` takes the JSON report."""
        arguments = [x for _, _, x, _ in self.fixed()] + list(self.inputs.values()) + self.garbage()
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            source = os.path.join(folder, "in.mlir")
            with open(source, "w") as file:
                file.write(self.program())
            if self.tile_n:
                subprocess.run(["gmoe-compile", source, "-o", source + ".gmoe", f"--tile-n={self.tile_n}"], check=True)
                source += ".gmoe"
            command = ["gmoe-run", source, f"--device={device}", "--json", *options]
            command += [f"--arg={i}={self.spec(folder, i, x)}" for i, x in enumerate(arguments)]
            count = len(self.destinations())
            command += [f"--result={i}={folder}/r{i}.npy" for i in range(count)]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
            if done.returncode != 0:
                sys.exit(f"{self.name()}: exit {done.returncode}\n{done.stderr}\n{self.program()}")
            if report is not None:
                report.update(json.loads(done.stdout))
            return [np.load(f"{folder}/r{i}.npy") for i in range(count)]

    def spec(self, folder, i, x):
        """What gmoe-run gets as argument i."""
        np.save(f"{folder}/a{i}.npy", bytes_of(x))
        return f"{folder}/a{i}.npy"

    def name(self):
        return f"{self.op} {self.attributes} ends {self.ends} n {self.n} k {self.k} {sorted(self.inputs)} aligned {self.aligned}"

    def check(self, *options):
        """Bit for bit the value in NumPy; with --check also the reference executor's. Returns the results."""
        report = {}
        actual = self.run("--check", "--tolerance=bitwise", *options, report=report)
        assert report["launches"] == self.launches, f"{self.name()}: {report['launches']} launches"
        for got, want, what in zip(actual, self.expected(), self.destinations()):
            assert_same(got, want, what[0], f"{self.name()}: {what[3]}")
        return actual


def scales_of(logical):
    """Blocked, with NaN as padding."""
    lines, blocks = logical.shape
    known = atoms_of(np.ones_like(logical))
    return np.where(known, atoms_of(logical), 0xFF).astype(np.uint8)


def values_of(data, scale_bytes):
    """Exact, in f64."""
    powers = np.where(scale_bytes == 255, np.nan, np.ldexp(1.0, scale_bytes.astype(int) - 127))
    return data.astype(np.float64) * np.repeat(powers, 32, -1)


def convert(x, dtype):
    """Nearest even; 8-bit types saturate."""
    with np.errstate(all="ignore"):
        return codes(x, dtype) if dtype in (E4M3, E5M2) else x.astype(dtype).view(stored(dtype))


def assert_same(got, want, dtype, what):
    """Bit for bit; any NaN of a wide type is like any other."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32}[got.dtype.itemsize]
    same = got.view(width) == want.view(width)
    if dtype in (np.float32, np.float16, BF16):
        same |= np.isnan(got.view(dtype).astype(F32)) & np.isnan(want.view(dtype).astype(F32))
    if not same.all():
        at = tuple(np.argwhere(~same)[0])
        number = lambda x: x.view(dtype)[at] if dtype in (np.float32, np.float16, BF16, E4M3, E5M2) else x[at]
        sys.exit(f"{what}: {np.count_nonzero(~same)} of {same.size} differ, first at {[int(i) for i in at]}: "
                 f"{number(got)}, expected {number(want)}")
