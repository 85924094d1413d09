#include "lib/Translate/Ptx.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace grouped_moe;

std::string grouped_moe::findPtxas() {
  if (auto path = llvm::sys::Process::GetEnv("GMOE_PTXAS")) {
    if (!path->empty()) {
      return llvm::sys::fs::can_execute(*path) ? *path : std::string();
    }
  }
  SmallVector<std::string> candidates;
  if (auto home = llvm::sys::Process::GetEnv("CUDA_HOME")) {
    candidates.push_back(*home + "/bin/ptxas");
  }
  candidates.push_back("/usr/local/cuda/bin/ptxas");
  for (const std::string &candidate : candidates) {
    if (llvm::sys::fs::can_execute(candidate)) {
      return candidate;
    }
  }
  auto found = llvm::sys::findProgramByName("ptxas");
  return found ? *found : std::string();
}

namespace {
/// A temporary file that is removed with the object.
struct TemporaryFile {
  explicit TemporaryFile(StringRef suffix) {
    failed = static_cast<bool>(
        llvm::sys::fs::createTemporaryFile("gmoe", suffix, path));
  }
  ~TemporaryFile() {
    if (!failed) {
      llvm::sys::fs::remove(path);
    }
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }
  SmallString<128> path;
  bool failed;
};
} // namespace

/// Runs a program with its output in `log`; the exit status.
static int run(StringRef program, ArrayRef<StringRef> arguments,
               std::string &log) {
  TemporaryFile output("log");
  if (output.failed) {
    return -1;
  }
  SmallVector<StringRef> argv{program};
  argv.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), output.path.str(),
                                          output.path.str()};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(program, argv, std::nullopt, redirects,
                                         0, 0, &error);
  log = output.read() + error;
  return status;
}

std::string grouped_moe::ptxasVersion(StringRef ptxas) {
  std::string log;
  if (ptxas.empty() || run(ptxas, {"--version"}, log) != 0) {
    return {};
  }
  SmallVector<StringRef> lines;
  StringRef(log).trim().split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("release")) {
      return line.trim().str();
    }
  }
  return lines.empty() ? std::string() : lines.back().str();
}

/// Reads ptxas -v's lines: "Compiling entry function 'k' for 'sm_100a'", then
/// "... N bytes spill stores, M bytes spill loads", then "Used R registers,
/// ..., S bytes smem".
static std::vector<KernelResources> parseLog(StringRef log) {
  std::vector<KernelResources> kernels;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  auto numberBefore = [](StringRef line, StringRef what) -> unsigned {
    size_t at = line.find(what);
    if (at == StringRef::npos) {
      return 0;
    }
    StringRef head = line.take_front(at).rtrim();
    size_t start = head.find_last_not_of("0123456789");
    unsigned value = 0;
    head.drop_front(start == StringRef::npos ? 0 : start + 1)
        .getAsInteger(10, value);
    return value;
  };
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '")) {
      kernels.emplace_back();
      kernels.back().name = line.split('\'').second.split('\'').first.str();
    } else if (!kernels.empty() && line.contains("spill stores")) {
      kernels.back().stackBytes = numberBefore(line, " bytes stack frame");
      kernels.back().spillBytes = numberBefore(line, " bytes spill stores") +
                                  numberBefore(line, " bytes spill loads");
    } else if (!kernels.empty() && line.contains("Used ")) {
      kernels.back().registers = numberBefore(line, " registers");
      kernels.back().staticSharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

static unsigned localBytes(const Cubin &cubin) {
  unsigned bytes = 0;
  for (const KernelResources &kernel : cubin.kernels) {
    bytes += kernel.spillBytes + kernel.stackBytes;
  }
  return bytes;
}

FailureOr<Cubin> grouped_moe::assemble(Operation *op, StringRef ptx,
                                       StringRef chip, StringRef ptxas) {
  if (ptxas.empty()) {
    return op->emitError()
           << "ptxas not found, and a cubin was asked for: set GMOE_PTXAS to "
              "the ptxas of a CUDA toolkit 13.0 or newer, or ask for "
              "--emit=ptx";
  }
  TemporaryFile input("ptx"), output("cubin");
  std::error_code code;
  {
    llvm::raw_fd_ostream stream(input.path, code);
    stream << ptx;
  }
  if (code || input.failed || output.failed) {
    return op->emitError() << "cannot write temporary files for ptxas in the "
                              "temporary directory: "
                           << code.message();
  }
  std::string arch = ("-arch=" + chip).str();
  auto assembleAt = [&](StringRef level, Cubin &cubin) {
    int status = run(
        ptxas, {arch, level, "-v", input.path.str(), "-o", output.path.str()},
        cubin.log);
    cubin.bytes = output.read();
    cubin.kernels = parseLog(cubin.log);
    return status;
  };
  Cubin cubin;
  if (int status = assembleAt("-O3", cubin)) {
    InFlightDiagnostic diag = op->emitError()
                              << "ptxas failed with status " << status
                              << "; it must be of CUDA 13.0 or newer (PTX 9.0)";
    diag.attachNote() << cubin.log;
    return diag;
  }
  if (localBytes(cubin) > 0) {
    // Epilogues with many outputs were seen to spill at level 3 (4 to 92 bytes,
    // 255 registers; ptxas 13.0) and not at level 1 (about 205 registers).
    Cubin inOrder;
    if (assembleAt("-O1", inOrder) == 0 &&
        localBytes(inOrder) < localBytes(cubin)) {
      cubin = std::move(inOrder);
      remark::missed(
          op->getLoc(),
          remark::RemarkOpts::name("AssembledAtLevel1").category("ptxas"))
          << "a kernel would spill at level 3: all are assembled at level 1";
    }
  }
  for (const KernelResources &kernel : cubin.kernels) {
    if (kernel.spillBytes != 0 || kernel.stackBytes != 0) {
      op->emitWarning() << "kernel '" << kernel.name << "' spills "
                        << kernel.spillBytes << " bytes and has "
                        << kernel.stackBytes
                        << " bytes of local memory; simplify its epilogue";
    }
  }
  return cubin;
}
