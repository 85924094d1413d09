// Completion of tcgen05.cp, mma and commit: operands from shared or tensor
// memory, block scales, accumulation in f32 in K order.
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Tcgen05.h"
#include "runtime/numerics/Codecs.h"

#include <algorithm>
#include <cmath>

namespace gmoe::emulator {
namespace {

constexpr uint32_t kMaximumK = 64;
constexpr uint32_t kTileN = 32;

typedef float Float8 __attribute__((vector_size(32)));

/// accumulator[m][0..n) += a[m][0..k) * b[0..k)[n], one product at a time, in K
/// order. `b` has rows of `n` rounded up to kTileN.
__attribute__((target_clones("arch=haswell", "default"))) void
multiply(float *accumulator, size_t accumulatorStride, const float *a,
         const float *b, uint32_t rows, uint32_t paddedN, uint32_t n,
         uint32_t k) {
  for (uint32_t tile = 0; tile < paddedN; tile += kTileN) {
    uint32_t width = std::min(kTileN, n - tile);
    for (uint32_t m = 0; m < rows; ++m) {
      float *row = accumulator + m * accumulatorStride + tile;
      float local[kTileN];
      if (width == kTileN) {
        std::memcpy(local, row, sizeof local);
      } else {
        std::memset(local, 0, sizeof local);
        std::memcpy(local, row, width * sizeof(float));
      }
      Float8 c0, c1, c2, c3;
      std::memcpy(&c0, local, 32);
      std::memcpy(&c1, local + 8, 32);
      std::memcpy(&c2, local + 16, 32);
      std::memcpy(&c3, local + 24, 32);
      const float *bk = b + tile;
      const float *am = a + m * kMaximumK;
      for (uint32_t x = 0; x < k; ++x, bk += paddedN) {
        Float8 b0, b1, b2, b3;
        std::memcpy(&b0, bk, 32);
        std::memcpy(&b1, bk + 8, 32);
        std::memcpy(&b2, bk + 16, 32);
        std::memcpy(&b3, bk + 24, 32);
        float s = am[x];
        Float8 v = {s, s, s, s, s, s, s, s};
        c0 += v * b0;
        c1 += v * b1;
        c2 += v * b2;
        c3 += v * b3;
      }
      std::memcpy(local, &c0, 32);
      std::memcpy(local + 8, &c1, 32);
      std::memcpy(local + 16, &c2, 32);
      std::memcpy(local + 24, &c3, 32);
      std::memcpy(row, local, width * sizeof(float));
    }
  }
}

uint32_t elementBits(const MmaShape &s, ElementFormat f) {
  switch (f) {
  case ElementFormat::F16:
  case ElementFormat::BF16:
    return 16;
  case ElementFormat::TF32:
    return 32;
  case ElementFormat::E2M1:
    return s.k == 64 ? 4 : 8; // mxf8f6f4 pads 16 elements to 16 bytes
  default:
    return 8;
  }
}

float decodeAt(ElementFormat f, bool padded, const uint8_t *row, uint32_t k) {
  switch (f) {
  case ElementFormat::F16: {
    uint16_t v;
    std::memcpy(&v, row + 2 * k, 2);
    return numerics::decodeF16(v);
  }
  case ElementFormat::BF16: {
    uint16_t v;
    std::memcpy(&v, row + 2 * k, 2);
    return numerics::decodeBF16(v);
  }
  case ElementFormat::TF32: {
    uint32_t v;
    std::memcpy(&v, row + 4 * k, 4);
    return numerics::floatOf(v & 0xffffe000u);
  }
  case ElementFormat::E2M1: {
    uint32_t at = padded ? k / 16 * 16 + k % 16 / 2 : k / 2;
    return numerics::decodeE2M1(uint8_t(row[at] >> (k % 2 * 4) & 0xf));
  }
  case ElementFormat::E2M3:
  case ElementFormat::E3M2: {
    uint32_t bit = k % 16 * 6, at = k / 16 * 16 + bit / 8;
    uint32_t v = uint32_t(row[at] | row[at + 1] << 8) >> (bit % 8) & 0x3f;
    return f == ElementFormat::E2M3 ? numerics::decodeE2M3(uint8_t(v))
                                    : numerics::decodeE3M2(uint8_t(v));
  }
  case ElementFormat::U8:
    return float(row[k]);
  case ElementFormat::S8:
    return float(int8_t(row[k]));
  default:
    return 0;
  }
}

/// Reads `rows` rows of K elements of one operand into out[row * rowStride + k
/// * kStride].
bool readOperand(Cluster &c, Cta &cta, TensorOp &op, const MmaShape &s,
                 const MatrixDescriptor &d, ElementFormat format, bool mnMajor,
                 bool negate, uint32_t rows, float *out, size_t rowStride,
                 size_t kStride) {
  uint32_t bits = elementBits(s, format);
  const uint32_t limit = uint32_t(cta.shared.size());
  auto outside = [&](uint32_t address) {
    c.failAsync(*op.instruction, op.warp,
                "matrix operand reaches shared offset " + hexadecimal(address) +
                    ", outside [" + hexadecimal(kReservedSharedBytes) + ", " +
                    hexadecimal(limit) + ")");
    return false;
  };
  const float *table = format == ElementFormat::E4M3   ? numerics::e4m3Table()
                       : format == ElementFormat::E5M2 ? numerics::e5m2Table()
                                                       : nullptr;
  const float sign = negate ? -1.0f : 1.0f;
  if (mnMajor) {
    uint32_t bytes = bits / 8;
    for (uint32_t k = 0; k < s.k; ++k) {
      for (uint32_t r = 0; r < rows; ++r) {
        uint32_t address = d.swizzled(d.mnMajor(r * bytes, k));
        if (address < kReservedSharedBytes || address + bytes > limit) {
          return outside(address);
        }
        if (c.hazards) {
          c.hazards->readShared(*op.instruction, op.warp, op.issuer, cta,
                                address, bytes);
        }
        const uint8_t *p = cta.shared.data() + address;
        float v = table ? table[*p] : decodeAt(format, false, p, 0);
        out[r * rowStride + k * kStride] = negate ? sign * v : v;
      }
    }
    return true;
  }
  uint8_t row[48] = {};
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t x = 0; x < 32; x += 16) {
      uint32_t address = d.swizzled(d.kMajor(r, x));
      if (address < kReservedSharedBytes || address + 16 > limit) {
        return outside(address);
      }
      if (c.hazards) {
        c.hazards->readShared(*op.instruction, op.warp, op.issuer, cta, address,
                              16);
      }
      std::memcpy(row + x, cta.shared.data() + address, 16);
    }
    float *to = out + r * rowStride;
    if (table) {
      for (uint32_t k = 0; k < 32; ++k) {
        to[k * kStride] = table[row[k]];
      }
    } else {
      for (uint32_t k = 0; k < s.k; ++k) {
        to[k * kStride] = decodeAt(format, s.k == 32, row, k);
      }
    }
    if (negate) {
      for (uint32_t k = 0; k < s.k; ++k) {
        to[k * kStride] = -to[k * kStride];
      }
    }
  }
  return true;
}

bool readTmemOperand(Cluster &c, Cta &cta, TensorOp &op, const MmaShape &s,
                     uint32_t rows, float *out) {
  uint32_t column = op.aTmem & 0xffff;
  if (column + 8 > kTmemColumns || s.mnMajorA ||
      (s.a >= ElementFormat::E2M3 && s.a <= ElementFormat::E2M1 && s.k == 32)) {
    c.failAsync(*op.instruction, op.warp,
                "operand A in tensor memory must be K-major, of 8 bits or more "
                "or packed, and within 512 columns");
    return false;
  }
  const float *table = s.a == ElementFormat::E4M3   ? numerics::e4m3Table()
                       : s.a == ElementFormat::E5M2 ? numerics::e5m2Table()
                                                    : nullptr;
  for (uint32_t r = 0; r < rows; ++r) {
    uint32_t lane = s.m == 64 ? r / 16 * 32 + r % 16 : r;
    uint8_t row[48] = {};
    std::memcpy(row, &cta.tmem[size_t(lane) * kTmemColumns + column], 32);
    for (uint32_t k = 0; k < s.k; ++k) {
      float v = table ? table[row[k]] : decodeAt(s.a, false, row, k);
      out[r * kMaximumK + k] = s.negateA ? -v : v;
    }
  }
  return true;
}

/// Scale factor `j` (along K) of row `row`, as seen from lanes 32q to 32q + 31.
float scaleAt(const Cta &cta, const MmaShape &s, uint32_t address, uint32_t id,
              uint32_t row, uint32_t j, uint32_t q) {
  uint32_t column = (address & 0xffff) + row / 32;
  uint32_t word = cta.tmem[size_t(32 * q + row % 32) * kTmemColumns + column];
  uint8_t code = uint8_t(word >> (8 * ((id + j) & 3)));
  return s.scaleE8M0 ? numerics::decodeE8M0(code)
                     : numerics::decodeE4M3(code & 0x7f);
}

bool moderate(float scale) {
  // Products with any element stay normal and finite in f32, even when both
  // operands have such a scale.
  float m = std::fabs(scale);
  return m == 0 || (m >= 0x1p-40f && m <= 0x1p40f);
}

/// Rows of D that one CTA owns, and where.
struct Part {
  Cta *cta;
  uint32_t firstRow, rows; // of the instruction's M
};

/// When a scale is so large or small that scaled elements would leave f32:
/// exact products in double, one rounding a term.
void multiplyWide(float *row, const float *a, const double *scaleA,
                  const float *b, uint32_t paddedN, uint32_t n, uint32_t k,
                  const double *scaleB, uint32_t perScale, uint32_t scales) {
  for (uint32_t x = 0; x < k; ++x) {
    uint32_t j = x / perScale;
    for (uint32_t y = 0; y < n; ++y) {
      double scale = scaleA[j] * scaleB[y * scales + j];
      double term = double(a[x]) * double(b[size_t(x) * paddedN + y]) * scale;
      row[y] = float(double(row[y]) + term);
    }
  }
}

void failMma(Cluster &c, TensorOp &op, const std::string &what) {
  c.failAsync(*op.instruction, op.warp, what);
}

bool columnsAllocated(const Cta &cta, uint32_t column, uint32_t count) {
  if (column + count > kTmemColumns) {
    return false;
  }
  for (uint32_t s = column / 32; s * 32 < column + count; ++s) {
    if (cta.tmemOwner[s] == 0) {
      return false;
    }
  }
  return true;
}

/// Tells the hazard checker which tensor memory an MMA touches in one CTA.
void watchMma(Cluster &c, Cta &cta, const TensorOp &op, const MmaShape &s,
              uint32_t dColumn, uint32_t dColumns) {
  Hazards &h = *c.hazards;
  if (s.scaled) {
    uint32_t rowsA = s.m / (s.pair ? 2 : 1);
    h.tensorAccess(op, cta, 0, kTmemLanes, op.scaleA & 0xffff,
                   (rowsA + 31) / 32, Hazards::Read);
    h.tensorAccess(op, cta, 0, kTmemLanes, op.scaleB & 0xffff, (s.n + 31) / 32,
                   Hazards::Read);
  }
  Hazards::Access access = op.accumulate ? Hazards::Atomic : Hazards::Write;
  // M 64: rows in the first 16 lanes of each 32.
  uint32_t lanes = s.m == 64 ? 16 : kTmemLanes;
  for (uint32_t lane = 0; lane < kTmemLanes; lane += std::max(lanes, 32u)) {
    if (op.aInTmem) {
      h.tensorAccess(op, cta, lane, lanes, op.aTmem & 0xffff, 8, Hazards::Read);
    }
    h.tensorAccess(op, cta, lane, lanes, dColumn, dColumns, access);
  }
}

} // namespace

void executeMma(Cluster &c, Cta &issuer, TensorOp &op) {
  MmaShape s;
  std::string error = decodeShape(op.instruction->a, op.idesc, s);
  MatrixDescriptor ad, bd;
  if (error.empty() && !op.aInTmem) {
    error = MatrixDescriptor::decode(op.aDesc, ad);
  }
  if (error.empty()) {
    error = MatrixDescriptor::decode(op.bDesc, bd);
  }
  if (!error.empty()) {
    failMma(c, op, error);
    return;
  }
  uint32_t leader = s.pair ? issuer.rank & ~1u : issuer.rank;
  uint32_t ctas = s.pair ? 2 : 1;
  uint32_t rowsEach = s.m / ctas;
  uint32_t paddedN = (s.n + kTileN - 1) / kTileN * kTileN;
  bool halves = s.pair && s.m == 128; // N split over the two lane halves
  uint32_t dColumn = op.d & 0xffff;
  uint32_t dColumns = (halves ? s.n / 2 : s.n) / (s.f16Result ? 1 : 1);
  uint32_t perScale = s.scaled ? s.k / s.scalesPerK : s.k;
  c.scratchA.resize(128 * kMaximumK);
  c.scratchB.resize(size_t(kMaximumK) * paddedN * 2);
  float *b = c.scratchB.data();
  std::fill(c.scratchB.begin(), c.scratchB.end(), 0.0f);

  // B: each CTA of a pair holds half of N.
  for (uint32_t k = 0; k < ctas; ++k) {
    uint32_t part = s.n / ctas;
    if (!readOperand(c, c.ctas[leader + k], op, s, bd, s.b, s.mnMajorB,
                     s.negateB, part, b + k * part, 1, paddedN)) {
      return;
    }
  }
  for (uint32_t part = 0; part < ctas; ++part) {
    Cta &cta = c.ctas[leader + part];
    float *a = c.scratchA.data();
    if (op.aInTmem ? !readTmemOperand(c, cta, op, s, rowsEach, a)
                   : !readOperand(c, cta, op, s, ad, s.a, s.mnMajorA, s.negateA,
                                  rowsEach, a, kMaximumK, 1)) {
      return;
    }
    if (!columnsAllocated(cta, dColumn, dColumns)) {
      c.failAsync(FindingKind::TmemUse, *op.instruction, op.warp,
                  "the accumulator's columns " + std::to_string(dColumn) +
                      " to " + std::to_string(dColumn + dColumns - 1) +
                      " are not all allocated");
      return;
    }
    if (s.scaled &&
        (!columnsAllocated(cta, op.scaleA & 0xffff, (rowsEach + 31) / 32) ||
         !columnsAllocated(cta, op.scaleB & 0xffff, (s.n + 31) / 32))) {
      c.failAsync(FindingKind::TmemUse, *op.instruction, op.warp,
                  "the columns of the scale factors are not all allocated");
      return;
    }
    if (c.hazards) {
      watchMma(c, cta, op, s, dColumn, dColumns);
    }
    // 32 rows at a time: the lanes of one quarter read their own copy of the
    // scale factors.
    float *scaledB = b + size_t(kMaximumK) * paddedN;
    std::vector<double> wideA(4), wideB;
    for (uint32_t row0 = 0; row0 < rowsEach; row0 += 32) {
      uint32_t rows = std::min(32u, rowsEach - row0);
      uint32_t q = s.m == 64 ? 0 : halves ? row0 / 32 : row0 / 32;
      const float *bUsed = b;
      bool wide = false;
      if (s.scaled) {
        for (uint32_t j = 0; j < s.scalesPerK && !wide; ++j) {
          for (uint32_t r = 0; r < rows; ++r) {
            wide |= !moderate(
                scaleAt(cta, s, op.scaleA, s.scaleIdA, row0 + r, j, q));
          }
          for (uint32_t y = 0; y < s.n; ++y) {
            wide |= !moderate(scaleAt(cta, s, op.scaleB, s.scaleIdB, y, j, q));
          }
        }
        if (!wide) {
          for (uint32_t j = 0; j < s.scalesPerK; ++j) {
            float scales[256];
            for (uint32_t y = 0; y < s.n; ++y) {
              scales[y] = scaleAt(cta, s, op.scaleB, s.scaleIdB, y, j, q);
            }
            for (uint32_t x = j * perScale; x < (j + 1) * perScale; ++x) {
              for (uint32_t y = 0; y < s.n; ++y) {
                scaledB[size_t(x) * paddedN + y] =
                    b[size_t(x) * paddedN + y] * scales[y];
              }
            }
            for (uint32_t r = 0; r < rows; ++r) {
              float scale =
                  scaleAt(cta, s, op.scaleA, s.scaleIdA, row0 + r, j, q);
              for (uint32_t x = j * perScale; x < (j + 1) * perScale; ++x) {
                a[(row0 + r) * kMaximumK + x] *= scale;
              }
            }
          }
          bUsed = scaledB;
        } else {
          wideB.resize(size_t(s.n) * s.scalesPerK);
          for (uint32_t y = 0; y < s.n; ++y) {
            for (uint32_t j = 0; j < s.scalesPerK; ++j) {
              wideB[y * s.scalesPerK + j] =
                  double(scaleAt(cta, s, op.scaleB, s.scaleIdB, y, j, q));
            }
          }
        }
      }
      for (uint32_t half = 0; half < (halves ? 2u : 1u); ++half) {
        uint32_t width = halves ? s.n / 2 : s.n;
        uint32_t group = s.m == 64 ? 16 : 32;
        for (uint32_t g = 0; g < rows; g += group) {
          uint32_t row = row0 + g;
          uint32_t lane = s.m == 64 ? row / 16 * 32 : row + half * 64;
          uint32_t count = std::min(group, rows - g);
          float buffer[32][256];
          uint32_t *base = &cta.tmem[size_t(lane) * kTmemColumns + dColumn];
          float *target = reinterpret_cast<float *>(base);
          size_t stride = kTmemColumns;
          // Integers: the products' exact sum in f32, added to what was there.
          bool integers = s.kind == MmaKind::I8;
          bool copied =
              integers || s.f16Result || op.instruction->b & 2 || op.inputScale;
          if (copied) {
            target = &buffer[0][0];
            stride = 256;
          }
          for (uint32_t r = 0; r < count; ++r) {
            float *to = target + r * stride;
            const uint32_t *from = base + size_t(r) * kTmemColumns;
            if (!op.accumulate || integers) {
              std::fill_n(to, width, 0.0f);
            } else if (copied) {
              for (uint32_t y = 0; y < width; ++y) {
                float v = s.f16Result ? numerics::decodeF16(uint16_t(from[y]))
                                      : numerics::floatOf(from[y]);
                to[y] = op.inputScale ? std::ldexp(v, -int(op.inputScale & 0xf))
                                      : v;
              }
            }
          }
          const float *bHere = bUsed + half * width;
          if (wide) {
            for (uint32_t r = 0; r < count; ++r) {
              for (uint32_t j = 0; j < s.scalesPerK; ++j) {
                wideA[j] = double(
                    scaleAt(cta, s, op.scaleA, s.scaleIdA, row + r, j, q));
              }
              multiplyWide(target + r * stride, a + (row + r) * kMaximumK,
                           wideA.data(), bHere, paddedN, width, s.k,
                           wideB.data(), perScale, s.scalesPerK);
            }
          } else if (halves) {
            for (uint32_t r = 0; r < count; ++r) {
              for (uint32_t x = 0; x < s.k; ++x) {
                float v = a[(row + r) * kMaximumK + x];
                for (uint32_t y = 0; y < width; ++y) {
                  target[r * stride + y] += v * bHere[size_t(x) * paddedN + y];
                }
              }
            }
          } else {
            multiply(target, stride, a + row * kMaximumK, bHere, count, paddedN,
                     s.n, s.k);
          }
          if (copied) {
            for (uint32_t r = 0; r < count; ++r) {
              uint32_t l = lane + r;
              uint32_t word = op.disabledLanes[part * 4 + l / 32];
              if ((op.instruction->b & 2) && (word >> (l % 32) & 1)) {
                continue;
              }
              uint32_t *to = base + size_t(r) * kTmemColumns;
              for (uint32_t y = 0; y < width; ++y) {
                float v = target[r * stride + y];
                if (integers) {
                  int64_t sum =
                      int64_t(v) + (op.accumulate ? int32_t(to[y]) : 0);
                  to[y] = uint32_t(s.saturates ? std::clamp<int64_t>(
                                                     sum, INT32_MIN, INT32_MAX)
                                               : sum);
                  continue;
                }
                to[y] =
                    s.f16Result ? numerics::encodeF16(v) : numerics::bitsOf(v);
              }
            }
          }
        }
      }
    }
  }
  ++c.counters.mmaInstructions;
  c.counters.macs += uint64_t(s.m) * s.n * s.k;
}

void executeCopy(Cluster &c, Cta &issuer, TensorOp &op) {
  MatrixDescriptor d;
  std::string error = MatrixDescriptor::decode(op.aDesc, d);
  if (!error.empty()) {
    failMma(c, op, error);
    return;
  }
  bool pair = op.instruction->b;
  uint32_t shape = op.instruction->a;
  uint32_t first = pair ? issuer.rank & ~1u : issuer.rank;
  uint32_t rows = shape == 0 ? 32 : shape >= 3 ? 64 : 128;
  uint32_t bytes = shape == 1 ? 32 : 16;
  uint32_t column = op.d & 0xffff;
  for (uint32_t k = first; k < first + (pair ? 2u : 1u) && k < c.ctas.size();
       ++k) {
    Cta &cta = c.ctas[k];
    if (!columnsAllocated(cta, column, bytes / 4)) {
      c.failAsync(FindingKind::TmemUse, *op.instruction, op.warp,
                  "the destination columns of the copy are not allocated");
      return;
    }
    if (c.hazards) {
      c.hazards->tensorAccess(op, cta, 0, kTmemLanes, column, bytes / 4,
                              Hazards::Write);
    }
    for (uint32_t r = 0; r < rows; ++r) {
      uint8_t data[32];
      for (uint32_t x = 0; x < bytes; x += 16) {
        uint32_t at = d.swizzled(d.kMajor(r, x));
        if (at < kReservedSharedBytes || at + 16 > cta.shared.size()) {
          failMma(c, op,
                  "the copy reads shared offset " + hexadecimal(at) +
                      ", which is out of bounds");
          return;
        }
        if (c.hazards) {
          c.hazards->readShared(*op.instruction, op.warp, op.issuer, cta, at,
                                16);
        }
        std::memcpy(data + x, cta.shared.data() + at, 16);
      }
      auto put = [&](uint32_t lane) {
        std::memcpy(&cta.tmem[size_t(lane) * kTmemColumns + column], data,
                    bytes);
      };
      switch (shape) {
      case 0:
        for (uint32_t q = 0; q < 4; ++q) {
          put(r + 32 * q);
        }
        break;
      case 3: // warps 0 and 2 get the first half, 1 and 3 the second
        put(r);
        put(r + 64);
        break;
      case 4: // warps 0 and 1 the first half, 2 and 3 the second
        put(r % 32 + r / 32 * 64);
        put(r % 32 + r / 32 * 64 + 32);
        break;
      default:
        put(r);
      }
    }
  }
  ++c.counters.cpInstructions;
}

void completeTensor(Cluster &c, Cta &cta, TensorOp &op) {
  switch (op.kind) {
  case TensorOp::Mma:
    executeMma(c, cta, op);
    return;
  case TensorOp::Copy:
    executeCopy(c, cta, op);
    return;
  case TensorOp::Commit:
    break;
  }
  uint32_t targets = op.multicast ? op.multicast : 1u << (op.barrier >> 24);
  for (uint32_t m = targets; m; m &= m - 1) {
    uint32_t rank = uint32_t(__builtin_ctz(m));
    uint32_t at = (op.barrier & 0xffffffu) | rank << 24;
    MBarrier *b = c.barrierAt(at);
    if (b && b->valid && c.hazards) {
      c.hazards->commit(op, c.ctas[rank], *b, at);
    }
    std::string error = !b || !b->valid
                            ? std::string("no mbarrier is initialized there")
                            : barrierArrive(c, *b, 1);
    if (!error.empty()) {
      c.failAsync(b && b->valid ? FindingKind::ArrivalCount
                                : FindingKind::BarrierLifetime,
                  *op.instruction, op.warp,
                  "arrival on the mbarrier at shared address " +
                      hexadecimal(at) + ": " + error);
      return;
    }
  }
}

} // namespace gmoe::emulator
