"""One f32 weight, quantized down its columns and used as it lies, or transposed, quantized along rows and used k-major:
the same bytes. This is how a second quantization of a weight serves the product that sums over its other dimension."""
import os
import subprocess
import tempfile

import numpy as np

SIZES, D, F = [128, 0, 256], 160, 288
RK, RN = -(-D // 128), -(-F // 128)
QUANTIZE = """
  %b0 = tensor.empty() : tensor<3x{shape}xf8E4M3FN>
  %sb0 = tensor.empty() : tensor<3x{RN}x{RK}x32x4x4xf8E8M0FNU>
  %b, %sb = grouped_moe.quantize ins(%w : tensor<3x{shape}xf32>)
      outs(%b0, %sb0 : tensor<3x{shape}xf8E4M3FN>, tensor<3x{RN}x{RK}x32x4x4xf8E8M0FNU>)
      layout <{direction}, whole, block = 32> rounding rceil -> tensor<3x{shape}xf8E4M3FN>, tensor<3x{RN}x{RK}x32x4x4xf8E8M0FNU>
"""
PROGRAM = """
func.func @entry(%x: tensor<?x{D}xf32>, %w: tensor<3x{shape}xf32>, %offsets: tensor<3xi32>) -> (
    tensor<?x{F}xf32>, tensor<3x{shape}xf8E4M3FN>, tensor<3x{RN}x{RK}x32x4x4xf8E8M0FNU>) {{
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %rows = tensor.dim %x, %c0 : tensor<?x{D}xf32>
  %atoms = arith.ceildivui %rows, %c128 : index
  %a0 = tensor.empty(%rows) : tensor<?x{D}xf8E4M3FN>
  %sa0 = tensor.empty(%atoms) : tensor<?x{RK}x32x4x4xf8E8M0FNU>
  %a, %sa = grouped_moe.quantize ins(%x : tensor<?x{D}xf32>) outs(%a0, %sa0 : tensor<?x{D}xf8E4M3FN>, tensor<?x{RK}x32x4x4xf8E8M0FNU>)
      layout <row, whole, block = 32> rounding rceil -> tensor<?x{D}xf8E4M3FN>, tensor<?x{RK}x32x4x4xf8E8M0FNU>
{quantize}
  %d0 = tensor.empty(%rows) : tensor<?x{F}xf32>
  %d = grouped_moe.gemm
      lhs(%a : tensor<?x{D}xf8E4M3FN> scales %sa : tensor<?x{RK}x32x4x4xf8E8M0FNU> layout <row, whole, block = 32>)
      rhs(%b : tensor<3x{shape}xf8E4M3FN> scales %sb : tensor<3x{RN}x{RK}x32x4x4xf8E8M0FNU> layout <{direction}, whole, block = 32>)
      offsets(%offsets : tensor<3xi32>) outs(%d0 : tensor<?x{F}xf32>) attributes {{m_aligned = 128 : i64}} epilogue {{
  ^bb0(%acc: f32):
    grouped_moe.yield %acc : f32
  }} -> tensor<?x{F}xf32>
  return %d, %b, %sb : tensor<?x{F}xf32>, tensor<3x{shape}xf8E4M3FN>, tensor<3x{RN}x{RK}x32x4x4xf8E8M0FNU>
}}
"""


def run(x, w, direction, *options):
    values = dict(D=D, F=F, RN=RN, RK=RK, direction=direction, shape="x".join(map(str, w.shape[1:])))
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(PROGRAM.format(quantize=QUANTIZE.format(**values), **values))
        command = ["gmoe-run", folder + "/in.mlir", "--device=emulator", *options]
        for i, array in enumerate((x, w, np.cumsum(SIZES).astype(np.int32))):
            np.save(f"{folder}/a{i}.npy", array)
            command.append(f"--arg={i}={folder}/a{i}.npy")
        command += [f"--result={i}={folder}/r{i}.npy" for i in range(3)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return [np.load(f"{folder}/r{i}.npy") for i in range(3)]


rng = np.random.default_rng(0)
x = rng.normal(size=(sum(SIZES), D)).astype(np.float32)
w = (rng.normal(size=(3, D, F)) * 2.0 ** rng.integers(-20, 20, (3, 1, F))).astype(np.float32)
across, data, scales = run(x, w, "column", "--check")
straight, turned, row_scales = run(x, np.ascontiguousarray(w.swapaxes(1, 2)), "row", "--check")
assert (data == turned.swapaxes(1, 2)).all() and (scales == row_scales).all(), "the two quantizations differ"
assert across.view(np.uint32).tobytes() == straight.view(np.uint32).tobytes(), "the two products differ"
assert np.isfinite(across).all() and (across != 0).mean() > 0.99
