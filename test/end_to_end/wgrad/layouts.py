"""The formula of the scales against the same bytes by reshaping and transposing, and against the shapes it must fit."""
import numpy as np
from column_scales import atoms_along_rows, factors, places, whole_places, write


def blocked(logical):
    """(width, blocks) in whole atoms, 255 as padding."""
    width, blocks = logical.shape
    wide, tall = -(-width // 128), -(-blocks // 4)
    full = np.full((wide * 128, tall * 4), 0xFF, np.uint8)
    full[:width, :blocks] = logical
    return full.reshape(wide, 4, 32, tall, 4).transpose(0, 3, 2, 1, 4).reshape(-1)


def groups():
    rng = np.random.default_rng(0)
    for sizes, aligned in (([256, 0, 512, 256], 256), ([128, 384], 128), ([32, 0, 1024, 64], 32), ([96, 160, 0, 224], 32),
                           ([32] * 5 + [0] * 5 + [32], 32)):
        for width in (64, 128, 160, 272):
            for extra in (0, 48, 128):
                rows = sum(sizes) + extra
                logical = [rng.integers(0, 255, (width, -(-size // 32))).astype(np.uint8) for size in sizes]
                have = write(logical, width, sizes, rows, aligned).reshape(-1)
                want = np.concatenate([blocked(x) for x in logical])
                assert len(want) <= len(have) == 512 * -(-width // 128) * atoms_along_rows(rows, len(sizes), aligned)
                assert (have[: len(want)] == want).all() and (have[len(want) :] == 0xFF).all(), (sizes, width)
                for g, x in enumerate(logical):
                    assert (factors(have, width, sizes, g) == np.repeat(np.ldexp(1.0, x.astype(int) - 127).T, 32, 0)).all()


def coincide():
    """Whole and per group are one layout for one group without more rows, and for up to 128 columns."""
    for width, sizes, same in ((256, [512], True), (128, [128, 256], True), (160, [128, 256], False)):
        begin, equal = 0, True
        for g, size in enumerate(sizes):
            equal &= bool((places(width, sizes, g) == whole_places(width, sum(sizes), begin, begin + size)).all())
            begin += size
        assert equal == same, (width, sizes)


groups()
coincide()
