// Calls of functions that CUDA defines outside the module (CUDA C++ guide,
// formatted output and assertion).
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {
namespace {

void assertionFailed(Warp &w, const Instruction &, uint32_t mask) {
  w.fail("a device assertion failed", __builtin_ctz(mask));
}

} // namespace

bool Decoder::externalCall(const std::string &name) {
  if (name == "vprintf") {
    // Prints nothing: the result variable keeps its poison, a negative number,
    // which is how vprintf reports an error.
    return true;
  }
  if (name == "__assertfail") {
    emit(assertionFailed, {}, 0);
    return true;
  }
  return fail("call of '" + name + "', which has no body in this module");
}

} // namespace gmoe::emulator
