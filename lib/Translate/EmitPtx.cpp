// Own pass order: LLVM's dead-store elimination deletes tcgen05.mma
// instructions whose intrinsic it takes for a plain store, so that the standard
// pipelines cannot be used for kernels.
#include "lib/Translate/Ptx.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Operation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace grouped_moe;

// No DSE and no memcpy optimization; see the top of the file.
static constexpr char kPasses[] =
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-"
    "fixpoint>,correlated-"
    "propagation,reassociate,"
    "loop-mssa(loop-rotate,licm),loop(indvars,loop-deletion),sroa,gvn,sccp,"
    "bdce,instcombine<no-verify-fixpoint>,"
    "simplifycfg,loop-mssa(licm),early-cse,infer-address-spaces,simplifycfg)";

static void initializeTarget() {
  static const bool done = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)done;
}

static NVVM::NVVMTargetAttr targetOf(Operation *op) {
  auto module = dyn_cast<gpu::GPUModuleOp>(op);
  if (!module || !module.getTargetsAttr()) {
    return {};
  }
  for (Attribute target : module.getTargetsAttr()) {
    if (auto nvvm = dyn_cast<NVVM::NVVMTargetAttr>(target)) {
      return nvvm;
    }
  }
  return {};
}

/// Which warps play which role, in comments that the emulator reads.
static std::string roleComments(const llvm::Module &module) {
  std::string text;
  for (const llvm::Function &function : module) {
    llvm::StringRef roles =
        function.getFnAttribute("moe_kernel.roles").getValueAsString();
    if (!roles.empty()) {
      text +=
          ("// moe_kernel.roles " + function.getName() + ": " + roles + "\n")
              .str();
    }
  }
  return text;
}

FailureOr<std::string> grouped_moe::emitPtx(Operation *gpuModule,
                                            std::string *llvmIr) {
  NVVM::NVVMTargetAttr target = targetOf(gpuModule);
  if (!target) {
    return gpuModule->emitError()
           << "has no #nvvm.target attribute: cannot choose a chip";
  }
  initializeTarget();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(gpuModule, context, "grouped_moe");
  if (!module) {
    return gpuModule->emitError() << "translation to LLVM IR failed";
  }
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *llvmTarget =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget) {
    return gpuModule->emitError() << "LLVM has no NVPTX target: " << error;
  }
  std::unique_ptr<llvm::TargetMachine> machine(llvmTarget->createTargetMachine(
      triple, target.getChip(), target.getFeatures(), llvm::TargetOptions(),
      std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());

  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(machine.get());
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  llvm::ModulePassManager passes;
  if (llvm::Error parseError = builder.parsePassPipeline(passes, kPasses)) {
    return gpuModule->emitError() << llvm::toString(std::move(parseError));
  }
  passes.run(*module, modules);
  if (llvmIr) {
    llvm::raw_string_ostream stream(*llvmIr);
    module->print(stream, nullptr);
  }

  llvm::SmallString<0> ptx;
  llvm::raw_svector_ostream stream(ptx);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile)) {
    return gpuModule->emitError()
           << "LLVM cannot emit PTX for " << target.getChip();
  }
  codegen.run(*module);
  return roleComments(*module) + std::string(ptx);
}
