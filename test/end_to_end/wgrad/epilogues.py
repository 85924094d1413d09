"""A region on every element of the gradient: factors of the expert, addends, several results."""
import sys

import numpy as np
from matrices import exact
from wgrad import BF16, F16, F32, Epilogue

SIZES = [128, 384, 256, 128]
EMPTY = [128, 0, 256, 0]
SCALED = "    %y = arith.mulf %acc, %alpha_of : f32\n"
SUM = "    %z = arith.addf %acc, %more_of : f32\n"
ADDED = SCALED + "    %z = arith.addf %y, %more_of : f32\n"


def alphas():
    """No powers of two: each product is rounded."""
    return np.array([1.7, -0.77, -0.3, 3e-3], F32)


def addends(n, k, dtype, seed=1):
    return np.random.default_rng(seed).normal(size=(len(SIZES), n, k)).astype(dtype)


def per_group():
    for dtype in (F32, BF16, F16):
        for out in (F32, BF16):
            region = Epilogue({"alpha": alphas().astype(dtype)}, SCALED, "%y", lambda acc, alpha: [acc * alpha])
            exact(SIZES, 160, 256, (out,), epilogue=region, extra_rows=128, memrefs=out == F32).check()


def per_element():
    for dtype in (F32, BF16, F16):
        for n, k in ((128, 128), (160, 272)):
            inputs = {"alpha": alphas(), "more": addends(n, k, dtype)}
            region = Epilogue(inputs, ADDED, "%z", lambda acc, alpha, more: [acc * alpha + more])
            exact(SIZES, n, k, (BF16,), majors=(True, False), epilogue=region).check()


def two_results():
    """Each output has its value of the region."""
    inputs = {"alpha": alphas(), "more": addends(272, 64, F32)}
    region = Epilogue(inputs, ADDED, "%acc, %z", lambda acc, alpha, more: [acc, acc * alpha + more])
    exact(SIZES, 272, 64, (F32, BF16), epilogue=region).check()
    exact(SIZES, 272, 64, (F32, BF16), epilogue=region, accumulate=True).check()


def constants():
    """A region without inputs: the sign of zero and a choice survive."""
    exact(SIZES, 128, 128, (F32,), epilogue=negated()).check()


def negated():
    body = ("    %zero = arith.constant 0.0 : f32\n    %n = arith.negf %acc : f32\n"
            "    %less = arith.cmpf olt, %acc, %zero : f32\n    %y = arith.select %less, %zero, %n : f32\n")
    return Epilogue({}, body, "%y", lambda acc: [np.where(acc < 0, F32(0), -acc)])


def empty_groups():
    """The region gets +0 for an expert without rows; what is added to is kept."""
    alpha, more = alphas(), addends(160, 128, F32)
    alpha[3], more[1] = -2, np.inf
    regions = [Epilogue({"alpha": alpha}, SCALED, "%y", lambda acc, alpha: [acc * alpha]), negated(),
               Epilogue({"alpha": alpha, "more": more}, ADDED, "%z", lambda acc, alpha, more: [acc * alpha + more])]
    for region in regions:
        for accumulate in (True, False):
            exact(EMPTY, 160, 128, (BF16,), epilogue=region, accumulate=accumulate).check()


def in_place():
    """An addend may be the destination itself."""
    case = exact(SIZES, 64, 48, (F32,), epilogue=Epilogue({"more": addends(64, 48, F32)}, SUM, "%z", lambda acc, more: [acc + more]))
    want, program, arguments = case.expected()[0], case.program(), case.arguments()
    case.program = lambda: program.replace("%more: memref<4x64x48xf32>, ", "").replace("%more :", "%d0 :")
    case.arguments = lambda: arguments[:5] + [("d0", case.epilogue.inputs["more"], None)]
    for device in ("emulator", "reference"):
        assert case.run(device=device)[0].tobytes() == want.tobytes(), f"{device}: in place"


def no_region():
    """Without a region every output takes the sum."""
    exact(SIZES, 128, 128, (BF16,), bare=True).check()
    for accumulate in (False, True):
        exact(SIZES, 128, 128, (F32, BF16), bare=True, accumulate=accumulate).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
