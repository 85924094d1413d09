#include "runtime/core/Launch.h"

#include "runtime/core/Text.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

using namespace gmoe;

template <typename... Parts> Status Entry::fail(const Parts &...parts) const {
  return invalidArgument(cat("entry \"", name(), "\": ", parts...));
}

std::string Entry::argumentText(size_t index) const {
  return cat("argument ", index, " \"", arguments()[index].name, "\"");
}

Status Entry::checkRank(size_t index, const Shape &shape) const {
  const ArgumentInfo &info = arguments()[index];
  if (shape.size() != info.extents.size()) {
    return fail(argumentText(index), " has rank ", shape.size(), ", expected ",
                info.extents.size());
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] < 0) {
      return fail(argumentText(index), ", axis ", axis, ": extent is ",
                  shape[axis], ", expected 0 or more");
    }
    if (int64_t multiple = info.extents[axis].multiple;
        shape[axis] % multiple != 0) {
      return fail(argumentText(index), ", axis ", axis, ": extent is ",
                  shape[axis], ", expected a multiple of ", multiple,
                  "; pad it");
    }
  }
  return {};
}

Status Entry::checkShape(size_t index, const Shape &shape,
                         const Values &values) const {
  const ArgumentInfo &info = arguments()[index];
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (info.extents[axis].kind == ExtentKind::Free) {
      continue;
    }
    Expected<int64_t> expected = values.get(info.extents[axis].expr);
    if (!expected) {
      return fail(argumentText(index), ", axis ", axis, ": ",
                  expected.status().message());
    }
    if (shape[axis] != *expected) {
      bool isStatic = info.extents[axis].kind == ExtentKind::Static;
      return fail(argumentText(index), ", axis ", axis, ": extent is ",
                  shape[axis], ", expected ", *expected,
                  isStatic
                      ? ": the entry is compiled for this extent"
                      : ": it follows from the shapes of the other arguments");
    }
  }
  return {};
}

Status Entry::checkShapes(const ShapeRefs &shapes, const Values &values) const {
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i]) {
      if (Status s = checkShape(i, *shapes[i], values); !s) {
        return s;
      }
    }
  }
  return {};
}

Expected<std::vector<Shape>>
Entry::shapes(const std::vector<Shape> &given) const {
  size_t count = arguments().size();
  if (given.size() > count) {
    return fail("got shapes for ", given.size(), " arguments, expected ",
                count);
  }
  ShapeRefs refs(count, nullptr);
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i].empty()) {
      continue;
    }
    if (Status s = checkRank(i, given[i]); !s) {
      return s;
    }
    refs[i] = &given[i];
  }
  // Shapes do not depend on the device (checked on load): any count will do.
  Values values(program_, refs, /*smCount=*/1);
  if (Status s = checkShapes(refs, values); !s) {
    return s;
  }
  std::vector<Shape> result(count);
  for (size_t i = 0; i < count; ++i) {
    if (refs[i]) {
      result[i] = *refs[i];
      continue;
    }
    for (const Extent &extent : arguments()[i].extents) {
      Expected<int64_t> value = values.get(extent.expr);
      if (!value) {
        return fail("cannot derive the shape of ", argumentText(i), ": ",
                    value.status().message());
      }
      result[i].push_back(*value);
    }
    if (Status s = checkRank(i, result[i]); !s) {
      return s;
    }
  }
  return result;
}

Expected<uint64_t> Entry::layOut(const Values &values,
                                 std::vector<uint64_t> *offsets) const {
  uint64_t end = 0;
  for (size_t i = 0; i < program_.temporaries.size(); ++i) {
    const Temporary &temporary = program_.temporaries[i];
    Expected<int64_t> bytes = values.get(temporary.bytes);
    if (!bytes) {
      return fail("size of temporary ", i, ": ", bytes.status().message());
    }
    if (*bytes < 0) {
      return fail("size of temporary ", i, " is ", *bytes, " bytes");
    }
    uint64_t mask = temporary.alignment - 1;
    uint64_t start = (end + mask) & ~mask;
    end = start + static_cast<uint64_t>(*bytes);
    if (end >= uint64_t{1} << 62) {
      return fail("workspace is larger than 2^62 bytes");
    }
    if (offsets) {
      offsets->push_back(start);
    }
  }
  return end;
}

Expected<uint64_t> Entry::workspaceSize(const std::vector<Shape> &given,
                                        const DeviceInfo &info) const {
  Expected<std::vector<Shape>> resolved = shapes(given);
  if (!resolved) {
    return resolved.status();
  }
  ShapeRefs refs;
  for (const Shape &shape : *resolved) {
    refs.push_back(&shape);
  }
  return layOut(Values(program_, refs, info.smCount), nullptr);
}

Expected<ShapeRefs>
Entry::refsOf(const std::vector<ArgumentValue> &values) const {
  if (values.size() != arguments().size()) {
    return fail("got ", values.size(), " arguments, expected ",
                arguments().size());
  }
  ShapeRefs refs(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (Status s = checkRank(i, values[i].shape); !s) {
      return s;
    }
    refs[i] = &values[i].shape;
  }
  return refs;
}

/// The state of one launch() call.
class Entry::Launcher {
public:
  Launcher(const Entry &entry, const std::vector<ArgumentValue> &arguments,
           Device &device, const Values &values)
      : entry(entry), arguments(arguments), device(device), values(values) {}

  Status prepare(Workspace workspace);
  Status run(const Launch &launch, LoadedImage &image, StreamHandle stream);

private:
  struct Buffer {
    uint64_t address = 0, bytes = 0;
  };

  Status checkArgument(size_t index);
  const Buffer &bufferOf(BufferRef ref) const {
    return ref.temporary ? temporaries[ref.index] : buffers[ref.index];
  }
  std::string textOf(BufferRef ref) const {
    return ref.temporary ? cat("temporary ", ref.index)
                         : entry.argumentText(ref.index);
  }
  template <typename... Parts>
  Status fail(const Launch &launch, const Parts &...parts) const {
    return entry.fail("kernel \"", launch.kernel, "\": ", parts...);
  }
  Expected<Dim3> gridOf(const Launch &launch) const;
  Status fill(const Launch &launch, StreamHandle stream);
  Status packParam(const Launch &launch, size_t index, uint8_t *params);
  /// Nothing for an array that has an extent of 0.
  Expected<std::optional<TensorMapDesc>>
  describe(const Launch &launch, size_t param,
           const TensorMapRecipe &recipe) const;
  Status checkSpan(const Launch &launch, size_t param,
                   const TensorMapRecipe &recipe,
                   const TensorMapDesc &desc) const;

  const Entry &entry;
  const std::vector<ArgumentValue> &arguments;
  Device &device;
  const Values &values;
  std::vector<Buffer> buffers, temporaries;
};

Status Entry::Launcher::checkArgument(size_t index) {
  const ArgumentInfo &info = entry.arguments()[index];
  const ArgumentValue &value = arguments[index];
  if (Status s = entry.checkShape(index, value.shape, values); !s) {
    return s;
  }
  Expected<uint64_t> bytes = byteSize(info.element, value.shape, info.strides);
  if (!bytes) {
    return entry.fail(entry.argumentText(index), ": ",
                      bytes.status().message());
  }
  if (*bytes != 0 && value.address == 0) {
    return entry.fail(entry.argumentText(index), " has ", *bytes,
                      " bytes, but its address is null: allocate it on the "
                      "device");
  }
  if (value.address % info.alignment != 0) {
    return entry.fail(entry.argumentText(index), " is at address ",
                      Hex{value.address}, ", expected a multiple of ",
                      info.alignment, " bytes: align its allocation");
  }
  if (*bytes > std::numeric_limits<uint64_t>::max() - value.address) {
    return entry.fail(entry.argumentText(index), " at address ",
                      Hex{value.address}, " has ", *bytes,
                      " bytes, which exceed the address space");
  }
  buffers.push_back({value.address, *bytes});
  return {};
}

Status Entry::Launcher::prepare(Workspace workspace) {
  buffers.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (Status s = checkArgument(i); !s) {
      return s;
    }
  }
  std::vector<uint64_t> offsets;
  Expected<uint64_t> needed = entry.layOut(values, &offsets);
  if (!needed) {
    return needed.status();
  }
  if (*needed > workspace.bytes || (*needed != 0 && workspace.address == 0)) {
    return entry.fail("workspace has ",
                      workspace.address ? workspace.bytes : uint64_t{0},
                      " bytes, expected ", *needed,
                      ": allocate what the workspace size query returns");
  }
  if (*needed != 0 && workspace.address % kWorkspaceAlignment != 0) {
    return entry.fail("workspace is at address ", Hex{workspace.address},
                      ", expected a multiple of ", kWorkspaceAlignment,
                      " bytes: align its allocation");
  }
  for (size_t i = 0; i < offsets.size(); ++i) {
    // The size cannot fail here: layOut() has read it.
    Expected<int64_t> bytes = values.get(entry.program_.temporaries[i].bytes);
    temporaries.push_back({workspace.address + offsets[i],
                           static_cast<uint64_t>(bytes ? *bytes : 0)});
  }
  return {};
}

Expected<Dim3> Entry::Launcher::gridOf(const Launch &launch) const {
  static constexpr int64_t limits[3] = {2147483647, 65535, 65535};
  const uint32_t cluster[3] = {launch.cluster.x, launch.cluster.y,
                               launch.cluster.z};
  uint32_t grid[3];
  bool empty = false;
  for (unsigned i = 0; i < 3; ++i) {
    Expected<int64_t> extent = values.get(launch.grid[i]);
    if (!extent) {
      return fail(launch, "grid extent ", i, ": ", extent.status().message());
    }
    if (*extent < 0 || *extent > limits[i]) {
      return fail(launch, "grid extent ", i, " is ", *extent,
                  " CTAs, expected 0 to ", limits[i],
                  ": split the problem into smaller ones");
    }
    if (*extent % cluster[i] != 0) {
      return fail(launch, "grid extent ", i, " is ", *extent,
                  " CTAs, expected a multiple of the cluster's ", cluster[i]);
    }
    grid[i] = static_cast<uint32_t>(*extent);
    empty |= *extent == 0;
  }
  return empty ? Dim3{0, 0, 0} : Dim3{grid[0], grid[1], grid[2]};
}

/// Refuses a map that reaches beyond its buffer: a kernel would read another
/// allocation without a fault.
Status Entry::Launcher::checkSpan(const Launch &launch, size_t param,
                                  const TensorMapRecipe &recipe,
                                  const TensorMapDesc &desc) const {
  // All factors are under 2^41 and a rank is at most 5, so 128 bits hold it.
  unsigned __int128 span = (static_cast<unsigned __int128>(desc.dims[0]) *
                                tensorMapElementBits(desc.type) +
                            7) /
                           8;
  for (uint32_t i = 1; i < desc.rank; ++i) {
    span +=
        static_cast<unsigned __int128>(desc.dims[i] - 1) * desc.strides[i - 1];
  }
  const Buffer &buffer = bufferOf(recipe.buffer);
  if (span > buffer.bytes) {
    uint64_t most = std::numeric_limits<uint64_t>::max();
    return fail(launch, "tensor map of parameter ", param, " spans ",
                span > most ? most : static_cast<uint64_t>(span),
                " bytes, but ", textOf(recipe.buffer), " has ", buffer.bytes);
  }
  return {};
}

Expected<std::optional<TensorMapDesc>>
Entry::Launcher::describe(const Launch &launch, size_t param,
                          const TensorMapRecipe &recipe) const {
  TensorMapDesc desc;
  desc.type = recipe.type;
  desc.rank = recipe.rank;
  desc.address = bufferOf(recipe.buffer).address;
  desc.swizzle = recipe.swizzle;
  desc.l2Promotion = recipe.l2Promotion;
  desc.oobFill = recipe.oobFill;
  bool empty = false;
  for (uint32_t i = 0; i < desc.rank; ++i) {
    Expected<int64_t> dim = values.get(recipe.dims[i]);
    if (!dim) {
      return fail(launch, "tensor map of parameter ", param, ", dimension ", i,
                  ": ", dim.status().message());
    }
    if (*dim < 0 || *dim > int64_t{1} << 32) {
      return fail(launch, "tensor map of parameter ", param, ", dimension ", i,
                  " has ", *dim, " elements, limit 2^32");
    }
    desc.dims[i] = static_cast<uint64_t>(*dim);
    empty |= *dim == 0;
    desc.box[i] = recipe.box[i];
  }
  for (uint32_t i = 0; i + 1 < desc.rank; ++i) {
    Expected<int64_t> stride = values.get(recipe.strides[i]);
    if (!stride) {
      return fail(launch, "tensor map of parameter ", param, ", stride ", i,
                  ": ", stride.status().message());
    }
    if (*stride < 0 || *stride >= int64_t{1} << 40 || *stride % 16 != 0) {
      return fail(launch, "tensor map of parameter ", param, ", stride ", i,
                  " is ", *stride,
                  " bytes, expected a multiple of 16 below 2^40");
    }
    desc.strides[i] = static_cast<uint64_t>(*stride);
  }
  if (desc.address % 16 != 0) {
    return fail(launch, "tensor map of parameter ", param, ": ",
                textOf(recipe.buffer), " is at address ", Hex{desc.address},
                ", expected a multiple of 16 bytes");
  }
  if (empty) {
    return std::optional<TensorMapDesc>();
  }
  if (!recipe.placeholder) {
    if (Status s = checkSpan(launch, param, recipe, desc); !s) {
      return s;
    }
  }
  return std::optional<TensorMapDesc>(desc);
}

Status Entry::Launcher::fill(const Launch &launch, StreamHandle stream) {
  for (BufferRef ref : launch.fills) {
    const Buffer &buffer = bufferOf(ref);
    if (buffer.bytes == 0) {
      continue;
    }
    Status status = device.fill(buffer.address, 0, buffer.bytes, stream);
    if (!status) {
      return Status(status.code(),
                    cat("entry \"", entry.name(), "\": filling ", textOf(ref),
                        " with zeros: ", status.message()));
    }
  }
  return {};
}

Status Entry::Launcher::packParam(const Launch &launch, size_t index,
                                  uint8_t *params) {
  const KernelParam &param = launch.params[index];
  uint8_t *target = params + param.offset;
  switch (param.kind) {
  case ParamKind::Pointer: {
    uint64_t address = bufferOf(param.buffer).address;
    std::memcpy(target, &address, sizeof(address));
    return {};
  }
  case ParamKind::ScalarI32:
  case ParamKind::ScalarI64: {
    Expected<int64_t> value = values.get(param.expr);
    if (!value) {
      return fail(launch, "parameter ", index, ": ", value.status().message());
    }
    if (param.kind == ParamKind::ScalarI64) {
      std::memcpy(target, &*value, sizeof(int64_t));
      return {};
    }
    int32_t narrow = static_cast<int32_t>(*value);
    if (narrow != *value) {
      return fail(launch, "parameter ", index, " is ", *value,
                  ", which does not fit 32 bits: the extents of the arguments "
                  "are too large");
    }
    std::memcpy(target, &narrow, sizeof(narrow));
    return {};
  }
  case ParamKind::TensorMap: {
    Expected<std::optional<TensorMapDesc>> desc =
        describe(launch, index, launch.tensorMaps[param.tensorMap]);
    if (!desc) {
      return desc.status();
    }
    // A map of nothing cannot be encoded, and the kernel has no tile that goes
    // through it: it gets zeros.
    if (!*desc) {
      return {};
    }
    Expected<TensorMap> map = device.encodeTensorMap(**desc);
    if (!map) {
      return Status(map.status().code(),
                    cat("entry \"", entry.name(), "\": kernel \"",
                        launch.kernel, "\": tensor map of parameter ", index,
                        ": ", map.status().message()));
    }
    std::memcpy(target, map->bytes.data(), map->bytes.size());
    return {};
  }
  }
  return {};
}

Status Entry::Launcher::run(const Launch &launch, LoadedImage &image,
                            StreamHandle stream) {
  Expected<Dim3> grid = gridOf(launch);
  if (!grid) {
    return grid.status();
  }
  if (Status s = fill(launch, stream); !s) {
    return s;
  }
  if (grid->x == 0) {
    return {};
  }
  if (launch.dynamicSharedBytes > device.info().maxSharedBytes) {
    return fail(launch, "needs ", launch.dynamicSharedBytes,
                " bytes of dynamic shared memory, limit of ",
                device.info().name, " is ", device.info().maxSharedBytes,
                ": compile for this chip");
  }
  KernelLaunch kernel;
  kernel.kernel = launch.kernel;
  kernel.grid = *grid;
  kernel.block = launch.block;
  kernel.cluster = launch.cluster;
  kernel.dynamicSharedBytes = launch.dynamicSharedBytes;
  kernel.params.resize(launch.paramBytes);
  kernel.paramOffsets.reserve(launch.params.size());
  for (size_t i = 0; i < launch.params.size(); ++i) {
    if (Status s = packParam(launch, i, kernel.params.data()); !s) {
      return s;
    }
    kernel.paramOffsets.push_back(launch.params[i].offset);
  }
  Status status = device.launch(image, kernel, stream);
  if (!status) {
    return Status(status.code(), cat("entry \"", entry.name(), "\": kernel \"",
                                     launch.kernel, "\": ", status.message()));
  }
  return {};
}

Status Entry::launch(Device &device, LoadedImage &image,
                     const std::vector<ArgumentValue> &arguments,
                     Workspace workspace, StreamHandle stream) const {
  Expected<ShapeRefs> refs = refsOf(arguments);
  if (!refs) {
    return refs.status();
  }
  Values values(program_, *refs, device.info().smCount);
  Launcher launcher(*this, arguments, device, values);
  if (Status s = launcher.prepare(workspace); !s) {
    return s;
  }
  for (const Launch &launch : program_.launches) {
    if (Status s = launcher.run(launch, image, stream); !s) {
      return s;
    }
  }
  return {};
}

size_t gmoe::countFills(const Program &program) {
  size_t count = 0;
  for (const Launch &launch : program.launches) {
    count += launch.fills.size();
  }
  return count;
}

unsigned gmoe::tensorMapElementBits(TensorMapType type) {
  switch (type) {
  case TensorMapType::U8:
    return 8;
  case TensorMapType::U16:
  case TensorMapType::F16:
  case TensorMapType::BF16:
    return 16;
  case TensorMapType::U64:
  case TensorMapType::S64:
  case TensorMapType::F64:
    return 64;
  case TensorMapType::U4Align8B:
  case TensorMapType::U4Align16B:
    return 4;
  case TensorMapType::U6Align16B:
    return 6;
  default:
    return 32;
  }
}
