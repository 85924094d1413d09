// Any bytes as a bundle, and as the payload of one with a valid header: the
// module refuses them, or its entries resolve shapes and launch on a device
// that does nothing.
#include "runtime/abi/Writer.h"
#include "runtime/core/Module.h"
#include "test/runtime/core/TestBundle.h"

using namespace gmoe;

namespace {

void exercise(const Module &module) {
  for (const Entry &entry : module.entries()) {
    std::vector<Shape> given;
    for (const ArgumentInfo &argument : entry.arguments()) {
      Shape shape;
      for (const Extent &extent : argument.extents) {
        shape.push_back(extent.kind == ExtentKind::Static ? extent.value : 256);
      }
      given.push_back(shape);
    }
    auto shapes = entry.shapes(given);
    if (!shapes) {
      shapes = entry.shapes({});
    }
    if (!shapes) {
      continue;
    }
    test::FakeDevice device;
    auto bytes = entry.workspaceSize(*shapes, device.info());
    auto image = module.loadImage(device);
    if (!bytes || !image) {
      continue;
    }
    std::vector<ArgumentValue> values;
    for (const Shape &shape : *shapes) {
      ArgumentValue value;
      value.address = 0x10000;
      value.shape = shape;
      values.push_back(value);
    }
    (void)entry.launch(device, **image, values, {0x20000, *bytes}, nullptr);
  }
}

void load(std::string_view bytes) {
  auto module = Module::load(bytes);
  if (module) {
    exercise(*module);
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  load(std::string_view(reinterpret_cast<const char *>(data), size));
  load(abi::addHeader(data, size));
  return 0;
}
