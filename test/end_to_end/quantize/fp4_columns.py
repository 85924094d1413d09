"""quantize and dequantize of FP4 data down columns, stored columns first, against NumPy, byte for byte, on the reference and the
emulator: of groups, and of a whole matrix."""
import unittest

import numpy as np
from fp4 import FILL, FORMATS, NAMES, execute
from oracle import BF16, E4M3, block_scales, same, scale_values
from quantizer import E2M1, group_scales, groups_of, pack, quantize_blocks, special_blocks

F32 = np.float32
# Ends (none: the whole matrix), rows that groups start at multiples of, rows of the matrix.
SPLITS = [(None, 1, 32), (None, 1, 352), ([128, 128, 384], 128, 480), ([0, 256, 512, 512], 256, 512), ([32, 96, 96, 320, 480], 32, 576),
          ([160], 32, 192), ([0, 0, 0], 32, 160), ([64, 128, 256], 32, 256)]
WIDTHS = (32, 64, 160, 288)


class Case:
    def __init__(self, split, form, columns, static=False):
        self.ends, self.aligned, self.rows = split
        self.scale, self.block, self.rounding = form
        self.columns, self.static, span = columns, static, 4 * self.block
        self.across = -(-columns // 128)
        down = -(-self.rows // span)
        if self.ends and self.aligned % span:
            down = self.rows // span + len(self.ends)
        self.shape = (self.across * down, 32, 4, 4) if self.ends else (self.across, down, 32, 4, 4)
        self.groups = groups_of(self.ends) if self.ends else [(0, self.rows)]
        self.last = self.groups[-1][1]

    def memref(self, shape, element, dynamic):
        extents = ["?" if i == dynamic and not self.static else str(n) for i, n in enumerate(shape)]
        return "memref<%s>" % "x".join([*extents, element])

    def program(self, target, body):
        tx = self.memref((self.rows, self.columns), NAMES[target], 0)
        tq = self.memref((self.columns, self.rows), "f4E2M1FN", 1)
        ts = self.memref(self.shape, self.scale, 0 if self.ends else 1)
        to = f"memref<{len(self.ends or [0])}xi32>"
        clause = f"offsets(%o : {to})" if self.ends else ""
        layout = f"layout <column, {'per_group' if self.ends else 'whole'}, block = {self.block}>"
        attributes = f"{{m_aligned = {self.aligned} : i64}}" if self.ends else ""
        text = body.format(tx=tx, tq=tq, ts=ts, clause=clause, layout=layout)
        return f"func.func @entry(%x: {tx}, %o: {to}, %q: {tq}, %s: {ts}) {{\n  {text} {attributes}\n  return\n}}\n"

    def quantize(self, device, x, options=()):
        text = "grouped_moe.quantize ins(%x : {tx}) {clause} outs(%q, %s : {tq}, {ts}) {layout} rounding " + self.rounding
        held = np.full((self.columns, self.rows // 2), FILL, np.uint8), np.full(self.shape, FILL, np.uint8)
        return execute(device, self.program(x.dtype.type, text), [x, self.offsets(), *held], [2, 3], options)

    def dequantize(self, device, data, scales, target, options=()):
        text = "grouped_moe.dequantize ins(%q : {tq} scales %s : {ts}) {clause} outs(%x : {tx}) {layout}"
        y = np.full(self.rows * self.columns * np.dtype(target).itemsize, FILL, np.uint8).view(target)
        arguments = [y.reshape(self.rows, self.columns), self.offsets(), data, scales]
        return execute(device, self.program(target, text), arguments, [0], options)[0]

    def offsets(self):
        return np.array(self.ends or [0], np.int32)

    def expected(self, x):
        """Packed data, blocked scales; the values that come back."""
        data, logicals, values = np.full((self.columns, self.rows // 2), FILL, np.uint8), [], []
        for begin, end in self.groups:
            blocks = x[begin:end].T.reshape(self.columns, (end - begin) // self.block, self.block)
            codes, scales = quantize_blocks(np.ascontiguousarray(blocks), E2M1, self.rounding)
            data[:, begin // 2 : end // 2] = pack(codes.reshape(self.columns, end - begin))
            logicals.append(scales)
            factors = scale_values(scales) if self.scale == "f8E8M0FNU" else scales.view(E4M3).astype(np.float64)
            with np.errstate(all="ignore"):
                exact = codes.view(E2M1).astype(np.float64) * factors[..., None]
            values.append(exact.reshape(self.columns, end - begin).T)
        if self.ends:
            return data, group_scales(logicals, np.full(self.shape, FILL, np.uint8)), np.concatenate(values)
        return data, block_scales(logicals[0]), values[0]


class Fp4Columns(unittest.TestCase):
    def check(self, case, x, seed):
        data, scales, values = case.expected(x.astype(F32))
        for device, options in (("reference", []), ("emulator", ["--check-inputs", "--hazards=full", f"--schedule-seed={seed}"])):
            for name, got, want in zip(("data", "scales"), case.quantize(device, x, options), (data, scales)):
                self.assertEqual(got.shape, want.shape)
                differ = np.argwhere(got != want)
                self.assertEqual(len(differ), 0, f"{name}, {device}, {vars(case)}: {differ[:4].tolist()}")
            for target in (F32, BF16):
                back = case.dequantize(device, data, scales, target, options)
                with np.errstate(all="ignore"):
                    self.assertTrue(same(back[: case.last], values.astype(F32).astype(target)), f"{device}, {vars(case)}")
                rest = np.ascontiguousarray(back[case.last :]).view(np.uint8)
                self.assertTrue((rest == FILL).all(), f"{device}, {vars(case)}: rows past the last offset")

    def test_groups(self):
        for i, split in enumerate(SPLITS):
            for j, form in enumerate(FORMATS):
                case = Case(split, form, WIDTHS[(i + j) % 4], static=(i + j) % 3 == 0)
                count = case.rows * case.columns // case.block
                x = special_blocks(6.0, count, case.block).reshape(case.columns, case.rows).T.copy()
                x[case.last :] = np.nan
                self.check(case, x, i)

    def test_halves(self):
        rng = np.random.default_rng(0)
        for dtype in (np.float16, BF16):
            for form in FORMATS:
                case = Case(SPLITS[4], form, 160)
                self.check(case, (rng.standard_normal((case.rows, 160)) * 9).astype(dtype), 1)

    def test_rows_that_share_a_piece(self):
        """R is known when the program is launched."""
        case = Case((None, 1, 80), FORMATS[0], 64)
        x = np.ones((80, 64), F32)
        for device in ("reference", "emulator"):
            for run in (lambda: case.quantize(device, x),
                        lambda: case.dequantize(device, np.zeros((64, 40), np.uint8), np.zeros(case.shape, np.uint8), F32)):
                with self.assertRaises(AssertionError) as failed:
                    run()
                self.assertIn("multiple of 32", str(failed.exception))


if __name__ == "__main__":
    unittest.main()
