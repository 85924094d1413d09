"""Operand formats that are refused, by each tool and with what was found: one change of a program that compiles."""
import os
import subprocess
import tempfile

from named import plain
from oracle import ALL, E4M3_E5M2, MXFP4, NVFP4
from products import exact

FP4_SCALES = "elements of f4E2M1FN a block, expected f8E8M0FNU with blocks of 32 or 16, or f8E4M3FN with blocks of 16 (gemm_c4)"
BLOCK = "layout <row, whole, block = %d>"
COLUMN = "layout <column, whole, block = %d>"


def program(form, k=256):
    """Atoms of 256 elements in K: 2 of blocks of 32, 4 of 16."""
    return exact(form, 256, k, [plain()], sizes=[128, 128]).program()


def only(text, which, old, new):
    """Changes lhs or rhs: its type or layout."""
    head, rhs = text.split("rhs(", 1)
    signature, lhs = head.split("lhs(", 1)
    changed = (lhs if which == "lhs" else rhs).replace(old, new, 1)
    lhs, rhs = (changed, rhs) if which == "lhs" else (lhs, changed)
    return signature + "lhs(" + lhs + "rhs(" + rhs


def typed(text, name, old, new):
    """Changes a type of argument `name` wherever it is used."""
    parts = text.split(f"%{name}")
    swapped = [parts[0]] + [part.replace(old, new, 1) for part in parts[1:]]
    return f"%{name}".join(swapped)


def k_of(text, k, atoms):
    """Another K, with `atoms` of scales along it."""
    for name, old, new in (("a", "?x256x", f"?x{k}x"), ("b", "2x256x256x", f"2x256x{k}x"), ("sa", "?x2x32", f"?x{atoms}x32"),
                           ("sb", "2x2x2x32", f"2x2x{atoms}x32")):
        text = typed(text, name, old, new)
    return text


def wide_blocks(text):
    """Blocks of 32 where the scales were of blocks of 16."""
    for name, old, new in (("sa", "?x4x32", "?x2x32"), ("sb", "2x2x4x32", "2x2x2x32")):
        text = typed(text, name, old, new)
    return text.replace(BLOCK % 16, BLOCK % 32)


def narrow_blocks(text, names="sa sb"):
    for name in names.split():
        text = typed(text, name, *(("?x2x32", "?x4x32") if name == "sa" else ("2x2x2x32", "2x2x4x32")))
        text = only(text, "lhs" if name == "sa" else "rhs", BLOCK % 32, BLOCK % 16)
    return text


MX, NV, FP8 = program(MXFP4), program(NVFP4), program(E4M3_E5M2)
CASES = {
    "e4m3 scales of blocks of 32": (wide_blocks(NV), ["lhs scales: ", "f8E4M3FN", "32 " + FP4_SCALES]),
    "e4m3 scales of rhs alone": (typed(MX, "sb", "f8E8M0FNU", "f8E4M3FN"), ["rhs scales: ", "32 " + FP4_SCALES]),
    "scales of f8E5M2": (typed(NV, "sa", "f8E4M3FN", "f8E5M2"), ["lhs scales: ", "f8E5M2", "16 " + FP4_SCALES]),
    "FP8 in blocks of 16": (narrow_blocks(FP8), ["lhs scales: block is 16", "block 16 is for FP4 data"]),
    "FP8 rhs in blocks of 16": (narrow_blocks(FP8, "sb"), ["rhs scales: block is 16", "block 16 is for FP4 data"]),
    "FP8 with e4m3 scales": (typed(FP8, "sa", "f8E8M0FNU", "f8E4M3FN"), ["lhs scales: ", "f8E4M3FN", "expected f8E8M0FNU (gemm_c4)"]),
    "FP4 by FP8": (typed(MX, "b", "f4E2M1FN", "f8E4M3FN"), ["rhs: ", "f8E4M3FN", "expected f4E2M1FN", "(gemm_c2)"]),
    "FP8 by FP4": (typed(FP8, "b", "f8E5M2", "f4E2M1FN"), ["rhs: ", "f4E2M1FN", "expected f8E4M3FN or f8E5M2", "(gemm_c2)"]),
    "FP6 by FP6": (MX.replace("f4E2M1FN", "f6E2M3FN"), ["lhs: ", "f6E2M3FN", "f8E4M3FN, f8E5M2 or f4E2M1FN (gemm_c1)"]),
    "n-major MXFP4": (only(MX, "rhs", BLOCK % 32, COLUMN % 32), ["rhs scales: ", "expected <row, whole, block = 32>", "(gemm_c4)"]),
    "n-major NVFP4": (only(NV, "rhs", BLOCK % 16, COLUMN % 16), ["rhs scales: ", "expected <row, whole, block = 16>", "(gemm_c4)"]),
    "K of 32": (k_of(MX, 32, 1), ["K is 32", "multiple of 64", "(gemm_c3)"]),
    "K of 96": (k_of(MX, 96, 1), ["K is 96", "multiple of 64", "(gemm_c3)"]),
    "blocks of 16 of rhs alone": (narrow_blocks(MX, "sb"), ["rhs scales: ", "f8E8M0FNU", "blocks of 16", "blocks of 32", "(gemm_c4)"]),
    "blocks of 16 of lhs alone": (narrow_blocks(MX, "sa"), ["rhs scales: ", "f8E8M0FNU", "blocks of 32", "blocks of 16", "(gemm_c4)"]),
    "e8m0 scales beside e4m3": (typed(NV, "sb", "f8E4M3FN", "f8E8M0FNU"), ["rhs scales: ", "f8E8M0FNU", "f8E4M3FN", "(gemm_c4)"]),
    "e4m3 scales beside e8m0": (typed(NV, "sa", "f8E4M3FN", "f8E8M0FNU"), ["rhs scales: ", "f8E4M3FN", "f8E8M0FNU", "(gemm_c4)"]),
    "too few atoms for blocks of 16": (typed(NV, "sa", "?x4x32", "?x2x32"), ["lhs scales: ", "(gemm_c5)"]),
    "blocks of 64": (MX.replace(BLOCK % 32, BLOCK % 64), ["(layout_c1)"]),
}


def results(text):
    """(tool, exit status, messages)."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TEST_TMPDIR")) as folder:
        source = folder + "/in.mlir"
        with open(source, "w") as file:
            file.write(text)
        for tool, *rest in (("gmoe-opt",), ("gmoe-compile", "--emit=ptx")):
            done = subprocess.run([tool, source, *rest, "-o", folder + "/out"], capture_output=True, text=True)
            yield tool, done.returncode, done.stderr


for form in ALL:
    for tool, status, errors in results(program(form)):
        assert status == 0 and not errors, f"{tool}: {form.name}: {errors}"
for name, (text, wanted) in CASES.items():
    assert text not in (MX, NV, FP8), name
    for tool, status, errors in results(text):
        found = errors.replace("'", "")
        assert status == 1 and found.count("error: ") == 1, f"{tool}: {name}: exit {status}\n{errors}\n{text}"
        at = 0
        for part in wanted:
            at = found.find(part, at)
            assert at >= 0, f"{tool}: {name}: no {part!r} in\n{errors}"
