#include "lib/Pipelines/Compiler.h"

#include "lib/Pipelines/Pipelines.h"
#include "lib/Target/Target.h"
#include "lib/Translate/LaunchProgram.h"
#include "lib/Translate/Ptx.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/abi/Version.h"
#include "runtime/abi/Writer.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace grouped_moe;
namespace abi = gmoe::abi;

std::optional<Stage> grouped_moe::parseStage(StringRef name) {
  static constexpr StringLiteral kNames[] = {"generic", "schedule", "kernel",
                                             "nvvm",    "llvm",     "ptx",
                                             "cubin",   "bundle"};
  for (auto [i, known] : llvm::enumerate(kNames)) {
    if (known == name) {
      return static_cast<Stage>(i);
    }
  }
  return std::nullopt;
}

static_assert(LLVM_VERSION_MAJOR == gmoe::kLlvmMajor,
              "runtime/abi/Version.h names another LLVM");

static std::string producerText(StringRef ptxas) {
  std::string text = std::string("grouped-moe ") + gmoe::kVersion + ", LLVM " +
                     LLVM_VERSION_STRING + ", PTX 9.0";
  std::string version = ptxasVersion(ptxas);
  return text + ", ptxas " + (version.empty() ? "not found" : version);
}

std::string grouped_moe::versionText() {
  return producerText(findPtxas()) + ", bundle format " +
         std::to_string(abi::kFormatVersion) + "\n";
}

namespace {

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options)
      : source(module), options(options) {}

  LogicalResult run(Stage stage, std::string &output);

private:
  LogicalResult checkTargets();
  LogicalResult lower(ModuleOp module, StringRef target, Stage stage);
  FailureOr<gpu::GPUModuleOp> kernelsOf(ModuleOp module);
  LogicalResult addImages(ModuleOp module, StringRef target,
                          abi::BundleT &bundle);
  LogicalResult writeBundle(std::string &output);
  LogicalResult dump(StringRef name, StringRef bytes);

  ModuleOp source;
  const CompileOptions &options;
};

std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return text;
}

LogicalResult Compilation::dump(StringRef name, StringRef bytes) {
  if (options.dumpDirectory.empty()) {
    return success();
  }
  std::error_code code =
      llvm::sys::fs::create_directories(options.dumpDirectory);
  SmallString<128> path(options.dumpDirectory);
  llvm::sys::path::append(path, name);
  if (!code) {
    llvm::raw_fd_ostream stream(path, code);
    if (!code) {
      stream << bytes;
      stream.close();
      code = stream.error();
      stream.clear_error();
    }
  }
  if (code) {
    return emitError(source.getLoc())
           << "cannot write " << path << ": " << code.message();
  }
  return success();
}

/// Remarks become diagnostics.
static LogicalResult enableRemarks(MLIRContext &context) {
  // `all` alone enables none: it only widens those that are set.
  const std::string any = ".*";
  remark::RemarkCategories categories{/*all=*/std::nullopt, any, any, any, any};
  return remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

LogicalResult Compilation::checkTargets() {
  if (options.targets.empty()) {
    return emitError(source.getLoc())
           << "no target, expected one of " << StringRef(supportedChips());
  }
  for (auto [i, target] : llvm::enumerate(options.targets)) {
    if (llvm::is_contained(ArrayRef(options.targets).take_front(i), target)) {
      return emitError(source.getLoc())
             << "target '" << target << "' is named twice, expected each once";
    }
    if (!lookupTarget(target)) {
      return emitError(source.getLoc())
             << "unknown target '" << target << "', expected one of "
             << StringRef(supportedChips());
    }
  }
  return success();
}

LogicalResult Compilation::lower(ModuleOp module, StringRef target,
                                 Stage stage) {
  PipelineOptions pipeline{target.str(), options.schedule};
  auto runPasses =
      [&](void (*build)(OpPassManager &, const PipelineOptions &)) {
        PassManager pm(module.getContext());
        if (!options.reproducer.empty()) {
          pm.enableCrashReproducerGeneration(options.reproducer);
        }
        build(pm, pipeline);
        return pm.run(module);
      };
  if (stage == Stage::Generic) {
    return runPasses(buildToGeneric);
  }
  if (stage == Stage::Schedule) {
    return runPasses(buildToSchedule);
  }
  if (stage == Stage::Kernel) {
    return runPasses(buildToKernel);
  }
  return runPasses(buildToNvvm);
}

FailureOr<gpu::GPUModuleOp> Compilation::kernelsOf(ModuleOp module) {
  auto modules = module.getOps<gpu::GPUModuleOp>();
  if (modules.empty()) {
    return emitError(source.getLoc())
           << "the module holds no grouped_moe op: nothing to compile";
  }
  return *modules.begin();
}

LogicalResult Compilation::addImages(ModuleOp module, StringRef target,
                                     abi::BundleT &bundle) {
  FailureOr<gpu::GPUModuleOp> kernels = kernelsOf(module);
  if (failed(kernels)) {
    return failure();
  }
  std::string llvmIr;
  FailureOr<std::string> ptx = emitPtx(*kernels, &llvmIr);
  if (failed(ptx) || failed(dump(("llvm." + target + ".ll").str(), llvmIr)) ||
      failed(dump(("kernels." + target + ".ptx").str(), *ptx))) {
    return failure();
  }
  auto add = [&](abi::ImageFormat format, StringRef bytes) {
    auto image = std::make_unique<abi::ImageT>();
    image->target = target.str();
    image->format = format;
    image->data.assign(bytes.bytes_begin(), bytes.bytes_end());
    bundle.images.push_back(std::move(image));
  };
  add(abi::ImageFormat::Ptx, *ptx);

  std::vector<KernelResources> resources;
  std::string ptxas = findPtxas();
  if (options.cubins == CompileOptions::Cubins::IfPossible) {
    if (ptxas.empty()) {
      emitWarning(source.getLoc()) << "ptxas not found: the bundle holds PTX "
                                      "only; set GMOE_PTXAS for cubins";
    } else {
      FailureOr<Cubin> cubin = assemble(*kernels, *ptx, target, ptxas);
      if (failed(cubin) ||
          failed(dump(("kernels." + target + ".cubin").str(), cubin->bytes))) {
        return failure();
      }
      add(abi::ImageFormat::Cubin, cubin->bytes);
      resources = cubin->kernels;
    }
  }
  for (auto kernel : kernels->getOps<FunctionOpInterface>()) {
    if (!kernel->hasAttr("nvvm.kernel")) {
      continue;
    }
    auto info = std::make_unique<abi::KernelInfoT>();
    info->name = kernel.getName().str();
    info->target = target.str();
    auto number = [&](StringRef name) -> uint32_t {
      auto attr = kernel->getAttrOfType<IntegerAttr>(name);
      return attr ? attr.getInt() : 0;
    };
    info->dynamic_shared_bytes = number("moe_kernel.dynamic_shared_bytes");
    info->tmem_columns = number("moe_kernel.tmem_columns");
    for (const KernelResources &known : resources) {
      if (known.name == info->name) {
        info->registers = known.registers;
        info->spill_bytes = known.spillBytes;
        info->static_shared_bytes = known.staticSharedBytes;
      }
    }
    bundle.kernels.push_back(std::move(info));
  }
  return success();
}

LogicalResult Compilation::writeBundle(std::string &output) {
  abi::BundleT bundle;
  bundle.source = print(source);
  bundle.producer = producerText(options.cubins == CompileOptions::Cubins::Never
                                     ? std::string()
                                     : findPtxas());
  for (auto [i, target] : llvm::enumerate(options.targets)) {
    OwningOpRef<ModuleOp> module = source.clone();
    if (failed(lower(*module, target, Stage::Nvvm)) ||
        failed(dump("nvvm." + target + ".mlir", print(*module))) ||
        failed(addImages(*module, target, bundle))) {
      return failure();
    }
    if (i != 0) {
      continue; // one launch program serves every target
    }
    FailureOr<gpu::GPUModuleOp> kernels = kernelsOf(*module);
    for (auto func : module->getOps<func::FuncOp>()) {
      if (!func.isPublic() || func.isDeclaration()) {
        continue;
      }
      auto entry = buildEntry(func, *kernels);
      if (failed(entry)) {
        return failure();
      }
      bundle.entries.push_back(std::move(*entry));
    }
  }
  output = abi::writeBundle(bundle);
  return success();
}

LogicalResult Compilation::run(Stage stage, std::string &output) {
  auto refuse = [&](const Twine &message) -> LogicalResult {
    return emitError(source.getLoc()) << "options of the schedule: " << message;
  };
  if (failed(checkTargets()) ||
      failed(checkOptions({options.targets[0], options.schedule}, refuse))) {
    return failure();
  }
  if (!options.dumpDirectory.empty()) {
    for (auto [early, name] : {std::pair(Stage::Generic, "generic.mlir"),
                               std::pair(Stage::Schedule, "schedule.mlir"),
                               std::pair(Stage::Kernel, "kernel.mlir")}) {
      OwningOpRef<ModuleOp> module = source.clone();
      if (early > stage || failed(lower(*module, options.targets[0], early)) ||
          failed(dump(name, print(*module)))) {
        return early > stage ? success() : failure();
      }
    }
  }
  if (stage == Stage::Bundle) {
    return writeBundle(output);
  }
  OwningOpRef<ModuleOp> module = source.clone();
  if (failed(lower(*module, options.targets[0], stage))) {
    return failure();
  }
  if (stage <= Stage::Nvvm) {
    output = print(*module);
    return success();
  }
  FailureOr<gpu::GPUModuleOp> kernels = kernelsOf(*module);
  if (failed(kernels)) {
    return failure();
  }
  std::string llvmIr;
  FailureOr<std::string> ptx = emitPtx(*kernels, &llvmIr);
  if (failed(ptx)) {
    return failure();
  }
  output = stage == Stage::Llvm ? llvmIr : *ptx;
  if (stage == Stage::Cubin) {
    FailureOr<Cubin> cubin =
        assemble(*kernels, *ptx, options.targets[0], findPtxas());
    if (failed(cubin)) {
      return failure();
    }
    output = cubin->bytes;
  }
  return success();
}

} // namespace

LogicalResult grouped_moe::compile(ModuleOp module, Stage stage,
                                   const CompileOptions &options,
                                   std::string &output) {
  if (options.remarks && failed(enableRemarks(*module.getContext()))) {
    return failure();
  }
  return Compilation(module, options).run(stage, output);
}
