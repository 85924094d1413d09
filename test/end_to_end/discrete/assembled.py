"""Compiles products of experts apart, with ptxas, into a folder: assembled.py DIR. Two kernels each, with nothing spilled."""
import re
import subprocess
import sys

from discrete import FP8, apart
from equations import BF16
from named import plain
from oracle import ALL, FP4
from products import random_product, schedule

for number, form in enumerate((FP8,) + ALL):
    for columns in (128, 256):
        for n_major in (False,) if form in FP4 else (False, True):
            case = apart(random_product(form, 320, 832, [plain(BF16)], schedule=schedule(form, columns, 2, 1), n_major=n_major))
            path = f"{sys.argv[1]}/{number}.{columns}.{n_major}"
            with open(path + ".mlir", "w") as file:
                file.write(case.program())
            done = subprocess.run(["gmoe-compile", path + ".mlir", "-o", path + ".gmoe"], capture_output=True, text=True)
            assert done.returncode == 0 and not done.stderr, f"{case.name()}: {done.stderr}"
            text = subprocess.run(["gmoe-bundle", path + ".gmoe"], capture_output=True, text=True, check=True).stdout
            kernels = re.findall(r"^kernel .*", text, re.M)
            assert len(kernels) == 2 and all(" 0 bytes spilled" in kernel for kernel in kernels), f"{case.name()}: {kernels}"
            print(f"{case.name()}: {kernels}")
