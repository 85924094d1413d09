// --moe-kernel-convert-to-nvvm: moe_kernel functions become a gpu.module.
#include "lib/Conversion/MoeKernelToNVVM/KernelLowering.h"
#include "lib/Conversion/MoeKernelToNVVM/Passes.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace grouped_moe {
#define GEN_PASS_DEF_CONVERTMOEKERNELTONVVM
#include "lib/Conversion/MoeKernelToNVVM/Passes.h.inc"
} // namespace grouped_moe

using namespace mlir;
using namespace grouped_moe;

/// Without it the backend takes 64-bit accesses for unaligned and splits them.
static constexpr StringLiteral dataLayout =
    "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

/// Widest access of kernels to a pointer argument, bytes.
static constexpr int64_t pointerAlignment = 16;

namespace {
struct ConvertMoeKernelToNVVM
    : grouped_moe::impl::ConvertMoeKernelToNVVMBase<ConvertMoeKernelToNVVM> {
  using ConvertMoeKernelToNVVMBase::ConvertMoeKernelToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<moe_kernel::FuncOp> kernels(
        module.getOps<moe_kernel::FuncOp>());
    if (kernels.empty()) {
      return;
    }
    const Target *target = lookupTarget(chip.getValue());
    if (!target) {
      module.emitError() << "chip '" << chip.getValue()
                         << "' is not supported, expected one of "
                         << supportedChips();
      return signalPassFailure();
    }
    if (ptxVersion < static_cast<unsigned>(target->minPtxVersion)) {
      module.emitError() << "PTX version is " << ptxVersion.getValue() << ", "
                         << chip.getValue() << " needs at least "
                         << target->minPtxVersion;
      return signalPassFailure();
    }

    OpBuilder builder(module.getBody(), module.getBody()->end());
    auto gpuModule =
        gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels",
                                 ArrayRef<Attribute>{targetAttr(*target)});
    SymbolTable(module).insert(gpuModule);
    gpuModule->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(),
                       builder.getStringAttr(dataLayout));
    builder.setInsertionPointToStart(gpuModule.getBody());
    bool declared = false;
    for (moe_kernel::FuncOp kernel : kernels) {
      KernelResources resources(kernel);
      if (failed(resources.check(*target))) {
        return signalPassFailure();
      }
      if (resources.getSharedBytes() > 0 && !declared) {
        declareDynamicShared(builder, module.getLoc());
        declared = true;
      }
      LLVM::LLVMFuncOp func = createFunction(builder, kernel, resources);
      if (failed(KernelLowering(kernel, func, resources).run())) {
        return signalPassFailure();
      }
    }
    for (moe_kernel::FuncOp kernel : kernels) {
      kernel.erase();
    }
  }

private:
  Attribute targetAttr(const Target &target) {
    // The verifier of 22.1 does not know that sm_103a has tcgen05.
    return NVVM::NVVMTargetAttr::get(
        &getContext(), /*optLevel=*/3, "nvptx64-nvidia-cuda", target.chip,
        ("+ptx" + Twine(ptxVersion.getValue())).str(),
        /*targetFlags=*/nullptr, /*linkFiles=*/nullptr,
        /*verifyTarget=*/target.chip == "sm_100a");
  }

  static void declareDynamicShared(OpBuilder &builder, Location loc) {
    LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
        /*isConstant=*/false, LLVM::Linkage::External, dynamicSharedName,
        Attribute(), /*alignment=*/1024, /*addrSpace=*/3);
  }

  /// "load 4 1, epilogue 0 4": names, first warps and counts, for tools that
  /// explain the PTX.
  static std::string describeRoles(moe_kernel::FuncOp kernel) {
    std::string text;
    for (auto role : kernel.getBody().front().getOps<moe_kernel::RoleOp>()) {
      text += (text.empty() ? "" : ", ") + role.getName().str() + " " +
              std::to_string(role.getFirstWarp()) + " " +
              std::to_string(role.getNumWarps());
    }
    return text;
  }

  static LLVM::LLVMFuncOp createFunction(OpBuilder &builder,
                                         moe_kernel::FuncOp kernel,
                                         const KernelResources &resources) {
    MLIRContext *context = builder.getContext();
    SmallVector<Type> types;
    SmallVector<DictionaryAttr> attrs;
    for (Type type : kernel.getArgumentTypes()) {
      NamedAttrList list;
      if (isa<MemRefType>(type)) {
        types.push_back(LLVM::LLVMPointerType::get(context, 1));
        list.set(LLVM::LLVMDialect::getAlignAttrName(),
                 builder.getI64IntegerAttr(pointerAlignment));
      } else if (isa<moe_kernel::TensorMapType>(type)) {
        types.push_back(LLVM::LLVMPointerType::get(context));
        list.set(LLVM::LLVMDialect::getByValAttrName(),
                 TypeAttr::get(LLVM::LLVMArrayType::get(
                     builder.getI8Type(), moe_kernel::TensorMapType::kBytes)));
        list.set(NVVM::NVVMDialect::getGridConstantAttrName(),
                 builder.getUnitAttr());
        list.set(
            LLVM::LLVMDialect::getAlignAttrName(),
            builder.getI64IntegerAttr(moe_kernel::TensorMapType::kAlignment));
      } else {
        types.push_back(type);
      }
      attrs.push_back(list.getDictionary(context));
    }
    int32_t threads = 32 * kernel.getWarps();
    SmallVector<NamedAttribute> funcAttrs = {
        {builder.getStringAttr(NVVM::NVVMDialect::getKernelFuncAttrName()),
         builder.getUnitAttr()},
        {builder.getStringAttr(NVVM::NVVMDialect::getReqntidAttrName()),
         builder.getDenseI32ArrayAttr({threads, 1, 1})},
        {builder.getStringAttr(NVVM::NVVMDialect::getMinctasmAttrName()),
         builder.getI32IntegerAttr(1)},
        {builder.getStringAttr("moe_kernel.block_threads"),
         builder.getI32IntegerAttr(threads)},
        {builder.getStringAttr("moe_kernel.dynamic_shared_bytes"),
         builder.getI32IntegerAttr(resources.getSharedBytes())},
        {builder.getStringAttr("moe_kernel.tmem_columns"),
         builder.getI32IntegerAttr(resources.getAllocatedColumns())},
        {builder.getStringAttr("passthrough"),
         builder.getArrayAttr(builder.getStrArrayAttr(
             {"moe_kernel.roles", describeRoles(kernel)}))}};
    if (int32_t ctas = kernel.getClusterSize(); ctas > 1) {
      funcAttrs.push_back(
          builder.getNamedAttr(NVVM::NVVMDialect::getClusterDimAttrName(),
                               builder.getDenseI32ArrayAttr({ctas, 1, 1})));
    }
    auto type =
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), types);
    return LLVM::LLVMFuncOp::create(
        builder, kernel.getLoc(), kernel.getSymName(), type,
        LLVM::Linkage::External,
        /*dsoLocal=*/false, LLVM::CConv::C,
        /*comdat=*/SymbolRefAttr(), funcAttrs, attrs);
  }
};
} // namespace
