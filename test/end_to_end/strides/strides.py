"""Matrices with padding behind their rows: the same values as dense ones, and padding that nobody touches. Files hold the rows
alone; gmoe-run puts NaN between them and looks at it afterwards."""
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, fields

import numpy as np
from equations import BF16
from named import AMAX, ROW_SUM, column_sum, plain, quantized
from oracle import ALL, E2M1, E4M3, E5M2, E8M0, FP4, Format
from products import SIZES, Product, exact, random_product, schedule

FP8 = Format("e4m3", E4M3, E4M3, E8M0, 32)
BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f4E2M1FN": 4, "f32": 32, "f16": 16, "bf16": 16}


def stride(extent, element, more):
    """Elements of whole 16 bytes, and `more` times 16 bytes of padding."""
    unit = 128 // BITS[element]
    return (-(-extent // unit) + more) * unit


@dataclass
class Padded(Product):
    more: int = 1

    def program(self):
        def padded(match):
            name, space, extent, element = match.groups()
            rows = stride(int(extent), element, self.more + ord(name[-1]) % 3)
            return f"%{name}{space}: memref<?x{extent}x{element}, strided<[{rows}, 1]>>"
        return re.sub(r"%(a|c|d\d+)( ?): memref<\?x(\d+)x([a-z]\w+)>", padded, super().program())

    def name(self):
        return "padded " + super().name()


def padded(case, more=1):
    return Padded(**{field.name: getattr(case, field.name) for field in fields(Product)} | {
        "op": "gemm" if case.generic else case.op, "memrefs": True}, more=more)


def formats():
    """Every format of operands and results, exact."""
    for seed, form in enumerate((FP8,) + ALL):
        for i, (n, k) in enumerate(((16, 64), (272, 832), (256, 320))):
            outs = ([plain(), plain(BF16)], [plain(np.float16)], [plain(E4M3), plain(E5M2)])[(seed + i) % 3]
            padded(exact(form, n, k, outs, seed=seed + i, extra_rows=57 * i,
                         schedule=schedule(form, (128, 256)[i % 2], 2, 1)), more=i).check()


def epilogues():
    """Byte for byte the dense program: quantized results, pairs, saved tensors, sums."""
    rows, columns = quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil")
    cases = (("gemm_quant", FP8, ("alpha", "bias", "prob"), [rows, columns, AMAX], {}),
             ("gemm_quant", ALL[1], (), [quantized(E2M1, "row_scales_nearest"), plain()], {}),
             ("gemm_swiglu", FP8, ("prob",), [rows, plain(BF16, "preactivation")], {}),
             ("gemm_swiglu", FP8, (), [columns, plain(BF16, "preactivation")], {"concatenated": True}),
             ("gemm_dswiglu", FP8, ("prob", "c"), [rows, columns, ROW_SUM, column_sum()], {}),
             ("gemm_dswiglu", FP8, ("c",), [plain(BF16)], {"concatenated": True}),
             ("gemm_dgeglu", ALL[0], ("prob", "c"), [plain()], {}))
    for i, (op, form, inputs, outs, attributes) in enumerate(cases):
        dense = random_product(form, 512 if attributes else 320, 320, outs, op, inputs=inputs, attributes=attributes, seed=i,
                               c_type=(np.float32, BF16)[i % 2])
        for x, y, what in zip(dense.run(), padded(dense, i % 3).run("--check", "--hazards=full"), dense.destinations()):
            assert x.tobytes() == y.tobytes(), f"{dense.name()}: {what[3]} differs"


def ragged():
    """Groups that start at any row: rows are stored one by one at their borders."""
    for i, form in enumerate((FP8, ALL[1], ALL[3])):
        how = dict(sizes=[100, 0, 7, 0, 261], aligned=1, per_group=True, extra_rows=57 * i, seed=i)
        padded(exact(form, 160, 320, [plain(), plain(BF16)], **how)).check("--hazards=full")


def bundle():
    """The strides are in the bundle, and it runs without its source."""
    case = padded(exact(FP8, 128, 128, [plain()]))
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/in.mlir", "w") as file:
            file.write(case.program())
        subprocess.run(["gmoe-compile", f"{folder}/in.mlir", "-o", f"{folder}/in.gmoe", "--no-cubin"], check=True)
        text = subprocess.run(["gmoe-bundle", f"{folder}/in.gmoe"], capture_output=True, text=True, check=True).stdout
        assert re.search(r'argument 0 \S+: input e4m3 \[R, 128\] strides \[\d+\] elements', text), text
        subprocess.run(["gmoe-bundle", f"{folder}/in.gmoe", "--strip-source", "-o", f"{folder}/out.gmoe"], check=True)
        subprocess.run(["gmoe-run", f"{folder}/out.gmoe", "--device=emulator"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
