"""NaN and infinities of active rows reach their row or column of the gradient and nothing else; every scale byte."""
import sys

import numpy as np
from column_scales import places
from matrices import exact
from torchao import MAJORS
from wgrad import BF16, E4M3, E5M2, F32

SIZES = [128, 0, 256]
ROW = 128 + 77  # of the last group


def nan_only(result, rows, columns, what):
    """dW[2][rows, columns] is NaN, all else is a number."""
    want = np.zeros(result.shape, bool)
    want[2, rows, columns] = True
    assert (np.isnan(result.astype(F32)) == want).all(), what


def data():
    for dtype, code in ((E4M3, 0x7F), (E4M3, 0xFF), (E5M2, 0x7E), (E5M2, 0xFF)):
        for majors in MAJORS:
            case = exact(SIZES, 160, 128, (F32, BF16), (dtype, dtype), majors, extra_rows=128)
            case.lhs.data[ROW, 33] = np.uint8(code).view(dtype)
            for result in case.check():
                nan_only(result, 33, slice(None), f"{code:#x} of lhs")
            case = exact(SIZES, 160, 128, (F32, BF16), (dtype, dtype), majors, extra_rows=128)
            case.rhs.data[ROW, 65] = np.uint8(code).view(dtype)
            for result in case.check():
                nan_only(result, slice(None), 65, f"{code:#x} of rhs")


def scales():
    """A NaN scale of one block."""
    case = exact(SIZES, 272, 160)
    case.lhs.scales.reshape(-1)[places(272, SIZES, 2)[200, 7]] = 0xFF
    nan_only(case.check()[0], 200, slice(None), "scale of lhs")
    case = exact(SIZES, 272, 160)
    case.rhs.scales.reshape(-1)[places(160, SIZES, 2)[130, 0]] = 0xFF
    nan_only(case.check()[0], slice(None), 130, "scale of rhs")


def infinities():
    """Inf times a number is Inf of its sign, times 0 or beside -Inf it is NaN."""
    for majors in MAJORS:
        case = exact(SIZES, 160, 128, (F32, BF16), (E5M2, E5M2), majors)
        for row, column, value in ((ROW, 33, np.inf), (ROW, 34, -np.inf), (ROW, 35, np.inf), (ROW + 1, 35, -np.inf)):
            case.lhs.data[row, column] = value
        case.rhs.data[ROW, :3], case.rhs.data[ROW + 1, :3] = (1, -2, 0), (1, 1, 1)
        for result in case.check():
            x = result[2].astype(F32)
            assert x[33, 0] == np.inf and x[33, 1] == -np.inf and np.isnan(x[33, 2])
            assert x[34, 0] == -np.inf and x[34, 1] == np.inf and np.isnan(x[35, 0])
            assert np.isfinite(np.delete(x, (33, 34, 35), 0)).all() and np.isfinite(result[:2].astype(F32)).all()


def overflow():
    """f16 and bf16 overflow to infinity, f32 keeps the number."""
    sixteen = lambda shape: np.full(shape, 127 + 8)
    case = exact([128, 0, 256], 128, 128, (np.float16, F32), entries=(0, 1, 3), scale_bytes=(sixteen, sixteen))
    half, full = case.check()
    assert np.isinf(half[2].astype(F32)).any() and np.isfinite(full).all()


def every_scale():
    """Each byte from 0 to 254 against the one that makes the product of both scales 1."""
    count = lambda shape: np.broadcast_to(np.arange(shape[1]) % 255, shape)
    back = lambda shape: 254 - count(shape)
    for scale_bytes in ((count, back), (back, count)):
        case = exact([8192], 32, 48, entries=(1, -1), scale_bytes=scale_bytes)
        case.check()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
