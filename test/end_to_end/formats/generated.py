"""Data that gmoe-run makes itself, in every format: random, and of one value in the place of every element and scale."""
import os
import subprocess
import tempfile

import numpy as np
from equations import BF16
from named import plain
from oracle import ALL
from products import SIZES, exact

K, ROWS = 320, sum(SIZES) + 57
OFFSETS = "4=offsets:" + ",".join(str(end) for end in np.cumsum(SIZES))
ONE = {0: 1.5, 1: 2, 2: -3, 3: 0.25}


def run(program, *options):
    """The f32 result, of an entry that is compiled to a bundle before."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        source, bundle, result = [f"{folder}/{name}" for name in ("in.mlir", "in.gmoe", "r.npy")]
        with open(source, "w") as file:
            file.write(program)
        subprocess.run(["gmoe-compile", source, "-o", bundle, "--no-cubin"], check=True)
        command = ["gmoe-run", bundle, "--device=emulator", "--check", f"--rows={ROWS}", "--arg", OFFSETS, f"--result=0={result}"]
        done = subprocess.run(command + list(options), capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{program}"
        return np.load(result)


for form in ALL:
    program = exact(form, 160, K, [plain(), plain(BF16)]).program()
    got = run(program)
    active = got[: sum(SIZES)]
    assert got.shape == (ROWS, 160) and np.isfinite(active).all() and (active != 0).mean() > 0.99, form.name
    assert np.unique(active).size > 1000, form.name
    got = run(program, *[f"--arg={i}=const:{value}" for i, value in ONE.items()], "--tolerance=bitwise")
    assert (got[: sum(SIZES)] == K * np.prod(list(ONE.values()))).all(), form.name
