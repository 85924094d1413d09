"""Compiles weight gradients, with ptxas, into a folder: compiled.py DIR. One kernel each, and one of maps where groups end anywhere,
with nothing spilled."""
import re
import subprocess
import sys

from epilogues import SCALED, alphas
from matrices import random_case
from splits import SIZES, schedule
from torchao import FORMATS, MAJORS, OUTS
from wgrad import BF16, E2M1, F32, Epilogue

REGION = Epilogue({"alpha": alphas()}, SCALED, "%y", lambda acc, alpha: [acc * alpha])
VARIANTS = {"two": dict(outs=(F32, BF16)), "aligned32": dict(aligned=32), "anywhere": dict(aligned=1), "region": dict(epilogue=REGION),
            "pointers": dict(pointers=True), "wide": dict(schedule=schedule(256, 3, 1, None)),
            "split": dict(schedule=schedule()), "pair": dict(schedule=schedule(rows=256, cluster="[2, 1]")), "split_wide": dict(schedule=schedule(256, 3, 1))}
VARIANTS.update({f"formats{i}": dict(dtypes=dtypes, majors=MAJORS[i], outs=(OUTS[i % 3],)) for i, dtypes in enumerate(FORMATS)})

FP4 = dict(dtypes=(E2M1, E2M1), majors=(True, True))
VARIANTS.update(mxfp4=FP4, nvfp4=dict(**FP4, block=16, fine=True), fp4_16=dict(**FP4, block=16, outs=(F32, BF16)))

for name, named in VARIANTS.items():
    for accumulate in (False, True):
        outs = named.get("outs", (BF16,))
        old = [random_case(SIZES, 256, 272).sums().astype(F32)] * len(outs)
        case = random_case(SIZES, 256, 272, accumulate=accumulate, old=old, **{**named, "outs": outs})
        path = f"{sys.argv[1]}/{name}.{accumulate}"
        with open(path + ".mlir", "w") as file:
            file.write(case.program())
        done = subprocess.run(["gmoe-compile", path + ".mlir", "-o", path + ".gmoe"], capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, f"{path}: {done.stderr}"
        text = subprocess.run(["gmoe-bundle", path + ".gmoe"], capture_output=True, text=True, check=True).stdout
        kernels = re.findall(r"^kernel .*", text, re.M)
        assert len(kernels) == (2 if case.aligned == 1 else 1), f"{path}: {kernels}"
        assert all(" 0 bytes spilled" in kernel for kernel in kernels), f"{path}: {kernels}"
        print(f"{name} {accumulate}: {kernels}")
