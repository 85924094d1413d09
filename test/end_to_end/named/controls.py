"""What a wrong kernel would do must show: each control breaks one thing and must be told from the right bytes."""
import sys

import numpy as np
from equations import F32, join, split
from named import assert_same, plain, quantized, values_of
from operands import exact, random_case
from quantizers import E4M3, scale_shape


def detected(got, want, dtype, what):
    try:
        assert_same(got, want, dtype, what)
    except SystemExit:
        return
    sys.exit(what + ": not detected")


def decibels(got, want):
    return 10 * np.log10((want**2).sum() / ((got - want) ** 2).sum())


def column_scales(blocked, ends, n, whole):
    """Logical scales (rows / 32, n) of groups that start at multiples of 128 rows, read in one layout or the other."""
    flat, rows, width = blocked.reshape(-1), ends[-1], -(-n // 128)
    logical = np.zeros((rows // 32, n), np.uint8)
    columns, begin, base = np.arange(n), 0, 0
    for end in [rows] if whole else ends:
        tall = (end - begin) // 128
        for t in range(0, end - begin, 32):
            at = base + 512 * (columns // 128 * tall + t // 128) + columns % 32 * 16 + columns % 128 // 32 * 4 + t // 32 % 4
            logical[(begin + t) // 32] = flat[at]
        begin, base = end, base + 512 * width * tall
    return logical


def layouts():
    """The two forms of column scales have one size; read as the other the data is far off."""
    outs = [plain(), quantized(E4M3, "column_group_scales_rceil"), quantized(E4M3, "column_scales_rceil")]
    case = random_case("gemm_quant", [128, 256], 192, 64, outs, spread=3)
    # Columns of very different size, as gradients have them.
    case.sb[:, :96] += 6
    value, data, per_group, _, whole = case.run("--check")
    assert per_group.size == whole.size
    detected(per_group, whole.reshape(scale_shape("column_group_scales_rceil", 384, 192)), "e8m0", "whole for per-group scales")
    values = values_of(np.ascontiguousarray(data.view(E4M3).T), np.full((192, 12), 127, np.uint8)).T
    value = value.astype(np.float64)

    def quality(scales, is_whole):
        logical = column_scales(scales, case.ends, 192, is_whole)
        return decibels(values * np.repeat(np.ldexp(1.0, logical.astype(int) - 127), 32, 0), value)

    assert quality(per_group, False) >= 27 and quality(whole, True) >= 27
    assert quality(per_group, True) < 15 and quality(whole, False) < 15


def swapped():
    """Gate and up taken for each other, in the weights of a forward op and in c and the result of a gradient."""
    forward = exact("gemm_swiglu", [128, 128], 128, 64, [plain(), quantized()], gates=(0, 128, -128), ups=(1, -2, 3), hot=1)
    right = forward.expected()
    gate, up = split(forward.b.astype(F32).swapaxes(1, 2).reshape(-1, 128), False)
    forward.b = np.ascontiguousarray(join([up, gate], False).reshape(2, 64, 128).swapaxes(1, 2)).astype(E4M3)
    got = forward.run()
    detected(got[0], right[0], np.float32, "swapped halves of the weights")
    detected(got[1], right[1], E4M3, "swapped halves of the weights, quantized")
    gradient = exact("gemm_dswiglu", [128, 128], 128, 64, [plain(), plain(np.float32, "dprob")], ("c",), c_gates=(0.0, 64.0),
                     c_ups=(1.0, -2.0), hot=1)
    right = gradient.expected()
    halves = split(gradient.inputs["c"], False)
    gradient.inputs["c"] = join(halves[::-1], False)
    got = gradient.run()
    detected(got[0], right[0], np.float32, "swapped halves of c")
    detected(join(split(right[0], False)[::-1], False), right[0], np.float32, "swapped halves of the result")


def flipped_scale():
    """One bit of one scale byte: exactly the elements that it reaches change."""
    case = exact("gemm_swiglu", [128, 128], 128, 64, [plain(np.float32, "preactivation")], gates=(1, 128, -128), ups=(1, -2, 3),
                 hot=40)
    right = case.expected()[0]
    case.sa[5, 1] ^= 1
    got = case.run("--check", "--tolerance=bitwise")[0]
    detected(got, right, np.float32, "a flipped scale of a row")
    rows = np.flatnonzero((got != right).any(1))
    assert rows.tolist() == [5], rows
    case.sa[5, 1] ^= 1
    case.sb[1, 77, 0] ^= 1
    got = case.run("--check", "--tolerance=bitwise")[0]
    rows, columns = np.nonzero(got != right)
    assert set(columns) == {77} and rows.min() >= 128, "a flipped scale of a weight"


def roundings():
    """RCEIL against FLOOR, rows against columns, one norm_const against another."""
    outs = [quantized(E4M3, s) for s in ("row_scales_rceil", "row_scales_floor", "column_group_scales_rceil")]
    case = random_case("gemm_quant", [128, 128], 128, 64, outs, spread=3)
    up, up_scales, down, down_scales, column, _ = case.run()
    detected(up, down, E4M3, "data of rceil and floor")
    detected(up_scales, down_scales, "e8m0", "scales of rceil and floor")
    detected(up, column, E4M3, "data of rows and columns")
    case.norm = np.array([0.3], F32)
    detected(case.run()[1], up_scales, "e8m0", "scales with and without norm_const")


def tails():
    """One byte written past the last offset."""
    case = exact("gemm_quant", [128], 64, 64, [plain(), quantized()], extra_rows=128)
    got, want = case.run(), case.expected()
    for i, array in enumerate(got):
        what = case.destinations()[i]
        array.reshape(-1).view(np.uint8)[-1] ^= 1
        detected(array, want[i], what[0], "a write past the last offset: " + what[3])


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
