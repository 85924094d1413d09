#include "runtime/core/Validate.h"

#include "runtime/core/Program.h"
#include "runtime/core/Text.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

using namespace gmoe;

namespace {

using Limits = BundleLimits;

/// Checks one entry. `where` names it in every message.
class EntryValidator {
public:
  explicit EntryValidator(const abi::Entry &entry)
      : entry(entry), exprs(*entry.exprs()), arguments(*entry.arguments()) {}

  Status run();

private:
  template <typename... Parts> Status fail(const Parts &...parts) {
    return invalidBundle(cat("bundle entry \"", entry.name()->string_view(),
                             "\": ", parts...,
                             ": recompile the program that it came from"));
  }
  Status checkCounts();
  Status checkExprs();
  Status checkExpr(uint32_t index);
  Status checkDim(uint32_t index, const abi::Expr &expr);
  Status checkArgument(uint32_t index);
  Status checkContracts();
  Status checkLaunch(uint32_t index, const abi::Launch &launch);
  Status checkParam(const std::string &where, const abi::KernelParam &param,
                    uint32_t &bytes);
  Status checkTensorMap(const std::string &where,
                        const abi::TensorMapRecipe &recipe);
  Status checkBuffer(const std::string &where, const abi::BufferRef *buffer);
  Status checkShape(const std::string &where,
                    const flatbuffers::Vector<int32_t> &shape);
  Status checkRef(const std::string &where, int64_t expr);

  const abi::Entry &entry;
  const flatbuffers::Vector<const abi::Expr *> &exprs;
  const flatbuffers::Vector<flatbuffers::Offset<abi::Argument>> &arguments;
  std::vector<bool> usesSmCount; // one an expression
};

template <typename T> uint32_t sizeOf(const T *vector) {
  return vector ? vector->size() : 0;
}

bool isPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

Status checkName(const char *what, const flatbuffers::String *name) {
  if (!name || name->size() == 0) {
    return invalidBundle(
        cat("bundle has ", what, " without a name: recompile it"));
  }
  if (name->size() > Limits::nameBytes) {
    return invalidBundle(cat("bundle has ", what, " whose name has ",
                             name->size(), " bytes, limit ", Limits::nameBytes,
                             ": recompile it"));
  }
  for (char c : name->string_view()) {
    unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      return invalidBundle(cat("bundle has ", what,
                               " with a control character in its name: "
                               "recompile it"));
    }
  }
  return {};
}

Status checkCount(const char *what, uint64_t count, uint64_t limit) {
  if (count > limit) {
    return invalidBundle(cat("bundle has ", count, " ", what, ", limit ", limit,
                             ": split the program"));
  }
  return {};
}

Status EntryValidator::run() {
  if (Status s = checkCounts(); !s) {
    return s;
  }
  if (Status s = checkExprs(); !s) {
    return s;
  }
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    if (Status s = checkArgument(i); !s) {
      return s;
    }
  }
  if (Status s = checkContracts(); !s) {
    return s;
  }
  for (uint32_t i = 0; i < sizeOf(entry.temporaries()); ++i) {
    const abi::Temporary &temporary = *entry.temporaries()->Get(i);
    std::string where = cat("temporary ", i);
    if (Status s = checkRef(where + " size", temporary.bytes()); !s) {
      return s;
    }
    if (!isPowerOfTwo(temporary.alignment()) ||
        temporary.alignment() > Limits::workspaceAlignment) {
      return fail(where, " has alignment ", temporary.alignment(),
                  " bytes, expected a power of two up to ",
                  Limits::workspaceAlignment);
    }
  }
  for (uint32_t i = 0; i < entry.launches()->size(); ++i) {
    if (Status s = checkLaunch(i, *entry.launches()->Get(i)); !s) {
      return s;
    }
  }
  return {};
}

Status EntryValidator::checkCounts() {
  for (auto [what, count, limit] :
       {std::tuple("expressions in one entry", exprs.size(), Limits::exprs),
        std::tuple("arguments in one entry", arguments.size(),
                   Limits::arguments),
        std::tuple("temporaries in one entry", sizeOf(entry.temporaries()),
                   Limits::temporaries),
        std::tuple("launches in one entry", entry.launches()->size(),
                   Limits::launches),
        std::tuple("offsets contracts in one entry", sizeOf(entry.offsets()),
                   Limits::arguments),
        std::tuple("pointers contracts in one entry", sizeOf(entry.pointers()),
                   Limits::arguments)}) {
    if (Status s = checkCount(what, count, limit); !s) {
      return s;
    }
  }
  return {};
}

Status EntryValidator::checkRef(const std::string &where, int64_t expr) {
  if (expr < 0 || expr >= exprs.size()) {
    return fail(where, " refers to expression ", expr, " of ", exprs.size());
  }
  return {};
}

Status EntryValidator::checkExprs() {
  // The FlatBuffers verifier does not align vectors of structs.
  if (reinterpret_cast<uintptr_t>(exprs.Data()) % alignof(abi::Expr) != 0) {
    return fail("the expressions are misaligned");
  }
  // Dim nodes need ranks; shape references are checked with the arguments.
  usesSmCount.assign(exprs.size(), false);
  for (uint32_t i = 0; i < exprs.size(); ++i) {
    if (Status s = checkExpr(i); !s) {
      return s;
    }
  }
  return {};
}

Status EntryValidator::checkDim(uint32_t index, const abi::Expr &expr) {
  if (expr.lhs() < 0 || static_cast<uint32_t>(expr.lhs()) >= arguments.size()) {
    return fail("expression ", index, " takes an extent of argument ",
                expr.lhs(), " of ", arguments.size());
  }
  const auto &shape = *arguments.Get(expr.lhs())->shape();
  if (expr.rhs() < 0 || static_cast<uint32_t>(expr.rhs()) >= shape.size()) {
    return fail("expression ", index, " takes the extent of axis ", expr.rhs(),
                " of argument ", expr.lhs(), ", which has rank ", shape.size());
  }
  // Evaluation is one forward pass: the axis is free, or computed before.
  int32_t source = shape.Get(expr.rhs());
  if (source < 0 || static_cast<uint32_t>(source) >= exprs.size()) {
    return fail("axis ", expr.rhs(), " of argument ", expr.lhs(),
                " refers to expression ", source, " of ", exprs.size());
  }
  const abi::Expr &axis = *exprs.Get(source);
  bool isFree = axis.kind() == abi::ExprKind::Dim && axis.lhs() == expr.lhs() &&
                axis.rhs() == expr.rhs();
  if (!isFree && static_cast<uint32_t>(source) >= index) {
    return fail("expression ", index, " takes an extent that only expression ",
                source, " computes");
  }
  if (!isFree) {
    usesSmCount[index] = usesSmCount[source];
  }
  return {};
}

Status EntryValidator::checkExpr(uint32_t index) {
  const abi::Expr &expr = *exprs.Get(index);
  if (expr.kind() > abi::ExprKind::MAX) {
    return fail("expression ", index, " has kind ",
                static_cast<unsigned>(expr.kind()), ", which is unknown");
  }
  switch (expr.kind()) {
  case abi::ExprKind::Constant:
    return {};
  case abi::ExprKind::SmCount:
    usesSmCount[index] = true;
    return {};
  case abi::ExprKind::Dim:
    return checkDim(index, expr);
  default:
    break;
  }
  for (int32_t operand : {expr.lhs(), expr.rhs()}) {
    if (operand < 0 || static_cast<uint32_t>(operand) >= index) {
      return fail("expression ", index, " refers to expression ", operand,
                  ", expected an earlier one");
    }
  }
  usesSmCount[index] = usesSmCount[expr.lhs()] || usesSmCount[expr.rhs()];
  return {};
}

Status EntryValidator::checkShape(const std::string &where,
                                  const flatbuffers::Vector<int32_t> &shape) {
  if (shape.size() < 1 || shape.size() > Limits::rank) {
    return fail(where, " has rank ", shape.size(), ", expected 1 to ",
                Limits::rank);
  }
  for (uint32_t axis = 0; axis < shape.size(); ++axis) {
    if (Status s = checkRef(cat(where, " axis ", axis), shape.Get(axis)); !s) {
      return s;
    }
    if (usesSmCount[shape.Get(axis)]) {
      return fail(where, " axis ", axis,
                  " depends on the device's multiprocessor count");
    }
    const abi::Expr &expr = *exprs.Get(shape.Get(axis));
    if (expr.kind() == abi::ExprKind::Constant && expr.value() < 0) {
      return fail(where, " axis ", axis, " has extent ", expr.value());
    }
  }
  return {};
}

Status EntryValidator::checkArgument(uint32_t index) {
  const abi::Argument &argument = *arguments.Get(index);
  if (Status s = checkName("an argument", argument.name()); !s) {
    return s;
  }
  std::string where =
      cat("argument ", index, " \"", argument.name()->string_view(), "\"");
  if (argument.kind() > abi::ArgumentKind::MAX) {
    return fail(where, " has an unknown kind");
  }
  if (argument.element() > abi::ElementType::MAX) {
    return fail(where, " has an unknown element type");
  }
  if (!isPowerOfTwo(argument.alignment()) ||
      argument.alignment() > Limits::argumentAlignment) {
    return fail(where, " has alignment ", argument.alignment(),
                " bytes, expected a power of two up to ",
                Limits::argumentAlignment);
  }
  if (const auto *multiples = argument.multiples()) {
    if (multiples->size() != argument.shape()->size()) {
      return fail(where, " has multiples of ", multiples->size(),
                  " axes, but rank ", argument.shape()->size());
    }
    for (uint32_t axis = 0; axis < multiples->size(); ++axis) {
      if (multiples->Get(axis) == 0) {
        return fail(where, " axis ", axis,
                    " is a multiple of 0, expected 1 or more");
      }
    }
  }
  if (uint32_t strides = sizeOf(argument.strides())) {
    if (strides + 1 != argument.shape()->size()) {
      return fail(where, " has ", strides, " strides, expected ",
                  argument.shape()->size() - 1);
    }
    for (int64_t stride : *argument.strides()) {
      if (stride < 1 || stride > Limits::stride) {
        return fail(where, " has a stride of ", stride,
                    " elements, expected 1 to ", Limits::stride);
      }
    }
  }
  return checkShape(where, *argument.shape());
}

Status EntryValidator::checkContracts() {
  for (uint32_t i = 0; i < sizeOf(entry.offsets()); ++i) {
    const abi::OffsetsContract &contract = *entry.offsets()->Get(i);
    std::string where = cat("offsets contract ", i);
    if (contract.argument() >= arguments.size()) {
      return fail(where, " refers to argument ", contract.argument(), " of ",
                  arguments.size());
    }
    const abi::Argument &argument = *arguments.Get(contract.argument());
    if (argument.shape()->size() != 1 ||
        (argument.element() != abi::ElementType::I32 &&
         argument.element() != abi::ElementType::I64)) {
      return fail(where, " expects a one-dimensional i32 or i64 argument");
    }
    if (Status s = checkRef(where + " rows", contract.rows()); !s) {
      return s;
    }
  }
  for (uint32_t i = 0; i < sizeOf(entry.pointers()); ++i) {
    const abi::PointersContract &contract = *entry.pointers()->Get(i);
    std::string where = cat("pointers contract ", i);
    if (contract.argument() >= arguments.size()) {
      return fail(where, " refers to argument ", contract.argument(), " of ",
                  arguments.size());
    }
    if (arguments.Get(contract.argument())->element() !=
        abi::ElementType::I64) {
      return fail(where, " expects an i64 argument");
    }
    if (contract.groups() != -1) {
      if (contract.groups() < 0 ||
          contract.groups() >= static_cast<int64_t>(arguments.size())) {
        return fail(where, " refers to groups of argument ", contract.groups(),
                    " of ", arguments.size());
      }
      const abi::Argument &groups = *arguments.Get(contract.groups());
      if (groups.shape()->size() != 1 ||
          (groups.element() != abi::ElementType::I32 &&
           groups.element() != abi::ElementType::I64)) {
        return fail(where, " expects groups in a one-dimensional i32 or i64 "
                           "argument");
      }
    }
    if (contract.element() > abi::ElementType::MAX) {
      return fail(where, " has an unknown element type");
    }
    if (!isPowerOfTwo(contract.alignment()) ||
        contract.alignment() > Limits::argumentAlignment) {
      return fail(where, " has alignment ", contract.alignment(),
                  " bytes, expected a power of two up to ",
                  Limits::argumentAlignment);
    }
    if (Status s = checkShape(where, *contract.shape()); !s) {
      return s;
    }
  }
  return {};
}

Status EntryValidator::checkBuffer(const std::string &where,
                                   const abi::BufferRef *buffer) {
  if (!buffer) {
    return fail(where, " names no buffer");
  }
  if (buffer->kind() > abi::BufferKind::MAX) {
    return fail(where, " has an unknown buffer kind");
  }
  bool temporary = buffer->kind() == abi::BufferKind::Temporary;
  uint32_t count = temporary ? sizeOf(entry.temporaries()) : arguments.size();
  if (buffer->index() >= count) {
    return fail(where, " refers to ", temporary ? "temporary " : "argument ",
                buffer->index(), " of ", count);
  }
  return {};
}

Status EntryValidator::checkTensorMap(const std::string &where,
                                      const abi::TensorMapRecipe &recipe) {
  if (Status s = checkBuffer(where, recipe.buffer()); !s) {
    return s;
  }
  uint32_t rank = recipe.dims()->size();
  if (rank < 1 || rank > Limits::tensorMapRank) {
    return fail(where, " has a tensor map of rank ", rank, ", expected 1 to ",
                Limits::tensorMapRank);
  }
  if (recipe.strides()->size() != rank - 1 || recipe.box()->size() != rank) {
    return fail(where, " has a tensor map of rank ", rank, " with ",
                recipe.strides()->size(), " strides and ", recipe.box()->size(),
                " box extents");
  }
  if (recipe.type() > static_cast<uint32_t>(TensorMapType::U6Align16B) ||
      recipe.swizzle() > static_cast<uint32_t>(TensorMapSwizzle::B128Atom64B) ||
      recipe.oob_fill() > 1 || recipe.l2_promotion() > 3) {
    return fail(where, " has a tensor map with an unknown type (",
                recipe.type(), "), swizzle (", recipe.swizzle(), "), fill (",
                recipe.oob_fill(), ") or L2 promotion (", recipe.l2_promotion(),
                ")");
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (Status s = checkRef(where + " dimension", recipe.dims()->Get(i)); !s) {
      return s;
    }
    if (i > 0) {
      if (Status s = checkRef(where + " stride", recipe.strides()->Get(i - 1));
          !s) {
        return s;
      }
    }
    uint32_t box = recipe.box()->Get(i);
    if (box < 1 || box > 256) {
      return fail(where, " has a tensor map box of ", box,
                  " elements on dimension ", i, ", expected 1 to 256");
    }
  }
  return {};
}

Status EntryValidator::checkParam(const std::string &where,
                                  const abi::KernelParam &param,
                                  uint32_t &bytes) {
  uint32_t alignment = 8;
  bytes = 8;
  Status status;
  switch (param.kind()) {
  case abi::ParamKind::Pointer:
    status = checkBuffer(where, param.buffer());
    break;
  case abi::ParamKind::ScalarI32:
    bytes = alignment = 4;
    [[fallthrough]];
  case abi::ParamKind::ScalarI64:
    status = checkRef(where, param.expr());
    break;
  case abi::ParamKind::TensorMap:
    bytes = sizeof(TensorMap);
    alignment = alignof(TensorMap);
    status = param.tensor_map() ? checkTensorMap(where, *param.tensor_map())
                                : fail(where, " has no tensor map");
    break;
  default:
    return fail(where, " has kind ", static_cast<unsigned>(param.kind()),
                ", which is unknown");
  }
  if (status && param.offset() % alignment != 0) {
    return fail(where, " is at byte ", param.offset(),
                ", expected a multiple of ", alignment);
  }
  return status;
}

Status EntryValidator::checkLaunch(uint32_t index, const abi::Launch &launch) {
  if (Status s = checkName("a launch", launch.kernel()); !s) {
    return s;
  }
  std::string where = cat("launch ", index, " of kernel \"",
                          launch.kernel()->string_view(), "\"");
  if (launch.grid()->size() != 3 || launch.cluster()->size() != 3 ||
      launch.block()->size() != 3) {
    return fail(where, " needs three extents for grid, cluster and block");
  }
  uint64_t threads = 1, ctas = 1;
  for (uint32_t i = 0; i < 3; ++i) {
    if (Status s = checkRef(where + " grid", launch.grid()->Get(i)); !s) {
      return s;
    }
    uint32_t block = launch.block()->Get(i), cluster = launch.cluster()->Get(i);
    if (block < 1 || block > 1024 || cluster < 1 || cluster > 16) {
      return fail(where, " has a block extent of ", block,
                  " threads and a cluster extent of ", cluster,
                  " CTAs, limits 1024 and 16");
    }
    threads *= block;
    ctas *= cluster;
  }
  if (threads > 1024 || ctas > 16) {
    return fail(where, " has ", threads, " threads a CTA, limit 1024, and ",
                ctas, " CTAs a cluster, limit 16");
  }
  if (launch.param_bytes() > Limits::paramBytes) {
    return fail(where, " has ", launch.param_bytes(),
                " bytes of parameters, limit ", Limits::paramBytes);
  }
  const auto &params = *launch.params();
  if (Status s =
          checkCount("parameters in one launch", params.size(), Limits::params);
      !s) {
    return s;
  }
  if (Status s = checkCount("fills in one launch", sizeOf(launch.fills()),
                            Limits::params);
      !s) {
    return s;
  }
  for (uint32_t i = 0; i < sizeOf(launch.fills()); ++i) {
    if (Status s = checkBuffer(cat(where, " fill ", i),
                               launch.fills()->Get(i)->buffer());
        !s) {
      return s;
    }
  }
  std::vector<std::pair<uint32_t, uint32_t>> spans; // offset, bytes
  for (uint32_t i = 0; i < params.size(); ++i) {
    uint32_t bytes = 0;
    const abi::KernelParam &param = *params.Get(i);
    std::string name = cat(where, " parameter ", i);
    if (Status s = checkParam(name, param, bytes); !s) {
      return s;
    }
    if (uint64_t{param.offset()} + bytes > launch.param_bytes()) {
      return fail(name, " ends at byte ", uint64_t{param.offset()} + bytes,
                  " of ", launch.param_bytes());
    }
    spans.emplace_back(param.offset(), bytes);
  }
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i) {
    if (spans[i - 1].first + spans[i - 1].second > spans[i].first) {
      return fail(where, " has two parameters at byte ", spans[i].first);
    }
  }
  return {};
}

Status checkImages(const abi::Bundle &bundle) {
  for (const abi::Image *image : *bundle.images()) {
    if (Status s = checkName("an image", image->target()); !s) {
      return s;
    }
    if (image->format() > abi::ImageFormat::MAX) {
      return invalidBundle(cat("bundle image for ",
                               image->target()->string_view(),
                               " has an unknown format: use a newer runtime"));
    }
    if (image->data()->size() == 0) {
      return invalidBundle(cat("bundle image for ",
                               image->target()->string_view(),
                               " is empty: recompile it"));
    }
  }
  return {};
}

/// The kernel listing is optional; where it is, it names every kernel.
Status checkKernels(const abi::Bundle &bundle) {
  if (sizeOf(bundle.kernels()) == 0) {
    return {};
  }
  std::vector<std::string_view> names;
  for (const abi::KernelInfo *kernel : *bundle.kernels()) {
    if (Status s = checkName("a kernel", kernel->name()); !s) {
      return s;
    }
    if (Status s = checkName("a kernel's target", kernel->target()); !s) {
      return s;
    }
    names.push_back(kernel->name()->string_view());
  }
  std::sort(names.begin(), names.end());
  for (const abi::Entry *entry : *bundle.entries()) {
    for (const abi::Launch *launch : *entry->launches()) {
      if (!std::binary_search(names.begin(), names.end(),
                              launch->kernel()->string_view())) {
        return invalidBundle(
            cat("bundle entry \"", entry->name()->string_view(),
                "\" launches kernel \"", launch->kernel()->string_view(),
                "\", which no image has: recompile it"));
      }
    }
  }
  return {};
}

} // namespace

Status gmoe::validate(const abi::Bundle &bundle) {
  for (auto [what, count, limit] :
       {std::tuple("entries", bundle.entries()->size(), Limits::entries),
        std::tuple("images", bundle.images()->size(), Limits::images),
        std::tuple("kernels", sizeOf(bundle.kernels()), Limits::kernels)}) {
    if (Status s = checkCount(what, count, limit); !s) {
      return s;
    }
  }
  std::vector<std::string_view> names;
  for (const abi::Entry *entry : *bundle.entries()) {
    if (Status s = checkName("an entry", entry->name()); !s) {
      return s;
    }
    if (Status s = EntryValidator(*entry).run(); !s) {
      return s;
    }
    names.push_back(entry->name()->string_view());
  }
  std::sort(names.begin(), names.end());
  auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) {
    return invalidBundle(
        cat("bundle has two entries named \"", *twice, "\": recompile it"));
  }
  if (Status s = checkImages(bundle); !s) {
    return s;
  }
  return checkKernels(bundle);
}
