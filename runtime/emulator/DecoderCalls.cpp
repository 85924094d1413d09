// Calls: bodies are expanded in place; an indirect call becomes a branch to one
// of the functions that fit (ISA 9.7.12.5).
#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Layout.h"
#include "runtime/emulator/Machine.h"

namespace gmoe::emulator {
namespace {

constexpr unsigned kMaximumDepth = 16;
/// Of all expansions together: small functions that call each other multiply.
constexpr size_t kMaximumCalls = 100000;

void nop(Warp &, const Instruction &, uint32_t) {}

void assertionFailed(Warp &w, const Instruction &, uint32_t mask) {
  w.fail("a device assertion failed", __builtin_ctz(mask));
}

/// a: functions of the module. Operand 0 gets the index of the function.
void findFunction(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = unsigned(__builtin_ctz(m));
    uint64_t address = w.scalar(w.operand(i, 1), l);
    uint64_t offset = address - kCodeWindow;
    if (offset % kFunctionBytes || offset / kFunctionBytes >= i.a) {
      w.fail("call of address " + hexadecimal(address) +
                 ", where no function is",
             int(l));
      return;
    }
    w.setScalar(w.operand(i, 0), l, offset / kFunctionBytes);
  }
}
void wrongSignature(Warp &w, const Instruction &, uint32_t mask) {
  w.fail("call of a function that takes other parameters", __builtin_ctz(mask));
}

} // namespace

bool Decoder::call(const AstStatement &s, int scope) {
  size_t k = 0;
  const AstOperand *results = nullptr, *arguments = nullptr;
  if (k < size() && ast(k).kind == AstOperand::List) {
    results = &ast(k++);
  }
  if (k >= size() || ast(k).kind != AstOperand::Name) {
    return fail("unsupported instruction '" + std::string(s.text) + "'");
  }
  const std::string name = ast(k++).name;
  if (k < size() && ast(k).kind == AstOperand::List) {
    arguments = &ast(k++);
  }
  if (s.guarded) {
    return fail("a predicated call is not supported");
  }
  for (const AstFunction &f : symbols_.module->functions) {
    if (f.name == name && f.hasBody) {
      return expand(f, results, arguments, scope);
    }
  }
  Symbol pointer;
  if (find(name, scope, pointer) && pointer.kind == Symbol::Register &&
      pointer.bytes == 8) {
    return indirectCall(pointer, results, arguments, scope);
  }
  return externalCall(name);
}

bool Decoder::expand(const AstFunction &callee, const AstOperand *results,
                     const AstOperand *arguments, int scope) {
  if (depth_ >= kMaximumDepth) {
    return fail("calls nest deeper than " + std::to_string(kMaximumDepth) +
                " (recursion is not supported)");
  }
  if (++calls_ > kMaximumCalls) {
    return fail("more than " + std::to_string(kMaximumCalls) +
                " calls, expanded in place");
  }
  scopes_.push_back(std::make_unique<Scope>());
  int inner = int(scopes_.size()) - 1;
  auto bind = [&](const std::vector<AstVariable> &formals,
                  const AstOperand *actuals) {
    size_t given = actuals ? actuals->children.size() : 0;
    if (given != formals.size()) {
      return fail("call of '" + callee.name + "' passes " +
                  std::to_string(given) + " values, it takes " +
                  std::to_string(formals.size()));
    }
    for (size_t i = 0; i < given; ++i) {
      Symbol symbol;
      const AstOperand &o = actuals->children[i];
      if (o.kind != AstOperand::Name || !find(o.name, scope, symbol)) {
        return fail("call arguments must be variables");
      }
      // A value argument may alias its register: callers pass fresh ones.
      scopes_[size_t(inner)]->symbols[formals[i].name] = symbol;
    }
    return true;
  };
  if (!bind(callee.results, results) || !bind(callee.parameters, arguments)) {
    return false;
  }
  ++depth_;
  returns_.emplace_back();
  bool ok = body(callee, inner);
  --depth_;
  if (!ok) {
    return false;
  }
  for (size_t index : returns_.back()) {
    program_.code[index].target = uint32_t(program_.code.size());
  }
  returns_.pop_back();
  return true;
}

bool Decoder::indirectCall(const Symbol &pointer, const AstOperand *results,
                           const AstOperand *arguments, int scope) {
  const AstStatement *here = statement_;
  const auto &functions = symbols_.module->functions;
  size_t given = arguments ? arguments->children.size() : 0;
  size_t wanted = results ? results->children.size() : 0;
  Operand address;
  address.kind = Operand::Register;
  address.bytes = 8;
  address.line = pointer.line;
  Operand index = newRegister(4);
  Operand found = index;
  found.written = true;
  emit(findFunction, {found, address}, uint32_t(functions.size()));
  emit(nop, {index}, 0);
  size_t branch = program_.code.size() - 1;
  std::vector<uint32_t> targets(functions.size(),
                                uint32_t(program_.code.size()));
  emit(wrongSignature, {}, 0);
  std::vector<size_t> exits;
  for (size_t k = 0; k < functions.size(); ++k) {
    const AstFunction &f = functions[k];
    if (f.isEntry || !f.hasBody || f.parameters.size() != given ||
        f.results.size() != wanted) {
      continue;
    }
    targets[k] = uint32_t(program_.code.size());
    if (!expand(f, results, arguments, scope)) {
      return false;
    }
    statement_ = here;
    instruction_ = Instruction();
    emit(nop, {}, 0);
    program_.code.back().flow = Flow::Branch;
    exits.push_back(program_.code.size() - 1);
  }
  for (size_t exit : exits) {
    program_.code[exit].target = uint32_t(program_.code.size());
  }
  Instruction &i = program_.code[branch];
  i.flow = Flow::BranchIndexed;
  i.target = uint32_t(program_.branchTargets.size());
  i.targetCount = uint32_t(targets.size());
  program_.branchTargets.insert(program_.branchTargets.end(), targets.begin(),
                                targets.end());
  return true;
}

bool Decoder::externalCall(const std::string &name) {
  if (name == "vprintf") {
    // Prints nothing: the result variable keeps its poison, a negative number,
    // which is how vprintf reports an error.
    return true;
  }
  if (name == "__assertfail") {
    emit(assertionFailed, {}, 0);
    return true;
  }
  return fail("call of '" + name + "', which has no body in this module");
}

} // namespace gmoe::emulator
