"""Scales of columns, where every group starts new atoms: the byte of each block by formula, and back. A block is 32 rows, or 16."""
import ml_dtypes
import numpy as np

E4M3 = ml_dtypes.float8_e4m3fn


def atoms_along_rows(rows, groups, aligned, block=32):
    """What the shape of a scale operand has for the rows, whatever the offsets are."""
    span = 4 * block
    return -(-rows // span) if aligned % span == 0 else rows // span + groups


def intra(column, block):
    """Within the atom of 128 columns by 4 blocks."""
    return column % 32 * 16 + column // 32 * 4 + block


def places(width, sizes, group, block=32):
    """The byte of column n and block t of rows of one group, (width, blocks)."""
    wide, span = -(-width // 128), 4 * block
    base = 512 * wide * sum(-(-rows // span) for rows in sizes[:group])
    tall = -(-sizes[group] // span)
    n, t = np.arange(width)[:, None], np.arange(-(-sizes[group] // block))[None, :]
    return base + 512 * (n // 128 * tall + t // 4) + intra(n % 128, t % 4)


def whole_places(width, rows, begin, end):
    """The same in atoms over the whole matrix, for rows that start at a multiple of 32."""
    n, t = np.arange(width)[:, None], np.arange(begin // 32, -(-end // 32))[None, :]
    return 512 * (n // 128 * -(-rows // 128) + t // 4) + intra(n % 128, t % 4)


def write(logical, width, sizes, rows, aligned, block=32, nan=0xFF):
    """Bytes (atoms, 32, 4, 4) of `logical`, a (width, blocks) for each group; NaN where no element is."""
    atoms = atoms_along_rows(rows, len(sizes), aligned, block) * -(-width // 128)
    flat = np.full(atoms * 512, nan, np.uint8)
    for g, scales in enumerate(logical):
        flat[places(width, sizes, g, block)] = scales
    return flat.reshape(atoms, 32, 4, 4)


def factors(blocked, width, sizes, group, block=32, fine=False):
    """2^(b - 127), or the number of an e4m3 code, for each element of a group, (rows, width) f64."""
    b = blocked.reshape(-1)[places(width, sizes, group, block)]
    with np.errstate(invalid="ignore"):
        values = b.view(E4M3).astype(np.float64) if fine else np.where(b == 255, np.nan, np.ldexp(1.0, b.astype(int) - 127))
    return np.repeat(values.T, block, 0)[: sizes[group]]
