// Decoding and issue of tcgen05.mma, cp and commit; checks of descriptors (ISA
// 9.7.16.4, 9.7.16.10).
#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Lanes.h"
#include "runtime/emulator/Tcgen05.h"

namespace gmoe::emulator {

std::string MatrixDescriptor::decode(uint64_t bits, MatrixDescriptor &out) {
  auto field = [&](unsigned low, unsigned width) {
    return uint32_t(bits >> low & ((uint64_t(1) << width) - 1));
  };
  out.start = field(0, 14) << 4;
  out.leading = field(16, 14) << 4;
  out.stride = field(32, 14) << 4;
  out.swizzle = field(61, 3);
  if (field(46, 3) != 1) {
    return "matrix descriptor " + hexadecimal(bits) + ": bits 46-48 are " +
           std::to_string(field(46, 3)) + ", must be 1";
  }
  if (out.swizzle == 3 || out.swizzle == 5 || out.swizzle == 7) {
    return "matrix descriptor " + hexadecimal(bits) + ": swizzle mode " +
           std::to_string(out.swizzle) + " is invalid";
  }
  if (field(49, 3) != 0) {
    return "matrix descriptor " + hexadecimal(bits) +
           ": a base offset other than 0 is not supported";
  }
  if (field(52, 1) != 0) {
    return "matrix descriptor " + hexadecimal(bits) +
           ": absolute leading dimensions need sm_103a";
  }
  if (field(53, 8) != 0) {
    return "matrix descriptor " + hexadecimal(bits) + ": bits 53-60 must be 0";
  }
  return std::string();
}

uint32_t MatrixDescriptor::swizzled(uint32_t a) const {
  switch (swizzle) {
  case 1:
    return a ^ ((a >> 2) & 0x60);
  case 2:
    return a ^ ((a >> 3) & 0x70);
  case 4:
    return a ^ ((a >> 3) & 0x30);
  case 6:
    return a ^ ((a >> 3) & 0x10);
  default:
    return a;
  }
}

static bool formatOf(MmaKind kind, uint32_t code, ElementFormat &out) {
  switch (kind) {
  case MmaKind::F16:
    out = code == 0 ? ElementFormat::F16 : ElementFormat::BF16;
    return code <= 1;
  case MmaKind::TF32:
    out = ElementFormat::TF32;
    return code == 2;
  case MmaKind::F8F6F4:
  case MmaKind::MxF8F6F4: {
    static const ElementFormat kFormats[] = {
        ElementFormat::E4M3, ElementFormat::E5M2, ElementFormat::E4M3,
        ElementFormat::E2M3, ElementFormat::E3M2, ElementFormat::E2M1};
    if (code > 5 || code == 2) {
      return false;
    }
    out = kFormats[code];
    return true;
  }
  case MmaKind::MxF4:
  case MmaKind::MxF4NvF4:
    out = ElementFormat::E2M1;
    return code == 1;
  case MmaKind::I8:
    out = code == 0 ? ElementFormat::U8 : ElementFormat::S8;
    return code <= 1;
  }
  return false;
}

std::string decodeShape(uint32_t settings, uint32_t d, MmaShape &s) {
  auto field = [&](unsigned low, unsigned width) {
    return d >> low & ((1u << width) - 1);
  };
  auto illegal = [&](const std::string &what) {
    return "instruction descriptor " + hexadecimal(d) + ": " + what;
  };
  s.kind = MmaKind(settings & 0xf);
  s.pair = settings >> 4 & 1;
  s.scaled = s.kind >= MmaKind::MxF8F6F4;
  s.scalesPerK = settings >> 8 & 0xf;
  if (field(2, 1)) {
    return illegal("sparse matrices are not supported");
  }
  if (!formatOf(s.kind, field(7, 3), s.a) ||
      !formatOf(s.kind, field(10, 3), s.b)) {
    return illegal("element format A " + std::to_string(field(7, 3)) +
                   " or B " + std::to_string(field(10, 3)) +
                   " is not one of this kind");
  }
  s.negateA = field(13, 1);
  s.negateB = field(14, 1);
  s.mnMajorA = field(15, 1);
  s.mnMajorB = field(16, 1);
  s.n = field(17, 6) << 3;
  s.m = field(24, 5) << 4;
  bool packed = s.kind == MmaKind::MxF4 || s.kind == MmaKind::MxF4NvF4;
  s.k = s.kind == MmaKind::F16    ? 16
        : s.kind == MmaKind::TF32 ? 8
        : packed                  ? 64
                                  : 32;
  if (s.scaled) {
    s.scaleE8M0 = field(23, 1);
    s.scaleIdA = field(29, 2);
    s.scaleIdB = field(4, 2);
    if (field(0, 2) || field(3, 1) || field(6, 1)) {
      return illegal("reserved bits 0, 1, 3 and 6 must be 0");
    }
    if (field(31, 1)) {
      return illegal("K = 96 needs sm_103a");
    }
    if (s.kind != MmaKind::MxF4NvF4 && !s.scaleE8M0) {
      return illegal("this kind has ue8m0 scales only (bit 23)");
    }
    if (s.kind == MmaKind::MxF4NvF4 && s.scalesPerK == 2 && !s.scaleE8M0) {
      return illegal("blocks of 32 have ue8m0 scales only (bit 23)");
    }
    if ((s.scalesPerK == 2 && ((s.scaleIdA | s.scaleIdB) & 1)) ||
        (s.scalesPerK == 4 && (s.scaleIdA | s.scaleIdB))) {
      return illegal("scale ids " + std::to_string(s.scaleIdA) + " and " +
                     std::to_string(s.scaleIdB) + " do not suit " +
                     std::to_string(s.scalesPerK) + " scales along K");
    }
  } else {
    uint32_t result = field(4, 2);
    bool integers = s.kind == MmaKind::I8;
    s.f16Result = result == 0 && !integers;
    s.saturates = field(3, 1);
    if (integers ? result != 2
                 : result > 1 || (s.f16Result && s.kind == MmaKind::TF32)) {
      return illegal("result format " + std::to_string(result) +
                     " is not one of this kind");
    }
    if (integers && (s.negateA || s.negateB)) {
      return illegal("integers cannot be negated");
    }
    if ((!integers && s.saturates) || field(6, 1) || field(23, 1)) {
      return illegal("reserved bits 3, 6 and 23 must be 0");
    }
  }
  bool fp4Kind = s.kind == MmaKind::MxF4 || s.kind == MmaKind::MxF4NvF4;
  if ((s.mnMajorA || s.mnMajorB) && fp4Kind) {
    return illegal("4-bit kinds take K-major operands only");
  }
  auto subByte = [](ElementFormat f) {
    return f >= ElementFormat::E2M3 && f <= ElementFormat::E2M1;
  };
  if ((s.mnMajorA && subByte(s.a)) || (s.mnMajorB && subByte(s.b))) {
    return illegal("MN-major operands must have 8 bits or more");
  }
  if ((s.mnMajorA || s.mnMajorB) && s.kind == MmaKind::TF32) {
    return illegal("MN-major tf32 is not supported");
  }
  bool legalM = s.pair ? s.m == 128 || s.m == 256
                       : s.m == 128 || (!s.scaled && s.m == 64);
  if (!legalM) {
    return illegal("M is " + std::to_string(s.m) + ", must be " +
                   (s.pair     ? "128 or 256"
                    : s.scaled ? "128"
                               : "64 or 128"));
  }
  uint32_t step = s.pair ? 16 : !s.scaled && s.m == 128 ? 16 : 8;
  if (s.mnMajorB && s.scaled) {
    step = s.pair ? 32 : 16;
  }
  if (s.kind == MmaKind::I8) {
    step = s.pair ? 32 : s.n <= 32 ? 8 : 16;
  }
  if (s.n < step || s.n > 256 || s.n % step) {
    return illegal("N is " + std::to_string(s.n) + ", must be a multiple of " +
                   std::to_string(step) + " from " + std::to_string(step) +
                   " to 256");
  }
  if (s.pair && s.scaled && s.m == 128) {
    return illegal("block-scaled M 128 of a CTA pair is not supported");
  }
  return std::string();
}

namespace {

/// Flags of Instruction::b.
enum : uint32_t { ATmem = 1, HasDisable = 2, HasInputScale = 4 };

bool tmemAddress(Warp &w, uint32_t address, uint32_t columns, unsigned lane) {
  uint32_t row = address >> 16 & 0x3fff, column = address & 0xffff;
  if (row >= kTmemLanes || column + columns > kTmemColumns) {
    w.fail("tensor memory address " + hexadecimal(address) + " with " +
               std::to_string(columns) +
               " columns is out of bounds (128 lanes, "
               "512 columns)",
           int(lane));
    return false;
  }
  return true;
}

void beforeThreadSync(Warp &w, const Instruction &, uint32_t mask) {
  if (Hazards *h = w.cluster->hazards) {
    h->beforeThreadSync(w, mask);
  }
}
void afterThreadSync(Warp &w, const Instruction &, uint32_t mask) {
  if (Hazards *h = w.cluster->hazards) {
    h->afterThreadSync(w, mask);
  }
}

void enqueue(Warp &w, unsigned lane, TensorOp &op) {
  if (Hazards *h = w.cluster->hazards) {
    op.issuer = h->issueTensor(w, lane, op.kind == TensorOp::Commit);
  }
  w.cluster->enqueueTensor(*w.cta, w.index * 32 + lane, op);
}

/// Operands: d, a, b, idesc, [scaleA, scaleB] or [disable vector], enable,
/// [input scale].
void mma(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    TensorOp op;
    op.kind = TensorOp::Mma;
    op.instruction = &i;
    op.warp = w.index;
    op.d = uint32_t(w.address(w.operand(i, 0), l));
    op.aInTmem = i.b & ATmem;
    if (op.aInTmem) {
      op.aTmem = uint32_t(w.address(w.operand(i, 1), l));
    } else {
      op.aDesc = w.scalar(w.operand(i, 1), l);
    }
    op.bDesc = w.scalar(w.operand(i, 2), l);
    op.idesc = uint32_t(w.scalar(w.operand(i, 3), l));
    unsigned k = 4;
    MmaShape shape;
    std::string error = decodeShape(i.a, op.idesc, shape);
    if (!error.empty()) {
      w.fail(error, int(l));
      return;
    }
    if (shape.scaled) {
      op.scaleA = uint32_t(w.address(w.operand(i, k++), l));
      op.scaleB = uint32_t(w.address(w.operand(i, k++), l));
    }
    if (i.b & HasDisable) {
      const Operand &v = w.operand(i, k++);
      for (uint32_t n = 0; n < v.count && n < 8; ++n) {
        op.disabledLanes[n] =
            uint32_t(w.scalar(w.program->operands[v.first + n], l));
      }
    }
    op.accumulate = w.predicate(w.operand(i, k++), l);
    if (i.b & HasInputScale) {
      op.inputScale = uint32_t(w.scalar(w.operand(i, k++), l));
    }
    if (!tmemAddress(w, op.d, 1, l)) {
      return;
    }
    if (shape.pair &&
        (w.cluster->ctas.size() < 2 || w.cluster->ctas.size() % 2)) {
      w.fail("cta_group::2 needs a cluster with an even number of CTAs",
             int(l));
      return;
    }
    enqueue(w, l, op);
  }
}

/// a: shape: 0 32x128b.warpx4, 1 128x256b, 2 128x128b, 3 64x128b.warpx2::02_13,
/// 4 64x128b.warpx2::01_23; b: pair.
void copy(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    TensorOp op;
    op.kind = TensorOp::Copy;
    op.instruction = &i;
    op.warp = w.index;
    op.d = uint32_t(w.address(w.operand(i, 0), l));
    op.aDesc = w.scalar(w.operand(i, 1), l);
    MatrixDescriptor descriptor;
    std::string error = MatrixDescriptor::decode(op.aDesc, descriptor);
    if (!error.empty()) {
      w.fail(error, int(l));
      return;
    }
    if (!tmemAddress(w, op.d, i.a == 1 ? 8 : 4, l)) {
      return;
    }
    enqueue(w, l, op);
  }
}

/// a: generic address; b: multicast; c: pair.
void commit(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    TensorOp op;
    op.kind = TensorOp::Commit;
    op.instruction = &i;
    op.warp = w.index;
    if (!w.sharedAddress(w.address(w.operand(i, 0), l), i.a & 1, true, l,
                         op.barrier)) {
      return;
    }
    if (i.b) {
      op.multicast = uint16_t(w.scalar(w.operand(i, 1), l));
      if (op.multicast == 0 || op.multicast >> w.cluster->ctas.size()) {
        w.fail("multicast mask is " + hexadecimal(op.multicast) +
                   ", the cluster has " +
                   std::to_string(w.cluster->ctas.size()) + " CTAs",
               int(l));
        return;
      }
    }
    enqueue(w, l, op);
  }
}

bool decodeMma(Decoder &d, bool pair) {
  Instruction &i = d.instruction();
  int kind = d.takeOneOf({"kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8",
                          "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  if (kind < 0) {
    return false;
  }
  bool scaled = kind >= int(MmaKind::MxF8F6F4);
  uint32_t scales = 0;
  if (scaled) {
    if (!d.take("block_scale")) {
      return false;
    }
    int vector = d.takeOneOf({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X",
                              "block32", "block16"});
    MmaKind k = MmaKind(kind);
    uint32_t byDefault = k == MmaKind::MxF8F6F4 ? 1
                         : k == MmaKind::MxF4   ? 2
                                                : 0;
    scales = vector < 0    ? byDefault
             : vector < 3  ? 1u << vector
             : vector == 3 ? (k == MmaKind::MxF8F6F4 ? 1 : 2)
                           : 4;
    bool legal = k == MmaKind::MxF8F6F4 ? scales == 1
                 : k == MmaKind::MxF4   ? scales == 2
                                        : scales == 2 || scales == 4;
    if (!legal) {
      return d.fail("this kind does not take " + std::to_string(scales) +
                    " scales along K");
    }
  }
  for (const char *use : {"collector::a::fill", "collector::a::use",
                          "collector::a::lastuse", "collector::a::discard"}) {
    d.take(use);
  }
  d.take("ashift");
  i.a = uint32_t(kind) | uint32_t(pair) << 4 | scales << 8;
  if (!d.count(5, 8) || !d.address(d.ast(0))) {
    return false;
  }
  if (d.ast(1).kind == AstOperand::Address) {
    i.b |= ATmem;
    if (!d.address(d.ast(1))) {
      return false;
    }
  } else if (!d.source(d.ast(1), Type::B64)) {
    return false;
  }
  if (!d.source(d.ast(2), Type::B64) || !d.source(d.ast(3), Type::B32)) {
    return false;
  }
  size_t k = 4;
  if (scaled) {
    if (!d.count(7, 7) || !d.address(d.ast(k)) || !d.address(d.ast(k + 1))) {
      return false;
    }
    k += 2;
  } else if (d.ast(k).kind == AstOperand::Vector) {
    if (!d.vector(d.ast(k), Type::B32, false, false)) {
      return false;
    }
    if (d.ast(k).children.size() != (pair ? 8u : 4u)) {
      return d.fail("the disable vector has " +
                    std::to_string(d.ast(k).children.size()) +
                    " elements, takes " + (pair ? "8" : "4"));
    }
    i.b |= HasDisable;
    ++k;
  }
  if (k >= d.size() || !d.predicateSource(d.ast(k++))) {
    return d.fail("enable-input-d is missing");
  }
  if (k < d.size()) {
    if (scaled || kind > int(MmaKind::TF32) ||
        !d.source(d.ast(k++), Type::B32)) {
      return d.fail("scale-input-d needs kind::f16 or kind::tf32");
    }
    i.b |= HasInputScale;
  }
  i.handler = mma;
  return k == d.size();
}

} // namespace

bool decodeTmem(Decoder &d, bool pair); // Tmem.cpp

bool decodeTensorCore(Decoder &d) {
  Instruction &i = d.instruction();
  bool before = d.take("fence::before_thread_sync");
  if (before || d.take("fence::after_thread_sync")) {
    i.handler = before ? beforeThreadSync : afterThreadSync;
    return d.count(0, 0);
  }
  bool pair = d.take("cta_group::2");
  if (!pair) {
    d.take("cta_group::1");
  }
  if (d.take("mma")) {
    return decodeMma(d, pair);
  }
  if (d.take("cp")) {
    int shape = -1;
    if (d.take("32x128b")) {
      shape = d.take("warpx4") ? 0 : -1;
    } else if (d.take("128x256b")) {
      shape = 1;
    } else if (d.take("128x128b")) {
      shape = 2;
    } else if (d.take("64x128b")) {
      shape = d.take("warpx2::02_13") ? 3 : d.take("warpx2::01_23") ? 4 : -1;
    }
    i.a = uint32_t(shape);
    i.b = pair;
    i.handler = copy;
    return shape >= 0 && d.count(2, 2) && d.address(d.ast(0)) &&
           d.source(d.ast(1), Type::B64);
  }
  if (d.take("commit")) {
    if (!d.take("mbarrier::arrive::one")) {
      return false;
    }
    bool shared = d.take("shared::cluster");
    i.b = d.take("multicast::cluster");
    i.c = pair;
    i.handler = commit;
    if (!d.take("b64") || !d.count(i.b ? 2 : 1, i.b ? 2 : 1) ||
        !d.address(d.ast(0)) || (i.b && !d.source(d.ast(1), Type::B16))) {
      return false;
    }
    i.a = !shared && d.pending(0).space == StateSpace::Generic;
    return true;
  }
  return decodeTmem(d, pair);
}

} // namespace gmoe::emulator
