"""Random operands of a grouped product, its program, and its value in NumPy."""
import numpy as np
from oracle import E4M3, E5M2, LAYOUT, block_scales, dequantize64, run, type_of


class Product:
    """Random operands of one product, and its program."""

    def __init__(self, ends, n, k, rows=None, dtype=E4M3, aligned=128, seed=0, finite=True):
        rng = np.random.default_rng(seed)
        self.ends, self.n, self.k, self.dtype, self.aligned = ends, n, k, dtype, aligned
        self.rows = ends[-1] if rows is None else rows
        groups = len(ends)
        draw = lambda *shape: self.finite_bytes(rng.integers(0, 256, shape, np.uint8)).view(dtype)
        self.a, self.b = draw(self.rows, k), draw(groups, n, k)
        # A narrow range of scales: sums of products are exact in f64 in any order.
        scales = lambda *shape: rng.integers(126, 129, shape, np.uint8)
        self.sa, self.sb = scales(self.rows, k // 32), scales(groups, n, k // 32)
        self.rng = rng

    def finite_bytes(self, data):
        if self.dtype == E5M2:  # 22 bits of exponent range would not be exact
            data = (data & 0x83) | (((data >> 2) & 7) + 12 << 2).astype(np.uint8)
        bad = (data & 0x7F) == 0x7F if self.dtype == E4M3 else (data & 0x7C) == 0x7C
        return np.where(bad, 0, data).astype(np.uint8)

    def accumulate(self):
        acc = np.zeros((self.rows, self.n), np.float32)
        begin = 0
        for g, end in enumerate(self.ends):
            a = dequantize64(self.a[begin:end], self.sa[begin:end])
            acc[begin:end] = (a @ dequantize64(self.b[g], self.sb[g]).T).astype(np.float32)
            begin = end
        return acc

    def group_of_rows(self):
        return np.searchsorted(self.ends, np.arange(self.ends[-1]), side="right")

    def run(self, body, out, inputs=(), yielded="%r", poison=0xFF, expect=0, destination=None):
        """inputs: (array, kind); the region sees them as %i0, %i1, ..."""
        blocked = [block_scales(self.sa, poison), block_scales(self.sb, poison)]
        offsets = np.array(self.ends, np.int32)
        fixed = [(self.a, "a", self.dtype), (blocked[0], "sa", "e8m0"), (self.b, "b", self.dtype),
                 (blocked[1], "sb", "e8m0"), (offsets, "offsets", np.int32)]
        types = {name: type_of(d, x.shape, name in ("a", "sa")) for x, name, d in fixed}
        extra = [("x%d" % i, type_of(x.dtype.type, x.shape, kind in ("per_element", "per_row")), kind)
                 for i, (x, kind) in enumerate(inputs)]
        d = type_of(out, (self.rows, self.n), True)
        signature = ", ".join([f"%{n}: {t}" for n, t in types.items()] + [f"%{n}: {t}" for n, t, _ in extra] +
                              [f"%d0: {d}"])
        ins = "ins(%s)" % ", ".join(f"%{n} : {t} as {k}" for n, t, k in extra) if extra else ""
        block = ", ".join(["%acc: f32"] + [f"%i{i}: f32" for i in range(len(extra))])
        program = f"""
func.func @product({signature}) -> {d} {{
  %d = grouped_moe.gemm lhs(%a : {types["a"]} scales %sa : {types["sa"]} {LAYOUT})
      rhs(%b : {types["b"]} scales %sb : {types["sb"]} {LAYOUT}) offsets(%offsets : {types["offsets"]}) {ins}
      outs(%d0 : {d}) attributes {{m_aligned = {self.aligned} : i64}} epilogue {{
  ^bb0({block}):
{body}
    grouped_moe.yield {yielded} : f32
  }} -> {d}
  return %d : {d}
}}"""
        if destination is None:
            destination = np.full((self.rows, self.n), 7, np.float32).astype(out)
        arguments = [x for x, _, _ in fixed] + [x for x, _ in inputs] + [destination]
        result = run(program, arguments, [out], expect)
        return result if expect else result[0]
