#include "tools/run/Run.h"

#include "lib/Pipelines/Compiler.h"
#include "runtime/core/Text.h"
#include "tools/run/Check.h"
#include "tools/run/Generate.h"
#include "tools/run/Options.h"
#include "tools/run/Report.h"
#include "tools/run/Source.h"

#include <cstdio>
#include <cstdlib>
#include <new>

using namespace gmoe;
using namespace gmoe::run;

namespace {

class Tool {
public:
  explicit Tool(Options options) : options(std::move(options)) {}
  int run();

private:
  Status runAll();
  Status runDevice();
  Status checkResults();
  Status writeResults();
  void describeResults();

  Options options;
  Source source;
  Report report;
  std::vector<Array> inputs, arguments, results;
};

} // namespace

Status Tool::runDevice() {
  if (options.device == DeviceKind::Reference) {
    report.device.device = "reference";
    return source.execute(arguments, false, fillOf(options), results);
  }
  Expected<OpenDevice> device = openDevice(options);
  if (!device) {
    return device.status();
  }
  Expected<Module *> module = source.bundle(device->device->info().target,
                                            options.device == DeviceKind::Cuda);
  if (!module) {
    return module.status();
  }
  return runOnDevice(*device, **module, source.signature(), options, arguments,
                     results, report.device);
}

Status Tool::checkResults() {
  std::vector<Array> expected, copy = inputs;
  if (Status s = source.execute(copy, false, fillOf(options), expected); !s) {
    return s;
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    if (needsErrors(results[i], expected[i], options.tolerance)) {
      copy = inputs;
      if (Status s = source.execute(copy, true, fillOf(options), expected);
          !s) {
        return s;
      }
      break;
    }
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    Comparison comparison = compare(results[i], expected[i], options.tolerance);
    if (!comparison.passed) {
      report.findings.push_back(cat("check of ", report.results[i].name,
                                    " failed: ", comparison.reason));
    }
    report.results[i].comparison = comparison;
  }
  return {};
}

void Tool::describeResults() {
  for (size_t i = 0; i < results.size(); ++i) {
    ResultReport result;
    result.name = source.signature().results[i].name;
    result.type = grouped_moe::reference::nameOf(results[i].format);
    result.shape = results[i].shape;
    report.results.push_back(std::move(result));
  }
}

Status Tool::writeResults() {
  for (const auto &[index, path] : options.results) {
    if (Status s = writeArray(path, results[index]); !s) {
      return s;
    }
    report.results[index].file = path;
  }
  return {};
}

Status Tool::runAll() {
  if (Status s = source.load(options); !s) {
    return s;
  }
  const Signature &signature = source.signature();
  report.entry = signature.name;
  if (!options.results.empty() &&
      options.results.rbegin()->first >= signature.results.size()) {
    return invalidArgument(cat("--result ", options.results.rbegin()->first,
                               ": entry \"", signature.name, "\" has ",
                               signature.results.size(), " results"));
  }
  if (options.check && !source.hasFunction()) {
    return unavailable("--check: the bundle has no source IR to compare with: "
                       "compile it without stripping its source");
  }
  Expected<std::vector<Array>> made = makeArguments(signature, options);
  if (!made) {
    return made.status();
  }
  arguments = std::move(*made);
  if (options.check) {
    inputs = arguments;
  }
  if (Status s = runDevice(); !s) {
    return s;
  }
  describeResults();
  if (Status s = writeResults(); !s) {
    return s;
  }
  return options.check ? checkResults() : Status();
}

int Tool::run() {
  Status status = runAll();
  if (!status) {
    // A diagnostic has already been printed when there is no message.
    report.findings.push_back(status.message().empty()
                                  ? "refused, see the diagnostics"
                                  : status.message());
  }
  if (options.json) {
    std::fputs(jsonReport(report, options).c_str(), stdout);
  } else if (status) {
    std::fputs(textReport(report, options).c_str(), stdout);
  }
  for (const std::string &finding : report.findings) {
    if (status || !status.message().empty()) {
      std::fprintf(stderr, "error: %s\n", finding.c_str());
    }
  }
  return report.findings.empty() ? 0 : 1;
}

/// Without exceptions `new` would end in a signal.
static void outOfMemory() {
  std::fputs("error: out of memory: ask for fewer rows\n", stderr);
  std::_Exit(1);
}

int run::runTool(int argc, const char *const *argv) {
  std::set_new_handler(outOfMemory);
  Expected<Options> options = parseOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr, "error: %s\n%s", options.status().message().c_str(),
                 kUsage);
    return 2;
  }
  if (options->version) {
    std::printf("gmoe-run: %s", grouped_moe::versionText().c_str());
    return 0;
  }
  return Tool(std::move(*options)).run();
}
