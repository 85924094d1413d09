#include "dialect/MoeKernel/IR/MoeKernelDialect.h"

#include "dialect/MoeKernel/IR/MoeKernelOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialect/MoeKernel/IR/MoeKernelDialect.cpp.inc"
#include "dialect/MoeKernel/IR/MoeKernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/MoeKernel/IR/MoeKernelAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/MoeKernel/IR/MoeKernelTypes.cpp.inc"

using namespace mlir;
using namespace moe_kernel;

void MoeKernelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/MoeKernel/IR/MoeKernelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/MoeKernel/IR/MoeKernelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/MoeKernel/IR/MoeKernelOps.cpp.inc"
      >();
}

static int64_t bytesOf(ArrayRef<int64_t> shape, Type element) {
  int64_t bits = element.getIntOrFloatBitWidth();
  for (int64_t extent : shape) {
    bits *= extent;
  }
  return bits / 8;
}

int64_t BufferType::getStageBytes() const {
  return bytesOf(getShape().drop_front(), getElementType());
}

int64_t BufferType::getRowBytes() const {
  return bytesOf(getShape().back(), getElementType());
}

int64_t TensorMapType::getBoxBytes() const {
  return bytesOf(getBox(), getElementType());
}

Type BufferType::parse(AsmParser &parser) {
  StringRef keyword;
  SmallVector<int64_t> shape;
  Type element;
  if (parser.parseLess()) {
    return {};
  }
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword)) {
    return {};
  }
  std::optional<BufferSpace> space = symbolizeBufferSpace(keyword);
  if (!space) {
    parser.emitError(loc) << "unknown buffer space '" << keyword
                          << "', expected shared or tensor";
    return {};
  }
  if (parser.parseComma() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<BufferType>(loc, parser.getContext(), *space, shape,
                                       element);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << "<" << stringifyBufferSpace(getSpace()) << ", ";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ">";
}

Type TensorMapType::parse(AsmParser &parser) {
  SmallVector<int64_t> box;
  Type element;
  int64_t swizzle;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(box, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseComma() ||
      parser.parseKeyword("swizzle") || parser.parseEqual() ||
      parser.parseInteger(swizzle) || parser.parseGreater()) {
    return {};
  }
  return parser.getChecked<TensorMapType>(loc, parser.getContext(), box,
                                          element, swizzle);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getBox());
  printer << "x" << getElementType() << ", swizzle = " << getSwizzle() << ">";
}

static LogicalResult verifyExtents(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type element,
                                   size_t least) {
  bool isPacked =
      isa<Float4E2M1FNType>(element) && !shape.empty() && shape.back() % 2 == 0;
  if (!element.isIntOrFloat() ||
      (element.getIntOrFloatBitWidth() < 8 && !isPacked)) {
    return emitError() << "element type is " << element
                       << ", expected at least 8 bits, or an even number of "
                          "f4E2M1FN in a row";
  }
  if (shape.size() < least ||
      llvm::any_of(shape, [](int64_t d) { return d < 1 || d > (1 << 20); })) {
    return emitError() << "expected at least " << least
                       << " extents, each between 1 and " << (1 << 20);
  }
  return success();
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError,
                                 BufferSpace, ArrayRef<int64_t> shape,
                                 Type element) {
  return verifyExtents(emitError, shape, element, 2);
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> box, Type element, int64_t swizzle) {
  if (failed(verifyExtents(emitError, box, element, 1))) {
    return failure();
  }
  if (box.size() > 5 || llvm::any_of(box, [](int64_t d) { return d > 256; })) {
    return emitError() << "box has " << box.size()
                       << " extents, expected at most 5, each at most 256";
  }
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128) {
    return emitError() << "swizzle is " << swizzle
                       << " bytes, expected 0, 32, 64 or 128";
  }
  int64_t inner = bytesOf(box.back(), element);
  if (inner % 16 != 0 || (swizzle != 0 && inner > swizzle)) {
    return emitError() << "the box's inner extent is " << inner
                       << " bytes, expected a multiple of 16, and at most the "
                          "swizzle's span";
  }
  return success();
}
