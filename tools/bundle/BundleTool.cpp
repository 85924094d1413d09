#include "tools/bundle/BundleTool.h"

#include "runtime/abi/Version.h"
#include "runtime/abi/Writer.h"
#include "runtime/core/File.h"
#include "runtime/core/Text.h"

#include <memory>
#include <vector>

using namespace gmoe;
using Action = BundleToolOptions::Action;

const char *gmoe::bundleToolUsage() {
  return "usage: gmoe-bundle IN.gmoe [--extract=ptx|cubin|ir [--target=CHIP] "
         "[-o FILE]]\n"
         "       gmoe-bundle IN.gmoe --strip-source -o OUT.gmoe\n"
         "       gmoe-bundle --version\n";
}

Expected<BundleToolOptions>
gmoe::parseBundleToolOptions(int argc, const char *const *argv) {
  BundleToolOptions options;
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i];
    auto valueOf = [&](std::string_view prefix, std::string &value) {
      if (arg.substr(0, prefix.size()) != prefix) {
        return false;
      }
      value = std::string(arg.substr(prefix.size()));
      return true;
    };
    if (valueOf("--extract=", options.extract)) {
      if (options.extract != "ptx" && options.extract != "cubin" &&
          options.extract != "ir") {
        return invalidArgument(cat("unknown part \"", options.extract,
                                   "\", expected ptx, cubin or ir"));
      }
      options.action = Action::Extract;
    } else if (valueOf("--target=", options.target)) {
    } else if (arg == "--strip-source") {
      options.action = Action::StripSource;
    } else if (arg == "--version") {
      options.action = Action::Version;
      return options;
    } else if (arg == "--help" || arg == "-h") {
      options.action = Action::Help;
      return options;
    } else if (arg == "-o") {
      if (++i == argc) {
        return invalidArgument("-o expects a file");
      }
      options.output = argv[i];
    } else if (arg.size() > 1 && arg[0] == '-') {
      return invalidArgument(cat("unknown option ", arg));
    } else if (!options.input.empty()) {
      return invalidArgument(cat("two inputs, ", options.input, " and ", arg));
    } else {
      options.input = std::string(arg);
    }
  }
  if (options.input.empty()) {
    return invalidArgument("no input, expected a .gmoe file");
  }
  if (options.action == Action::StripSource && options.output.empty()) {
    return invalidArgument("--strip-source expects -o OUT.gmoe");
  }
  return options;
}

Expected<std::string> gmoe::extractFrom(const Module &module,
                                        std::string_view what,
                                        std::string_view target) {
  if (what == "ir") {
    if (module.source().empty()) {
      return notFound("bundle has no IR: it was stripped");
    }
    return module.source();
  }
  std::string images;
  for (const ImageInfo &image : module.images()) {
    if (nameOf(image.format) == what &&
        (target.empty() || image.target == target)) {
      return std::string(image.data);
    }
    images += cat(images.empty() ? "" : ", ", image.target, " ",
                  nameOf(image.format));
  }
  return notFound(cat("bundle has no ", what,
                      target.empty() ? std::string() : cat(" for ", target),
                      ", its images are: ", images.empty() ? "none" : images));
}

Expected<std::string> gmoe::stripSource(std::string_view bytes) {
  Expected<Module> module = Module::load(bytes);
  if (!module) {
    return module.status();
  }
  // An aligned copy, as the FlatBuffers accessors expect.
  std::vector<uint8_t> payload(bytes.begin() + sizeof(abi::Header),
                               bytes.end());
  std::unique_ptr<abi::BundleT> bundle(
      abi::GetBundle(payload.data())->UnPack());
  bundle->source.clear();
  return abi::writeBundle(*bundle);
}

Status gmoe::runBundleTool(const BundleToolOptions &options, std::string &out) {
  if (options.action == Action::Version) {
    out = cat("gmoe-bundle: grouped-moe ", kVersion, ", ", kBuiltFor,
              ", bundle format ", abi::kFormatVersion, "\n");
    return {};
  }
  if (options.action == Action::Help) {
    out = bundleToolUsage();
    return {};
  }
  Expected<std::string> bytes = readFile(options.input, Module::kMaxFileBytes);
  if (!bytes) {
    return bytes.status();
  }
  Expected<Module> module = Module::load(*bytes);
  Expected<std::string> result =
      !module ? Expected<std::string>(module.status())
      : options.action == Action::StripSource ? stripSource(*bytes)
      : options.action == Action::Extract
          ? extractFrom(*module, options.extract, options.target)
          : Expected<std::string>(describeBundle(*module));
  if (!result) {
    return Status(result.status().code(),
                  cat(options.input, ": ", result.status().message()));
  }
  if (!options.output.empty()) {
    return writeFile(options.output, *result);
  }
  out = std::move(*result);
  return {};
}
