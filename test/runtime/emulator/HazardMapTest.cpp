// Findings about tensor maps that kernels change, and about cluster launch
// control.
#include "test/runtime/emulator/TestSupport.h"

using namespace gmoe;
using namespace gmoe::test;

namespace {

/// A tensor map over 8 x 32 bytes at an address.
std::vector<uint8_t> mapOf(Machine &m, uint64_t array) {
  TensorMapDesc desc;
  desc.type = TensorMapType::U8;
  desc.rank = 2;
  desc.address = array;
  desc.dims = {32, 8};
  desc.strides = {32};
  desc.box = {32, 8};
  auto map = m.device->encodeTensorMap(desc);
  EXPECT_TRUE(map.ok());
  return {map->bytes.begin(), map->bytes.end()};
}

/// Runs `body` with %map, a tensor map in global memory over %in: 8 x 32 bytes.
std::vector<std::string> findingsOf(const std::string &body, uint64_t seed,
                                    std::string &message) {
  Machine m(seed);
  Status status =
      m.load(std::string(prologue()) +
             ".visible .entry k(.param .u64 map, .param .u64 in)\n{\n"
             ".shared .align 128 .b8 buf[512]; .shared .align 8 .b64 full;\n"
             ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
             ".reg .b64 %map; .reg .b64 %in; .reg .b32 %zero;\n"
             "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.b32 %zero, 0;\n"
             "ld.param.b64 %map, [map]; ld.param.b64 %in, [in];\n"
             "@%p0 mbarrier.init.shared.b64 [full], 1;\n"
             "fence.mbarrier_init.release.cluster; bar.sync 0;\n" +
             body + "\nret;\n}\n");
  EXPECT_TRUE(status.ok()) << status.message();
  uint64_t array = m.upload(std::vector<uint8_t>(256, 7));
  std::vector<uint8_t> bytes = mapOf(m, array), params;
  append(params, m.upload(bytes));
  append(params, array);
  message = m.run("k", params, {32, 1, 1}).message();
  std::vector<std::string> ids;
  for (const Finding &f : m.device->findings()) {
    ids.push_back(findingId(f.kind));
  }
  return ids;
}

void expect(const std::vector<std::string> &any, const std::string &wrong,
            const std::string &right) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    std::string message;
    bool found = false;
    for (const std::string &id : findingsOf(wrong, seed, message)) {
      for (const std::string &wanted : any) {
        found |= id == wanted;
      }
    }
    EXPECT_TRUE(found) << "seed " << seed << ": " << message;
    EXPECT_TRUE(findingsOf(right, seed, message).empty())
        << "seed " << seed << ": " << message;
  }
}

const std::string kReplace =
    "@%p0 tensormap.replace.tile.global_address.global.b1024.b64 [%map], "
    "%in;\n";
const std::string kLoad =
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;\n"
    "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile."
    "mbarrier::complete_tx::bytes [buf], [%map, {%zero, %zero}], [full];\n";
const std::string kWait =
    "W: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra W;\n";

TEST(HazardMap, UsedWithoutAcquire) {
  expect({"tensormap-fence"}, kReplace + "bar.sync 0;\n" + kLoad + kWait,
         kReplace +
             "fence.proxy.tensormap::generic.release.gpu; bar.sync 0;\n"
             "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n" +
             kLoad + kWait);
}

const std::string kRelease = "fence.proxy.tensormap::generic.release.gpu;\n";
const std::string kAcquire =
    "fence.proxy.tensormap::generic.acquire.gpu [%map], 128;\n";

TEST(HazardMap, UsedWithoutRelease) {
  expect({"tensormap-fence"},
         kReplace + "bar.sync 0;\n" + kAcquire + kLoad + kWait,
         kReplace + kRelease + "bar.sync 0;\n" + kAcquire + kLoad + kWait);
}

TEST(HazardMap, AcquireOfAnotherMap) {
  const std::string other =
      "fence.proxy.tensormap::generic.acquire.gpu [%in], 128;\n";
  const std::string start = kReplace + kRelease + "bar.sync 0;\n";
  expect({"tensormap-fence"}, start + other + kLoad + kWait,
         start + kAcquire + kLoad + kWait);
}

/// Findings of a launch that uses the map which another one changed.
std::vector<std::string> acrossLaunches(const std::string &change,
                                        const std::string &use,
                                        bool rewritten = false) {
  Machine m(1);
  const std::string head =
      "(.param .u64 map, .param .u64 in)\n{\n"
      ".shared .align 128 .b8 buf[512]; .shared .align 8 .b64 full;\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %map; .reg .b64 %in;\n"
      ".reg .b32 %zero; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0;\n"
      "mov.b32 %zero, 0; ld.param.b64 %map, [map]; ld.param.b64 %in, [in];\n"
      "@%p0 mbarrier.init.shared.b64 [full], 1;\n"
      "fence.mbarrier_init.release.cluster; bar.sync 0;\n";
  Status status = m.load(std::string(prologue()) + ".visible .entry change" +
                         head + change + "ret;\n}\n.visible .entry use" + head +
                         use + kLoad + kWait + "ret;\n}\n");
  EXPECT_TRUE(status.ok()) << status.message();
  uint64_t array = m.upload(std::vector<uint8_t>(256, 7));
  std::vector<uint8_t> bytes = mapOf(m, array), params;
  uint64_t place = m.upload(bytes);
  append(params, place);
  append(params, array);
  EXPECT_TRUE(m.run("change", params, {32, 1, 1}).ok());
  if (rewritten) {
    EXPECT_TRUE(m.device->copyToDevice(place, bytes.data(), 128, nullptr).ok());
  }
  (void)m.run("use", params, {32, 1, 1});
  std::vector<std::string> ids;
  for (const Finding &f : m.device->findings()) {
    ids.push_back(findingId(f.kind));
  }
  return ids;
}

TEST(HazardMap, ChangedByAnEarlierLaunch) {
  using Ids = std::vector<std::string>;
  EXPECT_EQ(acrossLaunches(kReplace + kRelease, kAcquire), Ids());
  EXPECT_EQ(acrossLaunches(kReplace, kAcquire), Ids{"tensormap-fence"});
  EXPECT_EQ(acrossLaunches(kReplace + kRelease, ""), Ids{"tensormap-fence"});
  // The change must not come behind the release.
  EXPECT_EQ(acrossLaunches(kRelease + kReplace, kAcquire),
            Ids{"tensormap-fence"});
  // What the host wrote needs neither.
  EXPECT_EQ(acrossLaunches(kReplace, "", true), Ids());
}

TEST(HazardMap, ChangedInUse) {
  // The copy reads the map before the change, or after it.
  expect({"tensormap-in-use", "read-unordered"},
         kLoad + "bar.sync 0;\n" + kReplace + kWait, kLoad + kWait + kReplace);
}

TEST(HazardLaunchControl, ResponseAndSlot) {
  const std::string tryCancel =
      "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [full], 16;\n"
      "@%p0 clusterlaunchcontrol.try_cancel.async.shared::cta."
      "mbarrier::complete_tx::bytes.b128 [buf], [full];\n";
  const std::string read = "ld.shared.v2.b64 {%d0, %d1}, [buf];\n";
  const std::string second =
      tryCancel +
      "V: mbarrier.try_wait.parity.shared.b64 %p1, [full], 1; @!%p1 bra V;\n";
  const std::string right = tryCancel + kWait + read +
                            "fence.proxy.async.shared::cta; bar.sync 0;\n" +
                            second;
  // Read early: the slot is still empty, or is being written.
  expect({"launch-control", "uninitialized"}, tryCancel + read + kWait, right);
  // Reused early: other threads may still read.
  expect({"launch-control", "proxy-fence"}, tryCancel + kWait + read + second,
         right);
  // Reused without a proxy fence.
  expect({"proxy-fence"}, tryCancel + kWait + read + "bar.sync 0;\n" + second,
         right);
}

TEST(Findings, HaveAPageEach) {
  for (size_t k = 0; k < size_t(FindingKind::Count); ++k) {
    std::string id = findingId(FindingKind(k));
    std::string page = readFile("docs/findings/" + id + ".md");
    EXPECT_EQ(page.rfind("# " + id, 0), 0u) << id;
    EXPECT_NE(readFile("docs/findings/README.md").find("(" + id + ".md)"),
              std::string::npos)
        << id;
  }
}

} // namespace
