#include "lib/Conversion/MoeKernelToNVVM/Tcgen05.h"

#include "lib/Conversion/MoeKernelToNVVM/InlinePtx.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace grouped_moe;

static constexpr unsigned tensorMemorySpace = 6;

static Value constant(OpBuilder &b, Location loc, IntegerType type,
                      uint64_t value) {
  return arith::ConstantOp::create(
      b, loc, b.getIntegerAttr(type, APInt(type.getWidth(), value)));
}

static Value pointer(OpBuilder &b, Location loc, Value address) {
  return LLVM::IntToPtrOp::create(
      b, loc, LLVM::LLVMPointerType::get(b.getContext(), tensorMemorySpace),
      address);
}

std::optional<unsigned> tcgen05::formatOf(Type type) {
  // PTX ISA, "Instruction descriptor": mxf8f6f4, and mxf4 and mxf4nvf4.
  if (isa<Float8E4M3FNType>(type)) {
    return 0;
  }
  if (isa<Float8E5M2Type, Float4E2M1FNType>(type)) {
    return 1;
  }
  return std::nullopt;
}

void tcgen05::alloc(OpBuilder &b, Location loc, Value slot, int64_t columns,
                    Group group) {
  NVVM::Tcgen05AllocOp::create(
      b, loc, slot, constant(b, loc, b.getI32Type(), columns), group);
  NVVM::Tcgen05RelinquishAllocPermitOp::create(b, loc, group);
}

void tcgen05::dealloc(OpBuilder &b, Location loc, Value address,
                      int64_t columns, Group group) {
  NVVM::Tcgen05DeallocOp::create(b, loc, pointer(b, loc, address),
                                 constant(b, loc, b.getI32Type(), columns),
                                 group);
}

void tcgen05::fenceBefore(OpBuilder &b, Location loc) {
  NVVM::Tcgen05FenceOp::create(b, loc,
                               NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}

void tcgen05::fenceAfter(OpBuilder &b, Location loc) {
  NVVM::Tcgen05FenceOp::create(b, loc,
                               NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

void tcgen05::commit(OpBuilder &b, Location loc, Value barrier, Value mask,
                     Group group) {
  NVVM::Tcgen05CommitOp::create(b, loc, barrier, mask, group);
}

/// Fills the start address (bits 0-13, units of 16 bytes) of a descriptor.
static Value descriptor(OpBuilder &b, Location loc, Value shared,
                        uint64_t fixed) {
  Value address = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(), shared);
  Value units = arith::ShRUIOp::create(b, loc, address,
                                       constant(b, loc, b.getI32Type(), 4));
  Value start = arith::AndIOp::create(b, loc, units,
                                      constant(b, loc, b.getI32Type(), 0x3fff));
  Value wide = arith::ExtUIOp::create(b, loc, b.getI64Type(), start);
  return arith::OrIOp::create(b, loc, wide,
                              constant(b, loc, b.getI64Type(), fixed));
}

Value tcgen05::operandDescriptor(OpBuilder &b, Location loc, Value shared,
                                 bool transposed, int64_t panelRows) {
  // Stride 1024 bytes for 8 rows of 128 (of K, if transposed), version 1,
  // 128-byte swizzle. The leading offset is that of the next panel of a
  // transposed operand, and otherwise not used.
  uint64_t fixed = 0x4000404000000000;
  int64_t leading = transposed ? panelRows * 128 : 16;
  return descriptor(b, loc, shared, fixed | uint64_t(leading / 16) << 16);
}

void tcgen05::copyScaleAtom(OpBuilder &b, Location loc, Value shared,
                            Value address, Group group) {
  // No swizzle, leading offset 16 bytes, stride 128 bytes for 8 rows.
  Value desc = descriptor(b, loc, shared, 0x0000400800010000);
  NVVM::Tcgen05CpOp::create(b, loc, NVVM::Tcgen05CpShape::SHAPE_32x128b, group,
                            NVVM::Tcgen05CpMulticast::WARPX4,
                            NVVM::Tcgen05CpSrcFormatAttr(),
                            pointer(b, loc, address), desc);
}

namespace {
/// Where the scales of a quarter of K are: of an atom's four bytes for a row
/// all, two or one belong to it.
struct ScalePlace {
  ScalePlace(const tcgen05::BlockScaledMma &mma, unsigned k) {
    unsigned quartersOfAtom = 4 / mma.atomsOfK;
    atom = k / quartersOfAtom;
    byte = k % quartersOfAtom * mma.atomsOfK;
  }
  unsigned atom, byte;
};
} // namespace

/// PTX ISA, "Instruction descriptor" for block-scaled kinds: scales from byte
/// `id` of an atom on, for both operands.
static uint32_t instructionDescriptor(const tcgen05::BlockScaledMma &mma,
                                      unsigned id) {
  int64_t ctas = mma.group == tcgen05::Group::CTA_2 ? 2 : 1;
  return id << 4 | mma.aFormat << 7 | mma.bFormat << 10 |
         unsigned(mma.aTransposed) << 15 | unsigned(mma.bTransposed) << 16 |
         static_cast<uint32_t>(mma.n / 8) << 17 |
         (mma.fineScales ? 0u : 1u) << 23 |
         static_cast<uint32_t>(mma.m * ctas / 16) << 24 | id << 29;
}

void tcgen05::mma(OpBuilder &b, Location loc, const BlockScaledMma &mma,
                  unsigned k, Value accumulate) {
  // 32 bytes of K are 2 units of the start address, inside the swizzled row; 32
  // rows of K, of 128 bytes, are 256.
  auto step = [&](Value desc, bool transposed) -> Value {
    if (k == 0) {
      return desc;
    }
    unsigned units = transposed ? 256 : 2;
    return arith::AddIOp::create(b, loc, desc,
                                 constant(b, loc, b.getI64Type(), units * k));
  };
  using Kind = NVVM::MMABlockScaleKind;
  Kind kind = mma.atomsOfK == 1   ? Kind::MXF8F6F4
              : mma.atomsOfK == 2 ? Kind::MXF4
                                  : Kind::MXF4NVF4;
  auto block = mma.atomsOfK == 4 ? NVVM::Tcgen05MMABlockScale::BLOCK16
                                 : NVVM::Tcgen05MMABlockScale::BLOCK32;
  ScalePlace place(mma, k);
  // Atoms of one block of K stand together, four columns each.
  auto scalesAt = [&](Value base, int64_t rows) {
    int64_t column = place.atom * ((rows + 127) / 128) * 4;
    if (column != 0) {
      base = arith::AddIOp::create(b, loc, base,
                                   constant(b, loc, b.getI32Type(), column));
    }
    return pointer(b, loc, base);
  };
  NVVM::Tcgen05MMABlockScaleOp::create(
      b, loc, kind, mma.group, block, NVVM::Tcgen05MMACollectorOp::DISCARD,
      pointer(b, loc, mma.accumulator), step(mma.a, mma.aTransposed),
      step(mma.b, mma.bTransposed),
      constant(b, loc, b.getI32Type(), instructionDescriptor(mma, place.byte)),
      accumulate, scalesAt(mma.aScales, mma.m), scalesAt(mma.bScales, mma.n));
}

SmallVector<Value> tcgen05::load(OpBuilder &b, Location loc,
                                 ArrayRef<Value> addresses,
                                 ArrayRef<int64_t> lengths) {
  Type i32 = b.getI32Type();
  SmallVector<Value> elements;
  for (auto [address, n] : llvm::zip(addresses, lengths)) {
    Type loaded = n == 1 ? i32 : VectorType::get({n}, i32);
    Value registers = NVVM::Tcgen05LdOp::create(
        b, loc, loaded, /*pack=*/false, NVVM::Tcgen05LdStShape::SHAPE_32X32B,
        pointer(b, loc, address), /*offset=*/Value());
    for (int64_t i = 0; i < n; ++i) {
      elements.push_back(
          n == 1 ? registers
                 : vector::ExtractOp::create(b, loc, registers, i).getResult());
    }
  }
  elements = inline_ptx::waitForLoads(b, loc, elements);
  for (Value &element : elements) {
    element = arith::BitcastOp::create(b, loc, b.getF32Type(), element);
  }
  SmallVector<Value> vectors;
  ValueRange left = elements;
  for (int64_t n : lengths) {
    vectors.push_back(vector::FromElementsOp::create(
        b, loc, VectorType::get({n}, b.getF32Type()), left.take_front(n)));
    left = left.drop_front(n);
  }
  return vectors;
}
