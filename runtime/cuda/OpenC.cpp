// The C interface's CUDA device; apart from the rest, which knows no device.
#include "runtime/core/c_api.h"
#include "runtime/cuda/CudaDevice.h"

#include <utility>

using namespace gmoe;

gmoe_status gmoe_open_cuda(int ordinal, int allow_ptx, gmoe_device **device) {
  if (!device) {
    return reportC(invalidArgument("device is null"));
  }
  *device = nullptr;
  CudaOptions options;
  options.ordinal = ordinal;
  options.allowPtx = allow_ptx != 0;
  Expected<std::unique_ptr<Device>> opened = openCudaDevice(options);
  if (!opened) {
    return reportC(opened.status());
  }
  *device = wrapDevice(std::move(*opened));
  return GMOE_OK;
}
