// Refusals without a driver; with a GPU, one kernel of a bundle end to end.
#include "test/runtime/core/TestBundle.h"

#include "runtime/core/Buffer.h"
#include "runtime/cuda/CudaDevice.h"

#include <gtest/gtest.h>

namespace gmoe::test {
namespace {

/// out[i] = in[i] + value: a tensor map loads in, `{target}` is the chip.
constexpr const char *kPtx = R"(
.version 8.6
.target {target}
.address_size 64
.extern .shared .align 128 .b8 smem[];
.visible .entry add(
  .param .align 64 .b8 map[128],
  .param .u64 out,
  .param .u32 value)
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<6>;
  .reg .pred %p<3>;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, smem;
  setp.ne.u32 %p0, %r0, 0;
  mov.b64 %rd0, map;
  cvta.param.u64 %rd0, %rd0;
  @%p0 bra wait;
  mbarrier.init.shared.b64 [%r1+1024], 1;
  fence.mbarrier_init.release.cluster;
  fence.proxy.async;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r1+1024], 256;
  cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd0, {0}], [%r1+1024];
wait:
  bar.sync 0;
again:
  mbarrier.try_wait.parity.shared.b64 %p1, [%r1+1024], 0;
  @!%p1 bra again;
  shl.b32 %r2, %r0, 2;
  add.u32 %r3, %r1, %r2;
  ld.shared.u32 %r4, [%r3];
  ld.param.u32 %r5, [value];
  add.u32 %r4, %r4, %r5;
  ld.param.u64 %rd1, [out];
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r4;
  ret;
}
)";

/// in [64] i32, out [R] i32, value R; grid 1.
abi::BundleT addBundle(const std::string &target) {
  abi::BundleT bundle;
  auto entry = std::make_unique<abi::EntryT>();
  entry->name = "add";
  Exprs e(*entry);
  int32_t rows = e.dim(1, 0), c64 = e.constant(64), c1 = e.constant(1);
  addArgument(*entry, "in", abi::ArgumentKind::Input, abi::ElementType::I32,
              {c64});
  addArgument(*entry, "out", abi::ArgumentKind::Output, abi::ElementType::I32,
              {rows});
  auto launch = std::make_unique<abi::LaunchT>();
  launch->kernel = "add";
  launch->grid = {c1, c1, c1};
  launch->cluster = {1, 1, 1};
  launch->block = {64, 1, 1};
  launch->dynamic_shared_bytes = 65536;
  launch->param_bytes = 140;
  auto map = std::make_unique<abi::KernelParamT>();
  map->kind = abi::ParamKind::TensorMap;
  map->tensor_map = std::make_unique<abi::TensorMapRecipeT>();
  map->tensor_map->buffer = buffer(abi::BufferKind::Argument, 0);
  map->tensor_map->type = static_cast<uint32_t>(TensorMapType::S32);
  map->tensor_map->dims = {c64};
  map->tensor_map->box = {64};
  launch->params.push_back(std::move(map));
  addPointer(*launch, 128, abi::BufferKind::Argument, 1);
  addScalar(*launch, 136, abi::ParamKind::ScalarI32, rows);
  entry->launches.push_back(std::move(launch));
  bundle.entries.push_back(std::move(entry));
  std::string ptx = kPtx;
  ptx.replace(ptx.find("{target}"), 8, target);
  addImage(bundle, target.c_str(), abi::ImageFormat::Ptx, ptx);
  return bundle;
}

TEST(CudaDevice, Targets) {
  EXPECT_EQ(cudaTargetOf(10, 0), "sm_100a");
  EXPECT_EQ(cudaTargetOf(10, 3), "sm_103a");
  EXPECT_EQ(cudaTargetOf(9, 0), "sm_90a");
  EXPECT_EQ(cudaTargetOf(12, 0), "sm_120a");
  EXPECT_EQ(cudaTargetOf(8, 9), "sm_89");
}

TEST(CudaDevice, WithoutADriver) {
  CudaOptions options;
  options.library = "libcuda_that_nobody_has.so.1";
  Expected<std::unique_ptr<Device>> device = openCudaDevice(options);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), StatusCode::Unavailable);
  EXPECT_EQ(device.status().message(),
            "libcuda_that_nobody_has.so.1 not found: install the NVIDIA "
            "driver, or use --device=emulator");
}

TEST(CudaDevice, LibraryWithoutTheDriverApi) {
  CudaOptions options;
  options.library = "libm.so.6";
  Expected<std::unique_ptr<Device>> device = openCudaDevice(options);
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), StatusCode::Unavailable);
}

class OnGpu : public testing::Test {
protected:
  void SetUp() override {
    CudaOptions options;
    options.allowPtx = true;
    Expected<std::unique_ptr<Device>> opened = openCudaDevice(options);
    if (!opened) {
      GTEST_SKIP() << opened.status().message();
    }
    device = std::move(*opened);
    if (device->info().target < "sm_90" && device->info().target[3] != '1') {
      GTEST_SKIP() << device->info().target << " has no tensor maps";
    }
  }
  std::unique_ptr<Device> device;
};

TEST_F(OnGpu, RunsABundle) {
  Expected<Module> module =
      Module::load(abi::writeBundle(addBundle(device->info().target)));
  ASSERT_TRUE(module.ok()) << module.status().message();
  Expected<std::unique_ptr<LoadedImage>> image = module->loadImage(*device);
  ASSERT_TRUE(image.ok()) << image.status().message();
  const Entry &entry = **module->findEntry("");
  int32_t in[64], out[64];
  for (int i = 0; i < 64; ++i) {
    in[i] = i * i;
  }
  Expected<Buffer> a = Buffer::allocate(*device, sizeof(in));
  Expected<Buffer> b = Buffer::allocate(*device, sizeof(out));
  ASSERT_TRUE(a.ok() && b.ok());
  ASSERT_TRUE(device->copyToDevice(a->address(), in, sizeof(in), nullptr).ok());
  ASSERT_TRUE(device->fill(b->address(), 0xff, sizeof(out), nullptr).ok());
  for (int repeat = 0; repeat < 2; ++repeat) {
    Status status =
        entry.launch(*device, **image,
                     {{a->address(), {64}}, {b->address(), {64}}}, {}, nullptr);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  ASSERT_TRUE(device->copyToHost(out, b->address(), sizeof(out), nullptr).ok());
  Status status = device->synchronize(nullptr);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 64; ++i) {
    EXPECT_EQ(out[i], in[i] + 64) << i;
  }
}

TEST_F(OnGpu, RefusesParametersThatDoNotFitTheKernel) {
  abi::BundleT bundle = addBundle(device->info().target);
  bundle.entries[0]->launches[0]->params.pop_back();
  Expected<Module> module = Module::load(abi::writeBundle(bundle));
  ASSERT_TRUE(module.ok());
  Expected<std::unique_ptr<LoadedImage>> image = module->loadImage(*device);
  ASSERT_TRUE(image.ok());
  Expected<Buffer> memory = Buffer::allocate(*device, 256);
  ASSERT_TRUE(memory.ok());
  Status status = module->entries()[0].launch(
      *device, **image, {{memory->address(), {64}}, {memory->address(), {64}}},
      {}, nullptr);
  EXPECT_EQ(status.message(),
            "entry \"add\": kernel \"add\": the kernel has 3 parameters, but "
            "the launch gives 2: recompile the bundle");
}

TEST_F(OnGpu, RefusesWhatTheDriverRefuses) {
  TensorMapDesc desc;
  desc.rank = 2;
  desc.type = TensorMapType::F16;
  desc.dims = {64, 1};
  desc.strides = {16};
  desc.box = {256, 1}; // 512 bytes: too wide for the swizzle
  desc.swizzle = TensorMapSwizzle::B128;
  EXPECT_FALSE(device->encodeTensorMap(desc).ok());
  // A replaced map of nothing may have a null address.
  desc.box = {64, 1};
  Expected<TensorMap> map = device->encodeTensorMap(desc);
  EXPECT_TRUE(map.ok()) << map.status().message();
  Expected<std::unique_ptr<LoadedImage>> image =
      device->loadImage(ImageFormat::Ptx, ".version 8.6\n.target nonsense\n");
  ASSERT_FALSE(image.ok());
  EXPECT_NE(image.status().message().find("ptxas"), std::string::npos)
      << image.status().message();
  EXPECT_FALSE(device->allocate(uint64_t{1} << 50).ok());
}

} // namespace
} // namespace gmoe::test
