// The command line of gmoe-run.
#ifndef TOOLS_RUN_OPTIONS_H
#define TOOLS_RUN_OPTIONS_H

#include "runtime/core/Status.h"
#include "runtime/emulator/EmulatorDevice.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gmoe::run {

enum class DeviceKind { Reference, Emulator, Cuda };
const char *nameOf(DeviceKind kind);

/// What an argument holds: the SPEC of --arg.
struct ArgumentSpec {
  enum class Kind { Generated, File, Random, Constant, Offsets, Pointers };
  Kind kind = Kind::Generated;
  std::string path;
  uint64_t seed = 0;
  double value = 0; // decoded
  std::vector<int64_t> offsets;
  std::vector<std::string> paths; // of pointers
};

/// When a result passes --check.
struct Tolerance {
  enum class Kind { Default, Bitwise, Sqnr };
  Kind kind = Kind::Default;
  double decibel = 0;
};

struct Options {
  std::string input, target, entry;
  DeviceKind device = DeviceKind::Reference;
  std::optional<int64_t> rows;
  std::map<unsigned, ArgumentSpec> arguments;
  std::map<unsigned, std::string> results; // files
  bool check = false, checkInputs = false, poison = true, json = false;
  bool version = false;
  Tolerance tolerance;
  HazardLevel hazards = HazardLevel::Fast;
  uint64_t scheduleSeed = 0;
};

extern const char *const kUsage;

/// InvalidArgument says what is wrong with which option.
Expected<Options> parseOptions(int argc, const char *const *argv);

} // namespace gmoe::run

#endif // TOOLS_RUN_OPTIONS_H
