// wgmma of sm_90a: each warp of a warpgroup computes its 16 of 64 rows (ISA
// 9.7.15). Work is done no earlier than it was issued and no later than it is
// waited for; operands are read when it is done, in the order of issue.
#include "runtime/emulator/Fragment.h"
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Tcgen05.h"
#include "runtime/numerics/Codecs.h"

#include <algorithm>

namespace gmoe::emulator {
namespace {

/// Instruction::d.
enum Setting : uint32_t {
  ARegisters = 1,
  HalfResult = 2,
  IntegerResult = 4,
  Saturates = 8,
  NegateA = 16,
  NegateB = 32,
  TransposeA = 64, // MN-major
  TransposeB = 128,
};
// Instruction: a: type of A, b: type of B, c: N; operands: d, a, b, scale-d.

unsigned depthOf(const Instruction &i) {
  return 256 / fragmentBits(FragmentType(i.a));
}

/// The 64 bits of a matrix descriptor (ISA table 33): like that of tcgen05,
/// but for the swizzle code in bits 62-63.
std::string decodeDescriptor(uint64_t bits, MatrixDescriptor &out) {
  static const uint32_t kSwizzles[] = {0, 2, 4, 6};
  auto field = [&](unsigned low) {
    return uint32_t(bits >> low & 0x3fff) << 4;
  };
  out.start = field(0);
  out.leading = field(16);
  out.stride = field(32);
  out.swizzle = kSwizzles[bits >> 62];
  if (bits >> 49 & 7) {
    return "matrix descriptor " + hexadecimal(bits) +
           ": a base offset other than 0 is not supported";
  }
  return std::string();
}

/// Element (r, k) of an operand in shared memory, or false out of bounds.
bool element(Warp &w, const PendingWgmma &p, const MatrixDescriptor &d,
             FragmentType type, bool mnMajor, unsigned r, unsigned k,
             float &out) {
  const Cta &cta = *w.cta;
  unsigned bytes = fragmentBits(type) / 8;
  uint32_t at =
      d.swizzled(mnMajor ? d.mnMajor(r * bytes, k) : d.kMajor(r, k * bytes));
  if (at < kReservedSharedBytes || at + bytes > cta.shared.size()) {
    return false;
  }
  if (Hazards *h = w.cluster->hazards) {
    h->readShared(*p.instruction, w.index, p.issuer, cta, at & ~3u, bytes);
  }
  uint32_t word = 0;
  std::memcpy(&word, cta.shared.data() + at, bytes);
  out = fragmentElement(type, word);
  return true;
}

bool execute(Warp &w, const PendingWgmma &p) {
  const Instruction &i = *p.instruction;
  const unsigned k = depthOf(i), n = i.c;
  FragmentType typeA = FragmentType(i.a), typeB = FragmentType(i.b);
  auto fail = [&](const std::string &what) {
    w.cluster->failAsync(i, w.index, what);
    w.event = true;
    return false;
  };
  std::vector<float> &scratchA = w.cluster->scratchA;
  std::vector<float> &scratchB = w.cluster->scratchB;
  scratchA.resize(std::max<size_t>(scratchA.size(), 16 * k));
  scratchB.resize(std::max<size_t>(scratchB.size(), size_t(k) * n));
  float *a = scratchA.data(), *b = scratchB.data();
  MatrixDescriptor da, db;
  std::string error = decodeDescriptor(p.bDesc, db);
  if (error.empty() && !(i.d & ARegisters)) {
    error = decodeDescriptor(p.aDesc, da);
  }
  if (!error.empty()) {
    return fail(error);
  }
  const char *outside = "a matrix operand reaches outside shared memory";
  if (i.d & ARegisters) {
    readFragmentA(w, w.operand(i, 1), typeA, k, a);
  } else {
    unsigned first = w.warpInCta % 4 * 16;
    for (unsigned r = 0; r < 16; ++r) {
      for (unsigned x = 0; x < k; ++x) {
        if (!element(w, p, da, typeA, i.d & TransposeA, first + r, x,
                     a[r * k + x])) {
          return fail(outside);
        }
      }
    }
  }
  for (unsigned x = 0; x < k; ++x) {
    for (unsigned c = 0; c < n; ++c) {
      if (!element(w, p, db, typeB, i.d & TransposeB, c, x, b[x * n + c])) {
        return fail(outside);
      }
    }
  }
  float sign = ((i.d & NegateA) != 0) != ((i.d & NegateB) != 0) ? -1.0f : 1.0f;
  for (unsigned x = 0; sign < 0 && x < 16 * k; ++x) {
    a[x] = -a[x];
  }
  const Operand &d = w.operand(i, 0);
  auto registers = [&](unsigned r) {
    return w.target<uint32_t>(w.program->operands[d.first + r]);
  };
  for (unsigned row = 0; row < 16; ++row) {
    float sum[256];
    int64_t integers[256];
    for (unsigned c = 0; c < n; ++c) {
      unsigned l = row % 8 * 4 + c % 8 / 2, r = c / 8 * 4 + row / 8 * 2 + c % 2;
      uint32_t old = i.d & HalfResult
                         ? registers(r / 2)[l] >> (16 * (c & 1)) & 0xffff
                         : registers(r)[l];
      sum[c] = !p.accumulate || (i.d & IntegerResult) ? 0.0f
               : i.d & HalfResult ? numerics::decodeF16(uint16_t(old))
                                  : numerics::floatOf(old);
      integers[c] = p.accumulate ? int32_t(old) : 0;
    }
    for (unsigned x = 0; x < k; ++x) {
      float v = a[row * k + x];
      const float *bx = b + size_t(x) * n;
      for (unsigned c = 0; c < n; ++c) {
        sum[c] += v * bx[c];
      }
    }
    for (unsigned c = 0; c < n; ++c) {
      unsigned l = row % 8 * 4 + c % 8 / 2, r = c / 8 * 4 + row / 8 * 2 + c % 2;
      if (i.d & HalfResult) {
        unsigned shift = 16 * (c & 1);
        uint32_t &word = registers(r / 2)[l];
        word = (word & ~(0xffffu << shift)) |
               uint32_t(numerics::encodeF16(sum[c])) << shift;
      } else if (i.d & IntegerResult) {
        // 32 products of 8-bit integers are exact in f32.
        int64_t total = integers[c] + int64_t(sum[c]);
        total = i.d & Saturates
                    ? std::clamp<int64_t>(total, INT32_MIN, INT32_MAX)
                    : total;
        registers(r)[l] = uint32_t(total);
      } else {
        registers(r)[l] =
            sum[c] != sum[c] ? 0x7fffffffu : numerics::bitsOf(sum[c]);
      }
    }
  }
  ++w.cluster->effects;
  w.cluster->counters.macs += uint64_t(16) * n * k;
  return true;
}

void issue(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  if (mask != 0xffffffffu) {
    w.fail("wgmma needs every thread of the warp");
    return;
  }
  PendingWgmma p;
  p.instruction = &i;
  p.group = w.wgmmaGroup;
  unsigned l = unsigned(__builtin_ctz(mask));
  if (!(i.d & ARegisters)) {
    p.aDesc = w.scalar(w.operand(i, 1), l);
  }
  p.bDesc = w.scalar(w.operand(i, 2), l);
  const Operand &scale = w.operand(i, 3);
  p.accumulate = scale.kind == Operand::Predicate ? w.predicate(scale, l)
                                                  : w.scalar(scale, l) != 0;
  if (Hazards *h = w.cluster->hazards) {
    p.issuer = h->issueWgmma(w, mask);
    w.wgmmaIssued = p.issuer.position;
  }
  w.wgmma.push_back(p);
}

/// Runs what is pending of groups before `end`.
void finish(Warp &w, uint32_t end) {
  size_t n = 0;

  while (n < w.wgmma.size() && w.wgmma[n].group < end) {
    if (!execute(w, w.wgmma[n++])) {
      break;
    }
  }
  w.wgmma.erase(w.wgmma.begin(), w.wgmma.begin() + std::ptrdiff_t(n));
}

void commit(Warp &w, const Instruction &, uint32_t mask) {
  if (!w.converged(0xffffffffu, mask)) {
    return;
  }
  ++w.wgmmaGroup;
  w.wgmmaEnds.push_back(w.wgmmaIssued);
  // Sometimes at once, sometimes as late as the wait.
  if (w.cluster->random.below(4) == 0) {
    finish(w, w.wgmmaGroup);
  }
}

/// a: groups that may stay.
void waitGroup(Warp &w, const Instruction &i, uint32_t mask) {
  if (w.converged(0xffffffffu, mask)) {
    uint32_t end = w.wgmmaGroup - std::min(w.wgmmaGroup, i.a);
    finish(w, end);
    if (w.cluster->hazards && end > 0) {
      w.cluster->hazards->wgmmaWait(w, mask, w.wgmmaEnds[end - 1]);
    }
  }
}

void fence(Warp &w, const Instruction &, uint32_t mask) {
  (void)w.converged(0xffffffffu, mask);
}

bool immediate(Decoder &d, size_t k, int64_t &out) {
  if (k >= d.size() || d.ast(k).kind != AstOperand::Integer) {
    return d.fail("operand " + std::to_string(k + 1) + " must be an immediate");
  }
  out = int64_t(d.ast(k).value);
  return true;
}

bool decodeMma(Decoder &d) {
  Instruction &i = d.instruction();
  const std::string shape = d.part(4);
  unsigned n = 0, k = 0;
  if (shape.rfind("m64n", 0) != 0 || !d.take(shape)) {
    return false;
  }
  for (size_t at = 4; at < shape.size(); ++at) {
    if (shape[at] == 'k') {
      n = k;
      k = 0;
    } else {
      k = k * 10 + unsigned(shape[at] - '0');
    }
  }
  const std::string result = d.part(5);
  FragmentType a, b;
  if (!d.take(result) || !fragmentType(d.part(6), a) || !d.take(d.part(6)) ||
      !fragmentType(d.part(7), b) || !d.take(d.part(7))) {
    return false;
  }
  bool integers = a == FragmentType::S8 || a == FragmentType::U8;
  i.a = uint32_t(a);
  i.b = uint32_t(b);
  i.c = n;
  if (k != depthOf(i) || n < 8 || n > 256 || n % 8 ||
      fragmentBits(a) != fragmentBits(b) || (fragmentBits(a) == 16 && a != b) ||
      integers != (b == FragmentType::S8 || b == FragmentType::U8)) {
    return false;
  }
  if (integers) {
    i.d |= IntegerResult | (d.take("satfinite") ? uint32_t(Saturates) : 0);
    // ISA: N steps of 16 from 32 on.
    if (result != "s32" || (n > 24 && n % 16)) {
      return false;
    }
  } else if (result == "f16") {
    if (a == FragmentType::BF16 || a == FragmentType::TF32) {
      return false;
    }
    i.d |= HalfResult;
  } else if (result != "f32") {
    return false;
  }
  bool inRegisters = d.size() > 1 && d.ast(1).kind == AstOperand::Vector;
  i.d |= inRegisters ? uint32_t(ARegisters) : 0;
  bool halves = fragmentBits(a) == 16;
  size_t operands =
      4 + (integers ? 0 : 2) + (halves ? (inRegisters ? 1 : 2) : 0);
  unsigned registers = i.d & HalfResult ? n / 4 : n / 2;
  if (!d.count(operands, operands) || d.ast(0).kind != AstOperand::Vector ||
      d.ast(0).children.size() != registers) {
    return d.fail("the accumulator must be a vector of " +
                  std::to_string(registers) + " registers");
  }
  if (!d.vector(d.ast(0), Type::B32, true, false)) {
    return false;
  }
  if (inRegisters) {
    if (d.ast(1).children.size() != 4 ||
        !d.vector(d.ast(1), Type::B32, false, false)) {
      return d.fail("A must be a descriptor or 4 registers");
    }
  } else if (!d.source(d.ast(1), Type::B64)) {
    return false;
  }
  if (!d.source(d.ast(2), Type::B64) || !d.predicateSource(d.ast(3))) {
    return false;
  }
  if (!integers) {
    int64_t scaleA = 0, scaleB = 0, transA = 0, transB = 0;
    if (!immediate(d, 4, scaleA) || !immediate(d, 5, scaleB) ||
        (halves && !inRegisters && !immediate(d, 6, transA)) ||
        (halves && !immediate(d, operands - 1, transB))) {
      return false;
    }
    if ((scaleA != 1 && scaleA != -1) || (scaleB != 1 && scaleB != -1)) {
      return d.fail("imm-scale-a and imm-scale-b must be 1 or -1");
    }
    i.d |= (scaleA < 0 ? uint32_t(NegateA) : 0) |
           (scaleB < 0 ? uint32_t(NegateB) : 0) |
           (transA ? uint32_t(TransposeA) : 0) |
           (transB ? uint32_t(TransposeB) : 0);
  }
  i.handler = issue;
  return true;
}

} // namespace

bool decodeWgmma(Decoder &d) {
  Instruction &i = d.instruction();
  int op = d.takeOneOf({"mma_async", "fence", "commit_group", "wait_group"});
  if (op < 0 || !d.take("sync") || !d.take("aligned")) {
    return false;
  }
  switch (op) {
  case 0:
    return decodeMma(d);
  case 1:
    i.handler = fence;
    return d.count(0, 0);
  case 2:
    i.handler = commit;
    return d.count(0, 0);
  default: {
    int64_t n = 0;
    i.handler = waitGroup;
    if (!d.count(1, 1) || !immediate(d, 0, n)) {
      return false;
    }
    i.a = uint32_t(n);
    return true;
  }
  }
}

} // namespace gmoe::emulator
