"""quantize and dequantize along rows with scales that start a new atom with every group, against NumPy, byte for byte, on the
reference and the emulator."""
import unittest

import numpy as np
from fp4 import FILL, NAMES, execute, memref
from oracle import BF16, E4M3, E5M2, same, scale_values
from quantizer import E2M1, LARGEST, along_rows, group_scales, groups_of, pack, special_blocks

F32 = np.float32
ELEMENTS = {E4M3: "f8E4M3FN", E5M2: "f8E5M2", E2M1: "f4E2M1FN"}
# Data, type of scales, block, rounding.
FORMATS = [(E4M3, "f8E8M0FNU", 32, "rceil"), (E5M2, "f8E8M0FNU", 32, "floor"), (E2M1, "f8E8M0FNU", 32, "rceil"),
           (E2M1, "f8E4M3FN", 16, "nearest"), (E2M1, "f8E8M0FNU", 16, "floor")]
# Ends, rows that groups start at multiples of, rows behind the last group.
SPLITS = [([128, 128, 384], 128, 77), ([0, 256, 512, 512], 256, 0), ([32, 96, 96, 320, 480], 32, 45), ([160], 32, 31),
          ([0, 0, 0], 32, 130), ([64, 128, 256], 32, 0), ([200, 200, 256, 449], 1, 63), ([1, 3, 3, 4, 131], 1, 0), ([77], 1, 200)]


class Case:
    def __init__(self, split, form, columns):
        self.ends, self.aligned, extra = split
        self.dtype, self.scale, self.block, self.rounding = form
        self.rows, self.columns = self.ends[-1] + extra, columns
        across = -(-columns // (4 * self.block))
        down = self.rows // 128 + len(self.ends) if self.aligned % 128 else -(-self.rows // 128)
        self.atoms = down * across
        self.offsets = np.array(self.ends, np.int32)

    def clauses(self):
        t = f"memref<{len(self.ends)}xi32>"
        return t, f"offsets(%o : {t})", f"layout <row, per_group, block = {self.block}>", f"{{m_aligned = {self.aligned} : i64}}"

    def types(self):
        return memref((self.rows, self.columns), ELEMENTS[self.dtype]), f"memref<?x32x4x4x{self.scale}>"

    def quantize(self, device, x, options=()):
        to, clause, layout, attributes = self.clauses()
        tq, ts = self.types()
        tx = memref(x.shape, NAMES[x.dtype.type])
        program = f"""
func.func @entry(%x: {tx}, %o: {to}, %q: {tq}, %s: {ts}) {{
  grouped_moe.quantize ins(%x : {tx}) {clause} outs(%q, %s : {tq}, {ts}) {layout} rounding {self.rounding} {attributes}
  return
}}"""
        width = self.columns // 2 if self.dtype is E2M1 else self.columns
        data, scales = np.full((self.rows, width), FILL, np.uint8), np.full((self.atoms, 32, 4, 4), FILL, np.uint8)
        return execute(device, program, [x, self.offsets, data, scales], [2, 3], options)

    def dequantize(self, device, data, scales, target):
        to, clause, layout, attributes = self.clauses()
        tq, ts = self.types()
        ty = memref((self.rows, self.columns), NAMES[target])
        program = f"""
func.func @entry(%q: {tq}, %s: {ts}, %o: {to}, %y: {ty}) {{
  grouped_moe.dequantize ins(%q : {tq} scales %s : {ts}) {clause} outs(%y : {ty}) {layout} {attributes}
  return
}}"""
        y = np.full(self.rows * self.columns * np.dtype(target).itemsize, FILL, np.uint8).view(target)
        return execute(device, program, [data, scales, self.offsets, y.reshape(self.rows, self.columns)], [3])[0]

    def expected(self, x):
        """Packed data, blocked scales, and the codes and logical scales of each group."""
        parts = [along_rows(x[b:e], self.dtype, self.rounding, block=self.block) for b, e in groups_of(self.ends)]
        codes = np.concatenate([codes for codes, _ in parts])
        packed = pack(codes) if self.dtype is E2M1 else codes
        data = np.full((self.rows, packed.shape[1]), FILL, np.uint8)
        data[:self.ends[-1]] = packed
        logicals = [scales for _, scales in parts]
        return data, group_scales(logicals, np.full((self.atoms, 32, 4, 4), FILL, np.uint8)), codes, np.concatenate(logicals)


class RowGroups(unittest.TestCase):
    def test_groups(self):
        for split in SPLITS:
            for form in FORMATS:
                for columns in (64, 320):
                    case = Case(split, form, columns)
                    blocks = special_blocks(LARGEST[case.dtype], case.rows * columns // case.block, case.block)
                    x = blocks.reshape(case.rows, columns)
                    x[case.ends[-1]:] = np.nan
                    data, scales, codes, logical = case.expected(x)
                    for device, options in (("reference", []), ("emulator", ["--check-inputs", "--hazards=full"])):
                        with self.subTest(device=device, split=split, form=form, columns=columns):
                            have = case.quantize(device, x, options)
                            for name, got, want in zip(("data", "scales"), have, (data, scales)):
                                self.assertTrue(np.array_equal(got, want), f"{name}: {np.argwhere(got != want)[:4].tolist()}")
                            self.check_inverse(case, device, data, scales, codes, logical)

    def check_inverse(self, case, device, data, scales, codes, logical):
        for target in (F32, BF16):
            values = scale_values(logical) if case.scale == "f8E8M0FNU" else logical.view(E4M3).astype(np.float64)
            with np.errstate(all="ignore"):
                exact = codes.view(case.dtype).astype(np.float64) * np.repeat(values, case.block, axis=1)
                inside = exact.astype(F32).astype(target)
            have = case.dequantize(device, data, scales, target)
            self.assertTrue(same(have[:case.ends[-1]], inside))
            rest = np.ascontiguousarray(have[case.ends[-1]:]).view(np.uint8)
            self.assertTrue((rest == FILL).all(), "rows past the last offset")

    def test_halves(self):
        rng = np.random.default_rng(0)
        for dtype in (np.float16, BF16):
            for form in FORMATS:
                case = Case(SPLITS[2], form, 192)
                x = (rng.standard_normal((case.rows, 192)) * 9).astype(dtype)
                data, scales = case.expected(x.astype(F32))[:2]
                have = case.quantize("emulator", x, ["--check"])
                self.assertTrue(np.array_equal(have[0], data) and np.array_equal(have[1], scales), f"{dtype} {form}")


if __name__ == "__main__":
    unittest.main()
