"""quantize and dequantize against NumPy and ml_dtypes, bit for bit."""
import unittest

import numpy as np
from oracle import BF16, E4M3, E5M2, LAYOUT, block_scales, dequantize64, quantize, run, same, type_of, unblock_scales


def quantize_program(shape, scale_shape, source, target, rounding):
    x, q, s = type_of(source, shape), type_of(target, shape), type_of("e8m0", scale_shape)
    return f"""
func.func @quantize(%x: {x}) -> ({q}, {s}) {{
  %q0 = tensor.empty() : {q}
  %s0 = tensor.empty() : {s}
  %q, %s = grouped_moe.quantize ins(%x : {x}) outs(%q0, %s0 : {q}, {s}) {LAYOUT} rounding {rounding} -> {q}, {s}
  return %q, %s : {q}, {s}
}}"""


def special_blocks():
    """f32 blocks of 32 whose maximum is each special value, and mixtures."""
    f = np.float32
    peaks = [0.0, 448.0, 480.0, 957.0, 57344.0, 6e-38, 1.3e-36, 1e-30, 1.0, np.finfo(f).max, np.finfo(f).tiny]
    peaks += [2.0**e for e in range(-149, -99)]
    peaks += [float(np.nextafter(f(2.0**e), f(0))) for e in range(-148, 128)]
    peaks += [float(np.nextafter(f(448 * 2.0**e), f(s))) for e in range(-130, 119) for s in (0, np.inf)]
    peaks += [448 * 2.0**e for e in range(-130, 119)]
    peaks += [np.inf, -np.inf, np.nan]
    rng = np.random.default_rng(1)
    blocks = []
    for peak in peaks:
        block = (rng.uniform(-1, 1, 32) * (peak if np.isfinite(peak) else 1)).astype(f)
        block[rng.integers(32)] = peak
        block[rng.integers(32)] *= f(-1)
        blocks.append(block)
    mixed = rng.standard_normal((40, 32)).astype(f) * np.exp2(rng.integers(-149, 120, (40, 32))).astype(f)
    mixed[0, 3], mixed[0, 9] = np.inf, np.nan
    mixed[1, :] = -0.0
    return np.concatenate([np.array(blocks, f), mixed])


class Quantize(unittest.TestCase):
    def check(self, x, target, rounding):
        expected, scales = quantize(x.astype(np.float32), target, rounding)
        blocked = block_scales(scales)
        program = quantize_program(x.shape, blocked.shape, x.dtype.type, target, rounding)
        data, actual = run(program, [x], [target, np.uint8])
        self.assertTrue(np.array_equal(actual, blocked), "scales: %s" % np.argwhere(actual != blocked)[:4])
        differ = data.view(np.uint8) != expected.view(np.uint8)
        self.assertFalse(differ.any(), "data: %s" % np.argwhere(differ)[:4])

    def test_special_values(self):
        blocks = special_blocks()
        x = blocks[: len(blocks) // 5 * 5].reshape(-1, 160)  # 5 blocks a row: padding blocks and rows
        for target in (E4M3, E5M2):
            for rounding in ("rceil", "floor"):
                with self.subTest(target=target, rounding=rounding):
                    self.check(x, target, rounding)

    def test_half_inputs_and_rank_3(self):
        rng = np.random.default_rng(2)
        for source in (np.float16, BF16, np.float32):
            self.check((rng.standard_normal((3, 130, 96)) * 7).astype(source), E4M3, "rceil")

    def test_golden(self):
        for peak, rounding, scale, byte in ((480, "rceil", 128, 0x77), (480, "floor", 127, 0x7E)):
            x = np.zeros((1, 32), np.float32)
            x[0, 5] = peak
            data, scales = run(quantize_program((1, 32), (1, 1, 32, 4, 4), np.float32, E4M3, rounding), [x],
                               [np.uint8, np.uint8])
            self.assertEqual((scales.flat[0], data[0, 5]), (scale, byte))
        for rounding, value in (("floor", 896), ("rceil", 960)):
            x = np.full((1, 32), 957, np.float32)
            data, scales = run(quantize_program((1, 32), (1, 1, 32, 4, 4), np.float32, E4M3, rounding), [x],
                               [E4M3, np.uint8])
            self.assertEqual(dequantize64(data, unblock_scales(scales, 1, 1))[0, 0], value)


class Dequantize(unittest.TestCase):
    def test_every_byte(self):
        data = np.broadcast_to(np.arange(256, dtype=np.uint8), (256, 256))
        scales = np.repeat(np.arange(256, dtype=np.uint8)[:, None], 8, axis=1)
        for source in (E4M3, E5M2):
            values = np.ascontiguousarray(data).view(source)
            for target in (np.float32, np.float16, BF16):
                q, y = type_of(source, (256, 256)), type_of(target, (256, 256))
                s = type_of("e8m0", (2, 2, 32, 4, 4))
                program = f"""
func.func @dequantize(%q: {q}, %s: {s}) -> {y} {{
  %y0 = tensor.empty() : {y}
  %y = grouped_moe.dequantize ins(%q : {q} scales %s : {s}) outs(%y0 : {y}) {LAYOUT} -> {y}
  return %y : {y}
}}"""
                (actual,) = run(program, [values, block_scales(scales)], [target])
                with np.errstate(all="ignore"):
                    expected = dequantize64(values, scales).astype(np.float32).astype(target)
                self.assertTrue(same(actual, expected), f"{source} {target}")


if __name__ == "__main__":
    unittest.main()
