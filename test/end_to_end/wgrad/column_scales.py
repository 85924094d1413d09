"""Scales of columns, where every group starts new atoms: the byte of each block by formula, and back."""
import numpy as np


def atoms_along_rows(rows, groups, aligned):
    """What the shape of a scale operand has for the rows, whatever the offsets are."""
    return -(-rows // 128) if aligned % 128 == 0 else rows // 128 + groups


def intra(column, block):
    """Within the atom of 128 columns by 4 blocks."""
    return column % 32 * 16 + column // 32 * 4 + block


def places(width, sizes, group):
    """The byte of column n and block t of 32 rows of one group, (width, blocks)."""
    wide = -(-width // 128)
    base = 512 * wide * sum(-(-rows // 128) for rows in sizes[:group])
    tall = -(-sizes[group] // 128)
    n, t = np.arange(width)[:, None], np.arange(-(-sizes[group] // 32))[None, :]
    return base + 512 * (n // 128 * tall + t // 4) + intra(n % 128, t % 4)


def whole_places(width, rows, begin, end):
    """The same in atoms over the whole matrix, for rows that start at a multiple of 32."""
    n, t = np.arange(width)[:, None], np.arange(begin // 32, -(-end // 32))[None, :]
    return 512 * (n // 128 * -(-rows // 128) + t // 4) + intra(n % 128, t % 4)


def write(logical, width, sizes, rows, aligned):
    """Bytes (atoms, 32, 4, 4) of `logical`, a (width, blocks) for each group; 255, NaN, where no element is."""
    atoms = atoms_along_rows(rows, len(sizes), aligned) * -(-width // 128)
    flat = np.full(atoms * 512, 0xFF, np.uint8)
    for g, scales in enumerate(logical):
        flat[places(width, sizes, g)] = scales
    return flat.reshape(atoms, 32, 4, 4)


def factors(blocked, width, sizes, group):
    """2^(b - 127) for each element of a group, (rows, width) f64."""
    b = blocked.reshape(-1)[places(width, sizes, group)].astype(int)
    return np.repeat(np.where(b == 255, np.nan, np.ldexp(1.0, b - 127)).T, 32, 0)[: sizes[group]]
