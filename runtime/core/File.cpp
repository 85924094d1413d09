#include "runtime/core/File.h"

#include "runtime/core/Text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <unistd.h>

using namespace gmoe;

namespace {
struct Closer {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
} // namespace

Expected<std::string> gmoe::readFile(const std::string &path,
                                     uint64_t maxBytes) {
  std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    return notFound(cat("cannot open ", path, ": ", std::strerror(errno)));
  }
  std::string bytes;
  char chunk[65536];
  while (size_t count = std::fread(chunk, 1, sizeof(chunk), file.get())) {
    if (bytes.size() + count > maxBytes) {
      return invalidArgument(
          cat(path, ": has more than ", maxBytes, " bytes, the limit"));
    }
    bytes.append(chunk, count);
  }
  if (std::ferror(file.get())) {
    return notFound(cat("cannot read ", path, ": ", std::strerror(errno)));
  }
  return bytes;
}

Status gmoe::writeFile(const std::string &path, std::string_view contents) {
  // The process id keeps two writers of one path apart.
  std::string temporary = cat(path, ".tmp", getpid());
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file) {
    return invalidArgument(
        cat("cannot write ", path, ": ", std::strerror(errno)));
  }
  bool ok =
      std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
  int error = errno;
  // A full disk may show only when the last bytes are flushed.
  if (std::fclose(file) != 0 && ok) {
    ok = false;
    error = errno;
  }
  if (ok && std::rename(temporary.c_str(), path.c_str()) != 0) {
    ok = false;
    error = errno;
  }
  if (!ok) {
    std::remove(temporary.c_str());
    return invalidArgument(
        cat("cannot write ", path, ": ", std::strerror(error)));
  }
  return {};
}
