#include "runtime/cuda/Driver.h"

#include "runtime/core/Text.h"

#include <dlfcn.h>

using namespace gmoe;
using namespace gmoe::cuda;

Expected<Driver> Driver::open(const std::string &library) {
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return unavailable(cat(library, " not found: install the NVIDIA driver, or "
                                    "use --device=emulator"));
  }
  Driver driver{};
  const char *missing = nullptr;
#define GMOE_CUDA_LOAD(member, symbol, params)                                 \
  driver.member = reinterpret_cast<Result(*) params>(dlsym(handle, symbol));   \
  if (!driver.member) {                                                        \
    missing = symbol;                                                          \
  }
  GMOE_CUDA_FUNCTIONS(GMOE_CUDA_LOAD)
#undef GMOE_CUDA_LOAD
  if (missing) {
    int version = 0;
    if (driver.driverVersion) {
      (void)driver.driverVersion(&version);
    }
    return unavailable(cat(library, " has no ", missing, ": its version is ",
                           version / 1000, ".", version % 1000 / 10,
                           ", install a driver for CUDA 12.4 or newer"));
  }
  return driver;
}

Status Driver::check(Result result, const std::string &what) const {
  if (result == kSuccess) {
    return {};
  }
  const char *name = nullptr, *text = nullptr;
  (void)errorName(result, &name);
  (void)errorText(result, &text);
  return deviceError(cat(what, ": ", name ? name : "unknown error", " (",
                         text ? std::string(text) : std::to_string(result),
                         ")"));
}
