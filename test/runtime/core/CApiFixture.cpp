#include "test/runtime/core/CApiFixture.h"

#include "runtime/core/c_api.h"
#include "test/runtime/core/TestBundle.h"

gmoe_device *makeFakeDevice(void) {
  return gmoe::wrapDevice(std::make_unique<gmoe::test::FakeDevice>());
}

const void *makeBundle(size_t *size) {
  static const std::string bytes =
      gmoe::abi::writeBundle(gmoe::test::gemmBundle());
  *size = bytes.size();
  return bytes.data();
}
