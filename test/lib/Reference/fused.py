"""A grouped product with outputs of every kind, run on the reference."""
import ml_dtypes
import numpy as np
from oracle import BF16, E4M3, E5M2, LAYOUT, NAMES, block_scales, run
from product import Product
from quantizer import E2M1, along_rows, down_columns, group_scales, groups_of, pack, whole_scales

ELEMENT = {**NAMES, E2M1: "f4E2M1FN"}
FILL = 0xA5  # of destinations: what nothing writes must stay


class Output:
    """`shape` counts elements; `axis` is the one that follows the rows, None for none."""

    def __init__(self, kind, dtype, shape, axis=0):
        self.kind, self.dtype, self.shape, self.axis = kind, dtype, shape, axis
        stored = list(shape)
        if dtype is E2M1:
            stored[-1] //= 2
        numpy = np.uint8 if dtype in (E4M3, E5M2, E2M1, "e8m0") else np.uint16 if dtype is BF16 else dtype
        bytes_ = np.full(int(np.prod(stored)) * np.dtype(numpy).itemsize, FILL, np.uint8)
        self.destination = bytes_.view(numpy).reshape(stored)

    @property
    def type(self):
        return "tensor<%sx%s>" % ("x".join("?" if i == self.axis else str(n) for i, n in enumerate(self.shape)),
                                  ELEMENT[self.dtype])


def quantized(rows, columns, dtype, kind, groups=1):
    """The data and its scales, whose kind is `kind`."""
    block = 16 if kind.endswith("nearest") else 32
    along, down = (128, 32 * 4) if kind.startswith("column") else (block * 4, 128)
    columns_of_atoms, rows_of_atoms = -(-columns // along), -(-rows // down)
    scale = E4M3 if kind.endswith("nearest") else "e8m0"
    if "group" in kind:
        shape, axis = (columns_of_atoms * rows_of_atoms, 32, 4, 4), 0
    elif kind.startswith("column"):
        shape, axis = (columns_of_atoms, rows_of_atoms, 32, 4, 4), 1
    else:
        shape, axis = (rows_of_atoms, columns_of_atoms, 32, 4, 4), 0
    return [Output("quantized", dtype, (rows, columns)), Output(kind, scale, shape, axis)]


def expect_quantized(x, ends, outputs, c=1.0):
    """The bytes of both outputs for f32 values x (R, N); c is one, or one for each group."""
    data, scales = outputs
    kind = scales.kind
    last = ends[-1]
    block = 16 if kind.endswith("nearest") else 32
    rounding = kind.split("_")[-1]
    constants = np.repeat(np.broadcast_to(np.asarray(c, np.float32), len(ends)), [e - b for b, e in groups_of(ends)])
    down = kind.startswith("column")
    codes, logical = np.zeros((0, x.shape[1]), np.uint8), []
    for begin, end in groups_of(ends):
        part = (down_columns(x[begin:end], data.dtype, rounding, constants[begin:end]) if down else
                along_rows(x[begin:end], data.dtype, rounding, constants[begin:end], block))
        codes = np.concatenate([codes, part[0]])
        logical.append(part[1])
    expected = data.destination.copy()
    expected[:last] = pack(codes) if data.dtype is E2M1 else codes
    if "group" in kind:
        return expected, group_scales(logical, scales.destination)
    rows, n = x.shape
    together = np.concatenate(logical, axis=1 if down else 0)
    lines, blocks = (n, -(-rows // 32)) if down else (rows, n // block)
    return expected, whole_scales(together, lines, blocks, scales.destination)


def region(names, yields, body):
    arguments = ", ".join("%%%s: f32" % n for n in names)
    return f"""epilogue {{
  ^bb0({arguments}):
{body}
    grouped_moe.yield {", ".join(yields)} : {", ".join(["f32"] * len(yields))}
  }}"""


class Fused(Product):
    def fuse(self, outputs, yields, inputs=(), body="", paired=False, concatenated=False, norm=None, columns=None):
        """inputs: (array, kind), %i0 in the region or %i0 and %i1 for a pair. Returns the outputs' stored arrays."""
        columns = columns or (self.n // 2 if paired else self.n)
        arguments = [("a", self.type_of(self.a, self.dtype, True), self.a),
                     ("sa", self.type_of(s := block_scales(self.sa, 0xFF), "e8m0", True), s),
                     ("b", self.type_of(self.b, self.dtype), self.b),
                     ("sb", self.type_of(s := block_scales(self.sb, 0xFF), "e8m0"), s),
                     ("offsets", f"tensor<{len(self.ends)}xi32>", np.array(self.ends, np.int32))]
        names, ins = ["gate", "up"] if paired else ["acc"], []
        for i, (array, kind) in enumerate(inputs):
            name = "x%d" % i
            arguments.append((name, self.type_of(array, array.dtype.type, kind in ("per_element", "per_row")), array))
            ins.append(f"%{name} : {arguments[-1][1]} as {kind}")
            pair = array.ndim == 2 and array.shape[1] == 2 * columns
            names += ["i%d" % (len(names) - 1 - paired + k) for k in range(2 if pair else 1)]
        clause = ""
        if norm is not None:
            norm = np.asarray(norm, np.float32)
            arguments.append(("norm", f"tensor<{len(norm)}xf32>", norm))
            clause = f"norm_const(%norm : {arguments[-1][1]})"
        outs = []
        for i, out in enumerate(outputs):
            arguments.append(("d%d" % i, out.type, out.destination))
            outs.append(f"%d{i} : {out.type}" + (f" as {out.kind}" if out.kind != "plain" else ""))
        types = ", ".join(out.type for out in outputs)
        flags = ", ".join([f"m_aligned = {self.aligned} : i64"] + ["paired"] * paired + ["concatenated"] * concatenated)
        t = {name: type_ for name, type_, _ in arguments}
        program = f"""
func.func @product({", ".join(f"%{n}: {type_}" for n, type_, _ in arguments)}) -> ({types}) {{
  %r:{len(outputs)} = grouped_moe.gemm lhs(%a : {t["a"]} scales %sa : {t["sa"]} {LAYOUT})
      rhs(%b : {t["b"]} scales %sb : {t["sb"]} {LAYOUT}) offsets(%offsets : {t["offsets"]}) {clause}
      {"ins(%s)" % ", ".join(ins) if ins else ""} outs({", ".join(outs)}) attributes {{{flags}}}
      {region(names, yields, body)} -> {types}
  return {", ".join("%%r#%d" % i for i in range(len(outputs)))} : {types}
}}"""
        return run(program, [x for _, _, x in arguments], [out.destination.dtype for out in outputs])

    @staticmethod
    def type_of(array, dtype, dynamic=False):
        extents = ["?" if dynamic and i == 0 else str(n) for i, n in enumerate(array.shape)]
        return "tensor<%s>" % "x".join(extents + [ELEMENT[dtype]])
