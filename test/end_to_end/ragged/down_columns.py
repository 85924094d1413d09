"""quantize and dequantize down the columns of groups that start at any row, against NumPy, byte for byte: the last block of a
group has fewer rows, and no row of the next one."""
import os
import subprocess
import tempfile

import numpy as np
from equations import BF16
from named import NAMES, bytes_of
from quantizers import E4M3, E5M2, quantize, scale_shape

FILL = 0xFF
SPLITS = [([200, 200, 256, 449], 1, 63), ([1, 3, 3, 4, 131], 1, 0), ([77], 1, 200), ([0, 0, 129], 1, 1), ([32, 32, 224], 32, 31)]


def execute(program, arguments, results, device, options=()):
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(f"{folder}/in.mlir", "w") as file:
            file.write(program)
        command = ["gmoe-run", f"{folder}/in.mlir", f"--device={device}", *options]
        for i, x in enumerate(arguments):
            np.save(f"{folder}/a{i}.npy", bytes_of(x))
            command.append(f"--arg={i}={folder}/a{i}.npy")
        command += [f"--result={i}={folder}/r{i}.npy" for i in range(results)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr + program
        return [np.load(f"{folder}/r{i}.npy") for i in range(results)]


def check(split, columns, dtype, rounding, source, seed):
    ends, aligned, extra = split
    rows, groups = ends[-1] + extra, len(ends)
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal((rows, columns)) * 2.0 ** rng.integers(-20, 20, (rows, 1))).astype(source)
    x[rng.integers(0, ends[-1], 2), rng.integers(0, columns, 2)] = np.inf, np.nan
    x[ends[-1] :] = np.nan
    shape = scale_shape("column_group_scales", rows, columns, groups, aligned)
    data, scales = np.full(x.shape, FILL, np.uint8), np.full(shape, FILL, np.uint8)
    held = [data.copy(), scales.copy()]
    quantize(x[: ends[-1]].astype(np.float32), dtype, f"column_group_scales_{rounding}", ends, np.float32(1), data, scales)
    offsets = np.array(ends, np.int32)
    to, tx = f"memref<{groups}xi32>", f"memref<?x{columns}x{NAMES[source]}>"
    tq, ts = f"memref<?x{columns}x{NAMES[dtype]}>", "memref<?x32x4x4xf8E8M0FNU>"
    layout, attributes = "layout <column, per_group, block = 32>", f"{{m_aligned = {aligned} : i64}}"
    forward = f"""
func.func @entry(%x: {tx}, %o: {to}, %q: {tq}, %s: {ts}) {{
  grouped_moe.quantize ins(%x : {tx}) offsets(%o : {to}) outs(%q, %s : {tq}, {ts}) {layout} rounding {rounding} {attributes}
  return
}}"""
    backward = f"""
func.func @entry(%q: {tq}, %s: {ts}, %o: {to}, %y: memref<?x{columns}xf32>) {{
  grouped_moe.dequantize ins(%q : {tq} scales %s : {ts}) offsets(%o : {to}) outs(%y : memref<?x{columns}xf32>) {layout} {attributes}
  return
}}"""
    for device, options in (("reference", []), ("emulator", ["--check-inputs", "--hazards=full"])):
        for got, want in zip(execute(forward, [x, offsets, *held], 2, device, options), (data, scales)):
            assert np.array_equal(got, want), f"{device} {split} {columns}: {np.argwhere(got != want)[:4].tolist()}"
        y = np.full(rows * columns * 4, FILL, np.uint8).view(np.float32).reshape(rows, columns)
        got = execute(backward, [data, scales, offsets, y], 1, device, options)[0]
        want = np.vstack([values(data, scales, ends, columns, dtype), y[ends[-1] :]])
        same = (got.view(np.uint32) == want.view(np.uint32)) | (np.isnan(got) & np.isnan(want))
        assert same.all() and (got[ends[-1] :].view(np.uint8) == FILL).all(), f"{device} {split} {columns}"


def values(data, scales, ends, columns, dtype):
    """By the formula of the layout: the byte of column n and row m of a group."""
    flat, wide, atoms, begin, parts = scales.reshape(-1).astype(int), -(-columns // 128), 0, 0, []
    for end in ends:
        m, n = np.meshgrid(np.arange(end - begin), np.arange(columns), indexing="ij")
        tall, t = -(-(end - begin) // 128), m // 32
        at = 512 * (atoms * wide + n // 128 * tall + t // 4) + n % 32 * 16 + n % 128 // 32 * 4 + t % 4
        b = flat[at]
        with np.errstate(invalid="ignore", over="ignore"):
            factor = np.where(b == 255, np.nan, np.ldexp(1.0, b - 127))
            parts.append((data[begin:end].view(dtype).astype(np.float64) * factor).astype(np.float32))
        atoms, begin = atoms + tall, end
    return np.concatenate(parts)


if __name__ == "__main__":
    for i, split in enumerate(SPLITS):
        for j, columns in enumerate((32, 160, 288)):
            dtype, rounding = ((E4M3, "rceil"), (E5M2, "floor"))[(i + j) % 2]
            check(split, columns, dtype, rounding, (np.float32, BF16)[j % 2], i)
