"""interleave_glu against reshapes and transposes in NumPy, byte for byte."""
import unittest

import numpy as np
from oracle import BF16, E4M3, E5M2, LAYOUT, block_scales, run, type_of


def interleave(x):
    """(L, 2 F, ..): axes half and block change places."""
    groups, rows, *rest = x.shape
    halves = x.reshape(groups, 2, rows // 64, 32, *rest)
    return np.ascontiguousarray(halves.swapaxes(1, 2)).reshape(x.shape)


def pack(x, dtype):
    t = type_of(dtype, x.shape)
    program = f"""
func.func @pack(%x: {t}) -> {t} {{
  %y0 = tensor.empty() : {t}
  %y = grouped_moe.interleave_glu ins(%x : {t}) outs(%y0 : {t}) -> {t}
  return %y : {t}
}}"""
    (y,) = run(program, [x.view(dtype)], [x.dtype])
    return y


def pack_scaled(x, scales, dtype):
    t, s = type_of(dtype, x.shape), type_of("e8m0", scales.shape)
    program = f"""
func.func @pack(%x: {t}, %s: {s}) -> ({t}, {s}) {{
  %y0 = tensor.empty() : {t}
  %z0 = tensor.empty() : {s}
  %y, %z = grouped_moe.interleave_glu ins(%x : {t} scales %s : {s}) outs(%y0, %z0 : {t}, {s}) {LAYOUT} -> {t}, {s}
  return %y, %z : {t}, {s}
}}"""
    return run(program, [x.view(dtype), scales], [np.uint8, np.uint8])


class Interleave(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(7)

    def bits(self, dtype, *shape):
        """Every pattern of bits, NaN among them."""
        return self.rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)

    def test_scaled_weights(self):
        for f, k in ((32, 128), (96, 32), (352, 160), (512, 64)):
            for dtype in (E4M3, E5M2):
                with self.subTest(f=f, k=k, dtype=dtype):
                    w, s = self.bits(np.uint8, 3, 2 * f, k), self.bits(np.uint8, 3, 2 * f, k // 32)
                    data, scales = pack_scaled(w, block_scales(s, 0xA5), dtype)
                    self.assertTrue(np.array_equal(data, interleave(w)))
                    self.assertTrue(np.array_equal(scales, block_scales(interleave(s), 0)))

    def test_weights_and_bias(self):
        for dtype, bits in ((np.float32, np.uint32), (np.float16, np.uint16), (BF16, np.uint16), (E4M3, np.uint8),
                            (E5M2, np.uint8)):
            for shape in ((2, 64), (3, 192), (1, 704, 5), (2, 1024, 8)):
                with self.subTest(dtype=dtype, shape=shape):
                    x = self.bits(bits, *shape)
                    self.assertTrue(np.array_equal(pack(x, dtype), interleave(x)))

    def test_golden(self):
        # 64 rows of gate, then 64 of up, numbered.
        y = pack(np.arange(128, dtype=np.uint8).reshape(1, 128), E4M3)
        self.assertEqual(y.flat[0], 0)
        self.assertEqual(y.flat[31], 31)
        self.assertEqual(y.flat[32], 64)
        self.assertEqual(y.flat[64], 32)
        self.assertEqual(y.flat[127], 127)


if __name__ == "__main__":
    unittest.main()
