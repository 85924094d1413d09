// What a C++ embedder of the C interface needs: handles for its own devices.
#ifndef GMOE_RUNTIME_CORE_C_API_H
#define GMOE_RUNTIME_CORE_C_API_H

#include "runtime/core/Device.h"
#include "runtime/core/grouped_moe.h"

#include <memory>

namespace gmoe {

/// Owns the device; destroy it with gmoe_device_destroy().
gmoe_device *wrapDevice(std::unique_ptr<Device> device);

/// The status' code, after keeping its message for gmoe_last_error().
gmoe_status reportC(const Status &status);

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_C_API_H
