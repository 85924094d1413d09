#include "runtime/core/Module.h"

#include "runtime/abi/Header.h"
#include "runtime/abi/bundle_generated.h"
#include "runtime/core/File.h"
#include "runtime/core/Text.h"
#include "runtime/core/Validate.h"

#include <algorithm>
#include <cstring>

using namespace gmoe;

namespace {

Status truncated(uint64_t actual, uint64_t expected) {
  return invalidBundle(cat("bundle has ", actual, " bytes, expected ", expected,
                           ": it was truncated or grew, recompile it or copy "
                           "it again"));
}

/// Checks everything in the header but the payload's checksum.
Status checkHeader(const abi::Header &header, uint64_t fileBytes) {
  if (std::memcmp(header.magic, abi::kMagic, sizeof(abi::kMagic)) != 0) {
    return invalidBundle("not a bundle: it does not start with \"GMOEBNDL\", "
                         "expected a .gmoe file");
  }
  if (header.version > abi::kFormatVersion) {
    return invalidBundle(
        cat("format version ", header.version, " is newer than this runtime's ",
            abi::kFormatVersion, ": use a newer runtime or recompile"));
  }
  if (header.version == 0 || header.reserved != 0) {
    return invalidBundle("bundle header is altered: recompile it or copy it "
                         "again");
  }
  if (header.payloadBytes != fileBytes - sizeof(header)) {
    return truncated(fileBytes, header.payloadBytes + sizeof(header));
  }
  return {};
}

std::string stringOf(const flatbuffers::String *text) {
  return text ? text->str() : std::string();
}

template <typename Target, typename Source> Target convert(Source value) {
  return static_cast<Target>(value);
}

BufferRef readBuffer(const abi::BufferRef &buffer) {
  return {buffer.kind() == abi::BufferKind::Temporary, buffer.index()};
}

ArgumentInfo readArgument(const abi::Entry &entry, uint32_t index) {
  const abi::Argument &argument = *entry.arguments()->Get(index);
  ArgumentInfo info;
  info.name = argument.name()->str();
  info.kind = convert<ArgumentKind>(argument.kind());
  info.element = convert<ElementType>(argument.element());
  info.alignment = argument.alignment();
  if (argument.strides()) {
    info.strides.assign(argument.strides()->begin(), argument.strides()->end());
  }
  for (uint32_t axis = 0; axis < argument.shape()->size(); ++axis) {
    Extent extent;
    extent.expr = argument.shape()->Get(axis);
    const abi::Expr &expr = *entry.exprs()->Get(extent.expr);
    if (expr.kind() == abi::ExprKind::Constant) {
      extent.value = expr.value();
    } else if (expr.kind() == abi::ExprKind::Dim &&
               expr.lhs() == static_cast<int32_t>(index) &&
               expr.rhs() == static_cast<int32_t>(axis)) {
      extent.kind = ExtentKind::Free;
    } else {
      extent.kind = ExtentKind::Dependent;
    }
    if (argument.multiples()) {
      extent.multiple = argument.multiples()->Get(axis);
    }
    info.extents.push_back(extent);
  }
  return info;
}

TensorMapRecipe readTensorMap(const abi::TensorMapRecipe &recipe) {
  TensorMapRecipe map;
  map.buffer = readBuffer(*recipe.buffer());
  map.type = convert<TensorMapType>(recipe.type());
  map.swizzle = convert<TensorMapSwizzle>(recipe.swizzle());
  map.rank = recipe.dims()->size();
  map.oobFill = recipe.oob_fill();
  map.l2Promotion = recipe.l2_promotion();
  map.placeholder = recipe.placeholder();
  for (uint32_t i = 0; i < map.rank; ++i) {
    map.dims[i] = recipe.dims()->Get(i);
    map.box[i] = recipe.box()->Get(i);
    if (i > 0) {
      map.strides[i - 1] = recipe.strides()->Get(i - 1);
    }
  }
  return map;
}

Launch readLaunch(const abi::Launch &source) {
  Launch launch;
  launch.kernel = source.kernel()->str();
  for (uint32_t i = 0; i < 3; ++i) {
    launch.grid[i] = source.grid()->Get(i);
  }
  launch.cluster = {source.cluster()->Get(0), source.cluster()->Get(1),
                    source.cluster()->Get(2)};
  launch.block = {source.block()->Get(0), source.block()->Get(1),
                  source.block()->Get(2)};
  launch.dynamicSharedBytes = source.dynamic_shared_bytes();
  launch.paramBytes = source.param_bytes();
  for (const abi::KernelParam *param : *source.params()) {
    KernelParam result;
    result.kind = convert<ParamKind>(param->kind());
    result.offset = param->offset();
    switch (result.kind) {
    case ParamKind::Pointer:
      result.buffer = readBuffer(*param->buffer());
      break;
    case ParamKind::TensorMap:
      result.tensorMap = static_cast<uint32_t>(launch.tensorMaps.size());
      launch.tensorMaps.push_back(readTensorMap(*param->tensor_map()));
      break;
    default:
      result.expr = param->expr();
      break;
    }
    launch.params.push_back(result);
  }
  if (source.fills()) {
    for (const abi::Fill *fill : *source.fills()) {
      launch.fills.push_back(readBuffer(*fill->buffer()));
    }
  }
  std::sort(launch.params.begin(), launch.params.end(),
            [](const KernelParam &lhs, const KernelParam &rhs) {
              return lhs.offset < rhs.offset;
            });
  return launch;
}

Program readEntry(const abi::Entry &entry) {
  Program program;
  program.name = entry.name()->str();
  for (const abi::Expr *expr : *entry.exprs()) {
    program.exprs.push_back({convert<ExprKind>(expr->kind()), expr->lhs(),
                             expr->rhs(), expr->value()});
  }
  for (uint32_t i = 0; i < entry.arguments()->size(); ++i) {
    program.arguments.push_back(readArgument(entry, i));
  }
  if (entry.offsets()) {
    for (const abi::OffsetsContract *contract : *entry.offsets()) {
      program.offsets.push_back(
          {contract->argument(), contract->aligned(), contract->rows()});
    }
  }
  if (entry.pointers()) {
    for (const abi::PointersContract *contract : *entry.pointers()) {
      program.pointers.push_back(
          {contract->argument(), convert<ElementType>(contract->element()),
           std::vector<int32_t>(contract->shape()->begin(),
                                contract->shape()->end()),
           contract->alignment(), contract->read_only(), contract->groups()});
    }
  }
  if (entry.temporaries()) {
    for (const abi::Temporary *temporary : *entry.temporaries()) {
      program.temporaries.push_back(
          {temporary->bytes(), temporary->alignment()});
    }
  }
  for (const abi::Launch *launch : *entry.launches()) {
    program.launches.push_back(readLaunch(*launch));
  }
  return program;
}

// The two enums are cast into each other.
static_assert(static_cast<int>(abi::ElementType::MAX) ==
              static_cast<int>(ElementType::I64));
static_assert(static_cast<int>(abi::ExprKind::MAX) ==
              static_cast<int>(ExprKind::Max));
static_assert(static_cast<int>(abi::ParamKind::MAX) ==
              static_cast<int>(ParamKind::TensorMap));
static_assert(static_cast<int>(abi::ArgumentKind::MAX) ==
              static_cast<int>(ArgumentKind::InOut));
static_assert(static_cast<int>(abi::ImageFormat::MAX) ==
              static_cast<int>(ImageFormat::Cubin));

} // namespace

const char *gmoe::nameOf(ImageFormat format) {
  return format == ImageFormat::Ptx ? "ptx" : "cubin";
}

Expected<Module> Module::load(std::string_view bytes) {
  abi::Header header;
  if (bytes.size() < sizeof(header)) {
    return truncated(bytes.size(), sizeof(header));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (Status s = checkHeader(header, bytes.size()); !s) {
    return s;
  }
  // The copy is aligned, which the FlatBuffers accessors rely on.
  std::vector<uint8_t> payload(bytes.begin() + sizeof(header), bytes.end());
  if (abi::checksum(header.version, payload.data(), payload.size()) !=
      header.checksum) {
    return invalidBundle("bundle is altered: its checksum does not match, "
                         "recompile it or copy it again");
  }
  return loadPayload(header.version, std::move(payload));
}

Expected<Module> Module::loadFile(const std::string &path) {
  Expected<std::string> bytes = readFile(path, kMaxFileBytes);
  if (!bytes) {
    return bytes.status();
  }
  Expected<Module> module = load(*bytes);
  if (!module) {
    return Status(module.status().code(),
                  cat(path, ": ", module.status().message()));
  }
  return module;
}

Expected<Module> Module::loadPayload(uint32_t version,
                                     std::vector<uint8_t> payload) {
  flatbuffers::Verifier verifier(payload.data(), payload.size());
  // The smallest buffer has a root offset and a file identifier.
  if (payload.size() < 8 || !abi::VerifyBundleBuffer(verifier)) {
    return invalidBundle("bundle is malformed: its tables do not verify, "
                         "recompile it");
  }
  if (Status s = validate(*abi::GetBundle(payload.data())); !s) {
    return s;
  }
  Module module;
  module.version = version;
  module.payload = std::move(payload);
  module.read();
  return module;
}

void Module::read() {
  const abi::Bundle &bundle = *abi::GetBundle(payload.data());
  producerText = stringOf(bundle.producer());
  sourceText = stringOf(bundle.source());
  for (const abi::Entry *entry : *bundle.entries()) {
    entryList.emplace_back(readEntry(*entry));
  }
  for (const abi::Image *image : *bundle.images()) {
    imageList.push_back(
        {image->target()->str(), convert<ImageFormat>(image->format()),
         std::string_view(reinterpret_cast<const char *>(image->data()->data()),
                          image->data()->size())});
  }
  if (bundle.kernels()) {
    for (const abi::KernelInfo *kernel : *bundle.kernels()) {
      kernelList.push_back(
          {kernel->name()->str(), kernel->target()->str(), kernel->registers(),
           kernel->spill_bytes(), kernel->static_shared_bytes(),
           kernel->dynamic_shared_bytes(), kernel->tmem_columns(),
           stringOf(kernel->description())});
    }
  }
}

Expected<const Entry *> Module::findEntry(std::string_view name) const {
  std::string names;
  for (const Entry &entry : entryList) {
    if (entry.name() == name || (name.empty() && entryList.size() == 1)) {
      return &entry;
    }
    names += cat(names.empty() ? "" : ", ", entry.name());
  }
  if (entryList.empty()) {
    return notFound("bundle has no entries");
  }
  return notFound(
      name.empty() ? cat("bundle has several entries, name one of ", names)
                   : cat("bundle has no entry \"", name, "\", it has ", names));
}

Expected<const ImageInfo *> Module::chooseImage(const Device &device) const {
  const DeviceInfo &info = device.info();
  std::vector<ImageFormat> formats = device.imageFormats();
  for (ImageFormat format : formats) {
    for (const ImageInfo &image : imageList) {
      if (image.format == format && image.target == info.target) {
        return &image;
      }
    }
  }
  std::string images, taken;
  for (const ImageInfo &image : imageList) {
    images += cat(images.empty() ? "" : ", ", image.target, " (",
                  gmoe::nameOf(image.format), ")");
  }
  for (ImageFormat format : formats) {
    taken += cat(taken.empty() ? "" : " or ", gmoe::nameOf(format));
  }
  return unavailable(cat("bundle has images for ",
                         images.empty() ? "no chip" : images, "; this device (",
                         info.name, ") is ", info.target, " and takes ", taken,
                         ": compile with --target=", info.target));
}

Expected<std::unique_ptr<LoadedImage>> Module::loadImage(Device &device) const {
  Expected<const ImageInfo *> image = chooseImage(device);
  if (!image) {
    return image.status();
  }
  return device.loadImage((*image)->format, (*image)->data);
}
