"""quantize and dequantize of FP4 data against NumPy and ml_dtypes, byte for byte, on the reference and the emulator."""
import os
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy as np
from oracle import BF16, E4M3, block_scales, same, scale_values
from quantizer import E2M1, along_rows, pack, special_blocks

F32 = np.float32
FILL = 0xA5  # of what the kernels write
# Element type of scales, block, rounding.
FORMATS = [("f8E8M0FNU", 32, "rceil"), ("f8E8M0FNU", 32, "floor"), ("f8E4M3FN", 16, "nearest"), ("f8E8M0FNU", 16, "rceil"),
           ("f8E8M0FNU", 16, "floor")]
NAMES = {F32: "f32", np.float16: "f16", BF16: "bf16"}


def memref(shape, element, dynamic=True):
    extents = ["?" if dynamic and len(shape) in (2, 5) and i == 0 else str(n) for i, n in enumerate(shape)]
    return "memref<%s>" % "x".join([*extents, element])


def execute(device, program, arguments, outputs, options=()):
    """`arguments` are stored arrays; `outputs` the numbers of those that are written. Their bytes."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(program)
        command = ["gmoe-run", folder + "/in.mlir", "--device=" + device, *options]
        for i, array in enumerate(arguments):
            np.save(f"{folder}/a{i}.npy", array.view(np.uint16) if array.dtype == BF16 else array)
            command.append(f"--arg={i}={folder}/a{i}.npy")
        command += [f"--result={i}={folder}/r{i}.npy" for i in range(len(outputs))]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        results = [np.load(f"{folder}/r{i}.npy") for i in range(len(outputs))]
    return [r.view(arguments[o].dtype) for r, o in zip(results, outputs)]


def scale_shape(shape, block):
    *lead, rows, columns = shape
    return (*lead, -(-rows // 128), -(-columns // (4 * block)), 32, 4, 4)


def quantize(device, x, scale, block, rounding, options=()):
    """Packed data and blocked scales."""
    shape = scale_shape(x.shape, block)
    tx, tq, ts = memref(x.shape, NAMES[x.dtype.type]), memref(x.shape, "f4E2M1FN"), memref(shape, scale)
    program = f"""
func.func @entry(%x: {tx}, %q: {tq}, %s: {ts}) {{
  grouped_moe.quantize ins(%x : {tx}) outs(%q, %s : {tq}, {ts}) layout <row, whole, block = {block}> rounding {rounding}
  return
}}"""
    data = np.full((*x.shape[:-1], x.shape[-1] // 2), FILL, np.uint8)
    return execute(device, program, [x, data, np.full(shape, FILL, np.uint8)], [1, 2], options)


def dequantize(device, data, scales, scale, block, target):
    """`data` packed, `scales` blocked."""
    shape = (*data.shape[:-1], 2 * data.shape[-1])
    tq, ts, ty = memref(shape, "f4E2M1FN"), memref(scales.shape, scale), memref(shape, NAMES[target])
    program = f"""
func.func @entry(%q: {tq}, %s: {ts}, %y: {ty}) {{
  grouped_moe.dequantize ins(%q : {tq} scales %s : {ts}) outs(%y : {ty}) layout <row, whole, block = {block}>
  return
}}"""
    y = np.full(np.prod(shape) * np.dtype(target).itemsize, FILL, np.uint8).view(target).reshape(shape)
    return execute(device, program, [data, scales, y], [2])[0]


def corners(block):
    """Blocks of hand-picked values: rounding, saturation, scales."""
    f = F32
    midpoints = f([0.25, 1.25, 2.5, 5, 0.75, 1.75, 3.5])
    near = np.concatenate([midpoints, np.nextafter(midpoints, f(0)), np.nextafter(midpoints, f(9))])
    near = np.concatenate([near, -near])
    blocks = []

    def add(peak, values):
        for first in range(0, len(values), block - 1):
            values_ = values[first:first + block - 1]
            blocks.append(np.concatenate([f([peak]), values_, np.zeros(block - 1 - len(values_), f)]))

    for power in (0, -20, 30):
        for peak in (6, -6, 4, 7.75):  # 7.75 saturates under floor
            add(peak * 2.0**power, near * f(2.0**power))
    add(0, f([-0.0] * (block - 1)))
    blocks.append(np.full(block, -0.0, f))
    for special in (np.nan, -np.nan, np.inf, -np.inf):
        for lane in (0, 7, block - 1):
            line = np.linspace(-6, 6, block, dtype=f)
            line[lane] = special
            blocks.append(line)
    blocks.append(np.concatenate([f([np.inf, np.nan]), np.ones(block - 2, f)]))
    # Every scale of e4m3, from a maximum that it fits, and from ties between two.
    codes = np.arange(127, dtype=np.uint8).view(E4M3).astype(np.float64)
    ties = (codes[1:] + codes[:-1]) / 2
    for peak in np.concatenate([codes, ties, [448, 464, 465, 1e9]]):
        add(f(6 * peak), (np.linspace(-1, 1, block - 1) * 6 * peak).astype(f))
    # Maxima of subnormals, the largest ones, their neighbours.
    for power in [*range(-149, -99), *range(120, 128)]:
        for peak in (f(2.0**power), f(1.5) * f(2.0**power)):
            for x in (peak, np.nextafter(peak, f(0)), np.nextafter(peak, f(np.inf))):
                with np.errstate(all="ignore"):
                    add(x, (np.linspace(-1, 1, block - 1) * x).astype(f))
    return np.array(blocks, f)


def matrix_of(blocks, columns):
    flat = blocks.reshape(-1)
    return np.concatenate([flat, np.zeros(-len(flat) % columns, F32)]).reshape(-1, columns)


class Fp4(unittest.TestCase):
    def check(self, x, scale, block, rounding, options=()):
        flat = x.astype(F32).reshape(-1, x.shape[-1])
        codes, logical = along_rows(flat, E2M1, rounding, block=block)
        logical = logical.reshape(*x.shape[:-1], -1)
        expected = pack(codes).reshape(*x.shape[:-1], -1), block_scales(logical)
        for device in ("reference", "emulator"):
            actual = quantize(device, x, scale, block, rounding, options if device == "emulator" else ())
            for name, have, want in zip(("data", "scales"), actual, expected):
                self.assertEqual(have.shape, want.shape)
                differ = np.argwhere(have != want)
                self.assertEqual(len(differ), 0, f"{name}, {device}, {scale}, {block}, {rounding}: {differ[:4].tolist()}")
        return expected

    def test_corners(self):
        for scale, block, rounding in FORMATS:
            self.check(matrix_of(corners(block), 192), scale, block, rounding)

    def test_powers(self):
        """Every power of two, six times it, their neighbours."""
        for scale, block, rounding in FORMATS:
            blocks = special_blocks(6.0, 1300 * 64 // block, block)
            self.check(matrix_of(blocks, 64), scale, block, rounding)

    def test_shapes(self):
        rng = np.random.default_rng(0)
        for shape, dtype in (((1, 64), F32), ((127, 128), np.float16), ((129, 320), BF16), ((3, 130, 64), F32),
                             ((2, 33, 192), BF16)):
            x = (rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, (*shape[:-1], 1))).astype(dtype)
            for scale, block, rounding in FORMATS:
                self.check(x, scale, block, rounding, ["--hazards=full"])

    def test_every_code_and_scale(self):
        """Each of the 16 codes with each of the 256 scale bytes; padding is NaN."""
        codes = np.tile(np.arange(16, dtype=np.uint8), (256, 4))
        for scale, block, _ in FORMATS[1:4]:
            blocks = 64 // block
            logical = (np.arange(256)[:, None] + 77 * np.arange(blocks)).astype(np.uint8)
            values = (scale_values(logical) if scale == "f8E8M0FNU" else logical.view(E4M3).astype(np.float64))
            with np.errstate(all="ignore"):
                exact = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64) * np.repeat(values, block, axis=1)
            for target in (F32, np.float16, BF16):
                with np.errstate(all="ignore"):
                    expected = exact.astype(F32).astype(target)
                for device in ("reference", "emulator"):
                    actual = dequantize(device, pack(codes), block_scales(logical, 0xFF), scale, block, target)
                    self.assertTrue(same(actual, expected), f"{device}, {scale}, {block}, {target}")

    def test_there_and_back(self):
        """Values that the formats hold come back."""
        rng = np.random.default_rng(1)
        table = np.arange(16, dtype=np.uint8).view(E2M1).astype(F32)
        for scale, block, rounding in FORMATS:
            powers = np.repeat(2.0 ** rng.integers(-6, 8, (140, 192 // block)), block, axis=1)
            x = (table[rng.integers(0, 16, (140, 192))] * powers).astype(F32)
            x[:, ::block] = 6 * powers[:, ::block]
            data, scales = quantize("emulator", x, scale, block, rounding)
            back = dequantize("emulator", data, scales, scale, block, F32)
            self.assertTrue(same(back, x), f"{scale}, {block}, {rounding}")


if __name__ == "__main__":
    unittest.main()
