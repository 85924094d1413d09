#include "tools/emulate/LaunchFile.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

namespace gmoe {
namespace {

using Json = nlohmann::json;

bool readFile(const std::string &path, std::vector<uint8_t> &out) {
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file) {
    return false;
  }
  uint8_t chunk[65536];
  size_t n;
  while ((n = std::fread(chunk, 1, sizeof chunk, file)) > 0) {
    out.insert(out.end(), chunk, chunk + n);
  }
  bool ok = !std::ferror(file);
  std::fclose(file);
  return ok;
}

bool writeFile(const std::string &path, const std::vector<uint8_t> &data) {
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file) {
    return false;
  }
  bool ok = std::fwrite(data.data(), 1, data.size(), file) == data.size();
  return std::fclose(file) == 0 && ok;
}

/// A number, or a string with one ("0x7f0000000000").
bool number(const Json &j, uint64_t &out) {
  if (j.is_number_unsigned()) {
    out = j.get<uint64_t>();
    return true;
  }
  if (!j.is_string()) {
    return false;
  }
  const std::string text = j.get<std::string>();
  char *end = nullptr;
  out = std::strtoull(text.c_str(), &end, 0);
  return !text.empty() && *end == 0 && text[0] != '-';
}

class Launcher {
public:
  Launcher(std::string folder, const EmulatorOptions &options)
      : folder_(std::move(folder)), device_(createEmulatorDevice(options)) {}

  Status run(const Json &j, std::string &report) {
    if (!j.is_object()) {
      return invalidArgument("the launch must be an object");
    }
    static const char *kKeys[] = {
        "ptx",          "kernel", "grid",    "block",       "cluster",
        "dynamic_smem", "params", "buffers", "tensor_maps", "dump"};
    for (const auto &item : j.items()) {
      bool known = false;
      for (const char *key : kKeys) {
        known |= item.key() == key;
      }
      if (!known) {
        return invalidArgument("unknown key '" + item.key() + "'");
      }
    }
    KernelLaunch launch;
    std::vector<uint8_t> ptx;
    if (!text(j, "ptx") || !text(j, "kernel")) {
      return invalidArgument("'ptx' and 'kernel' must be strings");
    }
    if (!readFile(path(*text(j, "ptx")), ptx)) {
      return Status(StatusCode::NotFound,
                    "cannot read '" + *text(j, "ptx") + "'");
    }
    launch.kernel = *text(j, "kernel");
    Status status = dimensions(j, "grid", launch.grid);
    status = status ? dimensions(j, "block", launch.block) : status;
    status = status ? dimensions(j, "cluster", launch.cluster) : status;
    if (!status) {
      return status;
    }
    uint64_t shared = 0;
    if (j.contains("dynamic_smem") &&
        (!number(j["dynamic_smem"], shared) || shared > UINT32_MAX)) {
      return invalidArgument("'dynamic_smem' must be a number of bytes");
    }
    launch.dynamicSharedBytes = uint32_t(shared);
    status = each(j, "buffers", &Launcher::buffer);
    status = status ? each(j, "tensor_maps", &Launcher::tensorMap) : status;
    status = status ? params(j, launch.params) : status;
    if (!status) {
      return status;
    }
    auto image = device_->loadImage(
        ImageFormat::Ptx,
        std::string_view(reinterpret_cast<const char *>(ptx.data()),
                         ptx.size()));
    if (!image) {
      return image.status();
    }
    status = device_->launch(**image, launch, nullptr);
    status = status ? each(j, "dump", &Launcher::dump) : status;
    const EmulatorStats &s = device_->stats();
    report = "instructions " + std::to_string(s.instructions) + ", mma " +
             std::to_string(s.mmaInstructions) + ", macs " +
             std::to_string(s.macs) + ", cp " +
             std::to_string(s.cpInstructions) + ", tma bytes " +
             std::to_string(s.tmaBytes);
    return status;
  }

private:
  struct Buffer {
    uint64_t address = 0, bytes = 0;
  };

  std::string path(const std::string &name) const {
    return name.empty() || name[0] == '/' ? name : folder_ + name;
  }
  static const std::string *text(const Json &j, const char *key) {
    auto it = j.find(key);
    return it != j.end() && it->is_string() ? it->get_ptr<const std::string *>()
                                            : nullptr;
  }

  Status dimensions(const Json &j, const char *key, Dim3 &out) {
    if (!j.contains(key)) {
      return Status();
    }
    const Json &v = j[key];
    uint32_t *fields[] = {&out.x, &out.y, &out.z};
    if (!v.is_array() || v.empty() || v.size() > 3) {
      return invalidArgument(std::string("'") + key +
                             "' must be an array of one to three numbers");
    }
    for (size_t k = 0; k < v.size(); ++k) {
      uint64_t n = 0;
      if (!number(v[k], n) || n > UINT32_MAX) {
        return invalidArgument(std::string("'") + key + "' holds no number");
      }
      *fields[k] = uint32_t(n);
    }
    return Status();
  }

  Status each(const Json &j, const char *key,
              Status (Launcher::*f)(const Json &)) {
    if (!j.contains(key)) {
      return Status();
    }
    if (!j[key].is_array()) {
      return invalidArgument(std::string("'") + key + "' must be an array");
    }
    for (const Json &item : j[key]) {
      Status status =
          item.is_object()
              ? (this->*f)(item)
              : invalidArgument(std::string("'") + key + "' must hold objects");
      if (!status) {
        return status;
      }
    }
    return Status();
  }

  Status buffer(const Json &j) {
    const std::string *name = text(j, "name"), *file = text(j, "file");
    if (!name || buffers_.count(*name) || maps_.count(*name)) {
      return invalidArgument("a buffer needs a 'name' of its own");
    }
    std::vector<uint8_t> data;
    uint64_t bytes = 0;
    if (file) {
      if (!readFile(path(*file), data)) {
        return Status(StatusCode::NotFound, "cannot read '" + *file + "'");
      }
      bytes = data.size();
    }
    if (j.contains("bytes")) {
      uint64_t asked = 0;
      if (!number(j["bytes"], asked) || asked < data.size()) {
        return invalidArgument("'bytes' of buffer '" + *name +
                               "' must be a number, at least the file's size");
      }
      bytes = asked;
    }
    Buffer b;
    b.bytes = bytes;
    if (j.contains("address")) {
      if (!number(j["address"], b.address)) {
        return invalidArgument("'address' of buffer '" + *name +
                               "' must be a number");
      }
      Status status = device_->allocateAt(b.address, bytes);
      if (!status) {
        return status;
      }
    } else {
      auto address = device_->allocate(bytes);
      if (!address) {
        return address.status();
      }
      b.address = *address;
    }
    buffers_[*name] = b;
    // What the file does not cover is zero, and counts as written.
    Status filled = device_->fill(b.address, 0, bytes, nullptr);
    if (!filled) {
      return filled;
    }
    return device_->copyToDevice(b.address, data.data(), data.size(), nullptr);
  }

  template <class T, size_t N>
  static bool numbers(const Json &j, const char *key, std::array<T, N> &out,
                      size_t count) {
    auto it = j.find(key);
    if (it == j.end() || !it->is_array() || it->size() != count || count > N) {
      return false;
    }
    for (size_t k = 0; k < count; ++k) {
      uint64_t v = 0;
      if (!number((*it)[k], v)) {
        return false;
      }
      out[k] = T(v);
    }
    return true;
  }

  Status tensorMap(const Json &j) {
    const std::string *name = text(j, "name"), *base = text(j, "buffer");
    if (!name || buffers_.count(*name) || maps_.count(*name)) {
      return invalidArgument("a tensor map needs a 'name' of its own");
    }
    auto bad = [&](const std::string &what) {
      return invalidArgument("tensor map '" + *name + "': " + what);
    };
    if (!base || !buffers_.count(*base)) {
      return bad("'buffer' names no buffer");
    }
    TensorMapDesc d;
    uint64_t value = 0;
    d.address = buffers_[*base].address;
    if (j.contains("offset")) {
      if (!number(j["offset"], value)) {
        return bad("'offset' must be a number of bytes");
      }
      d.address += value;
    }
    if (!j.contains("type") || !number(j["type"], value)) {
      return bad("'type' must be a CUtensorMapDataType number");
    }
    d.type = TensorMapType(value);
    if (!j.contains("rank") || !number(j["rank"], value) || value < 1 ||
        value > 5) {
      return bad("'rank' must be 1 to 5");
    }
    d.rank = uint32_t(value);
    if (!numbers(j, "dims", d.dims, d.rank) ||
        !numbers(j, "box", d.box, d.rank) ||
        (d.rank > 1 && !numbers(j, "strides", d.strides, d.rank - 1))) {
      return bad("'dims' and 'box' need rank numbers, 'strides' one less");
    }
    if (j.contains("element_strides") &&
        !numbers(j, "element_strides", d.elementStrides, d.rank)) {
      return bad("'element_strides' needs rank numbers");
    }
    const std::pair<const char *, uint32_t *> kOptional[] = {
        {"interleave", &d.interleave},
        {"l2_promotion", &d.l2Promotion},
        {"oob_fill", &d.oobFill}};
    for (const auto &[key, field] : kOptional) {
      if (j.contains(key)) {
        if (!number(j[key], value)) {
          return bad(std::string("'") + key + "' must be a number");
        }
        *field = uint32_t(value);
      }
    }
    if (j.contains("swizzle")) {
      if (!number(j["swizzle"], value)) {
        return bad("'swizzle' must be a CUtensorMapSwizzle number");
      }
      d.swizzle = TensorMapSwizzle(value);
    }
    auto map = device_->encodeTensorMap(d);
    if (!map) {
      return bad(map.status().message());
    }
    maps_[*name] = *map;
    return Status();
  }

  /// Hexadecimal bytes; {buffer} stands for 8 bytes of address, {tensor_map}
  /// for the map's 128. White space is skipped. An array of such strings is
  /// joined.
  Status params(const Json &j, std::vector<uint8_t> &out) {
    std::string source;
    if (!j.contains("params")) {
      return Status();
    }
    const Json &p = j["params"];
    if (p.is_string()) {
      source = p.get<std::string>();
    } else if (p.is_array()) {
      for (const Json &item : p) {
        if (!item.is_string()) {
          return invalidArgument("'params' must hold strings");
        }
        source += item.get<std::string>();
      }
    } else {
      return invalidArgument(
          "'params' must be a string or an array of strings");
    }
    for (size_t k = 0; k < source.size(); ++k) {
      char c = source[k];
      if (c == ' ' || c == '\n' || c == '\t') {
        continue;
      }
      if (c == '{') {
        size_t end = source.find('}', k);
        if (end == std::string::npos) {
          return invalidArgument("'params': '{' is not closed");
        }
        std::string name = source.substr(k + 1, end - k - 1);
        if (buffers_.count(name)) {
          const uint8_t *a =
              reinterpret_cast<const uint8_t *>(&buffers_[name].address);
          out.insert(out.end(), a, a + 8);
        } else if (maps_.count(name)) {
          out.insert(out.end(), maps_[name].bytes.begin(),
                     maps_[name].bytes.end());
        } else {
          return invalidArgument("'params': '{" + name +
                                 "}' is no buffer and no tensor map");
        }
        k = end;
        continue;
      }
      auto digit = [](char d) {
        return d >= '0' && d <= '9'   ? d - '0'
               : d >= 'a' && d <= 'f' ? d - 'a' + 10
               : d >= 'A' && d <= 'F' ? d - 'A' + 10
                                      : -1;
      };
      int high = digit(c),
          low = k + 1 < source.size() ? digit(source[k + 1]) : -1;
      if (high < 0 || low < 0) {
        return invalidArgument(
            "'params': expected two hexadecimal digits at '" +
            source.substr(k, 8) + "'");
      }
      out.push_back(uint8_t(high * 16 + low));
      ++k;
    }
    return Status();
  }

  Status dump(const Json &j) {
    const std::string *name = text(j, "buffer"), *file = text(j, "file");
    if (!name || !file || !buffers_.count(*name)) {
      return invalidArgument("a dump needs a known 'buffer' and a 'file'");
    }
    const Buffer &b = buffers_[*name];
    std::vector<uint8_t> data(b.bytes);
    Status status =
        device_->copyToHost(data.data(), b.address, b.bytes, nullptr);
    if (status && !writeFile(path(*file), data)) {
      return Status(StatusCode::NotFound, "cannot write '" + *file + "'");
    }
    return status;
  }

  std::string folder_;
  std::unique_ptr<EmulatorDevice> device_;
  std::map<std::string, Buffer> buffers_;
  std::map<std::string, TensorMap> maps_;
};

} // namespace

Status runLaunchFile(const std::string &path, const EmulatorOptions &options,
                     std::string &report) {
  std::vector<uint8_t> source;
  if (!readFile(path, source)) {
    return Status(StatusCode::NotFound, "cannot read '" + path + "'");
  }
  Json j = Json::parse(source.begin(), source.end(), nullptr, false);
  if (j.is_discarded()) {
    return invalidArgument("'" + path + "' is not valid JSON");
  }
  size_t slash = path.rfind('/');
  std::string folder =
      slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
  return Launcher(folder, options).run(j, report);
}

} // namespace gmoe
