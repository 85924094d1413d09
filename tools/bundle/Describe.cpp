// A bundle as text, with extents as expressions over the free ones.
#include "tools/bundle/BundleTool.h"

#include "runtime/core/Text.h"

using namespace gmoe;

namespace {

/// The expressions of one entry as text. Free extents have names: R when there
/// is one, else R0, R1, ...
class ExprTexts {
public:
  explicit ExprTexts(const Program &program);
  const std::string &operator[](int32_t expr) const { return texts[expr]; }

private:
  // A shared subexpression could make the text grow without bound.
  static constexpr size_t kMaxChars = 160;
  std::string dimText(const Program &program, const Expr &expr) const;
  std::string operand(int32_t expr) const {
    return texts[expr].size() > kMaxChars ? cat("expr", expr) : texts[expr];
  }

  std::vector<std::vector<std::string>> names; // of free axes
  std::vector<std::string> texts;
};

ExprTexts::ExprTexts(const Program &program) {
  unsigned count = 0, next = 0;
  for (const ArgumentInfo &argument : program.arguments) {
    for (const Extent &extent : argument.extents) {
      count += extent.kind == ExtentKind::Free;
    }
  }
  for (const ArgumentInfo &argument : program.arguments) {
    names.emplace_back();
    for (const Extent &extent : argument.extents) {
      bool isFree = extent.kind == ExtentKind::Free;
      names.back().push_back(!isFree      ? std::string()
                             : count == 1 ? std::string("R")
                                          : cat("R", next++));
    }
  }
  for (const Expr &expr : program.exprs) {
    switch (expr.kind) {
    case ExprKind::Constant:
      texts.push_back(cat(expr.value));
      continue;
    case ExprKind::SmCount:
      texts.push_back("sms");
      continue;
    case ExprKind::Dim:
      texts.push_back(dimText(program, expr));
      continue;
    default:
      break;
    }
    std::string lhs = operand(expr.lhs), rhs = operand(expr.rhs);
    switch (expr.kind) {
    case ExprKind::Add:
      texts.push_back(cat("(", lhs, " + ", rhs, ")"));
      break;
    case ExprKind::Sub:
      texts.push_back(cat("(", lhs, " - ", rhs, ")"));
      break;
    case ExprKind::Mul:
      texts.push_back(cat(lhs, " * ", rhs));
      break;
    default: {
      const char *name = expr.kind == ExprKind::CeilDiv    ? "ceildiv"
                         : expr.kind == ExprKind::FloorDiv ? "floordiv"
                         : expr.kind == ExprKind::Min      ? "min"
                                                           : "max";
      texts.push_back(cat(name, "(", lhs, ", ", rhs, ")"));
      break;
    }
    }
  }
}

std::string ExprTexts::dimText(const Program &program, const Expr &expr) const {
  const std::string &name = names[expr.lhs][expr.rhs];
  return name.empty()
             ? texts[program.arguments[expr.lhs].extents[expr.rhs].expr]
             : name;
}

std::string bufferText(const Program &program, BufferRef ref) {
  return ref.temporary ? cat("temporary ", ref.index)
                       : cat("argument ", ref.index, " ",
                             program.arguments[ref.index].name);
}

template <typename Range, typename F>
std::string joined(const Range &range, const char *separator, F text) {
  std::string out;
  for (const auto &item : range) {
    out += (out.empty() ? "" : separator) + text(item);
  }
  return out;
}

std::string dimsText(Dim3 dims) {
  return cat(dims.x, "x", dims.y, "x", dims.z);
}

std::string paramText(const Program &program, const Launch &launch,
                      const KernelParam &param, const ExprTexts &texts) {
  std::string out = cat("    parameter at byte ", param.offset, ": ");
  switch (param.kind) {
  case ParamKind::Pointer:
    return out + "pointer to " + bufferText(program, param.buffer) + "\n";
  case ParamKind::ScalarI32:
    return out + "i32 " + texts[param.expr] + "\n";
  case ParamKind::ScalarI64:
    return out + "i64 " + texts[param.expr] + "\n";
  case ParamKind::TensorMap:
    break;
  }
  const TensorMapRecipe &map = launch.tensorMaps[param.tensorMap];
  out += cat(map.placeholder ? "tensor map for another address than "
                             : "tensor map of ",
             bufferText(program, map.buffer), ", type ",
             static_cast<unsigned>(map.type), ", dimensions ");
  for (uint32_t i = 0; i < map.rank; ++i) {
    out += cat(i ? " x " : "", texts[map.dims[i]]);
  }
  out += ", box ";
  for (uint32_t i = 0; i < map.rank; ++i) {
    out += cat(i ? " x " : "", map.box[i]);
  }
  return out + cat(", swizzle ", static_cast<unsigned>(map.swizzle), "\n");
}

std::string entryText(const Program &program) {
  static constexpr const char *kinds[] = {"input", "output", "in-out"};
  ExprTexts texts(program);
  auto exprText = [&](int32_t expr) { return texts[expr]; };
  std::string out = cat("entry ", program.name, "\n");
  for (size_t i = 0; i < program.arguments.size(); ++i) {
    const ArgumentInfo &argument = program.arguments[i];
    out += cat("  argument ", i, " ", argument.name, ": ",
               kinds[static_cast<unsigned>(argument.kind)], " ",
               nameOf(argument.element), " [",
               joined(argument.extents, ", ",
                      [&](const Extent &e) { return texts[e.expr]; }),
               "]",
               argument.strides.empty()
                   ? std::string()
                   : cat(" strides [",
                         joined(argument.strides, ", ",
                                [](int64_t stride) { return cat(stride); }),
                         "] elements"),
               ", aligned to ", argument.alignment, " bytes");
    for (const Extent &extent : argument.extents) {
      if (extent.multiple > 1) {
        out +=
            cat(", ", texts[extent.expr], " a multiple of ", extent.multiple);
      }
    }
    out += "\n";
  }
  for (const OffsetsContract &contract : program.offsets) {
    out += cat("  argument ", contract.argument,
               " holds cumulative ends up to ", texts[contract.rows], " rows");
    out += contract.aligned > 1
               ? cat(", each a multiple of ", contract.aligned, "\n")
               : std::string("\n");
  }
  for (const PointersContract &contract : program.pointers) {
    out += cat("  argument ", contract.argument, " holds addresses of ",
               nameOf(contract.element), " [",
               joined(contract.shape, ", ", exprText), "], aligned to ",
               contract.alignment, " bytes",
               contract.readOnly ? ", which are only read" : "");
    out += contract.groups < 0 ? std::string("\n")
                               : cat(", for groups of argument ",
                                     contract.groups, " that have rows\n");
  }
  for (size_t i = 0; i < program.temporaries.size(); ++i) {
    out += cat("  temporary ", i, ": ", texts[program.temporaries[i].bytes],
               " bytes\n");
  }
  for (const Launch &launch : program.launches) {
    out +=
        cat("  launch ", launch.kernel, ": grid [",
            joined(launch.grid, ", ", exprText), "], cluster ",
            dimsText(launch.cluster), ", block ", dimsText(launch.block), ", ",
            launch.dynamicSharedBytes, " bytes of dynamic shared memory, ",
            launch.paramBytes, " bytes of parameters\n");
    for (BufferRef fill : launch.fills) {
      out += cat("    before it: zeros in ", bufferText(program, fill), "\n");
    }
    for (const KernelParam &param : launch.params) {
      out += paramText(program, launch, param, texts);
    }
  }
  return out;
}

} // namespace

std::string gmoe::describeBundle(const Module &module) {
  std::string out = cat("bundle format ", module.formatVersion(), "\n");
  if (!module.producer().empty()) {
    out += cat("producer ", module.producer(), "\n");
  }
  out += module.source().empty()
             ? std::string("source stripped\n")
             : cat("source ", module.source().size(), " bytes of IR\n");
  for (const Entry &entry : module.entries()) {
    out += entryText(entry.program());
  }
  for (const KernelInfo &kernel : module.kernels()) {
    out += cat("kernel ", kernel.name, " for ", kernel.target, ": ");
    out += kernel.registers == 0
               ? cat("not assembled, ", kernel.dynamicSharedBytes,
                     " bytes of dynamic shared memory")
               : cat(kernel.registers, " registers, ", kernel.spillBytes,
                     " bytes spilled, ", kernel.staticSharedBytes,
                     " bytes of static and ", kernel.dynamicSharedBytes,
                     " bytes of dynamic shared memory");
    out += cat(", ", kernel.tmemColumns, " columns of tensor memory\n");
    if (!kernel.description.empty()) {
      out += cat("  ", kernel.description, "\n");
    }
  }
  for (const ImageInfo &image : module.images()) {
    out += cat("image ", image.target, " ", nameOf(image.format), ": ",
               image.data.size(), " bytes\n");
  }
  return out;
}
