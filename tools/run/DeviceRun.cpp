#include "tools/run/DeviceRun.h"

#include "runtime/core/Buffer.h"
#include "runtime/core/Text.h"
#include "runtime/cuda/CudaDevice.h"
#include "tools/run/Generate.h"
#include "tools/run/Padding.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

using namespace gmoe;
using namespace gmoe::run;

Expected<OpenDevice> run::openDevice(const Options &options) {
  OpenDevice open;
  if (options.device == DeviceKind::Emulator) {
    EmulatorOptions emulator;
    emulator.scheduleSeed = options.scheduleSeed;
    emulator.hazards = options.hazards;
    if (!options.target.empty()) {
      emulator.target = options.target;
    }
    std::unique_ptr<EmulatorDevice> device = createEmulatorDevice(emulator);
    open.emulator = device.get();
    open.device = std::move(device);
    return Expected<OpenDevice>(std::move(open));
  }
  Expected<std::unique_ptr<Device>> device = openCudaDevice(CudaOptions());
  if (!device) {
    return device.status();
  }
  open.device = std::move(*device);
  const std::string &target = open.device->info().target;
  if (!options.target.empty() && options.target != target) {
    return unavailable(
        cat("the device is ", target, ", --target asks for ", options.target));
  }
  return Expected<OpenDevice>(std::move(open));
}

namespace {

class DeviceRun {
public:
  DeviceRun(OpenDevice &open, const Module &module, const Signature &signature,
            const Options &options)
      : open(open), device(*open.device), module(module), signature(signature),
        options(options) {}
  Status run(std::vector<Array> &arguments, std::vector<Array> &results,
             DeviceReport &report);

private:
  Status addResults(const std::vector<Array> &arguments,
                    std::vector<Array> &all);
  Status upload(const std::vector<Array> &all);
  Expected<uint64_t> uploadBytes(const uint8_t *bytes, size_t size);
  Expected<std::vector<uint64_t>> uploadPointees(const std::vector<Array> &all,
                                                 size_t i);
  /// Where there is padding between rows.
  const std::vector<int64_t> &stridesOf(size_t i) const {
    return entry->arguments()[i].strides;
  }
  /// Whether an argument is an array of addresses: its array here is that of
  /// what they point at.
  bool addresses(size_t i) const {
    return i < signature.arguments.size() && signature.arguments[i].addresses;
  }
  Status launch(DeviceReport &report);
  Status download(std::vector<Array> &all);

  OpenDevice &open;
  Device &device;
  const Module &module;
  const Signature &signature;
  const Options &options;
  const Entry *entry = nullptr;
  std::vector<int> places; // of the results among the entry's arguments
  std::vector<Buffer> buffers;
  std::vector<ArgumentValue> values;
  std::vector<std::vector<uint64_t>> pointees; // empty but for addresses
  Buffer workspace;
};

} // namespace

/// Appends arrays for the results that have memory of their own: those that no
/// argument holds or, as the bundle has it, all that the function returns.
Status DeviceRun::addResults(const std::vector<Array> &arguments,
                             std::vector<Array> &all) {
  all = arguments;
  size_t count = entry->arguments().size();
  bool everyResult = signature.returned &&
                     count == arguments.size() + signature.results.size();
  int64_t rows = rowsOf(signature, arguments);
  for (const ResultFacts &result : signature.results) {
    if (result.argument >= 0 && !everyResult) {
      places.push_back(result.argument);
      continue;
    }
    places.push_back(static_cast<int>(all.size()));
    all.emplace_back(result.format, resolveShape(result, rows),
                     fillOf(options));
  }
  if (all.size() != count) {
    return invalidBundle(
        cat("entry \"", entry->name(), "\" has ", count,
            " arguments, expected ", all.size(),
            ": those of the source, then results with memory of their own"));
  }
  for (size_t i = 0; i < all.size(); ++i) {
    ElementType element = entry->arguments()[i].element;
    if (addresses(i) ? element != ElementType::I64
                     : element != elementOf(all[i].format)) {
      return invalidBundle(
          cat("entry \"", entry->name(), "\": argument ", i,
              " has elements of ", gmoe::nameOf(element), ", expected ",
              gmoe::nameOf(elementOf(all[i].format)), " as in the source"));
    }
  }
  return {};
}

/// The address of a copy of `size` bytes.
Expected<uint64_t> DeviceRun::uploadBytes(const uint8_t *bytes, size_t size) {
  Expected<Buffer> buffer = Buffer::allocate(device, size);
  if (!buffer) {
    return buffer.status();
  }
  if (size) {
    if (Status s = device.copyToDevice(buffer->address(), bytes, size, nullptr);
        !s) {
      return s;
    }
  }
  uint64_t address = buffer->address();
  buffers.push_back(std::move(*buffer));
  return address;
}

/// Whether group `g` of an argument of cumulative ends has rows; without one,
/// yes.
static bool hasRows(const std::vector<Array> &all, int ends, int64_t g) {
  return ends < 0 || all[ends].at(g) > (g == 0 ? 0 : all[ends].at(g - 1));
}

/// An array for each group. Those that are only read lie in no order, with
/// poison on both sides and no more aligned than they must be; equal ones are
/// one, and groups without rows have none: addresses alone tell where they are.
Expected<std::vector<uint64_t>>
DeviceRun::uploadPointees(const std::vector<Array> &all, size_t i) {
  constexpr size_t gap = 16; // bytes; allocations are aligned to more
  const ArgumentFacts &facts = signature.arguments[i];
  size_t count = static_cast<size_t>(all[i].shape[0]);
  size_t size = all[i].bytes.size() / count;
  bool scattered = options.poison && !facts.written;
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  if (scattered) {
    std::sort(order.begin(), order.end(), [](uint32_t a, uint32_t b) {
      return a * 0x9E3779B1u < b * 0x9E3779B1u;
    });
  }
  std::vector<uint64_t> pointers(count);
  std::map<std::string_view, uint64_t> known; // by their bytes
  for (size_t g : order) {
    const uint8_t *bytes = all[i].bytes.data() + g * size;
    if (!scattered) {
      Expected<uint64_t> pointee = uploadBytes(bytes, size);
      if (!pointee) {
        return pointee.status();
      }
      pointers[g] = *pointee;
    } else if (hasRows(all, facts.offsets, static_cast<int64_t>(g))) {
      auto [it, isNew] = known.try_emplace(
          std::string_view(reinterpret_cast<const char *>(bytes), size), 0);
      if (!isNew) {
        pointers[g] = it->second;
        continue;
      }
      std::vector<uint8_t> padded(size + 2 * gap, fillOf(options));
      std::copy(bytes, bytes + size, padded.begin() + gap);
      Expected<uint64_t> pointee = uploadBytes(padded.data(), padded.size());
      if (!pointee) {
        return pointee.status();
      }
      pointers[g] = it->second = *pointee + gap;
    }
  }
  return Expected<std::vector<uint64_t>>(std::move(pointers));
}

Status DeviceRun::upload(const std::vector<Array> &all) {
  for (size_t i = 0; i < all.size(); ++i) {
    const Array &array = all[i];
    Shape shape = array.shape;
    const uint8_t *bytes = array.bytes.data();
    size_t size = array.bytes.size();
    std::vector<uint64_t> pointers;
    if (addresses(i)) {
      Expected<std::vector<uint64_t>> made = uploadPointees(all, i);
      if (!made) {
        return made.status();
      }
      pointers = std::move(*made);
      shape = {shape[0]};
      bytes = reinterpret_cast<const uint8_t *>(pointers.data());
      size = pointers.size() * sizeof(uint64_t);
    }
    std::vector<uint8_t> padded;
    if (const std::vector<int64_t> &strides = stridesOf(i); !strides.empty()) {
      Expected<std::vector<uint8_t>> made =
          addPadding(array, strides, fillOf(options));
      if (!made) {
        return invalidArgument(
            cat("argument #", i, ": ", made.status().message()));
      }
      padded = std::move(*made);
      bytes = padded.data();
      size = padded.size();
    }
    Expected<uint64_t> address = uploadBytes(bytes, size);
    if (!address) {
      return address.status();
    }
    values.push_back({*address, shape});
    pointees.push_back(std::move(pointers));
  }
  return {};
}

Status DeviceRun::launch(DeviceReport &report) {
  Expected<const ImageInfo *> image = module.chooseImage(device);
  if (!image) {
    return image.status();
  }
  report.device = device.info().name;
  report.target = (*image)->target;
  Expected<std::unique_ptr<LoadedImage>> loaded = module.loadImage(device);
  if (!loaded) {
    return loaded.status();
  }
  std::vector<Shape> shapes;
  for (const ArgumentValue &value : values) {
    shapes.push_back(value.shape);
  }
  Expected<uint64_t> bytes = entry->workspaceSize(shapes, device.info());
  if (!bytes) {
    return bytes.status();
  }
  report.workspaceBytes = *bytes;
  report.launches = entry->program().launches.size();
  report.fills = countFills(entry->program());
  Expected<Buffer> memory = Buffer::allocate(device, *bytes);
  if (!memory) {
    return memory.status();
  }
  workspace = std::move(*memory);
  if (*bytes) {
    if (Status s = open.emulator && options.poison
                       ? open.emulator->poison(workspace.address(), *bytes)
                       : device.fill(workspace.address(), fillOf(options),
                                     *bytes, nullptr);
        !s) {
      return s;
    }
  }
  if (options.checkInputs) {
    if (Status s = entry->checkInputs(device, values, nullptr); !s) {
      return s;
    }
  }
  if (Status s = entry->launch(device, **loaded, values,
                               {workspace.address(), *bytes}, nullptr);
      !s) {
    return s;
  }
  return device.synchronize(nullptr);
}

Status DeviceRun::download(std::vector<Array> &all) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].bytes.empty()) {
      continue;
    }
    std::vector<uint8_t> bytes = all[i].bytes;
    const std::vector<int64_t> &strides = stridesOf(i);
    if (!strides.empty()) {
      Expected<uint64_t> span =
          byteSize(elementOf(all[i].format), all[i].shape, strides);
      if (!span) {
        return span.status();
      }
      bytes.resize(*span);
    }
    std::vector<uint64_t> sources = pointees[i];
    if (sources.empty()) {
      sources = {values[i].address};
    }
    size_t size = bytes.size() / sources.size();
    for (size_t k = 0; k < sources.size(); ++k) {
      if (sources[k] == 0) {
        continue; // of a group without rows
      }
      if (Status s = device.copyToHost(bytes.data() + k * size, sources[k],
                                       size, nullptr);
          !s) {
        return s;
      }
    }
    if (Status s = device.synchronize(nullptr); !s) {
      return s;
    }
    if (!strides.empty()) {
      Expected<std::vector<uint8_t>> rows =
          removePadding(all[i], strides, fillOf(options), bytes);
      if (!rows) {
        return Status(rows.status().code(),
                      cat("entry \"", entry->name(), "\": argument ", i, ": ",
                          rows.status().message()));
      }
      bytes = std::move(*rows);
    }
    bool isInput = addresses(i)
                       ? !signature.arguments[i].written
                       : entry->arguments()[i].kind == ArgumentKind::Input;
    if (isInput && bytes != all[i].bytes) {
      return deviceError(cat("entry \"", entry->name(), "\": argument ", i,
                             " is an input and was written"));
    }
    all[i].bytes = std::move(bytes);
  }
  return {};
}

Status DeviceRun::run(std::vector<Array> &arguments,
                      std::vector<Array> &results, DeviceReport &report) {
  Expected<const Entry *> found = module.findEntry(signature.name);
  if (!found) {
    return found.status();
  }
  entry = *found;
  std::vector<Array> all;
  if (Status s = addResults(arguments, all); !s) {
    return s;
  }
  if (Status s = upload(all); !s) {
    return s;
  }
  Status launched = launch(report);
  if (open.emulator) {
    report.emulator = open.emulator->stats();
    report.hazards = open.emulator->findings();
  }
  if (!launched) {
    return launched;
  }
  if (Status s = download(all); !s) {
    return s;
  }
  for (int place : places) {
    results.push_back(all[place]);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    arguments[i] = std::move(all[i]);
  }
  return {};
}

Status run::runOnDevice(OpenDevice &device, const Module &module,
                        const Signature &signature, const Options &options,
                        std::vector<Array> &arguments,
                        std::vector<Array> &results, DeviceReport &report) {
  return DeviceRun(device, module, signature, options)
      .run(arguments, results, report);
}
