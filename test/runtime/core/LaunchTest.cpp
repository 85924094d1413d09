// Shapes, workspace, parameters and refusals of a launch.
#include "test/runtime/core/TestBundle.h"

#include "runtime/core/Buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

// Inside the namespace: the standard library has a global `abi` too.
namespace gmoe::test {
namespace {

class LaunchTest : public testing::Test {
protected:
  void SetUp() override { reload(gemmBundle()); }
  void reload(const abi::BundleT &bundle) {
    Expected<Module> loaded = Module::load(abi::writeBundle(bundle));
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    module = std::make_unique<Module>(std::move(*loaded));
    entry = &module->entries()[0];
  }
  /// Arguments for that many rows, at made-up addresses.
  std::vector<ArgumentValue> arguments(int64_t rows) {
    return {{0x10000, {rows, 64}},
            {0x20000, {4}},
            {0x30000, {(rows + 127) / 128, 32}}};
  }
  void expectRefusal(const std::vector<ArgumentValue> &values,
                     const char *message,
                     Workspace workspace = {0x40000, 1 << 20}) {
    Status status = entry->launch(device, image, values, workspace, nullptr);
    ASSERT_FALSE(status.ok()) << "expected: " << message;
    EXPECT_EQ(status.code(), StatusCode::InvalidArgument);
    EXPECT_EQ(status.message(), std::string("entry \"gemm\": ") + message);
  }

  std::unique_ptr<Module> module;
  const Entry *entry = nullptr;
  FakeDevice device;
  FakeDevice::Image image;
};

template <typename T> T at(const KernelLaunch &launch, size_t offset) {
  T value;
  std::memcpy(&value, &launch.params[offset], sizeof(value));
  return value;
}

TEST_F(LaunchTest, ExtentsAreMultiples) {
  abi::BundleT bundle = gemmBundle();
  bundle.entries[0]->arguments[0]->multiples = {32, 1};
  reload(bundle);
  EXPECT_TRUE(entry->shapes({{320, 64}}).ok());
  expectRefusal(arguments(300),
                "argument 0 \"a\", axis 0: extent is 300, expected a multiple "
                "of 32; pad it");
}

TEST_F(LaunchTest, ShapesFollowFromInputs) {
  Expected<std::vector<Shape>> shapes = entry->shapes({{300, 64}});
  ASSERT_TRUE(shapes.ok()) << shapes.status().message();
  EXPECT_EQ((*shapes)[0], (Shape{300, 64}));
  EXPECT_EQ((*shapes)[1], (Shape{4}));
  EXPECT_EQ((*shapes)[2], (Shape{3, 32}));
  EXPECT_EQ(entry->shapes({}).status().message(),
            "entry \"gemm\": cannot derive the shape of argument 0 \"a\": axis "
            "0 of argument 0 \"a\" is free: give the shape of that argument");
  EXPECT_FALSE(entry->shapes({{1, 64}, {4}, {1, 32}, {1}}).ok());
  EXPECT_EQ(entry->shapes({{300, 64}, {}, {4, 32}}).status().message(),
            "entry \"gemm\": argument 2 \"out\", axis 0: extent is 4, expected "
            "3: it follows from the shapes of the other arguments");
}

TEST_F(LaunchTest, OverflowIsRefused) {
  Expected<uint64_t> bytes =
      entry->workspaceSize({{int64_t{1} << 62, 64}}, device.info());
  ASSERT_FALSE(bytes.ok());
  EXPECT_NE(bytes.status().message().find("overflows 64 bits"),
            std::string::npos)
      << bytes.status().message();
}

TEST_F(LaunchTest, WorkspaceSize) {
  Expected<uint64_t> bytes = entry->workspaceSize({{300, 64}}, device.info());
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 1280u + 100u); // 1200 bytes, aligned to 256, then 100
}

TEST_F(LaunchTest, PacksParameters) {
  Status status =
      entry->launch(device, image, arguments(300), {0x40000, 1380}, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(device.launches.size(), 2u);
  const KernelLaunch &prepare = device.launches[0], &main = device.launches[1];
  EXPECT_EQ(prepare.kernel, "prepare");
  EXPECT_EQ(prepare.grid.x, 148u);
  ASSERT_EQ(prepare.params.size(), 28u);
  EXPECT_EQ(prepare.paramOffsets, (std::vector<uint32_t>{0, 8, 16, 24}));
  EXPECT_EQ(at<uint64_t>(prepare, 0), 0x20000u);
  EXPECT_EQ(at<uint64_t>(prepare, 8), 0x40000u + 1280u);
  EXPECT_EQ(at<int64_t>(prepare, 16), 1200);
  EXPECT_EQ(at<int32_t>(prepare, 24), 300);
  EXPECT_EQ(main.kernel, "main");
  EXPECT_EQ(main.grid.x, 6u);
  EXPECT_EQ(main.cluster.x, 2u);
  EXPECT_EQ(main.block.x, 256u);
  EXPECT_EQ(main.dynamicSharedBytes, 1000u);
  EXPECT_EQ(at<uint64_t>(main, 0), 0x10000u);
  EXPECT_EQ(at<uint64_t>(main, 8), 64u);
  EXPECT_EQ(at<uint64_t>(main, 16), 300u);
  EXPECT_EQ(at<uint64_t>(main, 128), 0x30000u);
  EXPECT_EQ(at<uint64_t>(main, 136), 0x40000u);
  ASSERT_EQ(device.maps.size(), 1u);
  EXPECT_EQ(device.maps[0].strides[0], 128u);
  EXPECT_EQ(device.maps[0].swizzle, TensorMapSwizzle::B128);
  EXPECT_EQ(device.maps[0].box[1], 128u);
}

TEST_F(LaunchTest, OneBundleServesEveryRowCount) {
  for (int64_t rows : {1, 7, 128, 129, 100000}) {
    device.launches.clear();
    ASSERT_TRUE(entry
                    ->launch(device, image, arguments(rows),
                             {0x4000000, 1 << 20}, nullptr)
                    .ok());
    ASSERT_EQ(device.launches.size(), 2u);
    EXPECT_EQ(device.launches[0].grid.x, std::min<int64_t>(rows, 148));
    EXPECT_EQ(device.launches[1].grid.x, (rows + 127) / 128 * 2);
  }
}

TEST_F(LaunchTest, EmptyGridsAreSkipped) {
  std::vector<ArgumentValue> values = arguments(0);
  values[0].address = values[2].address = 0;
  Status status = entry->launch(device, image, values, {0x40000, 100}, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(device.launches.empty());
  EXPECT_TRUE(device.maps.empty());
}

TEST_F(LaunchTest, FillsComeBeforeTheirKernel) {
  ASSERT_TRUE(
      entry->launch(device, image, arguments(300), {0x40000, 1380}, nullptr)
          .ok());
  ASSERT_EQ(device.fills.size(), 1u);
  EXPECT_EQ(device.fills[0].address, 0x40000u);
  EXPECT_EQ(device.fills[0].bytes, 1200u);
  EXPECT_EQ(device.fills[0].launchesBefore, 1u);
  EXPECT_EQ(countFills(entry->program()), 1u);
}

TEST_F(LaunchTest, EverythingIsOnTheCallersStream) {
  int mark = 0;
  StreamHandle stream = &mark;
  ASSERT_TRUE(
      entry->launch(device, image, arguments(300), {0x40000, 1380}, stream)
          .ok());
  ASSERT_EQ(device.streams.size(),
            device.fills.size() + device.launches.size());
  for (StreamHandle used : device.streams) {
    EXPECT_EQ(used, stream);
  }
}

TEST_F(LaunchTest, FillsOfSkippedKernelsAreDone) {
  abi::BundleT bundle = gemmBundle();
  bundle.entries[0]->launches[1]->fills[0]->buffer =
      buffer(abi::BufferKind::Temporary, 1);
  reload(bundle);
  ASSERT_TRUE(
      entry->launch(device, image, arguments(0), {0x40000, 100}, nullptr).ok());
  EXPECT_TRUE(device.launches.empty());
  ASSERT_EQ(device.fills.size(), 1u);
  EXPECT_EQ(device.fills[0].bytes, 100u);
}

TEST_F(LaunchTest, MapOfNothingIsZeros) {
  abi::BundleT bundle = gemmBundle();
  bundle.entries[0]->launches[1]->grid[0] = 6; // the constant 2
  reload(bundle);
  Status status =
      entry->launch(device, image, arguments(0), {0x40000, 100}, nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(device.maps.empty());
  ASSERT_EQ(device.launches.size(), 1u);
  const std::vector<uint8_t> &params = device.launches[0].params;
  EXPECT_TRUE(std::all_of(params.begin(), params.begin() + 128,
                          [](uint8_t byte) { return byte == 0; }));
}

TEST_F(LaunchTest, Refusals) {
  std::vector<ArgumentValue> values = arguments(300);
  values.pop_back();
  expectRefusal(values, "got 2 arguments, expected 3");
  values = arguments(300);
  values[1].shape = {4, 1};
  expectRefusal(values, "argument 1 \"offsets\" has rank 2, expected 1");
  values = arguments(300);
  values[0].shape[1] = 65;
  expectRefusal(values, "argument 0 \"a\", axis 1: extent is 65, expected 64: "
                        "the entry is compiled for this extent");
  values = arguments(300);
  values[0].shape[0] = -1;
  expectRefusal(values, "argument 0 \"a\", axis 0: extent is -1, expected 0 or "
                        "more");
  values = arguments(300);
  values[0].address = 0x10008;
  expectRefusal(values, "argument 0 \"a\" is at address 0x10008, expected a "
                        "multiple of 16 bytes: align its allocation");
  values = arguments(300);
  values[2].address = 0;
  expectRefusal(values, "argument 2 \"out\" has 384 bytes, but its address is "
                        "null: allocate it on the device");
  expectRefusal(arguments(300),
                "workspace has 1379 bytes, expected 1380: allocate what the "
                "workspace size query returns",
                {0x40000, 1379});
  expectRefusal(arguments(300),
                "workspace is at address 0x40080, expected a multiple of 256 "
                "bytes: align its allocation",
                {0x40080, 1380});
  device.deviceInfo.maxSharedBytes = 999;
  expectRefusal(arguments(300),
                "kernel \"main\": needs 1000 bytes of dynamic shared memory, "
                "limit of fake is 999: compile for this chip");
}

TEST_F(LaunchTest, MapBeyondItsBufferIsRefused) {
  abi::BundleT bundle = gemmBundle();
  auto &map = *bundle.entries[0]->launches[1]->params[0]->tensor_map;
  map.dims[0] = 3; // the constant 128: rows of 256 bytes with a stride of 128
  reload(bundle);
  expectRefusal(arguments(2),
                "kernel \"main\": tensor map of parameter 0 spans 384 bytes, "
                "but argument 0 \"a\" has 256");
}

TEST_F(LaunchTest, GridMustBeWholeClusters) {
  abi::BundleT bundle = gemmBundle();
  bundle.entries[0]->launches[1]->grid[0] = 8; // tiles, not CTAs
  reload(bundle);
  expectRefusal(arguments(300),
                "kernel \"main\": grid extent 0 is 3 CTAs, expected a multiple "
                "of the cluster's 2");
}

TEST_F(LaunchTest, ChoosesTheImage) {
  ASSERT_TRUE(module->loadImage(device).ok());
  EXPECT_EQ(device.loaded, ImageFormat::Cubin);
  device.formats = {ImageFormat::Ptx};
  ASSERT_TRUE(module->loadImage(device).ok());
  EXPECT_EQ(device.loaded, ImageFormat::Ptx);
  device.deviceInfo.target = "sm_90a";
  Expected<const ImageInfo *> none = module->chooseImage(device);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code(), StatusCode::Unavailable);
  EXPECT_EQ(none.status().message(),
            "bundle has images for sm_100a (ptx), sm_100a (cubin); this device "
            "(fake) is sm_90a and takes ptx: compile with --target=sm_90a");
}

TEST_F(LaunchTest, CheckInputs) {
  Expected<Buffer> offsets = Buffer::allocate(device, 16);
  ASSERT_TRUE(offsets.ok());
  std::vector<ArgumentValue> values = arguments(300);
  values[1].address = offsets->address();
  auto check = [&](std::array<int32_t, 4> ends) {
    (void)device.copyToDevice(offsets->address(), ends.data(), 16, nullptr);
    return entry->checkInputs(device, values, nullptr).message();
  };
  EXPECT_EQ(check({0, 8, 8, 296}), "");
  std::string prefix = "entry \"gemm\": argument 1 \"offsets\": ";
  EXPECT_EQ(check({-8, 8, 8, 296}),
            prefix + "group 0 ends at row -8, expected 0 or more: offsets are "
                     "cumulative ends");
  EXPECT_EQ(check({16, 8, 8, 296}),
            prefix + "group 1 ends at row 8, before the group in front of it "
                     "at 16: offsets are cumulative ends and must not "
                     "decrease");
  EXPECT_EQ(check({0, 8, 8, 304}),
            prefix + "group 3 ends at row 304, expected at most 300: enlarge "
                     "the arrays to the last offset's rows");
  EXPECT_EQ(check({0, 8, 12, 296}),
            prefix + "group 2 ends at row 12, expected a multiple of 8: pad "
                     "every group to that many rows");
}

TEST_F(LaunchTest, ChecksPointersOnRequest) {
  abi::BundleT bundle = gemmBundle();
  abi::EntryT &source = *bundle.entries[0];
  Exprs e(source);
  int32_t c4 = e.constant(4), c16 = e.constant(16);
  addArgument(source, "weights", abi::ArgumentKind::Input,
              abi::ElementType::I64, {c4});
  auto contract = std::make_unique<abi::PointersContractT>();
  contract->argument = 3;
  contract->element = abi::ElementType::E4M3;
  contract->shape = {c16, c16};
  contract->read_only = true;
  contract->groups = 1;
  source.pointers.push_back(std::move(contract));
  auto check = [&](std::array<int64_t, 4> pointers) {
    std::vector<ArgumentValue> values = arguments(300);
    std::array<int32_t, 4> ends{0, 8, 8, 296}; // groups 1 and 3 have rows
    Expected<Buffer> offsets = Buffer::allocate(device, 16);
    Expected<Buffer> weights = Buffer::allocate(device, 32);
    (void)device.copyToDevice(offsets->address(), ends.data(), 16, nullptr);
    (void)device.copyToDevice(weights->address(), pointers.data(), 32, nullptr);
    values[1].address = offsets->address();
    values.push_back({weights->address(), {4}});
    return entry->checkInputs(device, values, nullptr).message();
  };
  reload(bundle);
  std::string prefix = "entry \"gemm\": argument 3 \"weights\": ";
  EXPECT_EQ(check({0, 0x5010, 7, 0x5010}), "");
  EXPECT_EQ(check({0, 0, 7, 0x6000}),
            prefix + "pointer 1 is null: give every expert with rows an array");
  EXPECT_EQ(check({0, 0x5000, 0, 0x6008}),
            prefix + "pointer 3 is 0x6008, expected a multiple of 16 bytes: "
                     "align its allocation");
  bundle.entries[0]->pointers[0]->groups = -1;
  reload(bundle);
  EXPECT_EQ(check({0, 0x5000, 0x5000, 0x6000}),
            prefix + "pointer 0 is null: give every expert an array");
}

TEST_F(LaunchTest, StridedArguments) {
  using Strides = std::vector<int64_t>;
  auto bytes = [](Shape shape, Strides strides) {
    return *byteSize(ElementType::F16, shape, strides);
  };
  EXPECT_EQ(bytes({3, 64}, {}), 384u);
  EXPECT_EQ(bytes({3, 64}, {72}), (2u * 72 + 64) * 2);
  EXPECT_EQ(bytes({0, 64}, {72}), 0u);
  EXPECT_EQ(bytes({2, 3, 64}, {300, 72}), (300u + 2 * 72 + 64) * 2);
  EXPECT_EQ(
      byteSize(ElementType::E2M1, {2, 64}, Strides{96}).status().message(), "");
  EXPECT_EQ(*byteSize(ElementType::E2M1, {2, 64}, Strides{96}), 80u);
  EXPECT_FALSE(byteSize(ElementType::F16, {3, 64}, Strides{48}).ok());
  EXPECT_FALSE(byteSize(ElementType::F16, {3, 64}, Strides{64, 1}).ok());
  EXPECT_FALSE(byteSize(ElementType::F16, {int64_t{1} << 40, 64},
                        Strides{int64_t{1} << 40})
                   .ok());
  abi::BundleT bundle = gemmBundle();
  bundle.entries[0]->arguments[0]->strides = {72};
  reload(bundle);
  EXPECT_EQ(entry->arguments()[0].strides, Strides{72});
  bundle.entries[0]->arguments[0]->strides = {72, 1};
  EXPECT_FALSE(Module::load(abi::writeBundle(bundle)).ok());
}

TEST_F(LaunchTest, PlaceholderMapsSpanAnotherArray) {
  abi::BundleT bundle = gemmBundle();
  for (auto &param : bundle.entries[0]->launches[1]->params) {
    if (param->tensor_map) {
      param->tensor_map->buffer = buffer(abi::BufferKind::Argument, 1);
      param->tensor_map->placeholder = true;
    }
  }
  reload(bundle);
  Status status =
      entry->launch(device, image, arguments(300), {0x40000, 1380}, nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(device.maps.back().address, 0x20000u);
}

TEST_F(LaunchTest, HostPathIsShort) {
  std::vector<ArgumentValue> values = arguments(300);
  device.launches.reserve(20000);
  device.maps.reserve(10000);
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(
        entry->launch(device, image, values, {0x40000, 1380}, nullptr).ok());
  }
  std::chrono::duration<double, std::micro> time =
      std::chrono::steady_clock::now() - start;
  RecordProperty("nanoseconds_a_launch", int(time.count() / 5000 * 1000));
  std::printf("%.2f us for an entry of two kernels\n", time.count() / 5000);
  EXPECT_LT(time.count() / 5000, 200.0); // generous: shared machines
}

TEST(Buffer, OwnsItsMemory) {
  FakeDevice device;
  {
    Expected<Buffer> first = Buffer::allocate(device, 64);
    ASSERT_TRUE(first.ok());
    Buffer second = std::move(*first);
    EXPECT_EQ(first->address(), 0u);
    EXPECT_EQ(second.bytes(), 64u);
    second = Buffer();
    EXPECT_TRUE(device.allocations.empty());
    Expected<Buffer> third = Buffer::allocate(device, 0);
    EXPECT_EQ(third->address(), 0u);
  }
  EXPECT_TRUE(device.allocations.empty());
}

} // namespace
} // namespace gmoe::test
