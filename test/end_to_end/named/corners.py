"""Corners that took a special care: each was wrong once."""
import subprocess
import tempfile

import numpy as np
from equations import BF16, F32
from named import column_sum, plain, quantized
from operands import exact
from quantizers import E2M1


def nearest_overflow():
    """c / s past the range of f32: the factor is the largest number, so that zeros stay zeros."""
    exact("gemm_quant", [128], 64, 64, [quantized(E2M1, "row_scales_nearest")], ("prob",), probs=(1e-40, 1e-38),
          norm=np.array([1e37], F32)).check()


def column_sum_pairs():
    exact("gemm_swiglu", [128, 128], 64, 64, [column_sum()], gates=(0, 128)).check()


def column_sum_narrow():
    for n in (16, 48, 80):
        exact("gemm_quant", [128, 128], n, 64, [column_sum()]).check()


def weighted_nothing():
    """Without a bias, alpha * acc + prob * bias is alpha * acc."""
    exact("gemm_quant", [128], 64, 64, [plain()], ("alpha", "prob"), {"weighted_bias": True}).check()


def spill_situglu():
    """z saved and the result quantized, as training has it, within 255 registers."""
    case = exact("gemm_situglu", [128], 256, 64, [plain(BF16, "preactivation"), quantized()], ("prob",), gates=(0, 128))
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(case.program())
        done = subprocess.run(["gmoe-compile", folder + "/in.mlir", "-o", folder + "/out.gmoe"], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr


for case in (nearest_overflow, column_sum_pairs, column_sum_narrow, weighted_nothing, spill_situglu):
    case()
