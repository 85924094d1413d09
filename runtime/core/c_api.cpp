#include "runtime/core/c_api.h"

#include "runtime/core/Module.h"
#include "runtime/core/Text.h"

#include <algorithm>
#include <utility>

using namespace gmoe;

struct gmoe_module {
  Module module;
};
struct gmoe_device {
  std::unique_ptr<Device> device;
};
struct gmoe_executable {
  const Module *module;
  Device *device;
  std::unique_ptr<LoadedImage> image;
};

// The C enums are cast into the C++ ones.
static_assert(GMOE_HAZARD == static_cast<int>(StatusCode::Hazard));
static_assert(GMOE_INOUT == static_cast<int>(ArgumentKind::InOut));
static_assert(GMOE_I64 == static_cast<int>(ElementType::I64));
static_assert(GMOE_DEPENDENT == static_cast<int>(ExtentKind::Dependent));

namespace {

std::string &lastError() {
  static thread_local std::string message;
  return message;
}

gmoe_status report(const Status &status) { return reportC(status); }

gmoe_status reportNull(const char *what) {
  return report(invalidArgument(cat(what, " is null")));
}

/// Null, after a report, when there is no such entry.
const Entry *entryOf(const Module &module, size_t entry) {
  if (entry < module.entries().size()) {
    return &module.entries()[entry];
  }
  (void)report(notFound(
      cat("no entry ", entry, ": the bundle has ", module.entries().size())));
  return nullptr;
}

Expected<Shape> shapeOf(const gmoe_shape &shape) {
  if (shape.rank > GMOE_MAX_RANK) {
    return invalidArgument(
        cat("shape has rank ", shape.rank, ", limit ", GMOE_MAX_RANK));
  }
  return Shape(shape.extents, shape.extents + shape.rank);
}

Expected<std::vector<Shape>> shapesOf(const gmoe_shape *shapes, size_t count) {
  std::vector<Shape> result;
  for (size_t i = 0; i < count; ++i) {
    Expected<Shape> shape = shapeOf(shapes[i]);
    if (!shape) {
      return shape.status();
    }
    result.push_back(std::move(*shape));
  }
  return result;
}

Expected<std::vector<ArgumentValue>> valuesOf(const gmoe_argument *arguments,
                                              size_t count) {
  std::vector<ArgumentValue> result;
  for (size_t i = 0; i < count; ++i) {
    Expected<Shape> shape = shapeOf(arguments[i].shape);
    if (!shape) {
      return shape.status();
    }
    result.push_back({arguments[i].address, std::move(*shape)});
  }
  return result;
}

gmoe_status finishLoad(Expected<Module> loaded, gmoe_module **module) {
  if (!loaded) {
    return report(loaded.status());
  }
  *module = new gmoe_module{std::move(*loaded)};
  return GMOE_OK;
}

} // namespace

gmoe_device *gmoe::wrapDevice(std::unique_ptr<Device> device) {
  return new gmoe_device{std::move(device)};
}

gmoe_status gmoe::reportC(const Status &status) {
  if (!status) {
    lastError() = status.message();
  }
  return static_cast<gmoe_status>(status.code());
}

const char *gmoe_last_error(void) { return lastError().c_str(); }

gmoe_status gmoe_module_load(const void *bytes, size_t size,
                             gmoe_module **module) {
  if (!module || (!bytes && size)) {
    return reportNull("bytes or module");
  }
  *module = nullptr;
  return finishLoad(Module::load({static_cast<const char *>(bytes), size}),
                    module);
}

gmoe_status gmoe_module_load_file(const char *path, gmoe_module **module) {
  if (!path || !module) {
    return reportNull("path or module");
  }
  *module = nullptr;
  return finishLoad(Module::loadFile(path), module);
}

void gmoe_module_destroy(gmoe_module *module) { delete module; }

size_t gmoe_entry_count(const gmoe_module *module) {
  return module ? module->module.entries().size() : 0;
}

const char *gmoe_entry_name(const gmoe_module *module, size_t entry) {
  return entry < gmoe_entry_count(module)
             ? module->module.entries()[entry].name().c_str()
             : nullptr;
}

gmoe_status gmoe_find_entry(const gmoe_module *module, const char *name,
                            size_t *entry) {
  if (!module || !entry) {
    return reportNull("module or entry");
  }
  Expected<const Entry *> found = module->module.findEntry(name ? name : "");
  if (!found) {
    return report(found.status());
  }
  *entry = static_cast<size_t>(*found - module->module.entries().data());
  return GMOE_OK;
}

size_t gmoe_argument_count(const gmoe_module *module, size_t entry) {
  return entry < gmoe_entry_count(module)
             ? module->module.entries()[entry].arguments().size()
             : 0;
}

gmoe_status gmoe_get_argument(const gmoe_module *module, size_t entry,
                              size_t argument, gmoe_argument_info *info) {
  if (!module || !info) {
    return reportNull("module or info");
  }
  const Entry *found = entryOf(module->module, entry);
  if (!found) {
    return GMOE_NOT_FOUND;
  }
  if (argument >= found->arguments().size()) {
    return report(
        notFound(cat("entry \"", found->name(), "\" has no argument ", argument,
                     ", it has ", found->arguments().size())));
  }
  const ArgumentInfo &source = found->arguments()[argument];
  *info = {};
  info->name = source.name.c_str();
  info->kind = static_cast<gmoe_kind>(source.kind);
  info->element = static_cast<gmoe_element>(source.element);
  info->alignment = source.alignment;
  info->rank = static_cast<uint32_t>(source.extents.size());
  for (size_t i = 0; i < source.extents.size(); ++i) {
    info->extents[i] = {static_cast<gmoe_extent_kind>(source.extents[i].kind),
                        source.extents[i].value};
  }
  std::copy(source.strides.begin(), source.strides.end(), info->strides);
  return GMOE_OK;
}

gmoe_status gmoe_resolve_shapes(const gmoe_module *module, size_t entry,
                                gmoe_shape *shapes, size_t count) {
  if (!module || (!shapes && count)) {
    return reportNull("module or shapes");
  }
  const Entry *found = entryOf(module->module, entry);
  if (!found) {
    return GMOE_NOT_FOUND;
  }
  Expected<std::vector<Shape>> given = shapesOf(shapes, count);
  if (!given) {
    return report(given.status());
  }
  Expected<std::vector<Shape>> resolved = found->shapes(*given);
  if (!resolved) {
    return report(resolved.status());
  }
  for (size_t i = 0; i < count; ++i) {
    const Shape &shape = (*resolved)[i];
    shapes[i].rank = static_cast<uint32_t>(shape.size());
    std::copy(shape.begin(), shape.end(), shapes[i].extents);
  }
  return GMOE_OK;
}

void gmoe_device_destroy(gmoe_device *device) { delete device; }

const char *gmoe_device_target(const gmoe_device *device) {
  return device ? device->device->info().target.c_str() : "";
}

gmoe_status gmoe_allocate(gmoe_device *device, uint64_t bytes,
                          uint64_t *address) {
  if (!device || !address) {
    return reportNull("device or address");
  }
  Expected<uint64_t> result = device->device->allocate(bytes);
  if (!result) {
    return report(result.status());
  }
  *address = *result;
  return GMOE_OK;
}

gmoe_status gmoe_release(gmoe_device *device, uint64_t address) {
  return device ? report(device->device->release(address))
                : reportNull("device");
}

gmoe_status gmoe_copy_to_device(gmoe_device *device, uint64_t address,
                                const void *source, uint64_t bytes,
                                void *stream) {
  return device ? report(device->device->copyToDevice(address, source, bytes,
                                                      stream))
                : reportNull("device");
}

gmoe_status gmoe_copy_to_host(gmoe_device *device, void *target,
                              uint64_t address, uint64_t bytes, void *stream) {
  return device ? report(device->device->copyToHost(target, address, bytes,
                                                    stream))
                : reportNull("device");
}

gmoe_status gmoe_synchronize(gmoe_device *device, void *stream) {
  return device ? report(device->device->synchronize(stream))
                : reportNull("device");
}

gmoe_status gmoe_executable_create(const gmoe_module *module,
                                   gmoe_device *device,
                                   gmoe_executable **executable) {
  if (!module || !device || !executable) {
    return reportNull("module, device or executable");
  }
  *executable = nullptr;
  Expected<std::unique_ptr<LoadedImage>> image =
      module->module.loadImage(*device->device);
  if (!image) {
    return report(image.status());
  }
  *executable = new gmoe_executable{&module->module, device->device.get(),
                                    std::move(*image)};
  return GMOE_OK;
}

void gmoe_executable_destroy(gmoe_executable *executable) { delete executable; }

gmoe_status gmoe_workspace_size(const gmoe_executable *executable, size_t entry,
                                const gmoe_shape *shapes, size_t count,
                                uint64_t *bytes) {
  if (!executable || !bytes || (!shapes && count)) {
    return reportNull("executable, shapes or bytes");
  }
  const Entry *found = entryOf(*executable->module, entry);
  if (!found) {
    return GMOE_NOT_FOUND;
  }
  Expected<std::vector<Shape>> given = shapesOf(shapes, count);
  if (!given) {
    return report(given.status());
  }
  Expected<uint64_t> size =
      found->workspaceSize(*given, executable->device->info());
  if (!size) {
    return report(size.status());
  }
  *bytes = *size;
  return GMOE_OK;
}

gmoe_status gmoe_launch(gmoe_executable *executable, size_t entry,
                        const gmoe_argument *arguments, size_t count,
                        uint64_t workspace, uint64_t workspace_bytes,
                        void *stream) {
  if (!executable || (!arguments && count)) {
    return reportNull("executable or arguments");
  }
  const Entry *found = entryOf(*executable->module, entry);
  if (!found) {
    return GMOE_NOT_FOUND;
  }
  Expected<std::vector<ArgumentValue>> values = valuesOf(arguments, count);
  if (!values) {
    return report(values.status());
  }
  return report(found->launch(*executable->device, *executable->image, *values,
                              {workspace, workspace_bytes}, stream));
}

gmoe_status gmoe_check_inputs(gmoe_executable *executable, size_t entry,
                              const gmoe_argument *arguments, size_t count,
                              void *stream) {
  if (!executable || (!arguments && count)) {
    return reportNull("executable or arguments");
  }
  const Entry *found = entryOf(*executable->module, entry);
  if (!found) {
    return GMOE_NOT_FOUND;
  }
  Expected<std::vector<ArgumentValue>> values = valuesOf(arguments, count);
  if (!values) {
    return report(values.status());
  }
  return report(found->checkInputs(*executable->device, *values, stream));
}
