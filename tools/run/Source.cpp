#include "tools/run/Source.h"

#include "dialect/GroupedMoe/IR/NamedOps.h"
#include "lib/CAPI/Register.h"
#include "lib/Reference/Executor.h"
#include "lib/Transforms/CheckScales.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Parser/Parser.h"
#include "runtime/core/File.h"
#include "runtime/core/Text.h"
#include "tools/run/CompileSource.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace gmoe;
using namespace gmoe::run;

static constexpr uint64_t kMaxSourceBytes = uint64_t{1} << 30;

struct Source::Ir {
  mlir::MLIRContext context{makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED};
  llvm::SourceMgr manager;
  std::unique_ptr<mlir::SourceMgrDiagnosticHandler> handler;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;

private:
  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    grouped_moe::registerAllDialects(registry);
    return registry;
  }
};

Source::Source() = default;
Source::~Source() = default;

bool Source::hasFunction() const { return ir != nullptr; }

Status Source::parse(const std::string &text, const std::string &name) {
  ir = std::make_unique<Ir>();
  ir->context.printOpOnDiagnostic(false); // the line of the source says more
  ir->context.printOpOnDiagnostic(false); // the location says it
  ir->manager.AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBufferCopy(text, name), llvm::SMLoc());
  ir->handler = std::make_unique<mlir::SourceMgrDiagnosticHandler>(
      ir->manager, &ir->context);
  ir->module = mlir::parseSourceFile<mlir::ModuleOp>(ir->manager, &ir->context);
  if (!ir->module) {
    return invalidArgument("");
  }
  return {};
}

Status Source::chooseFunction(const std::string &entry) {
  std::vector<mlir::func::FuncOp> candidates;
  std::string names;
  for (auto function : ir->module->getOps<mlir::func::FuncOp>()) {
    if (function.isExternal() || !function.isPublic()) {
      continue;
    }
    names += (names.empty() ? "" : ", ") + function.getName().str();
    if (entry.empty() || function.getName() == entry) {
      candidates.push_back(function);
    }
  }
  if (candidates.size() == 1) {
    ir->function = candidates.front();
    return prepare();
  }
  if (names.empty()) {
    return notFound("the module has no public function with a body");
  }
  return entry.empty()
             ? invalidArgument("the module has several entries, choose one "
                               "with --entry: " +
                               names)
             : notFound("no entry \"" + entry + "\"; the module has: " + names);
}

/// What compilation checks is checked for the reference as well, of the one
/// entry that runs and while its ops have their names.
Status Source::prepare() {
  if (mlir::failed(grouped_moe::checkScales(ir->function))) {
    return invalidArgument("");
  }
  grouped_moe::generalizeAll(*ir->module); // the executor knows products alone
  return {};
}

Status Source::load(const Options &options) {
  const std::string &path = options.input;
  Expected<std::string> file = readFile(path, kMaxSourceBytes);
  if (!file) {
    return file.status();
  }
  bool isBundle = path.size() > 5 && path.substr(path.size() - 5) == ".gmoe";
  std::string text, entry = options.entry;
  if (isBundle) {
    Expected<Module> module = Module::load(*file);
    if (!module) {
      return Status(module.status().code(),
                    cat(path, ": ", module.status().message()));
    }
    loaded.emplace(std::move(*module));
    Expected<const Entry *> found = loaded->findEntry(entry);
    if (!found) {
      return found.status();
    }
    entry = (*found)->name();
    if (loaded->source().empty()) {
      Expected<Signature> signature = signatureOf(**found);
      if (signature) {
        facts = *signature;
      }
      return signature.status();
    }
    text = loaded->source();
  }
  if (Status s = parse(isBundle ? text : *file, path); !s) {
    return s;
  }
  if (Status s = chooseFunction(entry); !s) {
    return s;
  }
  Expected<Signature> signature = signatureOf(ir->function);
  if (signature) {
    facts = *signature;
  }
  return signature.status();
}

Expected<Module *> Source::bundle(const std::string &target, bool cubin) {
  if (!loaded) {
    // The other entries need not compile: only this one runs.
    mlir::OwningOpRef<mlir::ModuleOp> module = ir->module->clone();
    for (auto function :
         llvm::make_early_inc_range(module->getOps<mlir::func::FuncOp>())) {
      if (function.isPublic() && function.getName() != facts.name &&
          mlir::SymbolTable::symbolKnownUseEmpty(function, *module)) {
        function.erase();
      }
    }
    Expected<std::string> bytes = compileSource(*module, target, cubin);
    if (!bytes) {
      return bytes.status();
    }
    Expected<Module> compiled = Module::load(*bytes);
    if (!compiled) {
      return compiled.status();
    }
    loaded.emplace(std::move(*compiled));
  }
  return &*loaded;
}

Status Source::execute(std::vector<Array> &arguments, bool withErrors,
                       uint8_t fill, std::vector<Array> &results) {
  if (!ir) {
    return unavailable("the bundle has no source IR to execute: compile it "
                       "without stripping its source");
  }
  grouped_moe::reference::ExecuteOptions options;
  options.withErrors = withErrors;
  options.fill = fill;
  if (mlir::failed(grouped_moe::reference::execute(ir->function, arguments,
                                                   options, results))) {
    return invalidArgument("");
  }
  // Arguments that are written, behind what is returned.
  for (size_t i = results.size(); i < facts.results.size(); ++i) {
    results.push_back(arguments[facts.results[i].argument]);
  }
  return {};
}
