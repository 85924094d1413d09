#include "test/runtime/conformance/Run.h"
#include "test/runtime/conformance/Exact.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace gmoe::conformance {
namespace {

constexpr size_t kShown = 8;

/// Device memory that lasts for one case.
class Allocations {
public:
  explicit Allocations(Device &device) : device_(device) {}
  ~Allocations() {
    for (uint64_t address : addresses_) {
      (void)device_.release(address);
    }
  }
  Expected<uint64_t> upload(const std::vector<uint8_t> &bytes) {
    Expected<uint64_t> address =
        device_.allocate(std::max<size_t>(bytes.size(), 16));
    if (!address) {
      return address;
    }
    addresses_.push_back(*address);
    Status s =
        device_.copyToDevice(*address, bytes.data(), bytes.size(), nullptr);
    return s ? address : Expected<uint64_t>(s);
  }

private:
  Device &device_;
  std::vector<uint64_t> addresses_;
};

uint64_t readBytes(const std::vector<uint8_t> &v, size_t at, size_t bytes) {
  uint64_t r = 0;
  std::memcpy(&r, v.data() + at, std::min(bytes, v.size() - at));
  return r;
}

const Format &formatOf(Rule::Element e) {
  return e == Rule::F16    ? kF16
         : e == Rule::BF16 ? kBF16
         : e == Rule::F32  ? kF32
                           : kF64;
}

double valueOf(const Format &f, uint64_t bits) {
  Exact x = decode(f, bits);
  double v = x.nan        ? NAN
             : x.infinite ? INFINITY
                          : std::ldexp(double(uint64_t(x.m)), x.e);
  return x.negative ? -v : v;
}

bool within(const Rule &rule, uint64_t got, double exact) {
  const Format &f = formatOf(rule.element);
  double v = valueOf(f, got & (f.signBit() * 2 - 1));
  if (std::isnan(exact) || std::isnan(v)) {
    return std::isnan(exact) && std::isnan(v);
  }
  double largest = valueOf(f, f.largest());
  if (std::isinf(v) || std::isinf(exact)) {
    return v == exact || std::fabs(exact) > largest * 0.9999 ||
           (std::isinf(exact) && std::fabs(v) > largest * 0.9999);
  }
  double error = std::fabs(v - exact);
  // Below the normal range every bound is one of absolute spacing.
  double spacing = std::ldexp(1.0, 1 - f.bias() - f.mantissaBits);
  if (exact != 0) {
    int e = std::ilogb(exact);
    spacing = std::max(spacing, std::ldexp(1.0, e - f.mantissaBits));
  }
  switch (rule.kind) {
  case Rule::Relative:
    return error <= std::max(rule.bound * std::fabs(exact),
                             std::ldexp(1.0, 1 - f.bias() - f.mantissaBits));
  case Rule::Absolute:
    return error <= rule.bound;
  default:
    return error <= rule.bound * spacing;
  }
}

bool inexact(const Rule &rule) { return rule.kind >= Rule::Relative; }

std::string describe(const Case &c, size_t element, const std::string &what) {
  std::string text = "    element " + std::to_string(element) + ":";
  char buffer[80];
  if (c.stride == 8 && !c.scalars.empty()) {
    for (const auto &input : c.inputs) {
      if (input.size() >= element * 8 + 8) {
        std::snprintf(buffer, sizeof buffer, " %llx",
                      (unsigned long long)readBytes(input, element * 8, 8));
        text += buffer;
      }
    }
  }
  return text + " " + what + "\n";
}

void note(Difference &d, const Case &c, size_t element,
          const std::string &what) {
  if (d.count++ < kShown) {
    d.first += describe(c, element, what);
  }
}

std::string pair(const char *a, uint64_t x, const char *b, uint64_t y) {
  char buffer[120];
  std::snprintf(buffer, sizeof buffer, "-> %s %llx, %s %llx", a,
                (unsigned long long)x, b, (unsigned long long)y);
  return buffer;
}

bool sameBits(const Rule &rule, uint64_t a, uint64_t b) {
  if (a == b) {
    return true;
  }
  if (rule.element == Rule::Bytes) {
    return false;
  }
  const Format &f = formatOf(rule.element);
  uint64_t mask = f.signBit() * 2 - 1;
  return rule.kind != Rule::Bitwise && isNaN(f, a & mask) && isNaN(f, b & mask);
}

} // namespace

Expected<std::unique_ptr<LoadedImage>> load(Device &device,
                                            const Family &family) {
  std::string text = family.ptx;
  size_t at = text.find("{target}");
  if (at != std::string::npos) {
    text.replace(at, 8, device.info().target);
  }
  return device.loadImage(ImageFormat::Ptx, text);
}

Expected<std::vector<uint8_t>> run(Device &device, LoadedImage &image,
                                   const Case &c) {
  Allocations memory(device);
  std::vector<uint8_t> output = c.initial;
  output.resize(std::max(c.expected.size(), c.initial.size()), 0xcc);
  Expected<uint64_t> out = memory.upload(output);
  if (!out) {
    return out.status();
  }
  std::vector<uint64_t> inputs;
  for (const auto &input : c.inputs) {
    Expected<uint64_t> address = memory.upload(input);
    if (!address) {
      return address.status();
    }
    inputs.push_back(*address);
  }
  KernelLaunch launch;
  launch.kernel = c.kernel;
  launch.grid = c.grid;
  launch.block = c.block;
  launch.cluster = c.cluster;
  launch.dynamicSharedBytes = c.sharedBytes;
  auto push = [&](const auto &value, size_t align) {
    while (launch.params.size() % align) {
      launch.params.push_back(0);
    }
    launch.paramOffsets.push_back(uint32_t(launch.params.size()));
    appendValue(launch.params, value);
  };
  push(*out, 8);
  for (uint64_t address : inputs) {
    push(address, 8);
  }
  for (const MapSpec &m : c.maps) {
    TensorMapDesc desc = m.desc;
    desc.address = (m.buffer < 0 ? *out : inputs[size_t(m.buffer)]) + m.offset;
    Expected<TensorMap> map = device.encodeTensorMap(desc);
    if (!map) {
      return map.status();
    }
    push(map->bytes, 64);
  }
  for (uint32_t s : c.scalars) {
    push(s, 4);
  }
  for (const auto &blob : c.blobs) {
    while (launch.params.size() % 8) {
      launch.params.push_back(0);
    }
    launch.paramOffsets.push_back(uint32_t(launch.params.size()));
    launch.params.insert(launch.params.end(), blob.begin(), blob.end());
  }
  Status status = device.launch(image, launch, nullptr);
  if (status) {
    status = device.synchronize(nullptr);
  }
  if (status) {
    status = device.copyToHost(output.data(), *out, output.size(), nullptr);
  }
  return status ? Expected<std::vector<uint8_t>>(output)
                : Expected<std::vector<uint8_t>>(status);
}

Difference compareExpected(const Case &c, const std::vector<uint8_t> &got) {
  Difference d;
  size_t stride = c.stride;
  for (size_t k = 0; k * stride < c.expected.size(); ++k) {
    uint64_t g = readBytes(got, k * stride, stride);
    if (inexact(c.rule)) {
      if (!within(c.rule, g, c.exact[k])) {
        char buffer[120];
        std::snprintf(buffer, sizeof buffer, "-> got %llx (%.9g), exact %.9g",
                      (unsigned long long)g,
                      valueOf(formatOf(c.rule.element), g), c.exact[k]);
        note(d, c, k, buffer);
      }
      continue;
    }
    uint64_t want = readBytes(c.expected, k * stride, stride);
    if (!sameBits(c.rule, g, want)) {
      note(d, c, k, pair("got", g, "expected", want));
    }
  }
  return d;
}

Difference compareDevices(const Case &c, const std::vector<uint8_t> &emulator,
                          const std::vector<uint8_t> &other) {
  Difference d;
  size_t stride = c.stride;
  for (size_t k = 0; k * stride < emulator.size(); ++k) {
    uint64_t a = readBytes(emulator, k * stride, stride);
    uint64_t b = readBytes(other, k * stride, stride);
    if (!sameBits(c.rule, a, b)) {
      note(d, c, k, pair("emulator", a, "device", b));
    }
  }
  return d;
}

} // namespace gmoe::conformance
