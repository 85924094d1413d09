// The command line of the mutation score.
#include "tools/mutation/Score.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char **argv) {
  gmoe::mutation::Options options;
  for (int k = 1; k < argc; ++k) {
    std::string a = argv[k];
    auto value = [&](const char *name) {
      size_t n = std::strlen(name);
      return a.compare(0, n, name) == 0 ? a.c_str() + n : nullptr;
    };
    if (const char *v = value("--every=")) {
      options.every = std::max(1, std::atoi(v));
    } else if (const char *v = value("--seeds=")) {
      options.seeds = uint32_t(std::max(1, std::atoi(v)));
    } else if (const char *v = value("--reasons=")) {
      options.reasons = v;
    } else if (const char *v = value("--only=")) {
      options.only = v;
    } else if (a == "--verbose") {
      options.verbose = true;
    } else if (a[0] != '-' && options.list.empty()) {
      options.list = a;
    } else {
      options.list.clear();
      break;
    }
  }
  if (options.list.empty()) {
    std::fputs("usage: gmoe-mutation LIST [--reasons=FILE] [--every=N] "
               "[--seeds=N] [--only=NAME] [--verbose]\n",
               stderr);
    return 2;
  }
  return gmoe::mutation::runScore(options);
}
