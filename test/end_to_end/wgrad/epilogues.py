"""A region on every element of the gradient: factors of the expert, addends, several results."""
import sys

import numpy as np
from matrices import exact
from wgrad import BF16, F16, F32, Epilogue

SIZES = [128, 0, 256, 128]
SCALED = "    %y = arith.mulf %acc, %alpha_of : f32\n"
ADDED = SCALED + "    %z = arith.addf %y, %more_of : f32\n"


def alphas():
    """No powers of two: each product is rounded. NaN for the expert without rows."""
    return np.array([1.7, np.nan, -0.3, 3e-3], F32)


def addends(n, k, dtype, seed=1):
    x = np.random.default_rng(seed).normal(size=(len(SIZES), n, k)).astype(dtype)
    x[1] = np.nan
    return x


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
    body = ("    %zero = arith.constant 0.0 : f32\n    %n = arith.negf %acc : f32\n"
            "    %less = arith.cmpf olt, %acc, %zero : f32\n    %y = arith.select %less, %zero, %n : f32\n")
    region = Epilogue({}, body, "%y", lambda acc: [np.where(acc < 0, F32(0), -acc)])
    exact(SIZES, 128, 128, (F32,), epilogue=region).check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
