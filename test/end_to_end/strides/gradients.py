"""Weight gradients of padded matrices: factors, old values and results."""
import re
from dataclasses import dataclass, fields

from matrices import exact
from splits import schedule
from torchao import FORMATS, MAJORS, OUTS
from wgrad import Case

BITS = {"f8E4M3FN": 8, "f8E5M2": 8, "f32": 32, "f16": 16, "bf16": 16}


@dataclass
class Padded(Case):
    def type_of(self, name, x, dynamic):
        text = super().type_of(name, x, dynamic)
        if name not in ("dy", "x", "d0", "d1"):
            return text
        inner, element = re.match(r"memref<.*?x?(\d+|\?)x([a-z]\w+)>", text).groups()
        unit = 128 // BITS[element]
        row = (4096 if inner == "?" else -(-int(inner) // unit) * unit) + 2 * unit
        strides = [row, 1] if x.ndim == 2 else [row * (x.shape[1] + 1), row, 1]
        return f"{text[:-1]}, strided<{strides}>>"


def check(case):
    Padded(**{field.name: getattr(case, field.name) for field in fields(Case)}).check("--hazards=full")


SIZES = [128, 0, 256, 64]
for i, out in enumerate(OUTS):
    for majors in MAJORS:
        rows = 0 if i else 64
        check(exact(SIZES, 256, 160, (out,), FORMATS[i], majors, aligned=32, extra_rows=rows))
    check(exact(SIZES, 160, 272, (out,), aligned=32, accumulate=True))
check(exact([1024, 0, 128], 160, 256, (OUTS[0],), schedule=schedule()))
