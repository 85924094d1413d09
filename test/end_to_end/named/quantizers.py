"""Block quantizers and scale layouts in NumPy, from their definitions."""
import ml_dtypes
import numpy as np

E4M3, E5M2, E2M1 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn
F32 = np.float32
LARGEST = {E4M3: 448.0, E5M2: 57344.0, E2M1: 6.0}
LARGEST_EXPONENT = {E4M3: 8, E5M2: 15, E2M1: 2}


def block_of(scales):
    return 16 if scales.endswith(("nearest", "block16")) else 32


def rounding_of(scales):
    return scales.removesuffix("_block16").rsplit("_", 1)[1]


def is_transposed(dtype, scales):
    """FP4 is summed along its fast extent: down columns it is stored (N, R)."""
    return dtype == E2M1 and scales.startswith("column")


def codes(x, dtype):
    """Nearest even, saturating; NaN is 0x7F, and the largest number of a format without NaN."""
    clipped = np.clip(x, -LARGEST[dtype], LARGEST[dtype]).astype(dtype).view(np.uint8)
    return np.where(np.isnan(x), 0x07 if dtype == E2M1 else 0x7F, clipped).astype(np.uint8)


def scale_bytes(amax, dtype, rounding, c):
    """c is norm_const. For rounding `nearest` the scale is an e4m3 number."""
    inverse = F32(1) / F32(LARGEST[dtype])
    t = (amax * inverse) * c
    if rounding == "nearest":
        return codes(t, E4M3)
    if rounding == "floor":
        exponent = (amax * c).view(np.uint32) >> 23 & 0xFF
        return np.where(exponent == 255, 255, np.maximum(exponent.astype(int) - LARGEST_EXPONENT[dtype], 0)).astype(np.uint8)
    mantissa, exponent = np.frexp(t.astype(np.float64))  # t = mantissa * 2^exponent, mantissa in [1/2, 1)
    power = np.where(mantissa == 0.5, exponent - 1, exponent)
    b = np.where(t == 0, 0, np.clip(power + 127, 0, 255))
    return np.where(np.isfinite(t), b, 255).astype(np.uint8)


def multipliers(scale, rounding, c):
    if rounding == "nearest":
        s = scale.view(E4M3).astype(F32)
        product = np.where(s == 0, F32(0), c * (F32(1) / s))
    else:
        inverse = np.where(scale == 255, np.nan, np.ldexp(1.0, 127 - scale.astype(int))).astype(F32)
        product = (c * inverse).astype(F32)
    return np.where(np.isinf(product), np.finfo(F32).max, product)  # 0 stays 0 in a block of zeros


def quantize_rows(x, dtype, scales, c):
    """x is f32 (rows, columns), c (rows) or 1. Codes of x's shape and scale bytes (rows, blocks)."""
    rounding, block = rounding_of(scales), block_of(scales)
    blocks = x.reshape(x.shape[0], x.shape[1] // block, block)
    c = np.broadcast_to(np.asarray(c, F32).reshape(-1, 1), blocks.shape[:2])
    with np.errstate(all="ignore"):
        scale = scale_bytes(np.abs(blocks).max(-1), dtype, rounding, c)
        data = codes(blocks * multipliers(scale, rounding, c)[..., None], dtype)
    return data.reshape(x.shape), scale


def atoms_of(logical):
    """(lines, blocks) bytes to (lines / 128, blocks / 4, 32, 4, 4), padding 0."""
    lines, blocks = logical.shape
    tall, wide = -(-lines // 128), -(-blocks // 4)
    full = np.zeros((tall * 128, wide * 4), np.uint8)
    full[:lines, :blocks] = logical
    return np.ascontiguousarray(full.reshape(tall, 4, 32, wide, 4).transpose(0, 3, 2, 1, 4))


def tall_of(rows, groups, aligned, span=128):
    """Atoms of `span` rows, each of one group: as many as there are room for."""
    return -(-rows // span) if aligned % span == 0 else rows // span + groups


def scale_shape(scales, rows, columns, groups=1, aligned=128):
    """Of groups that start at multiples of `aligned` rows."""
    tall = tall_of(rows, groups, aligned, 4 * block_of(scales) if scales.startswith("column") else 128)
    wide = -(-columns // 128) if scales.startswith("column") else -(-(columns // block_of(scales)) // 4)
    if "_group_" in scales:
        return (tall * wide, 32, 4, 4)
    return (wide, tall, 32, 4, 4) if scales.startswith("column") else (tall, wide, 32, 4, 4)


def group_atoms(blocked, logical, ends):
    """The atoms of each group's lines, as `blocked` makes them of a matrix, one behind the other."""
    bounds = zip([0] + list(ends[:-1]), ends)
    return np.concatenate([blocked(logical[begin:end]).reshape(-1, 32, 4, 4) for begin, end in bounds])


def quantize(x, dtype, scales, ends, c, data, bytes_):
    """Quantizes x, the rows of all groups, into data and bytes_, which have more of both."""
    active = ends[-1]
    sizes = np.diff([0] + list(ends))
    c_of_rows = np.repeat(np.resize(np.asarray(c, F32), len(ends)), sizes)
    if not scales.startswith("column"):
        q, logical = quantize_rows(x, dtype, scales, c_of_rows)
        if "_group_" in scales:
            blocked = group_atoms(atoms_of, logical, ends)
        else:
            blocked = atoms_of(logical)
        bytes_[: len(blocked)] = blocked
    else:
        q, parts, begin, rows = np.zeros(x.shape, np.uint8), [], 0, block_of(scales)
        for g, end in enumerate(ends):
            for row in range(begin, end, rows):
                own = min(rows, end - row)  # the block's missing rows count as zeros
                block = np.zeros((x.shape[1], rows), F32)
                block[:, :own] = x[row : row + own].T
                column, logical = quantize_rows(block, dtype, scales, c_of_rows[row])
                q[row : row + own] = column.T[:own]
                parts.append((g, logical))
            begin = end
        if "_group_" in scales:
            at = 0
            for g in range(len(ends)):
                own = [logical for h, logical in parts if h == g]
                if own:
                    blocked = atoms_of(np.concatenate(own, 1)).reshape(-1, 32, 4, 4)
                    bytes_[at : at + len(blocked)] = blocked
                    at += len(blocked)
        elif parts:
            blocked = atoms_of(np.concatenate([logical for _, logical in parts], 1))
            bytes_[:, : blocked.shape[1]] = blocked
    if is_transposed(dtype, scales):
        data[:, : active // 2] = q.T[:, ::2] | q.T[:, 1::2] << 4
        return
    if dtype == E2M1:
        q = q[:, ::2] | q[:, 1::2] << 4
    data[:active] = q
