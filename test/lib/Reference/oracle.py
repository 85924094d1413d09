"""The equations in NumPy: an oracle written from the definitions, not from the executor.

Blocked scales are made by reshaping and transposing, exponents by frexp, casts by ml_dtypes.
"""
import os
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16
NAMES = {E4M3: "f8E4M3FN", E5M2: "f8E5M2", BF16: "bf16", np.float16: "f16", np.float32: "f32", np.int32: "i32",
         "e8m0": "f8E8M0FNU"}
STORED = {E4M3: np.uint8, E5M2: np.uint8, BF16: np.uint16}
LAYOUT = "layout <row, whole, block = 32>"
LARGEST = {E4M3: 448.0, E5M2: 57344.0}
LARGEST_EXPONENT = {E4M3: 8, E5M2: 15}


def type_of(dtype, shape, dynamic=False):
    extents = ["?" if dynamic and i == 0 else str(n) for i, n in enumerate(shape)]
    return "tensor<%s>" % "x".join(extents + [NAMES[dtype]])


def block_scales(logical, padding=0):
    """(.., rows, blocks) bytes to (.., RM, RK, 32, 4, 4)."""
    *lead, rows, blocks = logical.shape
    rm, rk = -(-rows // 128), -(-blocks // 4)
    full = np.full((*lead, rm * 128, rk * 4), padding, np.uint8)
    full[..., :rows, :blocks] = logical
    split = full.reshape(*lead, rm, 4, 32, rk, 4)
    n = len(lead)
    return np.ascontiguousarray(split.transpose(*range(n), n, n + 3, n + 2, n + 1, n + 4))


def unblock_scales(blocked, rows, blocks):
    *lead, rm, rk, _, _, _ = blocked.shape
    n = len(lead)
    split = blocked.transpose(*range(n), n, n + 3, n + 2, n + 1, n + 4)
    return split.reshape(*lead, rm * 128, rk * 4)[..., :rows, :blocks]


def scale_values(scale_bytes):
    """e8m0 as f64."""
    values = np.ldexp(1.0, scale_bytes.astype(np.int32) - 127)
    return np.where(scale_bytes == 255, np.nan, values)


def dequantize64(data, scale_bytes):
    """Exact values of data (.., rows, k), of logical scales (.., rows, k / 32)."""
    with np.errstate(all="ignore"):
        return data.astype(np.float64) * np.repeat(scale_values(scale_bytes), 32, axis=-1)


def quantize(x, dtype, rounding):
    """x is f32 (.., k). Returns data and logical scale bytes."""
    blocks = x.reshape(*x.shape[:-1], -1, 32)
    with np.errstate(all="ignore"):
        amax = np.abs(blocks).max(axis=-1)  # propagates NaN
        if rounding == "rceil":
            t = amax * (np.float32(1) / np.float32(LARGEST[dtype]))
            mantissa, exponent = np.frexp(t.astype(np.float64))  # t = mantissa * 2^exponent, mantissa in [1/2, 1)
            power = np.where(mantissa == 0.5, exponent - 1, exponent)
            power = np.where(t == 0, -127, power)  # underflow
        else:
            _, exponent = np.frexp(amax.astype(np.float64))
            power = exponent - 1 - LARGEST_EXPONENT[dtype]
        b = np.where(amax == 0, 0, np.clip(power + 127, 0, 254))
        b = np.where(np.isfinite(amax), b, 255).astype(np.int64)
        product = (blocks.astype(np.float64) * np.ldexp(1.0, 127 - b)[..., None]).astype(np.float32)
        data = np.clip(product, -LARGEST[dtype], LARGEST[dtype]).astype(dtype).view(np.uint8)
        data = np.where((b == 255)[..., None], 0x7F, data)
    return data.reshape(x.shape).astype(np.uint8).view(dtype), b.astype(np.uint8)


def same(actual, expected):
    """Bit for bit, any NaN like any other; for arrays of one dtype."""
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return False
    if actual.dtype.kind in "iu":
        return bool(np.array_equal(actual, expected))
    both_nan = np.isnan(actual.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32}[actual.dtype.itemsize]
    return bool(np.all(both_nan | (actual.view(width) == expected.view(width))))


def run(source, arguments, results, expect=0):
    """Runs gmoe-run on the reference; `results` are dtypes. Returns arrays, or the error text."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        program = os.path.join(folder, "in.mlir")
        with open(program, "w") as file:
            file.write(source)
        command = ["gmoe-run", program, "--device=reference"]
        for i, argument in enumerate(arguments):
            if isinstance(argument, str):
                command.append("--arg=%d=%s" % (i, argument))
                continue
            path = os.path.join(folder, "arg%d.npy" % i)
            stored = next((s for d, s in STORED.items() if argument.dtype == d), argument.dtype)
            np.save(path, argument.view(stored))
            command.append("--arg=%d=%s" % (i, path))
        paths = [os.path.join(folder, "result%d.npy" % i) for i in range(len(results))]
        command += ["--result=%d=%s" % (i, path) for i, path in enumerate(paths)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != expect:
            sys.exit("exit %d, expected %d: %s\n%s%s" % (done.returncode, expect, command, done.stdout, done.stderr))
        if expect:
            assert not any(os.path.exists(path) for path in paths), "a refused run left a result file"
            return done.stderr
        return [np.load(path).view(dtype) for path, dtype in zip(paths, results)]
