// Writes a launch as gmoe-emulate reads it: all device memory, at its
// addresses, and the parameter space byte for byte (tensor maps included).
#include "tools/cudart/State.h"

#include <cstdio>
#include <sys/stat.h>

namespace gmoe::cudart {
namespace {

void write(const std::string &path, const void *data, size_t bytes) {
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, bytes, file) != bytes) {
    std::fprintf(stderr, "gmoe-cudart: cannot write %s\n", path.c_str());
  }
  if (file) {
    std::fclose(file);
  }
}

std::string dimensions(const Dim3 &d) {
  return "[" + std::to_string(d.x) + ", " + std::to_string(d.y) + ", " +
         std::to_string(d.z) + "]";
}

} // namespace

void record(State &s, const Image &image, const KernelLaunch &l) {
  std::string folder = s.recordFolder + "/" + std::to_string(s.launches);
  if (mkdir(folder.c_str(), 0777) != 0) {
    std::fprintf(stderr, "gmoe-cudart: cannot make %s\n", folder.c_str());
    return;
  }
  write(folder + "/kernel.ptx", image.ptx.data(), image.ptx.size());
  std::string json =
      "{\n  \"ptx\": \"kernel.ptx\",\n  \"kernel\": \"" + l.kernel +
      "\",\n  \"grid\": " + dimensions(l.grid) +
      ",\n  \"block\": " + dimensions(l.block) +
      ",\n  \"cluster\": " + dimensions(l.cluster) +
      ",\n  \"dynamic_smem\": " + std::to_string(l.dynamicSharedBytes) +
      ",\n  \"buffers\": [";
  std::string dump;
  const char *separator = "\n";
  unsigned count = 0;
  for (const auto &[address, bytes] : s.allocations) {
    std::string name = "b" + std::to_string(count++);
    std::vector<uint8_t> data(bytes);
    (void)s.device->copyToHost(data.data(), address, bytes, nullptr);
    write(folder + "/" + name + ".bin", data.data(), data.size());
    std::string quoted = "\"" + name + "\"";
    json += separator + std::string("    {\"name\": ") + quoted +
            ", \"file\": \"" + name +
            ".bin\", \"address\": " + std::to_string(address) + "}";
    dump += separator + std::string("    {\"buffer\": ") + quoted +
            ", \"file\": \"" + name + ".out\"}";
    separator = ",\n";
  }
  json += "\n  ],\n  \"params\": \"";
  for (uint8_t byte : l.params) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    json += text;
  }
  json += "\",\n  \"dump\": [" + dump + "\n  ]\n}\n";
  write(folder + "/launch.json", json.data(), json.size());
}

} // namespace gmoe::cudart
