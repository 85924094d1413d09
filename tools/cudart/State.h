// What the entry points share: one emulated device, what host code registered.
#ifndef GMOE_TOOLS_CUDART_STATE_H
#define GMOE_TOOLS_CUDART_STATE_H

#include "runtime/emulator/EmulatorDevice.h"
#include "tools/cudart/Abi.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace gmoe::cudart {

struct Image {
  std::string ptx;
  std::unique_ptr<LoadedImage> loaded;
};
struct Kernel {
  Image *image = nullptr;
  EmulatorKernel declared;
};
/// One translation unit's device code, loaded when a kernel is first launched.
struct Binary {
  std::vector<std::unique_ptr<Image>> images;
  std::map<std::string, Kernel> kernels;
  bool loaded = false;
};
struct Function {
  Binary *binary = nullptr;
  std::string name;
};
struct CallConfiguration {
  Dim grid, block;
  size_t sharedBytes;
  void *stream;
};

struct State {
  std::recursive_mutex mutex;
  std::unique_ptr<EmulatorDevice> device;
  std::map<uint64_t, uint64_t> allocations; // address to bytes
  std::map<const void *, Function> functions;
  std::vector<std::unique_ptr<Binary>> binaries;
  std::vector<CallConfiguration> configurations;
  Error last = Success;
  bool verbose = false;
  std::string recordFolder; // empty: launches are not recorded
  unsigned launches = 0;

  State();
};

State &state();
using Lock = std::lock_guard<std::recursive_mutex>;

/// Keeps the error for cudaGetLastError.
Error remember(Error error);
/// Prints a failure to stderr.
Error report(const Status &status, Error error);
/// Writes launch NUMBER as a folder for gmoe-emulate (Record.cpp).
void record(State &state, const Image &image, const KernelLaunch &launch);

} // namespace gmoe::cudart

#endif // GMOE_TOOLS_CUDART_STATE_H
