// From a module to any stage's artefact, up to a bundle.
#ifndef LIB_PIPELINES_COMPILER_H
#define LIB_PIPELINES_COMPILER_H

#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class ModuleOp;
} // namespace mlir

namespace grouped_moe {

enum class Stage { Generic, Schedule, Kernel, Nvvm, Llvm, Ptx, Cubin, Bundle };

/// The stage of that name ("generic", ..., "bundle"), if there is one.
std::optional<Stage> parseStage(llvm::StringRef name);

struct CompileOptions {
  /// Chips; PTX, cubin and the stages before them are of the first one.
  std::vector<std::string> targets = {"sm_100a"};
  /// Whether a bundle holds cubins: with ptxas installed, always or never.
  enum class Cubins { IfPossible, Never } cubins = Cubins::IfPossible;
  /// Every stage's artefact is also written into this directory.
  std::string dumpDirectory;
  /// Where a failing pass leaves a reproducer; empty for none.
  std::string reproducer;
  /// Options of grouped-moe-select-schedule: "tile-n=256 cluster=2,1".
  std::string schedule;
  /// Optimization remarks are diagnostics.
  bool remarks = false;
};

/// Compiles a copy of `module`; the artefact's bytes are in `output`.
mlir::LogicalResult compile(mlir::ModuleOp module, Stage stage,
                            const CompileOptions &options, std::string &output);

/// The versions that --version of every tool prints.
std::string versionText();

} // namespace grouped_moe

#endif // LIB_PIPELINES_COMPILER_H
