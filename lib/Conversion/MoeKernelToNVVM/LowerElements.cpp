// Global memory accesses and conversions of elements.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace moe_kernel;
using namespace grouped_moe;

/// Kernel pointers are aligned to this many bytes, which is also the widest
/// access that needs no more.
static constexpr int64_t pointerAlignment = 16;

static SmallVector<int64_t> stridesOf(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset); // func verifies it
  return strides;
}

Value KernelLowering::globalAddress(MemRefType type, Value base,
                                    ValueRange indices) {
  SmallVector<int64_t> strides = stridesOf(type);
  bool isDense = type.getLayout().isIdentity();
  Value linear;
  for (auto [i, index] : llvm::enumerate(indices)) {
    Value wide = create<arith::ExtSIOp>(b.getI64Type(), index);
    if (!isDense && strides[i] != 1) {
      wide = create<arith::MulIOp>(wide, i64Const(strides[i]));
    }
    if (linear && isDense) {
      linear = create<arith::MulIOp>(linear, i64Const(type.getDimSize(i)));
    }
    linear = linear ? create<arith::AddIOp>(linear, wide).getResult() : wide;
  }
  if (!linear) {
    return base;
  }
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (bytes == 0) { // two elements a byte
    linear = create<arith::ShRUIOp>(linear, i64Const(1));
    bytes = 1;
  }
  return create<LLVM::GEPOp>(base.getType(), b.getIntegerType(8 * bytes), base,
                             ValueRange{linear});
}

/// What the access may assume: the innermost index is a multiple of the
/// access' length, row strides are what they are.
static int64_t accessAlignment(MemRefType type, Type value) {
  int64_t elementBytes =
      getElementTypeOrSelf(value).getIntOrFloatBitWidth() / 8;
  int64_t length = 1;
  if (auto vector = dyn_cast<VectorType>(value)) {
    length = vector.getNumElements();
  }
  int64_t alignment = std::gcd(pointerAlignment, elementBytes * length);
  for (int64_t stride : ArrayRef(stridesOf(type)).drop_back()) {
    alignment = std::gcd(alignment, stride * type.getElementTypeBitWidth() / 8);
  }
  return std::max(alignment, elementBytes);
}

/// Elements below 32 bits travel as words: vectors of bytes are otherwise
/// accessed one by one.
static VectorType wordsOf(Type value) {
  auto vector = dyn_cast<VectorType>(value);
  if (!vector) {
    return {};
  }
  int64_t bits = vector.getNumElements() * vector.getElementTypeBitWidth();
  if (vector.getElementTypeBitWidth() >= 32 || bits % 32 != 0) {
    return {};
  }
  return VectorType::get({bits / 32}, IntegerType::get(value.getContext(), 32));
}

LogicalResult KernelLowering::lower(PointeeOp op) {
  auto type = cast<MemRefType>(op.getAddresses().getType());
  Value array = mapped(op.getAddresses());
  Value at = globalAddress(type, array, mapped(op.getIndex()));
  Value address = create<LLVM::LoadOp>(b.getI64Type(), at, /*alignment=*/8);
  map.map(op.getMemref(), create<LLVM::IntToPtrOp>(array.getType(), address));
  return success();
}

LogicalResult KernelLowering::lower(GlobalLoadOp op) {
  auto type = cast<MemRefType>(op.getMemref().getType());
  Type value = op.getValue().getType();
  Value address =
      globalAddress(type, mapped(op.getMemref()), mapped(op.getIndices()));
  int64_t alignment = accessAlignment(type, value);
  VectorType words = alignment >= 4 ? wordsOf(value) : VectorType();
  Value loaded =
      create<LLVM::LoadOp>(words ? words : value, address, alignment);
  if (words) {
    loaded = create<LLVM::BitcastOp>(value, loaded);
  }
  map.map(op.getValue(), loaded);
  return success();
}

LogicalResult KernelLowering::lower(GlobalStoreOp op) {
  auto type = cast<MemRefType>(op.getMemref().getType());
  Value value = mapped(op.getValue());
  Value address =
      globalAddress(type, mapped(op.getMemref()), mapped(op.getIndices()));
  int64_t alignment = accessAlignment(type, value.getType());
  VectorType words = alignment >= 4 ? wordsOf(value.getType()) : VectorType();
  if (words) {
    value = create<LLVM::BitcastOp>(words, value);
  }
  create<LLVM::StoreOp>(value, address, alignment);
  return success();
}

LogicalResult KernelLowering::lower(EncodeOp op) {
  Type format = op.getFormat();
  bool isPacked = isa<Float4E2M1FNType>(format);
  if (!isPacked && !isa<Float8E4M3FNType, Float8E5M2Type>(format)) {
    return op.emitOpError() << "format is " << format
                            << ", expected f8E4M3FN, f8E5M2 or f4E2M1FN";
  }
  Value values = mapped(op.getValues());
  int64_t n = cast<VectorType>(values.getType()).getDimSize(0);
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < n; i += 2) {
    Value low = create<vector::ExtractOp>(values, i);
    Value high =
        i + 1 < n ? create<vector::ExtractOp>(values, i + 1).getResult() : low;
    // The first operand becomes the high half (PTX ISA, cvt).
    if (isPacked) {
      pairs.push_back(create<NVVM::ConvertF32x2ToF4x2Op>(
          b.getI8Type(), high, low, /*relu=*/false, format));
    } else {
      pairs.push_back(create<NVVM::ConvertF32x2ToF8x2Op>(
          b.getI16Type(), high, low, NVVM::FPRoundingMode::RN,
          NVVM::SaturationMode::SATFINITE, /*relu=*/false, format));
    }
  }
  if (isPacked) {
    map.map(op.getCodes(),
            create<vector::FromElementsOp>(
                cast<VectorType>(op.getCodes().getType()), pairs));
    return success();
  }
  int64_t padded = 2 * pairs.size();
  Value halves = create<vector::FromElementsOp>(
      VectorType::get({padded / 2}, b.getI16Type()), pairs);
  Value codes =
      create<LLVM::BitcastOp>(VectorType::get({padded}, b.getI8Type()), halves);
  if (padded != n) {
    codes = create<vector::ExtractStridedSliceOp>(codes, ArrayRef<int64_t>{0},
                                                  ArrayRef<int64_t>{n},
                                                  ArrayRef<int64_t>{1});
  }
  map.map(op.getCodes(), codes);
  return success();
}

LogicalResult KernelLowering::lower(DecodeOp op) {
  Type format = op.getFormat();
  bool isPacked = isa<Float4E2M1FNType>(format);
  if (!isPacked && !isa<Float8E4M3FNType, Float8E5M2Type>(format)) {
    return op.emitOpError() << "format is " << format
                            << ", expected f8E4M3FN, f8E5M2 or f4E2M1FN";
  }
  Value codes = mapped(op.getCodes());
  int64_t n = cast<VectorType>(op.getValues().getType()).getDimSize(0);
  // Every format is exact in f16.
  auto pair = VectorType::get({2}, b.getF16Type());
  SmallVector<Value> elements;
  for (int64_t i = 0; i < n; i += 2) {
    Value low = create<vector::ExtractOp>(codes, isPacked ? i / 2 : i);
    Value halves;
    if (isPacked) {
      halves =
          create<NVVM::ConvertF4x2ToF16x2Op>(pair, low, /*relu=*/false, format);
    } else {
      Value high =
          i + 1 < n ? create<vector::ExtractOp>(codes, i + 1).getResult() : low;
      Value bytes = create<vector::FromElementsOp>(
          VectorType::get({2}, b.getI8Type()), ValueRange{low, high});
      halves = create<NVVM::ConvertF8x2ToF16x2Op>(pair, bytes, /*relu=*/false,
                                                  format);
    }
    Value wide =
        create<arith::ExtFOp>(VectorType::get({2}, b.getF32Type()), halves);
    for (int64_t j = 0; j < 2 && i + j < n; ++j) {
      elements.push_back(create<vector::ExtractOp>(wide, j));
    }
  }
  map.map(op.getValues(),
          create<vector::FromElementsOp>(
              cast<VectorType>(op.getValues().getType()), elements));
  return success();
}

LogicalResult KernelLowering::lower(EncodeScaleOp op) {
  Value zero = create<arith::ConstantOp>(b.getF32FloatAttr(0.0f));
  std::optional<Type> given = op.getFormat();
  Type format = given ? *given : Float8E8M0FNUType::get(b.getContext());
  bool isE8M0 = isa<Float8E8M0FNUType>(format);
  // Without .satfinite an infinity becomes 255 (NaN) rather than 254.
  Value pair = create<NVVM::ConvertF32x2ToF8x2Op>(
      b.getI16Type(), zero, mapped(op.getValue()),
      isE8M0 ? NVVM::FPRoundingMode::RP : NVVM::FPRoundingMode::RN,
      isE8M0 ? NVVM::SaturationMode::NONE : NVVM::SaturationMode::SATFINITE,
      /*relu=*/false, format);
  map.map(op.getCode(), create<arith::TruncIOp>(b.getI8Type(), pair));
  return success();
}
