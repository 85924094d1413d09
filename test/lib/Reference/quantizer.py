"""Block quantization and scale layouts in NumPy, from the definitions: exponents by frexp, casts by ml_dtypes, layouts by
reshaping and transposing."""
import ml_dtypes
import numpy as np
from oracle import E4M3, E5M2, block_scales

E2M1 = ml_dtypes.float4_e2m1fn
LARGEST = {E4M3: 448.0, E5M2: 57344.0, E2M1: 6.0}
LARGEST_EXPONENT = {E4M3: 8, E5M2: 15, E2M1: 2}
NAN_CODE = {E4M3: 0x7F, E5M2: 0x7F, E2M1: 0x7}


def exponents(values):
    """floor(log2) of f32 values, and whether they are powers of two."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return exponent - 1, mantissa == 0.5


def quantize_blocks(blocks, dtype, rounding, c=1.0):
    """f32 blocks (.., v) to codes (.., v) and scale bytes (..); `c` fits (..)."""
    c = np.broadcast_to(np.asarray(c, np.float32), blocks.shape[:-1])
    one = np.float32(1)
    with np.errstate(all="ignore"):
        amax = np.abs(blocks).max(axis=-1)  # propagates NaN
        t = amax * (one / np.float32(LARGEST[dtype])) * c
        if rounding == "nearest":
            scale = np.where(t > 448, np.float32(448), t).astype(E4M3)
            value = scale.astype(np.float32)
            multiplier = np.where(value == 0, np.float32(0), c * (one / value))
            scale = np.where(np.isnan(t), 0x7F, scale.view(np.uint8))
        else:
            if rounding == "rceil":
                exponent, power = exponents(t)
                exponent = np.where((t == 0) | power, exponent, exponent + 1)
                source = t
            else:
                source = amax * c
                # The exponent field of a subnormal is 0: that of 2^-127.
                exponent = np.maximum(exponents(source)[0], -127) - LARGEST_EXPONENT[dtype]
            # Above the largest power, 2^127, there is NaN.
            scale = np.where(source == 0, 0, np.clip(exponent + 127, 0, 255))
            scale = np.where(np.isfinite(source), scale, 255)
            multiplier = (c * np.ldexp(1.0, 127 - scale).astype(np.float32)).astype(np.float32)
            multiplier = np.minimum(multiplier, np.finfo(np.float32).max)
            multiplier = np.where(scale == 255, np.float32(np.nan), multiplier)
        product = blocks * multiplier[..., None]
        codes = np.clip(product, -LARGEST[dtype], LARGEST[dtype]).astype(dtype).view(np.uint8)
        codes = np.where(np.isnan(product), NAN_CODE[dtype], codes)
    return codes.astype(np.uint8), scale.astype(np.uint8)


def along_rows(x, dtype, rounding, c=1.0, block=32):
    """x (R, N), c fits (R). Codes (R, N), logical scales (R, N / block)."""
    c = np.broadcast_to(np.asarray(c, np.float32), x.shape[:1])
    codes, scales = quantize_blocks(x.reshape(len(x), x.shape[1] // block, block), dtype, rounding, c[:, None])
    return codes.reshape(x.shape), scales


def down_columns(x, dtype, rounding, c=1.0):
    """The same on the transposed matrix, with zeros up to a whole block; c is of a block's rows. Codes (R, N), logical
    scales (N, blocks of rows)."""
    rows, columns = x.shape
    blocks = -(-rows // 32)
    padded = np.zeros((blocks * 32, columns), np.float32)
    padded[:rows] = x
    c = np.broadcast_to(np.asarray(c, np.float32), (rows,))[::32]
    codes, scales = quantize_blocks(padded.T.reshape(columns, blocks, 32), dtype, rounding, c[None, :])
    return np.ascontiguousarray(codes.reshape(columns, -1).T[:rows]), scales


def groups_of(ends):
    return list(zip([0, *ends[:-1]], ends))


def whole_scales(logical, lines, blocks, destination):
    """Of all lines and blocks, the first of which `logical` has; atoms without any keep the destination's bytes."""
    full = np.zeros((lines, blocks), np.uint8)
    full[:logical.shape[0], :logical.shape[1]] = logical
    out = destination.copy()
    rm, rk = -(-logical.shape[0] // 128), -(-logical.shape[1] // 4)
    out[:rm, :rk] = block_scales(full)[:rm, :rk]
    return out


def group_scales(logicals, destination):
    """One group's atoms behind the other's."""
    atoms = [block_scales(logical).reshape(-1, 32, 4, 4) for logical in logicals]
    out = destination.copy()
    used = sum(map(len, atoms))
    if used:
        out[:used] = np.concatenate(atoms)
    return out


def pack(codes):
    """e2m1 codes to bytes, the low nibble first."""
    return codes[..., 0::2] | codes[..., 1::2] << 4


def special_blocks(largest, count, block=32):
    """f32 blocks whose maximum is each special value, random ones behind them."""
    f = np.float32
    powers = 2.0 ** np.arange(-149, 128).astype(np.float64)
    fits = largest * powers[(largest * powers < 3e38)]
    peaks = np.concatenate([powers, fits]).astype(f)
    with np.errstate(over="ignore"):
        peaks = np.concatenate([peaks, np.nextafter(peaks, f(0)), np.nextafter(peaks, f(np.inf)),
                                f([0, -0.0, 480, 957, 6e-38, 1.3e-36, np.inf, -np.inf, np.nan, np.finfo(f).max]),
                                # scales of e4m3: ties, the least one, its half
                                f(largest) * f([17, 19, 1.0625, 2**-9, 2**-10, 1.5 * 2**-9, 449, 1e6])])
    rng = np.random.default_rng(int(largest))
    order = rng.permutation(len(peaks))[:count] if count < len(peaks) else np.arange(len(peaks))
    peaks = peaks[order]
    # Fractions that hit ties and subnormals of the formats.
    fractions = np.concatenate([[1, -1, 0, -0.0], rng.integers(-64, 65, block - 4) / 64]).astype(f)
    with np.errstate(all="ignore"):
        blocks = peaks[:, None] * fractions
        blocks[np.isnan(peaks), 1:] = rng.standard_normal((np.isnan(peaks).sum(), block - 1))
        blocks[np.isinf(peaks), 2:] = rng.standard_normal((np.isinf(peaks).sum(), block - 2))
    rest = rng.standard_normal((count - len(blocks), block)) * 2.0 ** rng.integers(-20, 20, (count - len(blocks), 1))
    return np.concatenate([blocks, rest]).astype(f)
