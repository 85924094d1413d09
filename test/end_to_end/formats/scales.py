"""Every scale byte of FP4 data; NaN scales of active rows; zeros of both signs."""
import sys

import numpy as np
from equations import BF16
from named import plain, quantized
from oracle import ALL, E2M1, FP4_16, MXFP4, NVFP4
from products import Product, exact, poisoned

SIZES = [128, 0, 256]
ROW = 128 + 77  # of the last group
K = 320


def table(form, row_bytes, column_bytes):
    """Element [r, n] is the product of scale r of the rows and scale n of the columns. Each row has one element that is not
    0, a 1; the other blocks of the row have the scale of the row before."""
    rows, columns, blocks = len(row_bytes), len(column_bytes), K // form.block
    row, at = np.arange(rows), np.arange(rows) * 7 % K
    a, b = np.zeros((rows, K)), np.ones((1, columns, K))
    a[row, at] = 1
    before = np.where(row_bytes == form.nan, 0, row_bytes)[row - 1]
    sa, sb = [np.repeat(x[:, None], blocks, 1).astype(np.uint8) for x in (before, column_bytes)]
    sa[row, at // form.block] = row_bytes
    return Product("gemm", *poisoned(form, [rows], a, b, sa, sb[None], 57), [plain()], format=form)


def e8m0():
    """All 256 bytes. A product below 2^-149, outside of f32, may be anything that small."""
    column_bytes = np.array([0, 1, 64, 126, 127, 128, 190, 253, 254, 255] + [127] * 6, np.uint8)
    for form in (MXFP4, FP4_16):
        case = table(form, np.arange(256, dtype=np.uint8), column_bytes)
        exact_product = case.accumulate()
        got = case.run("--check")[0]
        assert (got[256:].view(np.uint32) == 0xFFFFFFFF).all(), "rows of no group are written"
        got = got[:256]
        with np.errstate(over="ignore"):
            want = exact_product.astype(np.float32)
        tiny = (exact_product < 2.0**-149) & (np.abs(got) <= 2.0**-149)
        same = (got == want) | (np.isnan(got) & np.isnan(want)) | tiny
        assert same.all(), [(form.name, i, got[tuple(i)], want[tuple(i)]) for i in np.argwhere(~same)[:4]]
        assert np.isinf(want).any() and (want == 0).any() and np.isnan(want).sum() == 256 + 16 - 1
        # Numbers of f32, subnormal ones too, are exact.
        case.sa[255], case.sb[:] = 126, 127
        case.check()


def e4m3():
    """All 127 numbers of rows times all of columns, and NaN."""
    case = table(NVFP4, np.arange(128, dtype=np.uint8), np.arange(128, dtype=np.uint8))
    got = case.check()[0][:128]
    number = np.arange(127, dtype=np.uint8).view(NVFP4.scale).astype(np.float64)
    assert (got[:127, :127] == np.outer(number, number)).all() and np.isnan(got[127]).all() and np.isnan(got[:, 127]).all()
    assert not got[0, :127].any() and not np.signbit(got[0, :127]).any()


def nan():
    """A NaN scale of lhs makes its row NaN, one of rhs its column in its group; the FP4 of a NaN is the largest number."""
    for form in ALL:
        for block in (0, K // form.block - 1):
            outs = [plain(), plain(BF16), quantized(E2M1, "row_scales_rceil"), quantized(E2M1, "row_scales_nearest")]
            case = exact(form, 160, K, outs, sizes=SIZES, extra_rows=57)
            case.sa[ROW, block] = case.sb[2, 33, block] = form.nan
            want = np.zeros((sum(SIZES), 160), bool)
            want[ROW], want[128:, 33] = True, True
            for dtype, got in zip((np.float32, BF16), case.check()):
                assert (np.isnan(got.view(dtype)[: sum(SIZES)].astype(np.float32)) == want).all(), case.name()


def zeros():
    """Sums of zeros of either sign are +0."""
    for form in ALL:
        case = exact(form, 160, K, [plain(), plain(BF16)], sizes=SIZES, extra_rows=57)
        case.a[ROW], case.b[2, 33] = -0.0, -0.0
        assert np.signbit(case.a[ROW].astype(np.float32)).all() and np.signbit(case.a[:ROW].astype(np.float32)).any()
        for got in case.check():
            assert not got[ROW].any() and not got[128 : sum(SIZES), 33].any(), case.name()


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
