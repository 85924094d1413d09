"""Formats of scaled operands in NumPy, from their definitions: elements, scales, and where a scale lies."""
from dataclasses import dataclass

import ml_dtypes
import numpy as np

E2M1, E4M3, E5M2 = ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
E8M0 = ml_dtypes.float8_e8m0fnu


@dataclass(frozen=True)
class Format:
    name: str
    lhs: type
    rhs: type
    scale: type
    block: int

    @property
    def nan(self):
        """The byte of a scale that is NaN."""
        return 0xFF if self.scale == E8M0 else 0x7F

    @property
    def tile_k(self):
        """Elements in the 128 bytes of a row that a stage has."""
        return 256 if self.lhs == E2M1 else 128

    @property
    def is_fp4(self):
        return self.lhs == E2M1

    def encoded(self, scales):
        """Bytes of numbers that are scales of this format."""
        bytes_ = np.asarray(scales, np.float64).astype(self.scale)
        assert (bytes_.astype(np.float64) == scales).all(), "no scale of this format"
        return bytes_.view(np.uint8)

    def values(self, data, scale_bytes):
        """(.., K) elements times the scales of their blocks, exact, in f64."""
        with np.errstate(invalid="ignore"):
            factors = scale_bytes.view(self.scale).astype(np.float64)
            return data.astype(np.float64) * np.repeat(factors, self.block, -1)

    def blocked(self, logical):
        """(lines, blocks) bytes as (lines / 128, blocks / 4, 32, 4, 4); what belongs to no element is NaN."""
        lines, blocks = logical.shape
        tall, wide = -(-lines // 128), -(-blocks // 4)
        bytes_ = np.full(tall * wide * 512, self.nan, np.uint8)
        m, j = np.meshgrid(np.arange(lines), np.arange(blocks), indexing="ij")
        bytes_[place(m, j, wide)] = logical
        return bytes_.reshape(tall, wide, 32, 4, 4)


def place(m, j, wide):
    """The byte of row m and block j, `wide` atoms in a row of them."""
    return m // 128 * wide * 512 + j // 4 * 512 + m % 32 * 16 + m % 128 // 32 * 4 + j % 4


MXFP4 = Format("MXFP4", E2M1, E2M1, E8M0, 32)
NVFP4 = Format("NVFP4", E2M1, E2M1, E4M3, 16)
FP4_16 = Format("FP4 e8m0 16", E2M1, E2M1, E8M0, 16)
E4M3_E5M2 = Format("e4m3 x e5m2", E4M3, E5M2, E8M0, 32)
E5M2_E4M3 = Format("e5m2 x e4m3", E5M2, E4M3, E8M0, 32)
FP4 = (MXFP4, NVFP4, FP4_16)
ALL = FP4 + (E4M3_E5M2, E5M2_E4M3)
