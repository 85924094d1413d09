// Operands of an instruction: registers, constants, symbols and addresses.
#include "runtime/emulator/Decoder.h"

#include <algorithm>

namespace gmoe::emulator {

Operand Decoder::constant(uint64_t value, unsigned bytes) {
  Operand o;
  o.kind = Operand::Constant;
  o.bank = 1;
  o.bytes = uint8_t(bytes);
  if (bytes == 2) {
    value &= 0xffff;
  } else if (bytes == 1) {
    value &= 0xff;
  } else if (bytes == 4) {
    value &= 0xffffffffu;
  }
  auto &pool = bytes >= 8 ? constants64_ : constants32_;
  auto [it, isNew] =
      pool.emplace(value, uint32_t(program_.constants.size() / 32));
  if (isNew) {
    for (unsigned i = 0; i < 32; ++i) {
      program_.constants.push_back(uint32_t(value));
      if (bytes >= 8) {
        program_.constants.push_back(uint32_t(value >> 32));
      }
    }
  }
  o.line = it->second;
  return o;
}

uint32_t Decoder::special(SpecialRegister which) {
  auto [it, isNew] = specials_.emplace(int(which), 0);
  if (isNew) {
    it->second = newLines(4);
    program_.specials.emplace_back(which, it->second);
  }
  return it->second;
}

Operand Decoder::specialOperand(SpecialRegister which) {
  Operand o;
  o.kind = Operand::Register;
  o.line = special(which);
  return o;
}

Operand Decoder::trash(unsigned bytes) {
  Operand o;
  o.kind = Operand::Register;
  o.bytes = uint8_t(bytes);
  o.line = trashLine_;
  return o;
}

Operand Decoder::newRegister(unsigned bytes) {
  Operand o;
  o.kind = Operand::Register;
  o.bytes = uint8_t(bytes);
  o.line = newLines(bytes);
  return o;
}

Operand Decoder::carryFlag() {
  if (carryLine_ == 0) {
    carryLine_ = newLines(4);
  }
  Operand o;
  o.kind = Operand::Predicate;
  o.line = carryLine_;
  return o;
}

static bool specialByName(const std::string &name, SpecialRegister &out) {
  using S = SpecialRegister;
  static const std::unordered_map<std::string, S> kNames = {
      {"%tid.x", S::TidX},
      {"%tid.y", S::TidY},
      {"%tid.z", S::TidZ},
      {"%ntid.x", S::NtidX},
      {"%ntid.y", S::NtidY},
      {"%ntid.z", S::NtidZ},
      {"%ctaid.x", S::CtaidX},
      {"%ctaid.y", S::CtaidY},
      {"%ctaid.z", S::CtaidZ},
      {"%nctaid.x", S::NctaidX},
      {"%nctaid.y", S::NctaidY},
      {"%nctaid.z", S::NctaidZ},
      {"%laneid", S::LaneId},
      {"%warpid", S::WarpId},
      {"%nwarpid", S::NwarpId},
      {"%clusterid.x", S::ClusteridX},
      {"%clusterid.y", S::ClusteridY},
      {"%clusterid.z", S::ClusteridZ},
      {"%nclusterid.x", S::NclusteridX},
      {"%nclusterid.y", S::NclusteridY},
      {"%nclusterid.z", S::NclusteridZ},
      {"%cluster_ctaid.x", S::ClusterCtaidX},
      {"%cluster_ctaid.y", S::ClusterCtaidY},
      {"%cluster_ctaid.z", S::ClusterCtaidZ},
      {"%cluster_nctaid.x", S::ClusterNctaidX},
      {"%cluster_nctaid.y", S::ClusterNctaidY},
      {"%cluster_nctaid.z", S::ClusterNctaidZ},
      {"%cluster_ctarank", S::ClusterCtarank},
      {"%cluster_nctarank", S::ClusterNctarank},
      {"%is_explicit_cluster", S::IsExplicitCluster},
      {"%smid", S::SmId},
      {"%nsmid", S::NsmId},
      {"%gridid", S::GridId},
      {"%lanemask_eq", S::LanemaskEq},
      {"%lanemask_le", S::LanemaskLe},
      {"%lanemask_lt", S::LanemaskLt},
      {"%lanemask_ge", S::LanemaskGe},
      {"%lanemask_gt", S::LanemaskGt},
      {"%dynamic_smem_size", S::DynamicSmemSize},
      {"%total_smem_size", S::TotalSmemSize},
      {"%aggr_smem_size", S::AggrSmemSize}};
  auto it = kNames.find(name);
  if (it == kNames.end()) {
    return false;
  }
  out = it->second;
  return true;
}

bool Decoder::resolve(const AstOperand &o, unsigned bytes, bool isDest,
                      bool loose, Type type, Operand &out) {
  auto mismatch = [&](unsigned actual) {
    return fail("operand '" + o.name + "' has " + std::to_string(actual * 8) +
                " bits, '" + statement_->name + "' takes " +
                std::to_string(bytes * 8));
  };
  switch (o.kind) {
  case AstOperand::Integer:
  case AstOperand::Float32:
  case AstOperand::Float64: {
    if (isDest) {
      return fail("a constant cannot be a destination");
    }
    uint64_t value = o.value;
    if (o.kind == AstOperand::Float64 && bytes == 4 && isFloat(type)) {
      double d;
      std::copy_n(reinterpret_cast<const char *>(&value), 8,
                  reinterpret_cast<char *>(&d));
      float f = float(d);
      uint32_t bits;
      std::copy_n(reinterpret_cast<const char *>(&f), 4,
                  reinterpret_cast<char *>(&bits));
      value = bits;
    } else if (o.kind == AstOperand::Integer && type == Type::F32 &&
               value == 0) {
      value = 0;
    }
    out = constant(value, bytes);
    return true;
  }
  case AstOperand::Name:
    break;
  default:
    return fail("operand has the wrong form for '" + statement_->name + "'");
  }
  if (o.name == "_" && isDest) {
    out = trash(bytes);
    return true;
  }
  Symbol symbol;
  if (find(o.name, scope_, symbol)) {
    if (symbol.kind == Symbol::Register) {
      if (o.negated) {
        return fail("'!' needs a predicate");
      }
      if (symbol.bytes != bytes && bytes &&
          !(loose && symbol.bytes >= bytes && symbol.bytes <= 8)) {
        return mismatch(symbol.bytes);
      }
      out.kind = Operand::Register;
      out.bytes = uint8_t(symbol.bytes);
      out.line = symbol.line;
      return true;
    }
    if (symbol.kind == Symbol::Predicate) {
      return fail("'" + o.name + "' is a predicate");
    }
    if (isDest) {
      return fail("'" + o.name + "' cannot be a destination");
    }
    if (symbol.kind == Symbol::Shared) {
      return fail("the address of '" + o.name +
                  "' is only supported in mov and "
                  "in address operands");
    }
    out = constant(symbol.value + uint64_t(o.offset), bytes);
    return true;
  }
  SpecialRegister which;
  if (!isDest && specialByName(o.name, which)) {
    out = specialOperand(which);
    return bytes == 4 || loose ? true : mismatch(4);
  }
  return fail("'" + o.name + "' is not defined");
}

bool Decoder::dest(const AstOperand &o, unsigned bytes, bool loose) {
  Operand out;
  if (!resolve(o, bytes, true, loose, Type::None, out)) {
    return false;
  }
  out.written = true;
  push(out);
  return true;
}

bool Decoder::source(const AstOperand &o, Type type, bool loose) {
  Operand out;
  if (!resolve(o, typeBytes(type), false, loose, type, out)) {
    return false;
  }
  push(out);
  return true;
}

bool Decoder::predicateDest(const AstOperand &o) {
  Operand out;
  out.kind = Operand::Predicate;
  out.written = true;
  if (o.kind == AstOperand::Name && o.name == "_") {
    out.line = trashLine_;
    push(out);
    return true;
  }
  Symbol symbol;
  if (o.kind != AstOperand::Name || o.negated ||
      !find(o.name, scope_, symbol) || symbol.kind != Symbol::Predicate) {
    return fail("'" + o.name + "' is not a predicate register");
  }
  out.line = symbol.line;
  push(out);
  return true;
}

bool Decoder::predicateSource(const AstOperand &o) {
  if (o.kind == AstOperand::Integer) {
    // PTX writes true as -1 or 1.
    Operand out = constant(o.value ? 0xffffffffu : 0, 4);
    out.negated = o.negated;
    push(out);
    return true;
  }
  Operand out;
  Symbol symbol;
  if (o.kind != AstOperand::Name || !find(o.name, scope_, symbol) ||
      symbol.kind != Symbol::Predicate) {
    return fail("'" + o.name + "' is not a predicate register");
  }
  out.kind = Operand::Predicate;
  out.line = symbol.line;
  out.negated = o.negated;
  push(out);
  return true;
}

bool Decoder::isAddressSymbol(const AstOperand &o) {
  Symbol symbol;
  return o.kind == AstOperand::Name && find(o.name, scope_, symbol) &&
         symbol.kind != Symbol::Register && symbol.kind != Symbol::Predicate;
}

bool Decoder::isPredicate(const AstOperand &o) {
  Symbol symbol;
  return o.kind == AstOperand::Name && find(o.name, scope_, symbol) &&
         symbol.kind == Symbol::Predicate;
}

bool Decoder::address(const AstOperand &o) {
  if (o.kind != AstOperand::Address) {
    return fail("'" + statement_->name + "' takes an address in brackets");
  }
  Operand out;
  if (o.name.empty()) {
    out = constant(o.value, 8);
    out.kind = Operand::Address;
    push(out);
    return true;
  }
  Symbol symbol;
  if (!find(o.name, scope_, symbol)) {
    return fail("'" + o.name + "' is not defined");
  }
  out.kind = Operand::Address;
  out.offset = o.offset;
  switch (symbol.kind) {
  case Symbol::Register:
    if (symbol.bytes != 4 && symbol.bytes != 8) {
      return fail("address register '" + o.name + "' has " +
                  std::to_string(symbol.bytes * 8) + " bits");
    }
    out.bytes = uint8_t(symbol.bytes);
    out.line = symbol.line;
    break;
  case Symbol::Predicate:
    return fail("'" + o.name + "' is a predicate");
  case Symbol::Shared:
    out.line = special(SpecialRegister::SharedBase);
    out.space = StateSpace::Shared;
    out.offset +=
        int64_t(symbol.value == ~uint64_t(0) ? program_.dynamicSharedOffset
                                             : symbol.value);
    break;
  case Symbol::Local:
  case Symbol::Param:
  case Symbol::Constant: {
    Operand base = constant(symbol.value, 8);
    base.kind = Operand::Address;
    base.offset = o.offset;
    base.space = symbol.kind == Symbol::Local   ? StateSpace::Local
                 : symbol.kind == Symbol::Param ? StateSpace::Param
                                                : StateSpace::Global;
    out = base;
    break;
  }
  }
  push(out);
  return true;
}

bool Decoder::vector(const AstOperand &o, Type type, bool isDest, bool loose) {
  if (o.kind != AstOperand::Vector || o.children.empty()) {
    return fail("'" + statement_->name + "' takes a vector in braces");
  }
  std::vector<Operand> elements;
  for (const AstOperand &child : o.children) {
    Operand e;
    if (!resolve(child, typeBytes(type), isDest, loose, type, e)) {
      return false;
    }
    e.written = isDest;
    elements.push_back(e);
  }
  Operand out;
  out.kind = Operand::Vector;
  out.first = uint32_t(program_.operands.size());
  out.count = uint32_t(elements.size());
  program_.operands.insert(program_.operands.end(), elements.begin(),
                           elements.end());
  push(out);
  return true;
}

bool Decoder::count(size_t low, size_t high) {
  if (size() < low || size() > high) {
    return fail("'" + statement_->name + "' has " + std::to_string(size()) +
                " operands, takes " + std::to_string(low) +
                (high > low ? " to " + std::to_string(high) : ""));
  }
  return true;
}

} // namespace gmoe::emulator
