"""Gradients of what `quantize` makes down columns, for groups of any multiple of 32 rows: its bytes, and the product of them."""
import os
import subprocess
import tempfile

import numpy as np
from column_scales import atoms_along_rows
from matrices import Operand
from wgrad import E4M3, E5M2, F32, Case

NAMES = {E4M3: "f8E4M3FN", E5M2: "f8E5M2"}
PROGRAM = """
func.func @entry(%x: tensor<{rows}x{n}xf32>, %offsets: tensor<{groups}xi32>) -> (tensor<{rows}x{n}x{name}>, tensor<{atoms}x32x4x4xf8E8M0FNU>) {{
  %q0 = tensor.empty() : tensor<{rows}x{n}x{name}>
  %s0 = tensor.empty() : tensor<{atoms}x32x4x4xf8E8M0FNU>
  %q, %s = grouped_moe.quantize ins(%x : tensor<{rows}x{n}xf32>) offsets(%offsets : tensor<{groups}xi32>)
      outs(%q0, %s0 : tensor<{rows}x{n}x{name}>, tensor<{atoms}x32x4x4xf8E8M0FNU>)
      layout <column, per_group, block = 32> rounding rceil {{m_aligned = {aligned} : i64}}
      -> tensor<{rows}x{n}x{name}>, tensor<{atoms}x32x4x4xf8E8M0FNU>
  return %q, %s : tensor<{rows}x{n}x{name}>, tensor<{atoms}x32x4x4xf8E8M0FNU>
}}
"""


def quantize(x, sizes, dtype, aligned):
    rows, n = x.shape
    atoms = atoms_along_rows(rows, len(sizes), aligned) * -(-n // 128)
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(PROGRAM.format(rows=rows, n=n, groups=len(sizes), name=NAMES[dtype], atoms=atoms, aligned=aligned))
        command = ["gmoe-run", folder + "/in.mlir", "--device=emulator", "--check", "--tolerance=bitwise"]
        for i, array in enumerate((x, np.cumsum(sizes).astype(np.int32))):
            np.save(f"{folder}/a{i}.npy", array)
            command.append(f"--arg={i}={folder}/a{i}.npy")
        done = subprocess.run(command + [f"--result={i}={folder}/r{i}.npy" for i in (0, 1)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return Operand(np.load(f"{folder}/r0.npy").view(dtype), np.load(f"{folder}/r1.npy"))


def decibels(got, want):
    return 10 * np.log10((want**2).sum() / ((got - want) ** 2).sum())


rng = np.random.default_rng(0)
for sizes, aligned, extra in (([32, 0, 1024, 64], 32, 48), ([96, 160, 0, 224], 32, 0), ([256, 0, 512, 256], 256, 256)):
    active = sum(sizes)
    for n, k, dtypes in ((160, 288, (E4M3, E4M3)), (256, 64, (E5M2, E4M3))):
        # Columns of very different size: a scale of another column or block shows.
        x, y = [(rng.normal(size=(active + extra, width)) * np.exp2(rng.integers(-30, 30, (1, width)))).astype(F32) for width in (n, k)]
        x[active:] = y[active:] = np.nan
        lhs, rhs = [quantize(a, sizes, dtype, aligned) for a, dtype in zip((x, y), dtypes)]
        begin = 0
        for g, rows in enumerate(sizes):
            for source, operand, dtype in zip((x, y), (lhs, rhs), dtypes):
                part = source[begin : begin + rows].astype(np.float64)
                weight = 1 / np.abs(part).max(0, initial=1e-30)
                if rows:
                    reached = decibels(operand.values(sizes, g) * weight, part * weight)
                    assert reached >= (27 if dtype == E4M3 else 21), f"{sizes}: group {g}: {reached:.1f} dB"
            begin += rows
        case = Case(sizes, lhs, rhs, [F32], aligned)
        got, want = case.run("--check")[0].astype(np.float64), case.sums()
        scale = np.stack([np.abs(lhs.values(sizes, g)).T @ np.abs(rhs.values(sizes, g)) for g in range(len(sizes))])
        assert (np.abs(got - want) <= 2.0**-18 * scale).all(), case.name()
