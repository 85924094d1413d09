#include "lib/Conversion/GroupedMoeToMoeKernel/KernelScope.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace grouped_moe;

/// `entry_kind`, made unique in the module.
static std::string kernelName(Operation *op, StringRef kind) {
  auto entry = op->getParentOfType<FunctionOpInterface>();
  Operation *module = entry->getParentOp();
  std::string base = (entry.getName() + "_" + kind).str(), name = base;
  for (int i = 2; SymbolTable::lookupSymbolIn(module, name); ++i) {
    name = base + "_" + std::to_string(i);
  }
  return name;
}

KernelScope::KernelScope(Operation *op, StringRef kind, int64_t warps)
    : host(op->getLoc(), op), body(op->getLoc(), op) {
  auto entry = op->getParentOfType<FunctionOpInterface>();
  body.setInsertionPoint(entry);
  func = moe_kernel::FuncOp::create(
      body, kernelName(op, kind), body.getFunctionType({}, {}), warps,
      /*cluster=*/DenseI64ArrayAttr(), /*paired=*/false,
      /*arg_attrs=*/ArrayAttr(), /*res_attrs=*/ArrayAttr());
  body.setInsertionPointToStart(&func.getBody().emplaceBlock());
}

void KernelScope::setCluster(int64_t m, int64_t n, bool isPaired) {
  if (m * n > 1) {
    func.setCluster(ArrayRef<int64_t>{m, n});
    func.setPaired(isPaired);
  }
}

Value KernelScope::addArgument(Value hostValue, Type type) {
  arguments.push_back(hostValue);
  return func.getBody().front().addArgument(type, hostValue.getLoc());
}

Value KernelScope::addMemref(Value memref) {
  return addArgument(memref, memref.getType());
}

Value KernelScope::addOutput(Value memref) {
  written.push_back(arguments.size());
  return addMemref(memref);
}

Value KernelScope::addTensorMap(Value memref, moe_kernel::TensorMapType type) {
  return addArgument(
      moe_kernel::MakeTensorMapOp::create(host, type, memref, TypeAttr()),
      type);
}

Value KernelScope::addTensorMap(Value memref, ArrayRef<int64_t> box,
                                Type element, int64_t swizzle) {
  return addTensorMap(memref, moe_kernel::TensorMapType::get(
                                  host.getContext(), box, element, swizzle));
}

Value KernelScope::addMapTemplate(Value placeholder, MemRefType pointee,
                                  moe_kernel::TensorMapType type) {
  return addArgument(moe_kernel::MakeTensorMapOp::create(
                         host, type, placeholder, TypeAttr::get(pointee)),
                     type);
}

Value KernelScope::addOutputMap(Value memref, ArrayRef<int64_t> box,
                                Type element, int64_t swizzle) {
  written.push_back(arguments.size());
  return addTensorMap(memref, box, element, swizzle);
}

Value KernelScope::addIndex(Value index) {
  return addArgument(index, host.getI32Type());
}

void KernelScope::finish(Value grid) {
  moe_kernel::ReturnOp::create(body);
  Block &block = func.getBody().front();
  func.setFunctionType(
      host.getFunctionType(block.getArgumentTypes(), TypeRange{}));
  moe_kernel::LaunchOp::create(host, func.getSymName(), grid, arguments,
                               host.getDenseI64ArrayAttr(written));
}

void KernelScope::finishPersistent(Value tiles) {
  Value sms = moe_kernel::SmCountOp::create(host, host.getIndexType());
  int64_t ctas = func.getClusterSize();
  if (ctas == 1) {
    return finish(arith::MinUIOp::create(host, sms, tiles));
  }
  Value clusters = arith::MinUIOp::create(host, hostCeilDiv(sms, ctas), tiles);
  finish(arith::MulIOp::create(host, clusters, hostConstant(ctas)));
}

Value KernelScope::hostRows(Value memref) {
  return memref::DimOp::create(host, memref, 0);
}

Value KernelScope::hostConstant(int64_t value) {
  return arith::ConstantIndexOp::create(host, value);
}

void KernelScope::requireExtent(Value memref, int64_t axis, Value extent) {
  moe_kernel::RequireExtentOp::create(host, memref, extent, axis);
}

void KernelScope::requireMultiple(Value memref, int64_t axis, int64_t factor) {
  moe_kernel::RequireMultipleOp::create(host, memref, factor, axis);
}

void KernelScope::fillZero(Value memref) {
  moe_kernel::FillZeroOp::create(host, memref);
}

Value KernelScope::addTemporary(MemRefType type, Value extent, bool zeroed) {
  SmallVector<Value> extents;
  if (extent) {
    extents.push_back(extent);
  }
  Value memref = memref::AllocOp::create(host, type, extents);
  if (zeroed) {
    fillZero(memref);
  }
  return addOutput(memref);
}

Value KernelScope::hostCeilDiv(Value value, int64_t by) {
  return arith::CeilDivUIOp::create(host, value, hostConstant(by));
}

Value KernelScope::hostRaggedAtoms(Value rows, int64_t span,
                                   GroupFacts groups) {
  if (groups.aligned % span == 0) {
    return hostCeilDiv(rows, span);
  }
  Value whole = arith::DivUIOp::create(host, rows, hostConstant(span));
  return arith::AddIOp::create(host, whole, hostConstant(groups.groups));
}

Value KernelScope::constant(int64_t value) {
  return arith::ConstantIntOp::create(body, body.getI32Type(), value);
}

Value KernelScope::constant(float value) {
  return arith::ConstantOp::create(body, body.getF32FloatAttr(value));
}

Value KernelScope::index(moe_kernel::IndexKind kind) {
  return moe_kernel::IndexOp::create(body, body.getI32Type(), kind);
}

Value KernelScope::splat(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(
      body, VectorType::get(lanes, scalar.getType()), scalar);
}

Value KernelScope::lowBytes(Value word, int64_t count) {
  Value narrow =
      count == 4
          ? word
          : arith::TruncIOp::create(body, body.getIntegerType(8 * count), word)
                .getResult();
  if (count == 1) {
    return narrow;
  }
  return vector::BitCastOp::create(
      body, VectorType::get(count, body.getI8Type()), splat(narrow, 1));
}

Value KernelScope::add(Value x, Value y) {
  return arith::AddIOp::create(body, x, y);
}

Value KernelScope::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, constant(y));
}

Value KernelScope::sub(Value x, Value y) {
  return arith::SubIOp::create(body, x, y);
}

Value KernelScope::mul(Value x, Value y) {
  return arith::MulIOp::create(body, x, y);
}

Value KernelScope::mul(Value x, int64_t y) {
  return y == 1 ? x : arith::MulIOp::create(body, x, constant(y)).getResult();
}

Value KernelScope::div(Value x, int64_t y) {
  return y == 1 ? x : arith::DivUIOp::create(body, x, constant(y)).getResult();
}

Value KernelScope::rem(Value x, int64_t y) {
  return arith::RemUIOp::create(body, x, constant(y));
}

Value KernelScope::equal(Value x, int64_t y) {
  return arith::CmpIOp::create(body, arith::CmpIPredicate::eq, x, constant(y));
}

Value KernelScope::less(Value x, int64_t y) {
  return arith::CmpIOp::create(body, arith::CmpIPredicate::ult, x, constant(y));
}

void KernelScope::onlyIf(Value condition, function_ref<void()> inside) {
  auto ifOp = scf::IfOp::create(body, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(body);
  body.setInsertionPointToStart(ifOp.thenBlock());
  inside();
}

SmallVector<Value> KernelScope::either(Value condition, Values then,
                                       Values otherwise) {
  auto build = [&](Values values) {
    return [this, values](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(body);
      body.restoreInsertionPoint(inner.saveInsertionPoint());
      SmallVector<Value> results = values();
      scf::YieldOp::create(body, results);
    };
  };
  auto ifOp = scf::IfOp::create(body, condition, build(then), build(otherwise));
  return llvm::to_vector_of<Value>(ifOp.getResults());
}
