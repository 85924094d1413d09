"""Programs that must be refused, with the label of the constraint: each is one change of a program that compiles."""
import os
import re
import subprocess
import sys
import tempfile

from matrices import exact
from splits import schedule
from wgrad import BF16, LAYOUT

CASE = exact([128, 256], 256, 384, (BF16,))
WIDE = exact([32, 96], 160, 64, (BF16,), aligned=32)
LHS = "memref<?x256xf8E4M3FN>"
OTHER = "layout <%s, %s, block = %d>"
CHANGES = {
    "whole-matrix scales": lambda s: s.replace(LAYOUT, OTHER % ("column", "whole", 32), 1),
    "row scales": lambda s: s.replace(LAYOUT, OTHER % ("row", "per_group", 32), 1),
    "blocks of 16": lambda s: s.replace(LAYOUT, OTHER % ("column", "per_group", 16), 1),
    "m_aligned 64": lambda s: s.replace("m_aligned = 128", "m_aligned = 64"),
    "m_aligned 0": lambda s: s.replace("m_aligned = 128", "m_aligned = 0"),
    "scales without atoms": lambda s: s.replace("memref<?x32x4x4xf8E8M0FNU>", "memref<?x16x4x4xf8E8M0FNU>"),
    "scales of the whole matrix's shape": lambda s: s.replace("%sf_dy: memref<?x32", "%sf_dy: memref<2x?x32").replace(
        "%sf_dy : memref<?x32", "%sf_dy : memref<2x?x32"),
    "scales of f8E4M3FN": lambda s: s.replace("memref<?x32x4x4xf8E8M0FNU>", "memref<?x32x4x4xf8E4M3FN>"),
    "an operand of f32": lambda s: s.replace(LHS, "memref<?x256xf32>"),
    "a result of another N": lambda s: s.replace("memref<2x256x384xbf16>", "memref<2x384x384xbf16>"),
    "a result of fewer experts": lambda s: s.replace("memref<2x256x384xbf16>", "memref<1x256x384xbf16>"),
    "a transposed result": lambda s: s.replace("memref<2x256x384xbf16>", "memref<2x384x256xbf16>"),
    "a result of i32": lambda s: s.replace("memref<2x256x384xbf16>", "memref<2x256x384xi32>"),
    "a result of FP8": lambda s: s.replace("memref<2x256x384xbf16>", "memref<2x256x384xf8E4M3FN>"),
    "offsets of i64": lambda s: s.replace("memref<2xi32>", "memref<2xi64>"),
    "lhs stored the other way": lambda s: s.replace("attributes {", "attributes {lhs_transposed, "),
    "a split into one part": lambda s: s.replace("attributes {", "attributes {schedule = %s, " % schedule(split="[1, 128]")),
    "an N of no multiple of 16": lambda s: s.replace("x256x", "x250x").replace("?x256", "?x250"),
}


def compiled(text):
    """Exit status and messages."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        with open(folder + "/in.mlir", "w") as file:
            file.write(text)
        done = subprocess.run(["gmoe-compile", folder + "/in.mlir", "-o", folder + "/out.gmoe"], capture_output=True, text=True)
        return done.returncode, done.stderr


def refused(name, text):
    status, errors = compiled(text)
    assert status == 1 and "error: " in errors, f"{name}: exit {status}\n{errors}\n{text}"
    assert re.search(r"\b[a-z]+_c\d+\b", errors), f"{name}: no constraint is named\n{errors}"


def changes():
    for case in (CASE, WIDE):
        status, errors = compiled(case.program())
        assert status == 0 and not errors, errors
    for name, change in CHANGES.items():
        changed = change(CASE.program())
        assert changed != CASE.program(), name
        refused(name, changed)


def atoms():
    """A static R states the atoms: one group more below 128-row alignment."""
    static = exact([32, 96], 160, 64, (BF16,), aligned=32, static=True).program()
    assert compiled(static)[0] == 0, static
    refused("atoms of groups of 128 rows", static.replace("memref<6x32x4x4", "memref<2x32x4x4"))


def odd_rows():
    """Rows of a transposed operand lie a multiple of 16 bytes apart: seen when the program is launched."""
    for majors in ((True, False), (False, True)):
        case = exact([128], 64, 160, (BF16,), majors=majors, extra_rows=8)
        try:
            case.run()
        except SystemExit as failed:
            assert ": exit 1\n" in str(failed) and "multiple of 16" in str(failed), failed
        else:
            raise SystemExit("a transposed operand of 136 rows was launched")


for name in sys.argv[1:]:
    globals()[name]()
