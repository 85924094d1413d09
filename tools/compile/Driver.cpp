#include "tools/compile/Driver.h"

#include "lib/CAPI/Register.h"
#include "lib/Pipelines/Compiler.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace grouped_moe;

namespace {

constexpr char kUsage[] =
    R"(usage: gmoe-compile IN.mlir -o OUT [options]
  --target=sm_100a[,...]   chips (default sm_100a)
  --emit=STAGE             generic, schedule, kernel, nvvm, llvm, ptx, cubin, bundle (default bundle)
  --dump-to=DIR            also write the artefact of every stage into DIR
  --tile-n=N               columns of a tile (default: chosen)
  --schedule=OPTIONS       options of gmoe-opt's --grouped-moe-select-schedule, "tile-n=256 expected-rows=200,0,56"
  --remarks                say which schedules were chosen, and why
  --no-cubin               a bundle with PTX only
  --version
'-' as OUT is standard output. Exit 0; 1 with diagnostics; 2 for usage.
)";

struct Options {
  std::string input, output;
  Stage stage = Stage::Bundle;
  CompileOptions compile;
};

int usage(const llvm::Twine &message) {
  llvm::errs() << "gmoe-compile: " << message << "\n" << kUsage;
  return 2;
}

/// 0 to go on, else 1 + the exit status.
int parse(int argc, char **argv, Options &options) {
  for (int i = 1; i < argc; ++i) {
    StringRef argument = argv[i];
    StringRef value = argument;
    if (argument == "--version") {
      llvm::outs() << "gmoe-compile: " << versionText();
      return 1;
    }
    if (argument == "--help" || argument == "-h") {
      llvm::outs() << kUsage;
      return 1;
    }
    if (argument == "-o") {
      if (++i == argc) {
        return 1 + usage("-o needs a file name");
      }
      options.output = argv[i];
    } else if (value.consume_front("--target=")) {
      SmallVector<StringRef> names;
      value.split(names, ',');
      options.compile.targets.clear();
      for (StringRef name : names) {
        options.compile.targets.push_back(name.str());
      }
    } else if (value.consume_front("--emit=")) {
      std::optional<Stage> stage = parseStage(value);
      if (!stage) {
        return 1 + usage("unknown stage '" + value + "' of --emit");
      }
      options.stage = *stage;
    } else if (value.consume_front("--dump-to=")) {
      options.compile.dumpDirectory = value.str();
    } else if (value.consume_front("--tile-n=")) {
      int64_t columns;
      if (value.getAsInteger(10, columns)) {
        return 1 + usage("--tile-n takes a number");
      }
      options.compile.schedule += (" tile-n=" + value).str();
    } else if (value.consume_front("--schedule=")) {
      options.compile.schedule += (" " + value).str();
    } else if (argument == "--remarks") {
      options.compile.remarks = true;
    } else if (argument == "--no-cubin") {
      options.compile.cubins = CompileOptions::Cubins::Never;
    } else if (argument.starts_with("-") && argument != "-") {
      return 1 + usage("unknown option '" + argument + "'");
    } else if (options.input.empty()) {
      options.input = argument.str();
    } else {
      return 1 + usage("more than one input: '" + argument + "'");
    }
  }
  if (options.input.empty() || options.output.empty()) {
    return 1 + usage("expected an input file and -o OUT");
  }
  return 0;
}

/// Written beside the target, then renamed: no partial file is left.
LogicalResult writeOutput(StringRef path, StringRef bytes) {
  if (path == "-") {
    llvm::outs() << bytes;
    return success();
  }
  llvm::Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &stream) {
    stream << bytes;
    return llvm::Error::success();
  });
  if (error) {
    llvm::errs() << "gmoe-compile: cannot write '" << path
                 << "': " << llvm::toString(std::move(error)) << "\n";
    return failure();
  }
  return success();
}

} // namespace

int grouped_moe::compileMain(int argc, char **argv) {
  Options options;
  if (int status = parse(argc, argv, options)) {
    return status - 1;
  }
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(options.input);
  if (!buffer) {
    llvm::errs() << "gmoe-compile: cannot read '" << options.input
                 << "': " << buffer.getError().message() << "\n";
    return 1;
  }
  DialectRegistry registry;
  registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false); // the location says it
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module) {
    return 1;
  }
  if (options.output != "-") {
    options.compile.reproducer = options.output + ".reproducer.mlir";
  }
  std::string bytes;
  if (failed(compile(*module, options.stage, options.compile, bytes))) {
    return 1;
  }
  return failed(writeOutput(options.output, bytes)) ? 1 : 0;
}
