#include "lib/Translate/LaunchProgram.h"

#include "dialect/MoeKernel/IR/MoeKernelOps.h"
#include "lib/Translate/LaunchExtents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "runtime/abi/bundle_generated.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace grouped_moe;
namespace abi = gmoe::abi;

namespace {

/// CUtensorMapDataType and CUtensorMapSwizzle values (cuda.h).
FailureOr<uint32_t> tensorMapType(Type element) {
  if (element.isInteger(8) || element.getIntOrFloatBitWidth() == 8) {
    return 0;
  }
  if (element.isInteger(16)) {
    return 1;
  }
  if (element.isInteger(32)) {
    return 2;
  }
  if (element.isF16()) {
    return 6;
  }
  if (element.isF32()) {
    return 7;
  }
  if (element.isBF16()) {
    return 9;
  }
  return failure();
}
uint32_t tensorMapSwizzle(int64_t bytes) {
  return bytes == 0 ? 0 : llvm::Log2_64(bytes) - 4;
}
constexpr uint32_t kL2Promotion256B = 3;

FailureOr<abi::ElementType> elementType(Type type) {
  using E = abi::ElementType;
  return TypeSwitch<Type, FailureOr<E>>(type)
      .Case([](Float32Type) { return E::F32; })
      .Case([](Float16Type) { return E::F16; })
      .Case([](BFloat16Type) { return E::BF16; })
      .Case([](Float8E4M3FNType) { return E::E4M3; })
      .Case([](Float8E5M2Type) { return E::E5M2; })
      .Case([](Float8E8M0FNUType) { return E::E8M0; })
      .Case([](Float4E2M1FNType) { return E::E2M1; })
      .Case([](IntegerType integer) -> FailureOr<E> {
        switch (integer.getWidth()) {
        case 8:
          return E::I8;
        case 32:
          return E::I32;
        case 64:
          return E::I64;
        default:
          return failure();
        }
      })
      .Default([](Type) { return failure(); });
}

/// The memref whose bytes these are.
Value bufferBehind(Value memref) {
  for (memref = sourceOf(memref);; memref = sourceOf(memref)) {
    Operation *view = memref.getDefiningOp();
    if (!isa_and_present<memref::CollapseShapeOp, memref::ExpandShapeOp>(
            view)) {
      return memref;
    }
    memref = view->getOperand(0);
  }
}

class EntryBuilder {
public:
  EntryBuilder(func::FuncOp func, Operation *gpuModule)
      : func(func), gpuModule(gpuModule),
        entry(std::make_unique<abi::EntryT>()), extents(func, entry->exprs) {}

  FailureOr<std::unique_ptr<abi::EntryT>> build();

private:
  FailureOr<abi::BufferRef> bufferOf(Value memref);

  LogicalResult addArguments();
  LogicalResult addTemporary(memref::AllocOp alloc);
  LogicalResult addFill(moe_kernel::FillZeroOp fill);
  LogicalResult addLaunch(moe_kernel::LaunchOp launch);
  LogicalResult addOffsets(moe_kernel::RequireOffsetsOp require);
  LogicalResult addPointers(moe_kernel::RequireAddressesOp require);
  LogicalResult addMultiple(moe_kernel::RequireMultipleOp require);
  void findWritten(Block &block);
  FailureOr<std::unique_ptr<abi::TensorMapRecipeT>>
  recipe(moe_kernel::MakeTensorMapOp map);

  func::FuncOp func;
  Operation *gpuModule;
  std::unique_ptr<abi::EntryT> entry;
  LaunchExtents extents;
  DenseMap<Value, uint32_t> temporaries;
  DenseMap<unsigned, bool> written;
  /// Arguments that hold addresses: they are not written, at most what they
  /// point at.
  DenseSet<unsigned> pointers;
  /// Fills that the next launch takes along.
  std::vector<std::unique_ptr<abi::FillT>> fills;
};

FailureOr<abi::BufferRef> EntryBuilder::bufferOf(Value memref) {
  memref = bufferBehind(memref);
  if (auto argument = dyn_cast<BlockArgument>(memref)) {
    return abi::BufferRef(argument.getArgNumber(), abi::BufferKind::Argument);
  }
  auto it = temporaries.find(memref);
  if (it != temporaries.end()) {
    return abi::BufferRef(it->second, abi::BufferKind::Temporary);
  }
  return func.emitOpError()
         << "a kernel takes a buffer that is neither an argument nor allocated "
            "in the function";
}

LogicalResult EntryBuilder::addArguments() {
  for (BlockArgument argument : func.getArguments()) {
    unsigned i = argument.getArgNumber();
    auto type = dyn_cast<MemRefType>(argument.getType());
    bool isDense = type && type.getLayout().isIdentity();
    SmallVector<int64_t> strides;
    if (type && !isDense) {
      strides =
          moe_kernel::rowMajorStrides(type).value_or(SmallVector<int64_t>());
    }
    if (!type || (!isDense && strides.empty())) {
      return func.emitOpError()
             << "argument #" << i << " is of type " << argument.getType()
             << ", expected a tensor, a dense memref, or one with static "
                "strides, the last one 1";
    }
    FailureOr<abi::ElementType> element = elementType(type.getElementType());
    if (failed(element) || type.getRank() < 1 || type.getRank() > 8) {
      return func.emitOpError() << "argument #" << i << " is of type " << type
                                << ", which a bundle cannot describe: ranks "
                                   "are 1 to 8, elements f32, f16, bf16, FP8, "
                                   "FP4, e8m0, i8, i32 or i64";
    }
    auto out = std::make_unique<abi::ArgumentT>();
    auto result = func.getArgAttrOfType<IntegerAttr>(i, "grouped_moe.result");
    auto name = func.getArgAttrOfType<StringAttr>(i, "grouped_moe.name");
    out->name = name     ? name.getValue().str()
                : result ? "result" + std::to_string(result.getInt())
                         : "arg" + std::to_string(i);
    out->kind = pointers.contains(i) ? abi::ArgumentKind::Input
                : result             ? abi::ArgumentKind::Output
                : written[i]         ? abi::ArgumentKind::InOut
                                     : abi::ArgumentKind::Input;
    out->element = *element;
    if (!isDense) {
      out->strides.assign(strides.begin(), std::prev(strides.end()));
    }
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      FailureOr<int32_t> expr = extents.extent(argument, axis);
      if (failed(expr)) {
        return failure();
      }
      out->shape.push_back(*expr);
    }
    entry->arguments.push_back(std::move(out));
  }
  return success();
}

LogicalResult EntryBuilder::addTemporary(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity()) {
    return alloc.emitOpError() << "has a layout, expected dense row-major";
  }
  int64_t fixed = isa<moe_kernel::TensorMapType>(type.getElementType())
                      ? moe_kernel::TensorMapType::kBytes
                      : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  for (int64_t size : type.getShape()) {
    fixed *= ShapedType::isDynamic(size) ? 1 : size;
  }
  int32_t bytes = extents.constant(fixed);
  for (Value size : alloc.getDynamicSizes()) {
    FailureOr<int32_t> expr = extents.evaluate(size);
    if (failed(expr)) {
      return failure();
    }
    bytes = extents.expression(abi::ExprKind::Mul, bytes, *expr, 0);
  }
  auto temporary = std::make_unique<abi::TemporaryT>();
  temporary->bytes = bytes;
  temporary->alignment = 256;
  temporaries[alloc] = entry->temporaries.size();
  entry->temporaries.push_back(std::move(temporary));
  return success();
}

FailureOr<std::unique_ptr<abi::TensorMapRecipeT>>
EntryBuilder::recipe(moe_kernel::MakeTensorMapOp map) {
  auto type = cast<MemRefType>(map.getMappedType());
  moe_kernel::TensorMapType mapType = map.getMap().getType();
  FailureOr<abi::BufferRef> buffer = bufferOf(map.getMemref());
  FailureOr<uint32_t> element = tensorMapType(mapType.getElementType());
  if (failed(buffer) || failed(element)) {
    return failure();
  }
  auto out = std::make_unique<abi::TensorMapRecipeT>();
  out->buffer = std::make_unique<abi::BufferRef>(*buffer);
  out->type = *element;
  out->swizzle = tensorMapSwizzle(mapType.getSwizzle());
  out->l2_promotion = kL2Promotion256B;
  out->placeholder = map.getPointee().has_value();
  auto extentOf = [&](int64_t axis) -> FailureOr<int32_t> {
    if (type.isDynamicDim(axis)) { // not of what addresses point at
      return extents.extent(map.getMemref(), axis);
    }
    return extents.constant(type.getDimSize(axis));
  };
  // Trailing dimensions of the array merge into the map's innermost one.
  int64_t rank = mapType.getBox().size();
  int64_t bits = type.getElementTypeBitWidth(); // FP4 is packed
  int32_t elements = extents.constant(1);
  for (int64_t axis = rank - 1; axis < type.getRank(); ++axis) {
    FailureOr<int32_t> size = extentOf(axis);
    if (failed(size)) {
      return failure();
    }
    elements = extents.times(elements, *size);
  }
  auto inUnits = [&](int64_t unitBits) {
    return bits % unitBits == 0
               ? extents.times(elements, extents.constant(bits / unitBits))
               : extents.over(extents.times(elements, extents.constant(bits)),
                              extents.constant(unitBits));
  };
  out->dims.push_back(
      inUnits(mapType.getElementType().getIntOrFloatBitWidth()));
  int32_t stride = inUnits(8);
  SmallVector<int64_t> strides; // of an array with padding, verified
  if (!type.getLayout().isIdentity()) {
    strides = *moe_kernel::rowMajorStrides(type);
  }
  for (int64_t axis = rank - 2; axis >= 0; --axis) {
    FailureOr<int32_t> size = extentOf(axis);
    if (failed(size)) {
      return failure();
    }
    out->dims.push_back(*size);
    if (!strides.empty()) {
      out->strides.push_back(extents.constant(strides[axis] * bits / 8));
      continue;
    }
    out->strides.push_back(stride);
    // A dynamic extent in front of others would need no stride of its own.
    stride = type.isDynamicDim(axis) ? stride : extents.times(stride, *size);
  }
  for (int64_t side : llvm::reverse(mapType.getBox())) {
    out->box.push_back(side);
  }
  return out;
}

LogicalResult EntryBuilder::addFill(moe_kernel::FillZeroOp fill) {
  FailureOr<abi::BufferRef> buffer = bufferOf(fill.getMemref());
  if (failed(buffer)) {
    return failure();
  }
  auto out = std::make_unique<abi::FillT>();
  out->buffer = std::make_unique<abi::BufferRef>(*buffer);
  fills.push_back(std::move(out));
  return success();
}

LogicalResult EntryBuilder::addLaunch(moe_kernel::LaunchOp launch) {
  auto kernel = dyn_cast_or_null<LLVM::LLVMFuncOp>(
      SymbolTable::lookupSymbolIn(gpuModule, launch.getKernelAttr()));
  if (!kernel) {
    return launch.emitOpError()
           << "kernel '" << launch.getKernel() << "' was not lowered";
  }
  auto out = std::make_unique<abi::LaunchT>();
  out->kernel = launch.getKernel().str();
  FailureOr<int32_t> grid = extents.evaluate(launch.getGrid());
  if (failed(grid)) {
    return failure();
  }
  out->grid = {*grid, extents.constant(1), extents.constant(1)};
  out->cluster = {1, 1, 1};
  out->block = {1, 1, 1};
  if (auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid")) {
    for (auto [i, extent] : llvm::enumerate(threads.asArrayRef())) {
      out->block[i] = extent;
    }
  }
  if (auto ctas =
          kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.cluster_dim")) {
    for (auto [i, extent] : llvm::enumerate(ctas.asArrayRef())) {
      out->cluster[i] = extent;
    }
  }
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(
          "moe_kernel.dynamic_shared_bytes")) {
    out->dynamic_shared_bytes = bytes.getInt();
  }
  // The parameter space as PTX lays it out: each parameter at its alignment.
  uint32_t offset = 0;
  for (auto [i, argument] : llvm::enumerate(launch.getArguments())) {
    auto param = std::make_unique<abi::KernelParamT>();
    uint32_t size = 8, alignment = 8;
    if (isa<MemRefType>(argument.getType())) {
      param->kind = abi::ParamKind::Pointer;
      FailureOr<abi::BufferRef> buffer = bufferOf(argument);
      if (failed(buffer)) {
        return failure();
      }
      param->buffer = std::make_unique<abi::BufferRef>(*buffer);
    } else if (auto map =
                   argument.getDefiningOp<moe_kernel::MakeTensorMapOp>()) {
      param->kind = abi::ParamKind::TensorMap;
      size = moe_kernel::TensorMapType::kBytes;
      alignment = moe_kernel::TensorMapType::kAlignment;
      auto made = recipe(map);
      if (failed(made)) {
        return failure();
      }
      param->tensor_map = std::move(*made);
    } else {
      bool wide = kernel.getArgument(i).getType().isInteger(64);
      param->kind =
          wide ? abi::ParamKind::ScalarI64 : abi::ParamKind::ScalarI32;
      size = alignment = wide ? 8 : 4;
      FailureOr<int32_t> expr = extents.evaluate(argument);
      if (failed(expr)) {
        return failure();
      }
      param->expr = *expr;
    }
    offset = llvm::alignTo(offset, alignment);
    param->offset = offset;
    offset += size;
    out->params.push_back(std::move(param));
  }
  out->param_bytes = offset;
  out->fills = std::move(fills);
  fills.clear();
  entry->launches.push_back(std::move(out));
  return success();
}

LogicalResult EntryBuilder::addOffsets(moe_kernel::RequireOffsetsOp require) {
  auto argument = dyn_cast<BlockArgument>(require.getOffsets());
  if (!argument) {
    return success(); // made by the program itself
  }
  FailureOr<int32_t> rows = extents.evaluate(require.getRows());
  if (failed(rows)) {
    return failure();
  }
  for (const auto &known : entry->offsets) {
    if (known->argument == argument.getArgNumber() && known->rows == *rows &&
        known->aligned == require.getAligned()) {
      return success(); // another op promised the same
    }
  }
  auto contract = std::make_unique<abi::OffsetsContractT>();
  contract->argument = argument.getArgNumber();
  contract->aligned = require.getAligned();
  contract->rows = *rows;
  entry->offsets.push_back(std::move(contract));
  return success();
}

LogicalResult
EntryBuilder::addPointers(moe_kernel::RequireAddressesOp require) {
  auto argument = dyn_cast<BlockArgument>(sourceOf(require.getAddresses()));
  if (!argument) {
    return require.emitOpError() << "takes addresses that the caller did not "
                                    "give, expected an argument";
  }
  auto pointee = cast<MemRefType>(require.getPointee());
  FailureOr<abi::ElementType> element = elementType(pointee.getElementType());
  if (failed(element)) {
    return require.emitOpError() << "points at elements that a bundle cannot "
                                    "describe: "
                                 << pointee;
  }
  auto contract = std::make_unique<abi::PointersContractT>();
  contract->argument = argument.getArgNumber();
  contract->element = *element;
  for (int64_t size : pointee.getShape()) {
    contract->shape.push_back(extents.constant(size));
  }
  contract->read_only = require.getReadOnly();
  if (Value groups = require.getGroups()) {
    if (auto ends = dyn_cast<BlockArgument>(sourceOf(groups))) {
      contract->groups = ends.getArgNumber();
    }
  }
  for (const auto &known : entry->pointers) {
    if (known->argument != contract->argument) {
      continue;
    }
    if (known->element == contract->element &&
        known->shape == contract->shape) {
      known->read_only &= contract->read_only;
      if (known->groups != contract->groups) {
        known->groups = -1; // rows of a group in either
      }
      return success();
    }
    return require.emitOpError()
           << "takes argument #" << contract->argument << " as addresses of "
           << pointee
           << ", another op takes them as those of other arrays; "
              "give each its own addresses";
  }
  entry->pointers.push_back(std::move(contract));
  return success();
}

LogicalResult EntryBuilder::addMultiple(moe_kernel::RequireMultipleOp require) {
  auto type = cast<MemRefType>(require.getMemref().getType());
  if (!type.isDynamicDim(require.getAxis())) {
    return success(); // the op's verifier saw it
  }
  auto axis = extents.freeAxis(require.getMemref(), require.getAxis());
  if (!axis) {
    return require.emitOpError()
           << "a buffer of type " << type
           << " has a row count of its own, but its op needs a multiple of "
           << require.getFactor()
           << "; size it from the extent of another operand (tensor.dim)";
  }
  std::vector<uint32_t> &multiples = entry->arguments[axis->first]->multiples;
  multiples.resize(entry->arguments[axis->first]->shape.size(), 1);
  uint32_t &multiple = multiples[axis->second];
  multiple = std::lcm(multiple, static_cast<uint32_t>(require.getFactor()));
  return success();
}

/// Arguments whose own bytes the launches write.
void EntryBuilder::findWritten(Block &block) {
  auto mark = [&](Value memref) {
    if (auto argument = dyn_cast<BlockArgument>(bufferBehind(memref))) {
      written[argument.getArgNumber()] = true;
    }
  };
  for (auto launch : block.getOps<moe_kernel::LaunchOp>()) {
    for (int64_t position : launch.getWrites()) {
      Value memref = launch.getArguments()[position];
      if (auto map = memref.getDefiningOp<moe_kernel::MakeTensorMapOp>()) {
        memref = map.getMemref();
      }
      mark(memref);
    }
  }
  for (auto fill : block.getOps<moe_kernel::FillZeroOp>()) {
    mark(fill.getMemref());
  }
  for (auto require : block.getOps<moe_kernel::RequireAddressesOp>()) {
    Value addresses = sourceOf(require.getAddresses());
    if (auto argument = dyn_cast<BlockArgument>(addresses)) {
      pointers.insert(argument.getArgNumber());
    }
  }
}

FailureOr<std::unique_ptr<abi::EntryT>> EntryBuilder::build() {
  entry->name = func.getName().str();
  if (!func.getBody().hasOneBlock()) {
    return func.emitOpError() << "has control flow, expected straight-line "
                                 "code: an entry is a list of launches";
  }
  Block &block = func.getBody().front();
  findWritten(block);
  moe_kernel::FillZeroOp lastFill;
  for (Operation &op : block) {
    if (auto fill = dyn_cast<moe_kernel::FillZeroOp>(op)) {
      lastFill = fill;
    } else if (isa<moe_kernel::LaunchOp>(op)) {
      lastFill = {};
    }
  }
  if (lastFill) {
    return lastFill.emitOpError() << "has no launch after it";
  }
  if (failed(extents.collect()) || failed(addArguments())) {
    return failure();
  }
  for (Operation &op : block) {
    LogicalResult added =
        TypeSwitch<Operation *, LogicalResult>(&op)
            .Case([&](memref::AllocOp alloc) { return addTemporary(alloc); })
            .Case(
                [&](moe_kernel::LaunchOp launch) { return addLaunch(launch); })
            .Case([&](moe_kernel::FillZeroOp fill) { return addFill(fill); })
            .Case([&](moe_kernel::RequireOffsetsOp require) {
              return addOffsets(require);
            })
            .Case([&](moe_kernel::RequireAddressesOp require) {
              return addPointers(require);
            })
            .Case([&](moe_kernel::RequireMultipleOp require) {
              return addMultiple(require);
            })
            .Case([&](func::ReturnOp ret) -> LogicalResult {
              if (ret.getNumOperands() != 0) {
                return ret.emitOpError() << "returns values, expected results "
                                            "to be arguments";
              }
              return success();
            })
            .Case<memref::DeallocOp, memref::DimOp, memref::CastOp,
                  memref::CollapseShapeOp, memref::ExpandShapeOp,
                  moe_kernel::MakeTensorMapOp, moe_kernel::RequireExtentOp,
                  moe_kernel::SmCountOp>([](auto) { return success(); })
            .Default([&](Operation *other) -> LogicalResult {
              if (isa_and_present<arith::ArithDialect>(other->getDialect())) {
                return success();
              }
              if (isa<memref::CopyOp>(other)) {
                return other->emitOpError()
                       << "is needed since a tensor is used again after an op "
                          "took it as destination, and a launch program does "
                          "not copy; give that op a destination of its own";
              }
              return other->emitOpError()
                     << "cannot be part of a launch program: an entry holds "
                        "grouped_moe ops and the sizes of their buffers";
            });
    if (failed(added)) {
      return failure();
    }
  }
  return std::move(entry);
}

} // namespace

FailureOr<std::unique_ptr<abi::EntryT>>
grouped_moe::buildEntry(func::FuncOp func, Operation *gpuModule) {
  return EntryBuilder(func, gpuModule).build();
}
