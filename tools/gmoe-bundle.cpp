// gmoe-bundle: shows what is in a bundle. Exit 0, 1 (refused) or 2 (usage).
#include "tools/bundle/BundleTool.h"

#include <cstdio>

using namespace gmoe;

int main(int argc, char **argv) {
  Expected<BundleToolOptions> options = parseBundleToolOptions(argc, argv);
  if (!options) {
    std::fprintf(stderr, "gmoe-bundle: %s\n%s",
                 options.status().message().c_str(), bundleToolUsage());
    return 2;
  }
  std::string out;
  Status status = runBundleTool(*options, out);
  if (!status) {
    std::fprintf(stderr, "gmoe-bundle: %s\n", status.message().c_str());
    return 1;
  }
  bool written = std::fwrite(out.data(), 1, out.size(), stdout) == out.size();
  if (!written || std::fflush(stdout) != 0) {
    std::fprintf(stderr, "gmoe-bundle: cannot write to standard output\n");
    return 1;
  }
  return 0;
}
