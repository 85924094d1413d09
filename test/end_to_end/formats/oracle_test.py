"""The oracle against the definitions of its formats, and its layout against the same bytes by reshaping."""
import numpy as np
from oracle import ALL, E2M1, E4M3, E5M2, E8M0


def narrow(bits, mantissa, bias):
    """Value of each code without its sign: subnormals are at exponent 0."""
    code = np.arange(1 << (bits - 1))
    exponent, fraction = code >> mantissa, code & (1 << mantissa) - 1
    normal = np.ldexp(1.0 + fraction / (1 << mantissa), exponent - bias)
    return np.where(exponent == 0, np.ldexp(fraction / (1 << mantissa), 1 - bias), normal)


def elements():
    assert (narrow(4, 1, 1) == [0, 0.5, 1, 1.5, 2, 3, 4, 6]).all()
    for dtype, parameters, numbers in ((E2M1, (4, 1, 1), 8), (E4M3, (8, 3, 7), 127), (E5M2, (8, 2, 15), 124)):
        half = 1 << (parameters[0] - 1)
        values = np.arange(2 * half, dtype=np.uint8).view(dtype).astype(np.float64)
        want = narrow(*parameters)[:numbers]
        assert (values[:numbers] == want).all() and (values[half : half + numbers] == -want).all()
        assert np.signbit(values[half]) and not np.isfinite(values[numbers:half]).any()


def scales():
    powers = np.arange(256, dtype=np.uint8).view(E8M0).astype(np.float64)
    assert (powers[:255] == np.ldexp(1.0, np.arange(255) - 127)).all() and np.isnan(powers[255])
    for each in ALL:
        assert np.isnan(np.uint8(each.nan).view(each.scale).astype(np.float64)), each.name


def layout():
    rng = np.random.default_rng(0)
    for each in ALL:
        for lines in (1, 16, 128, 129, 272, 577):
            for k in (64, 192, 256, 320, 832):
                blocks = k // each.block
                logical = rng.integers(0, 127, (lines, blocks)).astype(np.uint8)
                tall, wide = -(-lines // 128), -(-blocks // 4)
                full = np.full((tall * 128, wide * 4), each.nan, np.uint8)
                full[:lines, :blocks] = logical
                want = full.reshape(tall, 4, 32, wide, 4).transpose(0, 3, 2, 1, 4)
                assert (each.blocked(logical) == want).all(), (each.name, lines, k)


elements()
scales()
layout()
