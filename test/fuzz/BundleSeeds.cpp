// Writes the fuzzer's first bundles: usage BundleSeeds FOLDER. Payloads come
// without header, which the fuzzer adds.
#include "test/runtime/core/TestBundle.h"

#include <fstream>

using namespace gmoe;

namespace {

void write(const std::string &path, const abi::BundleT &bundle) {
  std::string bytes = abi::writeBundle(bundle);
  std::ofstream(path + ".gmoe", std::ios::binary) << bytes;
  std::ofstream(path + ".payload", std::ios::binary)
      << bytes.substr(sizeof(abi::Header));
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    return 2;
  }
  std::string folder = std::string(argv[1]) + "/";
  write(folder + "gemm", test::gemmBundle());
  abi::BundleT small = test::gemmBundle();
  small.entries[0]->launches.resize(1);
  small.entries[0]->offsets.clear();
  small.source.clear();
  small.images.pop_back();
  write(folder + "small", small);
  abi::BundleT empty;
  write(folder + "empty", empty);
  return 0;
}
