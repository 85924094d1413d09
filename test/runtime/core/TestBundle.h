// A small bundle and a device that records what it is asked to do.
#ifndef GMOE_TEST_RUNTIME_CORE_TESTBUNDLE_H
#define GMOE_TEST_RUNTIME_CORE_TESTBUNDLE_H

#include "runtime/abi/Writer.h"
#include "runtime/core/Module.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gmoe::test {

/// Appends expressions to an entry.
class Exprs {
public:
  explicit Exprs(abi::EntryT &entry) : entry(entry) {}
  int32_t constant(int64_t value) {
    return add(abi::ExprKind::Constant, value, 0, 0);
  }
  int32_t dim(int32_t argument, int32_t axis) {
    return add(abi::ExprKind::Dim, 0, argument, axis);
  }
  int32_t smCount() { return add(abi::ExprKind::SmCount, 0, 0, 0); }
  int32_t op(abi::ExprKind kind, int32_t lhs, int32_t rhs) {
    return add(kind, 0, lhs, rhs);
  }

private:
  int32_t add(abi::ExprKind kind, int64_t value, int32_t lhs, int32_t rhs) {
    entry.exprs.emplace_back(value, lhs, rhs, kind);
    return static_cast<int32_t>(entry.exprs.size()) - 1;
  }
  abi::EntryT &entry;
};

inline std::unique_ptr<abi::BufferRef> buffer(abi::BufferKind kind,
                                              uint32_t index) {
  return std::make_unique<abi::BufferRef>(index, kind);
}

inline void addArgument(abi::EntryT &entry, const char *name,
                        abi::ArgumentKind kind, abi::ElementType element,
                        std::vector<int32_t> shape) {
  auto argument = std::make_unique<abi::ArgumentT>();
  argument->name = name;
  argument->kind = kind;
  argument->element = element;
  argument->shape = std::move(shape);
  entry.arguments.push_back(std::move(argument));
}

inline void addPointer(abi::LaunchT &launch, uint32_t offset,
                       abi::BufferKind kind, uint32_t index) {
  auto param = std::make_unique<abi::KernelParamT>();
  param->offset = offset;
  param->buffer = buffer(kind, index);
  launch.params.push_back(std::move(param));
}

inline void addScalar(abi::LaunchT &launch, uint32_t offset,
                      abi::ParamKind kind, int32_t expr) {
  auto param = std::make_unique<abi::KernelParamT>();
  param->kind = kind;
  param->offset = offset;
  param->expr = expr;
  launch.params.push_back(std::move(param));
}

/// Entry "gemm": a [R, 64] f16, offsets [4] i32 (ends multiples of 8), out
/// [ceildiv(R, 128), 32] f32; a temporary of 4 R bytes and one of 100; launch
/// "prepare" on min(sms, R) CTAs, then zeros in the first temporary, then
/// "main" on ceildiv(R, 128) clusters of 2 with a tensor map of a.
inline std::unique_ptr<abi::EntryT> gemmEntry() {
  auto entry = std::make_unique<abi::EntryT>();
  entry->name = "gemm";
  Exprs e(*entry);
  int32_t rows = e.dim(0, 0), c64 = e.constant(64), c4 = e.constant(4),
          c128 = e.constant(128), c32 = e.constant(32), c1 = e.constant(1),
          c2 = e.constant(2), c100 = e.constant(100);
  int32_t tiles = e.op(abi::ExprKind::CeilDiv, rows, c128);
  int32_t sms = e.op(abi::ExprKind::Min, e.smCount(), rows);
  int32_t ctas = e.op(abi::ExprKind::Mul, tiles, c2);
  int32_t rowBytes = e.op(abi::ExprKind::Mul, rows, c4);
  addArgument(*entry, "a", abi::ArgumentKind::Input, abi::ElementType::F16,
              {rows, c64});
  addArgument(*entry, "offsets", abi::ArgumentKind::Input,
              abi::ElementType::I32, {c4});
  addArgument(*entry, "out", abi::ArgumentKind::Output, abi::ElementType::F32,
              {tiles, c32});
  auto contract = std::make_unique<abi::OffsetsContractT>();
  contract->argument = 1;
  contract->aligned = 8;
  contract->rows = rows;
  entry->offsets.push_back(std::move(contract));
  for (int32_t bytes : {rowBytes, c100}) {
    auto temporary = std::make_unique<abi::TemporaryT>();
    temporary->bytes = bytes;
    entry->temporaries.push_back(std::move(temporary));
  }

  auto prepare = std::make_unique<abi::LaunchT>();
  prepare->kernel = "prepare";
  prepare->grid = {sms, c1, c1};
  prepare->cluster = {1, 1, 1};
  prepare->block = {128, 1, 1};
  prepare->param_bytes = 28;
  addPointer(*prepare, 0, abi::BufferKind::Argument, 1);
  addPointer(*prepare, 8, abi::BufferKind::Temporary, 1);
  addScalar(*prepare, 16, abi::ParamKind::ScalarI64, rowBytes);
  addScalar(*prepare, 24, abi::ParamKind::ScalarI32, rows);
  entry->launches.push_back(std::move(prepare));

  auto main = std::make_unique<abi::LaunchT>();
  main->kernel = "main";
  main->grid = {ctas, c1, c1};
  main->cluster = {2, 1, 1};
  main->block = {256, 1, 1};
  main->dynamic_shared_bytes = 1000;
  main->param_bytes = 144;
  auto map = std::make_unique<abi::KernelParamT>();
  map->kind = abi::ParamKind::TensorMap;
  map->tensor_map = std::make_unique<abi::TensorMapRecipeT>();
  map->tensor_map->buffer = buffer(abi::BufferKind::Argument, 0);
  map->tensor_map->type = static_cast<uint32_t>(TensorMapType::F16);
  map->tensor_map->dims = {c64, rows};
  map->tensor_map->strides = {c128};
  map->tensor_map->box = {64, 128};
  map->tensor_map->swizzle = static_cast<uint32_t>(TensorMapSwizzle::B128);
  main->params.push_back(std::move(map));
  addPointer(*main, 128, abi::BufferKind::Argument, 2);
  addPointer(*main, 136, abi::BufferKind::Temporary, 0);
  auto fill = std::make_unique<abi::FillT>();
  fill->buffer = buffer(abi::BufferKind::Temporary, 0);
  main->fills.push_back(std::move(fill));
  entry->launches.push_back(std::move(main));
  return entry;
}

inline void addImage(abi::BundleT &bundle, const char *target,
                     abi::ImageFormat format, const std::string &data) {
  auto image = std::make_unique<abi::ImageT>();
  image->target = target;
  image->format = format;
  image->data.assign(data.begin(), data.end());
  bundle.images.push_back(std::move(image));
}

inline abi::BundleT gemmBundle() {
  abi::BundleT bundle;
  bundle.producer = "test 1";
  bundle.source = "module {}";
  bundle.entries.push_back(gemmEntry());
  addImage(bundle, "sm_100a", abi::ImageFormat::Ptx, "// ptx");
  addImage(bundle, "sm_100a", abi::ImageFormat::Cubin, "cubin bytes");
  for (const char *name : {"prepare", "main"}) {
    auto kernel = std::make_unique<abi::KernelInfoT>();
    kernel->name = name;
    kernel->target = "sm_100a";
    kernel->registers = 32;
    bundle.kernels.push_back(std::move(kernel));
  }
  return bundle;
}

/// Memory is host memory; a tensor map carries its address and first extents.
class FakeDevice : public Device {
public:
  struct Image : LoadedImage {};

  FakeDevice() {
    deviceInfo.name = "fake";
    deviceInfo.target = "sm_100a";
    deviceInfo.smCount = 148;
    deviceInfo.maxSharedBytes = 232448;
  }
  const DeviceInfo &info() const override { return deviceInfo; }
  std::vector<ImageFormat> imageFormats() const override { return formats; }
  Expected<uint64_t> allocate(uint64_t bytes) override {
    auto memory = std::make_unique<uint8_t[]>(bytes + 256);
    uint64_t raw = reinterpret_cast<uint64_t>(memory.get());
    uint64_t address = (raw + 255) & ~uint64_t{255};
    allocations[address] = std::move(memory);
    return address;
  }
  Status release(uint64_t address) override {
    return allocations.erase(address) ? Status() : invalidArgument("unknown");
  }
  Status copyToDevice(uint64_t address, const void *source, uint64_t bytes,
                      StreamHandle) override {
    std::memcpy(reinterpret_cast<void *>(address), source, bytes);
    return {};
  }
  Status copyToHost(void *target, uint64_t address, uint64_t bytes,
                    StreamHandle) override {
    std::memcpy(target, reinterpret_cast<void *>(address), bytes);
    return {};
  }
  Status fill(uint64_t address, uint8_t value, uint64_t bytes,
              StreamHandle stream) override {
    streams.push_back(stream);
    if (allocations.count(address)) {
      std::memset(reinterpret_cast<void *>(address), value, bytes);
    }
    fills.push_back({address, bytes, launches.size()});
    return {};
  }
  Status synchronize(StreamHandle) override { return {}; }
  Expected<TensorMap> encodeTensorMap(const TensorMapDesc &desc) override {
    maps.push_back(desc);
    TensorMap map;
    std::memcpy(map.bytes.data(), &desc.address, 8);
    std::memcpy(map.bytes.data() + 8, desc.dims.data(), 16);
    return map;
  }
  Expected<std::unique_ptr<LoadedImage>> loadImage(ImageFormat format,
                                                   std::string_view) override {
    loaded = format;
    return std::unique_ptr<LoadedImage>(std::make_unique<Image>());
  }
  Status launch(LoadedImage &, const KernelLaunch &launch,
                StreamHandle stream) override {
    streams.push_back(stream);
    launches.push_back(launch);
    return {};
  }

  DeviceInfo deviceInfo;
  std::vector<ImageFormat> formats = {ImageFormat::Cubin};
  std::map<uint64_t, std::unique_ptr<uint8_t[]>> allocations;
  std::vector<TensorMapDesc> maps;
  std::vector<KernelLaunch> launches;
  struct Fill {
    uint64_t address, bytes;
    size_t launchesBefore;
  };
  std::vector<Fill> fills;
  std::vector<StreamHandle> streams; // of fills and launches
  ImageFormat loaded = ImageFormat::Ptx;
};

} // namespace gmoe::test

#endif // GMOE_TEST_RUNTIME_CORE_TESTBUNDLE_H
