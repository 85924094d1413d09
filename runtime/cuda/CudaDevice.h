// The device on an NVIDIA GPU, through the driver API.
#ifndef GMOE_RUNTIME_CUDA_CUDADEVICE_H
#define GMOE_RUNTIME_CUDA_CUDADEVICE_H

#include "runtime/core/Device.h"

#include <memory>
#include <string>

namespace gmoe {

struct CudaOptions {
  int ordinal = 0;
  /// Let the driver compile PTX images where the bundle has no cubin: its
  /// compiler may be older than the one the bundle was tested with.
  bool allowPtx = false;
  std::string library = "libcuda.so.1";
};

/// Uses the device's primary context, which the CUDA runtime and frameworks
/// share; a call leaves the thread's current context as it was. Streams are
/// CUstream handles of that context, null the default stream. Unavailable
/// without a driver or a device.
Expected<std::unique_ptr<Device>> openCudaDevice(const CudaOptions &options);

/// "sm_100a" for 10.0: from 9.0 on, images are specific to their chip.
std::string cudaTargetOf(int major, int minor);

} // namespace gmoe

#endif // GMOE_RUNTIME_CUDA_CUDADEVICE_H
