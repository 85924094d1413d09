#include "tools/run/Options.h"

#include "runtime/core/Text.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>

using namespace gmoe;
using namespace gmoe::run;

const char *const run::kUsage =
    "usage: gmoe-run IN.mlir|IN.gmoe --device=reference|emulator|cuda\n"
    "  [--target=CHIP] [--entry=NAME] [--rows R]\n"
    "  [--arg I=SPEC]... [--result I=FILE.npy]...\n"
    "  [--check] [--tolerance=bitwise|sqnr:DB] [--check-inputs]\n"
    "  [--hazards=off|fast|full] [--schedule-seed=N] [--poison=on|off]\n"
    "  [--json] [--version]\n"
    "SPEC: FILE.npy, random[:SEED], const:VALUE, offsets:END,END,...,\n"
    "  pointers:FILE.npy,FILE.npy,... (an array for each group)\n"
    "--check compares with the reference executor. A result passes when it is "
    "bitwise equal;\nor, f32: at 85 dB; f16, bf16 and sums: each element "
    "within "
    "one unit and the bound on\nother orders of summation, K 2^-23 sum "
    "|products| through the epilogue and N 2^-23 sum\n|values| for a sum of N "
    "(60, 50 and 85 dB where the epilogue has no bound). "
    "Rows past the last offset must be untouched.\n";

const char *run::nameOf(DeviceKind kind) {
  switch (kind) {
  case DeviceKind::Reference:
    return "reference";
  case DeviceKind::Emulator:
    return "emulator";
  case DeviceKind::Cuda:
    return "cuda";
  }
  return "";
}

static bool parseInteger(const std::string &text, int64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoll(text.c_str(), &end, 10);
  return !text.empty() && *end == 0 && errno == 0;
}

static bool parseUnsigned(const std::string &text, uint64_t &value) {
  char *end = nullptr;
  errno = 0;
  value = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && text[0] != '-' && *end == 0 && errno == 0;
}

static bool parseDouble(const std::string &text, double &value) {
  char *end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == 0;
}

static bool startsWith(const std::string &text, const char *prefix) {
  return text.rfind(prefix, 0) == 0;
}

static Expected<ArgumentSpec> parseSpec(const std::string &text) {
  ArgumentSpec spec;
  if (text == "random" || startsWith(text, "random:")) {
    spec.kind = ArgumentSpec::Kind::Random;
    if (text != "random" && !parseUnsigned(text.substr(7), spec.seed)) {
      return invalidArgument("seed is '" + text.substr(7) +
                             "', expected a number: random:1");
    }
    return spec;
  }
  if (startsWith(text, "const:")) {
    spec.kind = ArgumentSpec::Kind::Constant;
    if (!parseDouble(text.substr(6), spec.value)) {
      return invalidArgument("value is '" + text.substr(6) +
                             "', expected a number: const:0.5");
    }
    return spec;
  }
  if (startsWith(text, "offsets:")) {
    spec.kind = ArgumentSpec::Kind::Offsets;
    size_t start = 8;
    while (true) {
      size_t end = text.find(',', start);
      std::string item = text.substr(
          start, end == std::string::npos ? std::string::npos : end - start);
      int64_t value = 0;
      if (!parseInteger(item, value)) {
        return invalidArgument("offset is '" + item +
                               "', expected cumulative row counts: "
                               "offsets:256,256,768");
      }
      spec.offsets.push_back(value);
      if (end == std::string::npos) {
        return spec;
      }
      start = end + 1;
    }
  }
  if (startsWith(text, "pointers:")) {
    spec.kind = ArgumentSpec::Kind::Pointers;
    for (size_t start = 9; start <= text.size();) {
      size_t end = std::min(text.find(',', start), text.size());
      spec.paths.push_back(text.substr(start, end - start));
      if (spec.paths.back().empty()) {
        return invalidArgument("'" + text +
                               "': a file name is empty, expected "
                               "pointers:FILE.npy,FILE.npy,...");
      }
      start = end + 1;
    }
    return spec;
  }
  if (text.empty()) {
    return invalidArgument("is empty, expected FILE.npy, random, "
                           "const:VALUE, offsets:END,END,... or "
                           "pointers:FILE.npy,FILE.npy,...");
  }
  spec.kind = ArgumentSpec::Kind::File;
  spec.path = text;
  return spec;
}

/// "I=REST"
static Status splitIndexed(const std::string &option, const std::string &text,
                           unsigned &index, std::string &rest) {
  size_t equals = text.find('=');
  int64_t value = -1;
  if (equals == std::string::npos ||
      !parseInteger(text.substr(0, equals), value) || value < 0 ||
      value > 65535) {
    return invalidArgument(cat(option, " ", text, ": expected a position and ",
                               "'=': ", option, " 0=..."));
  }
  index = static_cast<unsigned>(value);
  rest = text.substr(equals + 1);
  return {};
}

namespace {

class Parser {
public:
  Parser(int argc, const char *const *argv)
      : words(argv + (argc > 0), argv + argc) {}
  Expected<Options> parse();

private:
  Status parseWord();
  Status parseValued(const std::string &name, const std::string &value);
  Status parseFlag(const std::string &name);
  template <typename T, size_t count>
  Status choose(const std::string &name, const std::string &value,
                const std::pair<const char *, T> (&choices)[count], T &chosen);

  std::vector<std::string> words;
  size_t next = 0;
  Options options;
  bool deviceGiven = false;
};

} // namespace

template <typename T, size_t count>
Status Parser::choose(const std::string &name, const std::string &value,
                      const std::pair<const char *, T> (&choices)[count],
                      T &chosen) {
  std::string list;
  for (const auto &[text, choice] : choices) {
    if (value == text) {
      chosen = choice;
      return {};
    }
    list += (list.empty() ? "" : ", ") + std::string(text);
  }
  return invalidArgument(cat(name, "=", value, ": expected one of ", list));
}

Status Parser::parseValued(const std::string &name, const std::string &value) {
  if (name == "--device") {
    deviceGiven = true;
    static const std::pair<const char *, DeviceKind> choices[] = {
        {"reference", DeviceKind::Reference},
        {"emulator", DeviceKind::Emulator},
        {"cuda", DeviceKind::Cuda}};
    return choose(name, value, choices, options.device);
  }
  if (name == "--hazards") {
    static const std::pair<const char *, HazardLevel> choices[] = {
        {"off", HazardLevel::Off},
        {"fast", HazardLevel::Fast},
        {"full", HazardLevel::Full}};
    return choose(name, value, choices, options.hazards);
  }
  if (name == "--poison") {
    static const std::pair<const char *, bool> choices[] = {{"on", true},
                                                            {"off", false}};
    return choose(name, value, choices, options.poison);
  }
  if (name == "--target") {
    options.target = value;
    return {};
  }
  if (name == "--entry") {
    options.entry = value;
    return {};
  }
  if (name == "--rows") {
    int64_t rows = 0;
    if (!parseInteger(value, rows) || rows < 0) {
      return invalidArgument("--rows " + value +
                             ": expected a row count of 0 or more");
    }
    options.rows = rows;
    return {};
  }
  if (name == "--schedule-seed") {
    return parseUnsigned(value, options.scheduleSeed)
               ? Status()
               : invalidArgument("--schedule-seed=" + value +
                                 ": expected a number");
  }
  if (name == "--tolerance") {
    if (value == "bitwise") {
      options.tolerance.kind = Tolerance::Kind::Bitwise;
      return {};
    }
    options.tolerance.kind = Tolerance::Kind::Sqnr;
    return startsWith(value, "sqnr:") &&
                   parseDouble(value.substr(5), options.tolerance.decibel)
               ? Status()
               : invalidArgument("--tolerance=" + value +
                                 ": expected bitwise or sqnr:DB, as sqnr:50");
  }
  unsigned index = 0;
  std::string rest;
  if (Status s = splitIndexed(name, value, index, rest); !s) {
    return s;
  }
  if (name == "--result") {
    if (rest.empty()) {
      return invalidArgument("--result " + value + ": expected a file name");
    }
    options.results[index] = rest;
    return {};
  }
  Expected<ArgumentSpec> spec = parseSpec(rest);
  if (!spec) {
    return invalidArgument(cat("--arg ", value, ": ", spec.status().message()));
  }
  options.arguments[index] = *spec;
  return {};
}

Status Parser::parseFlag(const std::string &name) {
  if (name == "--check") {
    options.check = true;
  } else if (name == "--check-inputs") {
    options.checkInputs = true;
  } else if (name == "--json") {
    options.json = true;
  } else if (name == "--version") {
    options.version = true;
  } else {
    return invalidArgument("unknown option '" + name + "'");
  }
  return {};
}

Status Parser::parseWord() {
  static const char *const valued[] = {
      "--device", "--target", "--entry",         "--rows",      "--arg",
      "--result", "--poison", "--schedule-seed", "--tolerance", "--hazards"};
  const std::string word = words[next++];
  if (word.empty() || word[0] != '-' || word == "-") {
    if (!options.input.empty()) {
      return invalidArgument("two inputs, '" + options.input + "' and '" +
                             word + "', expected one");
    }
    options.input = word;
    return {};
  }
  size_t equals = word.find('=');
  std::string name = word.substr(0, equals);
  for (const char *option : valued) {
    if (name != option) {
      continue;
    }
    if (equals != std::string::npos) {
      return parseValued(name, word.substr(equals + 1));
    }
    if (next == words.size()) {
      return invalidArgument("option '" + name + "' has no value");
    }
    return parseValued(name, words[next++]);
  }
  return parseFlag(word);
}

Expected<Options> Parser::parse() {
  while (next < words.size()) {
    if (Status s = parseWord(); !s) {
      return s;
    }
  }
  if (options.version) {
    return options;
  }
  if (options.input.empty()) {
    return invalidArgument("no input file");
  }
  if (!deviceGiven) {
    return invalidArgument("no --device, expected --device=reference, "
                           "emulator or cuda");
  }
  return options;
}

Expected<Options> run::parseOptions(int argc, const char *const *argv) {
  return Parser(argc, argv).parse();
}
