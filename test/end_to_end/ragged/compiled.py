"""Kernels of groups that start anywhere through ptxas, into a folder: compiled.py DIR. One each, with nothing spilled."""
import re
import subprocess
import sys

import numpy as np
from equations import BF16
from named import AMAX, ROW_SUM, column_sum, plain
from operands import random_case
from ragged import ALL_INPUTS, DOWN, ROWS

SUMS = [AMAX, column_sum(), column_sum(BF16)]
NORM = np.array([0.5], np.float32)

for aligned in (1, 32):
    cases = {"plain": ("gemm_quant", [plain(), plain(BF16)], ALL_INPUTS, {}),
             "quant": ("gemm_quant", [ROWS[0], DOWN[0], *SUMS], ALL_INPUTS, {}),
             "swiglu": ("gemm_swiglu", [ROWS[0], DOWN[0], *SUMS, plain(BF16, "preactivation")], ALL_INPUTS, {}),
             "halves": ("gemm_swiglu", [ROWS[0], DOWN[0], plain(BF16, "preactivation")], ALL_INPUTS, {"concatenated": True}),
             "situglu": ("gemm_situglu", [ROWS[0], DOWN[0], *SUMS], ALL_INPUTS, {}),
             "dswiglu": ("gemm_dswiglu", [ROWS[0], DOWN[0], *SUMS, ROW_SUM], ALL_INPUTS + ("c",), {}),
             "dgeglu": ("gemm_dgeglu", [ROWS[0], DOWN[0], *SUMS, ROW_SUM], ALL_INPUTS + ("c",), {"concatenated": True})}
    for name, (op, outs, inputs, attributes) in cases.items():
        norm = NORM if ROWS[0] in outs else None
        case = random_case(op, [96, 160], 256, 128, outs, inputs, attributes, c_type=BF16, norm=norm, aligned=aligned)
        path = f"{sys.argv[1]}/{name}.{aligned}"
        with open(path + ".mlir", "w") as file:
            file.write(case.program())
        subprocess.run(["gmoe-compile", path + ".mlir", "-o", path + ".gmoe"], check=True)
        text = subprocess.run(["gmoe-bundle", path + ".gmoe"], capture_output=True, text=True, check=True).stdout
        kernels = re.findall(r"^kernel .*", text, re.M)
        assert len(kernels) == 1 and " 0 bytes spilled" in kernels[0], f"{path}: {kernels}"
        print(f"{name} {aligned}: {kernels[0]}")
