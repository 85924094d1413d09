// The syntax tree of a PTX module: declarations and statements, names
// unresolved.
#ifndef GMOE_RUNTIME_EMULATOR_AST_H
#define GMOE_RUNTIME_EMULATOR_AST_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmoe::emulator {

enum class StateSpace : uint8_t {
  Generic,
  Global,
  Shared,
  SharedCluster,
  Const,
  Local,
  Param,
};

struct AstOperand {
  enum Kind : uint8_t {
    Name,
    Integer,
    Float32, // value: the bits
    Float64, // value: the bits
    Vector,  // {a, b, ...}
    List,    // (a, b, ...) of a call
    Address, // [base + offset {, coordinates or further operands}]
    Pair,    // dst|predicate: two children
  };
  Kind kind = Name;
  bool negated = false; // !predicate
  std::string name;     // Name, or the base of an Address
  uint64_t value = 0;   // Integer, floats, or an Address without a name
  int64_t offset = 0;
  std::vector<AstOperand> children;
};

/// `.align 4 .b8 name[16]` in a module, a body or a parameter list.
struct AstVariable {
  StateSpace space = StateSpace::Global;
  bool isExtern = false, isRegister = false, isPredicate = false;
  uint32_t align = 0;
  uint32_t elementBytes = 0;
  uint64_t bytes = 0;
  uint32_t count = 0; // of `%r<count>`, 0 when there is no range
  std::string name;
  uint32_t line = 0;
  std::vector<uint8_t> data;
  /// (offset, name): addresses to fill in `data` once they are known.
  std::vector<std::pair<uint64_t, std::string>> relocations;
};

/// What a `.loc` directive says of the instructions after it.
struct SourceLocation {
  uint32_t file = 0, line = 0, column = 0; // line 0: not known
};

struct AstStatement {
  enum Kind : uint8_t { Instruction, Declaration, Label, Open, Close, Targets };
  Kind kind = Instruction;
  uint32_t line = 0;
  bool guarded = false, guardNegated = false;
  std::string guard;
  std::string name; // the mnemonic or the label
  std::string_view text;
  SourceLocation location;
  std::vector<AstOperand> operands;
  AstVariable variable;
};

struct AstFunction {
  std::string name;
  bool isEntry = false, hasBody = false;
  uint32_t line = 0;
  std::vector<AstVariable> results, parameters;
  std::array<uint32_t, 3> requiredThreads{}, maximumThreads{}, cluster{};
  uint32_t maximumClusterRank = 0, maximumRegisters = 0;
  bool explicitCluster = false;
  std::vector<AstStatement> body;
};

struct AstModule {
  std::string version, target;
  std::vector<AstVariable> variables;
  std::vector<AstFunction> functions;
  std::vector<std::string> files; // of `.file`, by number
};

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_AST_H
