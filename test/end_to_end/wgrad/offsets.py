"""Offsets that break the contract are found by --check-inputs, and only those."""
import os
import re
import subprocess
import tempfile

from matrices import exact
from wgrad import BF16


def run(aligned, rows, ends, options=("--check-inputs", "--check")):
    program = exact([aligned, aligned, aligned], 64, 160, (BF16,), aligned=aligned).program()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(program)
        command = ["gmoe-run", folder + "/in.mlir", "--device=emulator", *options, f"--rows={rows}",
                   "--arg=4=offsets:" + ",".join(map(str, ends))]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


for aligned in (32, 128, 256):
    for ends in ((aligned, aligned, 3 * aligned), (0, 0, 0), (0, 2 * aligned, 2 * aligned)):
        status, text = run(aligned, 4 * aligned, ends)
        assert status == 0, f"m_aligned {aligned}, ends {ends}: {text}"
    for ends, number in (((2 * aligned, aligned, 3 * aligned), aligned), ((aligned, aligned + aligned // 2, 3 * aligned),
                         aligned + aligned // 2), ((aligned, 2 * aligned, 5 * aligned), 5 * aligned)):
        status, text = run(aligned, 4 * aligned, ends)
        assert status == 1 and re.search(rf"\b{number}\b", text), f"m_aligned {aligned}, ends {ends}: exit {status}\n{text}"

# Unasked, a kernel reads no row that is not there, whatever the offsets say, and it ends.
for aligned in (1, 32):
    for ends in ((33, 103, 5000), (200, 300, 400), (33, 1, 103), (-32, 64, 64), (-(2**31), 64, 2**31 - 1)):
        status, text = run(aligned, 160, ends, ())
        assert status == 0, f"m_aligned {aligned}, ends {ends}: {text}"
