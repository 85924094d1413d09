#include "tools/mutation/Kernels.h"

#include "runtime/core/Text.h"
#include "tools/emulate/LaunchFile.h"
#include "tools/run/DeviceRun.h"
#include "tools/run/Generate.h"
#include "tools/run/Options.h"
#include "tools/run/Source.h"

#include <fstream>
#include <sstream>

namespace gmoe::mutation {
namespace {

class LaunchSubject final : public Subject {
public:
  explicit LaunchSubject(std::string path) : path_(std::move(path)) {}
  Status run(const EmulatorOptions &options) override {
    std::string report;
    EmulatorOptions quiet = options;
    return runLaunchFile(path_, quiet, report);
  }

private:
  std::string path_;
};

class EntrySubject final : public Subject {
public:
  Status load(const run::Options &options) {
    options_ = options;
    if (Status s = source_.load(options_); !s) {
      return s;
    }
    Expected<std::vector<run::Array>> made =
        run::makeArguments(source_.signature(), options_);
    if (!made) {
      return made.status();
    }
    arguments_ = std::move(*made);
    return {};
  }
  Status run(const EmulatorOptions &emulator) override {
    std::unique_ptr<EmulatorDevice> device = createEmulatorDevice(emulator);
    run::OpenDevice open;
    open.emulator = device.get();
    open.device = std::move(device);
    Expected<Module *> module =
        source_.bundle(open.device->info().target, false);
    if (!module) {
      return module.status();
    }
    std::vector<run::Array> arguments = arguments_, results;
    run::DeviceReport report;
    return run::runOnDevice(open, **module, source_.signature(), options_,
                            arguments, results, report);
  }

private:
  run::Options options_;
  run::Source source_;
  std::vector<run::Array> arguments_;
};

} // namespace

Expected<std::vector<std::unique_ptr<Subject>>>
loadSubjects(const std::string &list) {
  std::ifstream file(list);
  if (!file) {
    return invalidArgument(cat("cannot read \"", list, "\""));
  }
  size_t slash = list.rfind('/');
  std::string folder =
      slash == std::string::npos ? std::string() : list.substr(0, slash + 1);
  std::vector<std::unique_ptr<Subject>> subjects;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::vector<std::string> arguments;
    for (std::string word; words >> word;) {
      arguments.push_back(word);
    }
    if (arguments.empty() || arguments[0][0] == '#') {
      continue;
    }
    if (arguments.size() < 3) {
      return invalidArgument(cat("\"", line,
                                 "\": expected NAME run[:SMS] FILE "
                                 "[OPTIONS] or NAME emulate FILE"));
    }
    std::unique_ptr<Subject> subject;
    std::string path =
        arguments[2][0] == '/' ? arguments[2] : folder + arguments[2];
    if (arguments[1] == "emulate") {
      subject = std::make_unique<LaunchSubject>(path);
    } else {
      std::vector<const char *> argv = {"gmoe-run", path.c_str(),
                                        "--device=emulator"};
      for (size_t k = 3; k < arguments.size(); ++k) {
        argv.push_back(arguments[k].c_str());
      }
      Expected<run::Options> options =
          run::parseOptions(int(argv.size()), argv.data());
      if (!options) {
        return options.status();
      }
      auto entry = std::make_unique<EntrySubject>();
      if (Status s = entry->load(*options); !s) {
        return s;
      }
      subject = std::move(entry);
    }
    subject->name = arguments[0];
    if (arguments[1].rfind("run:", 0) == 0) {
      subject->smCount = std::max(1, std::atoi(arguments[1].c_str() + 4));
    }
    subjects.push_back(std::move(subject));
  }
  return Expected<std::vector<std::unique_ptr<Subject>>>(std::move(subjects));
}

} // namespace gmoe::mutation
