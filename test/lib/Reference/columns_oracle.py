"""quantize and dequantize in column layouts against NumPy, byte for byte."""
import unittest

import numpy as np
from fused import Output
from oracle import BF16, E4M3, E5M2, block_scales, run, same, scale_values, type_of
from outputs_oracle import GROUPS, values_of
from quantizer import LARGEST, down_columns, group_scales, groups_of


def layout_of(ends):
    return "layout <column, %s, block = 32>" % ("whole" if ends is None else "per_group")


def offsets_of(ends):
    if ends is None:
        return "", "", []
    t = f"tensor<{len(ends)}xi32>"
    return f", %o: {t}", f"offsets(%o : {t})", [np.array(ends, np.int32)]


def scale_output(shape, grouped):
    *lead, rows, columns = shape
    atoms = [-(-columns // 128), -(-rows // 128)]
    return Output("scales", "e8m0", (*([np.prod(atoms)] if grouped else [*lead, *atoms]), 32, 4, 4),
                  0 if grouped else None if lead else 1)


def quantize(x, dtype, rounding, ends=None):
    data = Output("data", dtype, x.shape, None if x.ndim == 3 else 0)
    scales = scale_output(x.shape, ends is not None)
    argument, clause, extra = offsets_of(ends)
    t = type_of(x.dtype.type, x.shape, x.ndim == 2)
    results = f"{data.type}, {scales.type}"
    attributes = "" if ends is None else "{m_aligned = 128 : i64}"
    program = f"""
func.func @quantize(%x: {t}, %q0: {data.type}, %s0: {scales.type}{argument}) -> ({results}) {{
  %q, %s = grouped_moe.quantize ins(%x : {t}) {clause} outs(%q0, %s0 : {results}) {layout_of(ends)}
      rounding {rounding} {attributes} -> {results}
  return %q, %s : {results}
}}"""
    actual = run(program, [x, data.destination, scales.destination, *extra], [np.uint8, np.uint8])
    return actual, data.destination, scales.destination


def dequantize(data, scales, dtype, ends=None):
    """`scales` as quantize wrote them."""
    out = Output("plain", dtype, data.shape, None if data.ndim == 3 else 0)
    held = scale_output(data.shape, ends is not None)
    argument, clause, extra = offsets_of(ends)
    t = type_of(data.dtype.type, data.shape, data.ndim == 2)
    attributes = "" if ends is None else "{m_aligned = 128 : i64}"
    program = f"""
func.func @dequantize(%q: {t}, %s: {held.type}, %y0: {out.type}{argument}) -> {out.type} {{
  %y = grouped_moe.dequantize ins(%q : {t} scales %s : {held.type}) {clause} outs(%y0 : {out.type}) {layout_of(ends)}
      {attributes} -> {out.type}
  return %y : {out.type}
}}"""
    return run(program, [data, scales, out.destination, *extra], [out.destination.dtype])[0], out.destination


class ColumnsTest(unittest.TestCase):
    def equal(self, have, want, name):
        self.assertTrue(np.array_equal(have, want), f"{name}: {np.argwhere(have != want)[:4].tolist()}")

    def test_groups(self):
        for n in (96, 128, 256):
            for ends in GROUPS:
                for dtype, rounding in ((E4M3, "rceil"), (E5M2, "floor")):
                    with self.subTest(n=n, ends=ends, dtype=dtype):
                        x = values_of(ends, n, LARGEST[dtype], True)
                        (data, scales), data0, scales0 = quantize(x, dtype, rounding, ends)
                        parts = [down_columns(x[b:e], dtype, rounding) for b, e in groups_of(ends)]
                        expected = np.concatenate([codes for codes, _ in parts] + [data0[ends[-1]:]])
                        self.equal(data, expected, "data")
                        self.equal(scales, group_scales([s for _, s in parts], scales0), "scales")
                        self.check_inverse(data.view(dtype), scales, parts, ends)

    def check_inverse(self, data, scales, parts, ends):
        for target in (np.float32, BF16, np.float16):
            actual, expected = dequantize(data, scales, target, ends)
            factors = np.concatenate([np.repeat(scale_values(s).T, 32, axis=0) for _, s in parts])
            with np.errstate(all="ignore"):
                values = (data[:ends[-1]].astype(np.float64) * factors).astype(np.float32).astype(target)
            expected = expected.view(target).copy()
            expected[:ends[-1]] = values
            self.assertTrue(same(actual.view(target), expected), f"{target}")

    def test_whole(self):
        """Any number of rows: a last block that is cut short, atoms that are not full."""
        for rows in (1, 31, 130, 300):
            for dtype, rounding in ((E4M3, "floor"), (E5M2, "rceil")):
                rng = np.random.default_rng(rows)
                x = (rng.standard_normal((rows, 160)) * 2.0 ** rng.integers(-30, 30, (rows, 160))).astype(np.float32)
                (data, scales), _, scales0 = quantize(x, dtype, rounding)
                codes, logical = down_columns(x, dtype, rounding)
                self.equal(data, codes, "data")
                self.equal(scales, block_scales(logical), "scales")
                actual, _ = dequantize(data.view(dtype), scales, np.float32)
                with np.errstate(all="ignore"):
                    factors = np.repeat(scale_values(logical).T, 32, axis=0)[:rows]
                    expected = (data.view(dtype).astype(np.float64) * factors).astype(np.float32)
                self.assertTrue(same(actual, expected))

    def test_rank_3_and_half_inputs(self):
        for source in (np.float16, BF16):
            x = (np.random.default_rng(3).standard_normal((3, 150, 96)) * 5).astype(source)
            (data, scales), _, _ = quantize(x, E4M3, "rceil")
            for matrix, codes, have in zip(x.astype(np.float32), data, scales):
                want, logical = down_columns(matrix, E4M3, "rceil")
                self.equal(codes, want, "data")
                self.equal(have, block_scales(logical), "scales")

    def test_layouts_differ(self):
        """Whole and per group: the same bytes at other places."""
        ends = [128, 512]
        x = values_of(ends, 256, 448, True)[:512]
        grouped, whole = quantize(x, E4M3, "rceil", ends)[0], quantize(x, E4M3, "rceil")[0]
        self.equal(grouped[0], whole[0], "data")
        self.assertEqual(sorted(grouped[1].flat), sorted(whole[1].flat))
        self.assertFalse(np.array_equal(grouped[1].reshape(-1), whole[1].reshape(-1)))
        right, _ = dequantize(grouped[0].view(E4M3), grouped[1], np.float32, ends)
        wrong, _ = dequantize(grouped[0].view(E4M3), grouped[1].reshape(whole[1].shape), np.float32)
        self.assertFalse(same(right, wrong))


if __name__ == "__main__":
    unittest.main()
