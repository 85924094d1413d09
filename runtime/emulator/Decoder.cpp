#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Layout.h"

#include <algorithm>
#include <utility>

namespace gmoe::emulator {
namespace {

constexpr size_t kMaximumInstructions = 1000000;
constexpr uint32_t kMaximumLines = 65536;

void nop(Warp &, const Instruction &, uint32_t) {}

} // namespace

Decoder::Decoder(const ModuleSymbols &symbols, Program &program)
    : symbols_(symbols), program_(program) {
  trashLine_ = newLines(16);
}

uint32_t Decoder::newLines(unsigned bytes) {
  uint32_t line = program_.registerLines;
  program_.registerLines += std::max(1u, bytes / 4);
  return line;
}

bool Decoder::fail(const std::string &what) {
  if (error_.empty()) {
    error_ = what;
  }
  return false;
}

bool Decoder::find(const std::string &name, int scope, Symbol &out) {
  for (int s = scope; s >= 0; s = scopes_[size_t(s)]->parent) {
    const Scope &sc = *scopes_[size_t(s)];
    auto it = sc.symbols.find(name);
    if (it != sc.symbols.end()) {
      out = it->second;
      return true;
    }
    // %r<5> declares %r0 to %r4.
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') {
      --digits;
    }
    for (size_t cut = digits; cut < name.size(); ++cut) {
      auto range = sc.ranges.find(name.substr(0, cut));
      if (range == sc.ranges.end() || name.size() - cut > 7 ||
          (name[cut] == '0' && name.size() - cut > 1)) {
        continue;
      }
      uint32_t index = uint32_t(std::stoul(name.substr(cut)));
      if (index < range->second.count) {
        const Range &r = range->second;
        out.kind = r.predicate ? Symbol::Predicate : Symbol::Register;
        out.bytes = r.bytes;
        out.line = r.line + index * std::max(1u, r.bytes / 4);
        return true;
      }
    }
  }
  auto global = symbols_.globals.find(name);
  if (global != symbols_.globals.end()) {
    out.kind = Symbol::Constant;
    out.bytes = 8;
    out.value = global->second;
    return true;
  }
  for (const AstVariable &v : symbols_.module->variables) {
    if (v.name == name && v.space == StateSpace::Shared) {
      return sharedSymbol(v, out);
    }
  }
  return false;
}

bool Decoder::sharedSymbol(const AstVariable &v, Symbol &out) {
  out.kind = Symbol::Shared;
  out.bytes = 8;
  if (v.isExtern) {
    out.value = ~uint64_t(0); // patched below: the dynamic part comes last
    return true;
  }
  auto it = sharedOffsets_.find(v.name);
  if (it == sharedOffsets_.end()) {
    return fail("shared variable '" + v.name + "' has no place");
  }
  out.value = it->second;
  return true;
}

bool Decoder::declare(const AstVariable &v, int scope) {
  Scope &sc = *scopes_[size_t(scope)];
  if (v.isRegister) {
    unsigned bytes = v.isPredicate ? 4 : v.elementBytes;
    uint64_t lines = uint64_t(std::max(1u, bytes / 4)) * std::max(1u, v.count);
    if (program_.registerLines + lines > kMaximumLines) {
      return fail("more than " + std::to_string(kMaximumLines) +
                  " 32-bit registers");
    }
    if (v.count) {
      Range r;
      r.bytes = bytes;
      r.count = v.count;
      r.predicate = v.isPredicate;
      r.line = program_.registerLines;
      program_.registerLines += uint32_t(lines);
      sc.ranges[v.name] = r;
    } else {
      Symbol s;
      s.kind = v.isPredicate ? Symbol::Predicate : Symbol::Register;
      s.bytes = bytes;
      s.line = newLines(bytes);
      sc.symbols[v.name] = s;
    }
    return true;
  }
  Symbol s;
  s.bytes = 8;
  switch (v.space) {
  case StateSpace::Local:
  case StateSpace::Param: {
    uint64_t at =
        (uint64_t(program_.localBytes) + v.align - 1) / v.align * v.align;
    if (at + v.bytes > (1u << 20)) {
      return fail("local memory is larger than 1048576 bytes a thread");
    }
    s.kind = Symbol::Local;
    s.value = at;
    program_.localBytes = uint32_t(at + v.bytes);
    break;
  }
  case StateSpace::Shared:
    if (!sharedSymbol(v, s)) {
      return false;
    }
    break;
  default:
    return fail("unsupported declaration of '" + v.name + "' in a body");
  }
  sc.symbols[v.name] = s;
  return true;
}

Status Decoder::run(const AstFunction &f) {
  program_.name = f.name;
  program_.files = symbols_.module->files;
  program_.maximumRegisters = f.maximumRegisters;
  program_.requiredThreads = f.requiredThreads;
  program_.maximumThreads = f.maximumThreads;
  program_.cluster = f.cluster;
  program_.maximumClusterRank = f.maximumClusterRank;
  program_.explicitCluster = f.explicitCluster;
  auto error = [&](uint32_t line) {
    return invalidArgument("line " + std::to_string(line) + ": " + error_);
  };

  // Shared variables first: static ones, then the dynamic part at its largest
  // alignment.
  uint64_t shared = kReservedSharedBytes;
  uint32_t dynamicAlign = 16;
  auto place = [&](const AstVariable &v) {
    if (v.isExtern) {
      dynamicAlign = std::max(dynamicAlign, v.align);
    } else if (!sharedOffsets_.count(v.name)) {
      shared = (shared + v.align - 1) / v.align * v.align;
      sharedOffsets_[v.name] = uint32_t(std::min<uint64_t>(shared, 0xffffff));
      shared += v.bytes;
    }
  };
  for (const AstVariable &v : symbols_.module->variables) {
    if (v.space == StateSpace::Shared && !v.isRegister) {
      place(v);
    }
  }
  for (const AstStatement &s : f.body) {
    if (s.kind == AstStatement::Declaration && !s.variable.isRegister &&
        s.variable.space == StateSpace::Shared) {
      place(s.variable);
    }
  }
  program_.staticSharedBytes =
      uint32_t(std::min<uint64_t>(shared, 0x7fffffff)) - kReservedSharedBytes;
  if (program_.staticSharedBytes > kMaximumSharedBytes) {
    error_ = "kernel '" + f.name + "' has " +
             std::to_string(program_.staticSharedBytes) +
             " bytes of static shared memory, limit " +
             std::to_string(kMaximumSharedBytes);
    return error(f.line);
  }
  program_.dynamicSharedOffset =
      uint32_t((shared + dynamicAlign - 1) / dynamicAlign * dynamicAlign);

  scopes_.push_back(std::make_unique<Scope>());
  uint64_t offset = 0;
  for (const AstVariable &v : f.parameters) {
    offset = (offset + v.align - 1) / v.align * v.align;
    Symbol s;
    s.kind = Symbol::Param;
    s.bytes = 8;
    s.value = offset;
    scopes_[0]->symbols[v.name] = s;
    program_.parameters.push_back({v.name, uint32_t(offset), v.bytes});
    offset += v.bytes;
    if (offset > kMaximumParameterBytes) {
      error_ = "parameters need " + std::to_string(offset) + " bytes, limit " +
               std::to_string(kMaximumParameterBytes);
      return error(f.line);
    }
  }
  program_.parameterBytes = uint32_t(offset);
  if (!body(f, 0)) {
    return error(statement_ ? statement_->line : f.line);
  }
  Instruction end;
  end.flow = Flow::Exit;
  end.handler = nop;
  end.text = "exit";
  end.sourceLine = f.body.empty() ? f.line : f.body.back().line;
  program_.code.push_back(end);
  if (!resolveFixups()) {
    return error(statement_ ? statement_->line : f.line);
  }
  return Status();
}

bool Decoder::body(const AstFunction &f, int outer) {
  std::vector<int> stack{outer};
  for (const AstStatement &s : f.body) {
    statement_ = &s;
    int scope = stack.back();
    switch (s.kind) {
    case AstStatement::Open:
      scopes_.push_back(std::make_unique<Scope>());
      scopes_.back()->parent = scope;
      stack.push_back(int(scopes_.size()) - 1);
      break;
    case AstStatement::Close:
      stack.pop_back();
      break;
    case AstStatement::Label:
      if (!scopes_[size_t(scope)]
               ->labels.emplace(s.name, uint32_t(program_.code.size()))
               .second) {
        return fail("label '" + s.name + "' is defined twice");
      }
      break;
    case AstStatement::Targets: {
      std::vector<std::string> names;
      for (const AstOperand &o : s.operands) {
        names.push_back(o.name);
      }
      scopes_[size_t(scope)]->targets[s.name] = std::move(names);
      break;
    }
    case AstStatement::Declaration:
      if (!declare(s.variable, scope)) {
        return false;
      }
      break;
    case AstStatement::Instruction:
      if (!statement(s, scope)) {
        return false;
      }
      break;
    }
  }
  return true;
}

void Decoder::emit(Handler handler, std::vector<Operand> operands, uint32_t a) {
  Instruction i;
  i.handler = handler;
  i.a = a;
  i.operands = uint32_t(program_.operands.size());
  i.operandCount = uint16_t(operands.size());
  i.guarded = instruction_.guarded;
  i.guardNegated = instruction_.guardNegated;
  i.guardLine = instruction_.guardLine;
  i.sourceLine = statement_->line;
  i.location = statement_->location;
  i.text = statement_->text;
  program_.operands.insert(program_.operands.end(), operands.begin(),
                           operands.end());
  program_.code.push_back(i);
}

bool Decoder::statement(const AstStatement &s, int scope) {
  if (program_.code.size() > kMaximumInstructions) {
    return fail("more than " + std::to_string(kMaximumInstructions) +
                " instructions");
  }
  statement_ = &s;
  scope_ = scope;
  parts_.clear();
  pending_.clear();
  instruction_ = Instruction();
  instruction_.text = s.text;
  instruction_.sourceLine = s.line;
  instruction_.location = s.location;
  for (size_t begin = 0; begin <= s.name.size();) {
    size_t dot = std::min(s.name.find('.', begin), s.name.size());
    parts_.push_back(s.name.substr(begin, dot - begin));
    begin = dot + 1;
  }
  taken_.assign(parts_.size(), false);
  taken_[0] = true;
  if (s.guarded) {
    Symbol guard;
    if (!find(s.guard, scope, guard) || guard.kind != Symbol::Predicate) {
      return fail("guard '" + s.guard + "' is not a predicate register");
    }
    instruction_.guarded = true;
    instruction_.guardNegated = s.guardNegated;
    instruction_.guardLine = guard.line;
  }
  const std::string &op = parts_[0];
  auto commit = [&] {
    for (size_t k = 0; k < parts_.size(); ++k) {
      if (!taken_[k]) {
        return fail("unsupported instruction '" + std::string(s.text) +
                    "' ('." + parts_[k] + "' is not known here)");
      }
    }
    instruction_.operands = uint32_t(program_.operands.size());
    instruction_.operandCount = uint16_t(pending_.size());
    program_.operands.insert(program_.operands.end(), pending_.begin(),
                             pending_.end());
    program_.code.push_back(instruction_);
    return true;
  };
  if (op == "bra" || op == "brx") {
    take("uni");
    bool indexed = op == "brx";
    if ((indexed && !take("idx")) || size() != (indexed ? 2u : 1u) ||
        ast(indexed).kind != AstOperand::Name) {
      return fail("unsupported instruction '" + std::string(s.text) + "'");
    }
    instruction_.handler = nop;
    instruction_.flow = indexed ? Flow::BranchIndexed : Flow::Branch;
    if (indexed && !source(ast(0), Type::U32)) {
      return false;
    }
    fixups_.push_back(
        {program_.code.size(), scope, ast(indexed).name, indexed, s.line});
    return commit();
  }
  if (op == "exit" || op == "ret") {
    take("uni");
    instruction_.handler = nop;
    instruction_.flow = Flow::Exit;
    if (op == "ret" && !returns_.empty()) {
      instruction_.flow = Flow::Branch;
      returns_.back().push_back(program_.code.size());
    }
    return commit();
  }
  if (op == "call") {
    return call(s, scope);
  }
  if (!decode()) {
    // A family says what it stumbled over; the instruction itself may be one
    // that it does not know.
    std::string text = "instruction '" + std::string(s.text) + "'";
    error_ = error_.empty()
                 ? "unsupported " + text
                 : text + " is malformed or not supported: " + error_;
    return false;
  }
  return commit();
}

bool Decoder::resolveFixups() {
  auto lookup = [&](const std::string &label, int scope, uint32_t &out) {
    for (int s = scope; s >= 0; s = scopes_[size_t(s)]->parent) {
      auto it = scopes_[size_t(s)]->labels.find(label);
      if (it != scopes_[size_t(s)]->labels.end()) {
        out = it->second;
        return true;
      }
    }
    return fail("label '" + label + "' is not defined");
  };
  statement_ = nullptr;
  for (const Fixup &f : fixups_) {
    Instruction &i = program_.code[f.instruction];
    if (!f.isTable) {
      if (!lookup(f.label, f.scope, i.target)) {
        error_ = "line " + std::to_string(f.line) + ": " + error_;
        return false;
      }
      continue;
    }
    const std::vector<std::string> *names = nullptr;
    for (int s = f.scope; s >= 0 && !names; s = scopes_[size_t(s)]->parent) {
      auto it = scopes_[size_t(s)]->targets.find(f.label);
      if (it != scopes_[size_t(s)]->targets.end()) {
        names = &it->second;
      }
    }
    if (!names) {
      return fail("branch table '" + f.label + "' is not defined");
    }
    i.target = uint32_t(program_.branchTargets.size());
    i.targetCount = uint32_t(names->size());
    for (const std::string &label : *names) {
      uint32_t target = 0;
      if (!lookup(label, f.scope, target)) {
        return false;
      }
      program_.branchTargets.push_back(target);
    }
  }
  return true;
}

} // namespace gmoe::emulator
