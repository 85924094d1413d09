// gmoe-emulate LAUNCH.json: runs one kernel of a PTX file on the CPU.
#include "runtime/abi/Header.h"
#include "runtime/abi/Version.h"
#include "tools/emulate/LaunchFile.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static int usage() {
  std::fputs("usage: gmoe-emulate LAUNCH.json [--schedule-seed=N] "
             "[--hazards=off|fast|full] [--version]\n",
             stderr);
  return 2;
}

int main(int argc, char **argv) {
  gmoe::EmulatorOptions options;
  const char *path = nullptr;
  for (int k = 1; k < argc; ++k) {
    const char *a = argv[k];
    if (!std::strcmp(a, "--version")) {
      std::printf("gmoe-emulate: grouped-moe %s, %s, bundle format %u\n",
                  gmoe::kVersion, gmoe::kBuiltFor, gmoe::abi::kFormatVersion);
      return 0;
    }
    if (!std::strncmp(a, "--schedule-seed=", 16)) {
      char *end = nullptr;
      options.scheduleSeed = std::strtoull(a + 16, &end, 0);
      if (!a[16] || *end) {
        return usage();
      }
    } else if (!std::strcmp(a, "--hazards=off")) {
      options.hazards = gmoe::HazardLevel::Off;
    } else if (!std::strcmp(a, "--hazards=fast")) {
      options.hazards = gmoe::HazardLevel::Fast;
    } else if (!std::strcmp(a, "--hazards=full")) {
      options.hazards = gmoe::HazardLevel::Full;
    } else if (a[0] != '-' && !path) {
      path = a;
    } else {
      return usage();
    }
  }
  if (!path) {
    return usage();
  }
  std::string report;
  gmoe::Status status = gmoe::runLaunchFile(path, options, report);
  if (!report.empty()) {
    std::printf("%s\n", report.c_str());
  }
  if (!status) {
    std::fprintf(stderr, "error: %s\n", status.message().c_str());
    return 1;
  }
  return 0;
}
