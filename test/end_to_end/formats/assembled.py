"""Compiles products of every format, with ptxas, into a folder: assembled.py DIR. One kernel each, with nothing spilled."""
import re
import subprocess
import sys

from equations import BF16
from named import ROW_SUM, plain, quantized
from oracle import ALL, E2M1, FP4
from products import random_product, schedule

variants = []
for form in ALL:
    variants.append(("gemm", form, [plain(), plain(BF16)], (), ""))
    variants += [("gemm", form, [plain(BF16)], (), schedule(form, *kernel)) for kernel in ((128, 3, 2), (256, 2, 1))]
for form in FP4:
    row = [quantized(E2M1, "row_scales_nearest" if form.block == 16 else "row_scales_rceil")]
    variants += [("gemm_quant", form, row, ("alpha",), ""), ("gemm_srelu", form, row, ("alpha", "prob"), ""),
                 ("gemm_swiglu", form, row + [plain(BF16, "preactivation")], ("alpha", "prob"), ""),
                 ("gemm_dswiglu", form, row + [ROW_SUM], ("alpha", "prob", "c"), "")]
    down = [quantized(E2M1, "column_group_scales_nearest" if form.block == 16 else "column_group_scales_rceil")]
    variants += [("gemm_quant", form, down + row, ("alpha",), ""), ("gemm_swiglu", form, down + [plain(BF16, "preactivation")], ("prob",), ""),
                 ("gemm_dswiglu", form, down + [ROW_SUM], ("alpha", "prob", "c"), "")]
for number, (op, form, outs, inputs, how) in enumerate(variants):
    case = random_product(form, 320, 832, outs, op, inputs=inputs, c_type=BF16, schedule=how)
    path = f"{sys.argv[1]}/{number}"
    with open(path + ".mlir", "w") as file:
        file.write(case.program())
    done = subprocess.run(["gmoe-compile", path + ".mlir", "-o", path + ".gmoe"], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, f"{case.name()}: {done.stderr}"
    text = subprocess.run(["gmoe-bundle", path + ".gmoe"], capture_output=True, text=True, check=True).stdout
    kernels = re.findall(r"^kernel .*", text, re.M)
    assert len(kernels) == 1 and " 0 bytes spilled" in kernels[0], f"{case.name()}: {kernels}"
    print(f"{case.name()}: {kernels[0]}")
