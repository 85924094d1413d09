"""What a wrong kernel or caller would do must show: each control breaks one thing and must be told from the right bytes."""
import sys

import numpy as np
from column_scales import places, whole_places
from matrices import exact, random_case
from wgrad import BF16, F32, assert_same

SIZES = [128, 256]


def detected(got, want, sizes, what):
    try:
        assert_same(got, want, sizes, what)
    except SystemExit:
        return
    sys.exit(what + ": not detected")


def as_whole(operand, sizes):
    """The same scales in the atoms of the whole matrix: as many bytes, at other places."""
    flat, begin = operand.scales.reshape(-1).copy(), 0
    for g, rows in enumerate(sizes):
        source = operand.scales.reshape(-1)[places(operand.width, sizes, g)]
        flat[whole_places(operand.width, sum(sizes), begin, begin + rows)] = source
        begin += rows
    operand.scales = flat.reshape(operand.scales.shape)


def layouts():
    """Scales of the whole matrix where those of each group belong."""
    for side in ("lhs", "rhs"):
        for device in ("emulator", "reference"):
            case = exact(SIZES, 256, 192)
            want = case.expected()[0]
            as_whole(getattr(case, side), SIZES)
            got = case.run(device=device)[0]
            detected(got, want, SIZES, f"{device}: whole-matrix scales of {side}")
    # They coincide up to 128 columns, which is why small tests do not see it.
    case = exact(SIZES, 128, 128)
    want = case.expected()[0]
    as_whole(case.lhs, SIZES)
    assert_same(case.run()[0], want, SIZES, "128 columns")


def quality():
    """On random data of columns that differ in size the gradient is far off."""
    case = random_case(SIZES, 256, 128)
    flat = case.lhs.scales.reshape(-1)
    for g in range(len(SIZES)):
        flat[places(256, SIZES, g)[128:]] += 6
    want = case.sums()
    decibels = lambda got: 10 * np.log10((want**2).sum() / ((got - want) ** 2).sum())
    right = decibels(case.run()[0])
    as_whole(case.lhs, SIZES)
    wrong = decibels(case.run()[0])
    assert right >= 85 and wrong < 15, f"right {right:.1f} dB, wrong {wrong:.1f} dB"


def flipped_scale():
    """One bit of one scale byte: exactly the row or the column of the gradient that it reaches changes."""
    for side, column in (("lhs", 200), ("rhs", 77)):
        case = exact(SIZES, 256, 192, (F32,), extra_rows=128)
        want = case.expected()[0]
        operand = getattr(case, side)
        operand.scales.reshape(-1)[places(operand.width, SIZES, 1)[column, 5]] ^= 1
        got = case.check()[0]
        detected(got, want, SIZES, "a flipped scale of " + side)
        group, n, k = np.nonzero(got != want)
        assert set(group) == {1} and set(n if side == "lhs" else k) == {column}, f"a flipped scale of {side} reached more"


def swapped_operands():
    """The transposed gradient."""
    case = exact(SIZES, 128, 128, (BF16,))
    want = case.expected()[0]
    case.lhs, case.rhs = case.rhs, case.lhs
    got = case.run()[0]
    detected(got, want, SIZES, "lhs for rhs")
    assert_same(np.ascontiguousarray(got.swapaxes(1, 2)), want, SIZES, "the transposed gradient")


def added_twice():
    """Overwriting where adding was meant, a group that was not left alone."""
    case = exact([128, 0], 128, 128, (F32,), accumulate=True)
    want = case.expected()[0]
    case.accumulate = False
    got = case.run()[0]
    detected(got[:1], want[:1], [128], "an old value that was not added")
    detected(got[1:], want[1:], [0], "a group without rows overwritten")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
