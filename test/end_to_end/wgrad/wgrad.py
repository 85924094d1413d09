"""Programs of grouped_moe.wgrad: their IR, operands, value in NumPy, and runs."""
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import ml_dtypes
import numpy as np

E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
E2M1 = ml_dtypes.float4_e2m1fn
F32, F16 = np.float32, np.float16
NAMES = {E2M1: "f4E2M1FN", E4M3: "f8E4M3FN", E5M2: "f8E5M2", BF16: "bf16", F16: "f16", F32: "f32", np.int32: "i32", np.uint8: "f8E8M0FNU"}
STORED = {E2M1: np.uint8, E4M3: np.uint8, E5M2: np.uint8, BF16: np.uint16}
LAYOUT = "layout <column, per_group, block = 32>"
# NaN that no operation makes.
KEPT = {F32: 0xFFC0BEEF, BF16: 0xFFDB, F16: 0xFEEF}
BITS = {F32: np.uint32, BF16: np.uint16, F16: np.uint16}


@dataclass
class Epilogue:
    """`inputs` by name: an array of (L) or (L, N, K). `value` computes what `body` does, from f32."""
    inputs: dict
    body: str
    yields: str
    value: object


@dataclass
class Case:
    sizes: list
    lhs: object  # matrices.Operand, N wide
    rhs: object  # K wide
    outs: list  # element types
    aligned: int = 128
    accumulate: bool = False
    old: list = None  # with accumulate: (L, N, K) values for each output
    epilogue: Epilogue = None
    schedule: str = ""
    memrefs: bool = True
    static: bool = False  # no extent is dynamic
    pointers: bool = False
    bare: bool = False  # no region, although there are several outputs

    def __post_init__(self):
        self.shape = (len(self.sizes), self.lhs.width, self.rhs.width)

    def destinations(self):
        """Bytes of all ones, or old values; those of groups without rows are a NaN to be kept."""
        arrays = []
        for i, dtype in enumerate(self.outs):
            bits = np.full(self.shape, -1, np.int64).astype(BITS[dtype])
            if self.accumulate:
                bits = np.ascontiguousarray(self.old[i].astype(dtype)).view(BITS[dtype])
                bits[np.asarray(self.sizes) == 0] = KEPT[dtype]
            arrays.append(bits.view(dtype))
        return arrays

    def sums(self):
        """(L, N, K) in f64. Adding 0 leaves no -0, which no sum that starts at 0 gives."""
        with np.errstate(all="ignore"):
            return np.stack([self.lhs.values(self.sizes, g).T @ self.rhs.values(self.sizes, g) + 0.0
                             for g in range(len(self.sizes))])

    def expected(self):
        results, sums = self.destinations(), self.sums().astype(F32)
        for g, rows in enumerate(self.sizes):
            values = [sums[g]] * len(self.outs)
            if self.epilogue:
                values = self.epilogue.value(sums[g], *[x[g if len(x) > 1 else 0].astype(F32) for x in self.epilogue.inputs.values()])
            for result, value in zip(results, values):
                if rows == 0 and self.accumulate:
                    continue
                with np.errstate(over="ignore"):
                    value = np.add(result[g].astype(F32), value, dtype=F32) if self.accumulate else value
                    result[g] = value.astype(result.dtype)
        return results

    def arguments(self):
        """(name, array, type, dynamic extent)."""
        dynamic = lambda operand: 1 if operand.transposed else 0
        scales = lambda operand: operand.scales.view(E4M3) if operand.fine else operand.scales
        fixed = [("dy", self.lhs.stored(), dynamic(self.lhs)), ("sf_dy", scales(self.lhs), 0),
                 ("x", self.rhs.stored(), dynamic(self.rhs)), ("sf_x", scales(self.rhs), 0),
                 ("offsets", np.cumsum(self.sizes).astype(np.int32), None)]
        fixed += [(name, x, None) for name, x in (self.epilogue.inputs if self.epilogue else {}).items()]
        return fixed + [(f"d{i}", x, None) for i, x in enumerate(self.destinations())]

    def type_of(self, name, x, dynamic):
        shaped = "memref" if self.memrefs else "tensor"
        if self.pointers and name in ("d0", "d1"):
            return f"{shaped}<{len(self.sizes)}xi64>"
        extents = ["?" if i == dynamic and not self.static else str(extent) for i, extent in enumerate(x.shape)]
        return f"{shaped}<{'x'.join(extents + [NAMES[x.dtype.type]])}>"

    def layout(self):
        return LAYOUT.replace("32", str(self.lhs.block))

    def program(self):
        t = {name: self.type_of(name, x, dynamic) for name, x, dynamic in self.arguments()}
        destinations = [f"%d{i} : {t[f'd{i}']}" for i in range(len(self.outs))]
        types = ", ".join(t[f"d{i}"] for i in range(len(self.outs)))
        names = ", ".join(f"%r{i}" for i in range(len(self.outs)))
        # 256 is the default.
        attributes = [f"m_aligned = {self.aligned} : i64"] * (self.aligned != 256) + ["lhs_transposed"] * self.lhs.transposed
        attributes += ["rhs_transposed"] * self.rhs.transposed + ["accumulate"] * self.accumulate
        attributes += [f"pointee = {NAMES[self.outs[0]]}"] * self.pointers
        attributes += [f"schedule = {self.schedule}"] if self.schedule else []
        ins = region = ""
        if len(self.outs) > 1 and not self.epilogue and not self.bare:
            same = ", ".join(["%acc"] * len(self.outs)) + " : " + ", ".join(["f32"] * len(self.outs))
            region = f" epilogue {{\n  ^bb0(%acc: f32):\n    grouped_moe.yield {same}\n  }}"
        if self.epilogue:
            kinds = {1: "per_group", 3: "per_element"}
            ins = "ins(%s)" % ", ".join(f"%{n} : {t[n]} as {kinds[x.ndim]}" for n, x in self.epilogue.inputs.items())
            block = ", ".join(["%acc: f32"] + [f"%{n}_of: f32" for n in self.epilogue.inputs])
            yielded = f"{self.epilogue.yields} : {', '.join(['f32'] * len(self.outs))}"
            region = f" epilogue {{\n  ^bb0({block}):\n{self.epilogue.body}    grouped_moe.yield {yielded}\n  }}"
        result, arrow, returned = f"{names} = ", f" -> {types}", f"return {names} : {types}"
        if self.memrefs:
            result, arrow, returned = "", "", "return"
        return f"""func.func @entry({", ".join(f"%{name}: {what}" for name, what in t.items())}){f" -> ({types})" * (not self.memrefs)} {{
  {result}grouped_moe.wgrad
      lhs(%dy : {t["dy"]} scales %sf_dy : {t["sf_dy"]} {self.layout()})
      rhs(%x : {t["x"]} scales %sf_x : {t["sf_x"]} {self.layout()})
      offsets(%offsets : {t["offsets"]}) {ins}
      outs({", ".join(destinations)})
      attributes {{{", ".join(attributes)}}}{region}{arrow}
  {returned}
}}
"""

    def run(self, *options, device="emulator", report=None):
        """Returns the outputs, dense. `report` takes the JSON report."""
        with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
            source = f"{folder}/in.mlir"
            with open(source, "w") as file:
                file.write(self.program())
            command = ["gmoe-run", source, f"--device={device}", "--json", *options]
            for i, (name, x, _) in enumerate(self.arguments()):
                parts = x if self.pointers and name in ("d0", "d1") else [x]
                # Short names: a list of many is one word of the command.
                files = [f"a{i}.{part}.npy" for part in range(len(parts))]
                for file, part in zip(files, parts):
                    codes = part.view(STORED.get(x.dtype.type, x.dtype.type))
                    np.save(f"{folder}/{file}", codes[:, ::2] | codes[:, 1::2] << 4 if x.dtype == E2M1 else codes)
                command.append(f"--arg={i}=" + (files[0] if parts is not x else "pointers:" + ",".join(files)))
            command += [f"--result={i}={folder}/r{i}.npy" for i in range(len(self.outs))]
            done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
            if done.returncode != 0:
                sys.exit(f"{self.name()}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr}\n{self.program()}")
            if report is not None:
                report.update(json.loads(done.stdout))
            return [np.load(f"{folder}/r{i}.npy").view(dtype) for i, dtype in enumerate(self.outs)]

    def name(self):
        operand = lambda x: f"{NAMES[x.dtype]}{' transposed' * x.transposed}"
        return (f"wgrad {operand(self.lhs)} x {operand(self.rhs)} groups {self.sizes[:8]} R {len(self.lhs.data)} "
                f"N {self.shape[1]} K {self.shape[2]} {[NAMES[o] for o in self.outs]} {'accumulate ' * self.accumulate}{self.schedule}")

    def check(self, *options, devices=("emulator", "reference")):
        """Bit for bit the value in NumPy, on the emulator and on the reference executor. Returns the results."""
        want = self.expected()
        for device in devices:
            report = {}
            got = self.run(*options, device=device, report=report)
            for i, (x, y) in enumerate(zip(got, want)):
                assert_same(x, y, self.sizes, f"{device}: {self.name()}: output #{i}")
            if device == "emulator":
                # Groups that end within blocks have maps of their own.
                launches = 2 if self.aligned % self.lhs.block else 1
                assert report["launches"] == launches, f"{self.name()}: {report['launches']} launches"
        return got


def assert_same(got, want, sizes, what):
    """Bit for bit; of groups with rows any NaN is like any other."""
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    bits = BITS[got.dtype.type]
    same = np.ascontiguousarray(got).view(bits) == np.ascontiguousarray(want).view(bits)
    nan = np.isnan(got.astype(F32)) & np.isnan(want.astype(F32))
    same |= nan & (np.asarray(sizes) != 0)[:, None, None]
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~same)[0])
        sys.exit(f"{what}: {np.count_nonzero(~same)} of {same.size} differ, first at {list(at)}: {got[at]}, expected {want[at]}")
