"""Compiles every named op, with ptxas, into a folder: compiled.py DIR. One kernel each, with nothing spilled."""
import re
import subprocess
import sys

import numpy as np
from equations import BF16
from named import AMAX, ROW_SUM, Out, column_sum, plain, quantized
from operands import random_case
from quantizers import E2M1, E4M3, E5M2

ALL = ("alpha", "bias", "prob")
FP8 = [quantized(E4M3, "row_scales_rceil"), quantized(E5M2, "column_group_scales_rceil")]
SUMS = [AMAX, column_sum(), column_sum(BF16)]
FP4 = [quantized(E2M1, "row_scales_nearest"), plain(BF16)]
NORM = np.array([0.5], np.float32)

for op in ("gemm_quant", "gemm_swiglu", "gemm_geglu", "gemm_situglu", "gemm_srelu", "gemm_dswiglu", "gemm_dgeglu", "gemm_dsrelu"):
    gradient = op.startswith("gemm_d")
    inputs = ALL + ("c",) if gradient else ALL
    saved = [ROW_SUM] if gradient else [plain(BF16, "preactivation")]
    if op == "gemm_dsrelu":
        saved += [quantized(E4M3, "column_group_scales_rceil", "activation")]
    variants = {"fp8": (FP8 + SUMS + saved, {}), "fp4": (FP4 + saved[:1], {"round_preactivation": True})}
    if op in ("gemm_swiglu", "gemm_dswiglu", "gemm_geglu", "gemm_dgeglu", "gemm_situglu"):
        variants["concatenated"] = (FP8 + saved, {"concatenated": True})
    if op == "gemm_dsrelu":
        variants["c"] = (FP8 + SUMS[:2] + saved, {"preactivation": "c"})
    for name, (outs, attributes) in variants.items():
        case = random_case(op, [128, 256], 256, 128, outs, inputs, attributes, c_type=BF16, norm=NORM)
        path = f"{sys.argv[1]}/{op}.{name}"
        with open(path + ".mlir", "w") as file:
            file.write(case.program())
        subprocess.run(["gmoe-compile", path + ".mlir", "-o", path + ".gmoe"], check=True)
        text = subprocess.run(["gmoe-bundle", path + ".gmoe"], capture_output=True, text=True, check=True).stdout
        kernels = re.findall(r"^kernel .*", text, re.M)
        assert len(kernels) == 1 and " 0 bytes spilled" in kernels[0], f"{path}: {kernels}"
        print(f"{op} {name}: {kernels[0]}")
