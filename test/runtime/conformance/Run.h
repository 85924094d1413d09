// Runs cases on a device and compares bytes.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_RUN_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_RUN_H

#include "test/runtime/conformance/Case.h"

namespace gmoe::conformance {

/// Loads the family's module for the device.
Expected<std::unique_ptr<LoadedImage>> load(Device &device,
                                            const Family &family);
/// The output's bytes after one launch.
Expected<std::vector<uint8_t>> run(Device &device, LoadedImage &image,
                                   const Case &c);

struct Difference {
  size_t count = 0;
  std::string first; // the first few, with their inputs
};
/// Against what the ISA says.
Difference compareExpected(const Case &c, const std::vector<uint8_t> &got);
/// Two devices bit for bit, save for NaN payloads where the rule leaves them
/// open.
Difference compareDevices(const Case &c, const std::vector<uint8_t> &emulator,
                          const std::vector<uint8_t> &other);

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_RUN_H
