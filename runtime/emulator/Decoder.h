// Turns a function of the syntax tree into a Program: names become register
// lines, labels become indices, calls are expanded in place.
#ifndef GMOE_RUNTIME_EMULATOR_DECODER_H
#define GMOE_RUNTIME_EMULATOR_DECODER_H

#include "runtime/core/Status.h"
#include "runtime/emulator/Ast.h"
#include "runtime/emulator/Program.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gmoe::emulator {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F32x2,
  F64,
  TF32,
  E4M3x2,
  E5M2x2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
};
Type parseType(std::string_view text);
unsigned typeBytes(Type type);
bool isSigned(Type type);
bool isFloat(Type type);

/// Module-level names that a kernel may use.
struct ModuleSymbols {
  const AstModule *module = nullptr;
  std::unordered_map<std::string, uint64_t> globals; // addresses
};

/// The decoder as the instruction families see it: the mnemonic in parts, of
/// which each must be taken, and operands by position.
class Decoder {
public:
  Decoder(const ModuleSymbols &symbols, Program &program);
  Status run(const AstFunction &function);

  // Mnemonic.
  const std::string &part(size_t k) const;
  size_t partCount() const { return parts_.size(); }
  /// True, and taken, when the mnemonic has this part.
  bool take(std::string_view name);
  /// Takes the first part of `names` present; its index, or -1.
  int takeOneOf(std::initializer_list<std::string_view> names);
  /// Takes the next type in the mnemonic from the left; None if there is none.
  Type takeType();
  /// Takes cache, eviction, scope and ordering qualifiers of memory
  /// operations; ordering and scope are kept in the instruction.
  void takeMemoryQualifiers();
  StateSpace takeSpace(StateSpace otherwise);

  // Operands of the instruction.
  size_t size() const { return statement_->operands.size(); }
  const AstOperand &ast(size_t k) const { return statement_->operands[k]; }
  /// Each appends an operand to the instruction. Widths in bytes; a wider
  /// register is refused unless `loose`.
  bool dest(const AstOperand &o, unsigned bytes, bool loose = false);
  bool source(const AstOperand &o, Type type, bool loose = false);
  bool predicateDest(const AstOperand &o);
  bool predicateSource(const AstOperand &o);
  bool address(const AstOperand &o);
  /// True for the name of a variable that has an address.
  bool isAddressSymbol(const AstOperand &o);
  bool isPredicate(const AstOperand &o);
  bool vector(const AstOperand &o, Type type, bool isDest, bool loose);
  bool fail(const std::string &what);
  bool failed() const { return !error_.empty(); }
  bool count(size_t low, size_t high);

  Operand constant(uint64_t value, unsigned bytes);
  uint32_t special(SpecialRegister which);
  Operand specialOperand(SpecialRegister which);
  Instruction &instruction() { return instruction_; }
  bool resolve(const AstOperand &o, unsigned bytes, bool isDest, bool loose,
               Type type, Operand &out);
  void push(const Operand &o) { pending_.push_back(o); }
  const Operand &pending(size_t k) const { return pending_[k]; }
  /// Emits a finished instruction outside the normal flow of a statement.
  void emit(Handler handler, std::vector<Operand> operands, uint32_t a);
  Operand trash(unsigned bytes);
  Operand newRegister(unsigned bytes);
  /// The condition code register's carry, as a predicate of the thread.
  Operand carryFlag();

private:
  struct Symbol {
    enum Kind : uint8_t { Register, Predicate, Shared, Local, Param, Constant };
    Kind kind = Register;
    uint32_t bytes = 0;
    uint32_t line = 0;
    uint64_t value = 0;
  };
  struct Range {
    uint32_t bytes = 0, line = 0, count = 0;
    bool predicate = false;
  };
  struct Scope {
    int parent = -1;
    std::unordered_map<std::string, Symbol> symbols;
    std::unordered_map<std::string, Range> ranges;
    std::unordered_map<std::string, uint32_t> labels;
    std::unordered_map<std::string, std::vector<std::string>> targets;
  };
  struct Fixup {
    size_t instruction;
    int scope;
    std::string label;
    bool isTable = false;
    uint32_t line = 0;
  };

  bool body(const AstFunction &function, int scope);
  bool declare(const AstVariable &v, int scope);
  bool statement(const AstStatement &s, int scope);
  bool decode();
  bool call(const AstStatement &s, int scope);
  bool expand(const AstFunction &callee, const AstOperand *results,
              const AstOperand *arguments, int scope);
  bool indirectCall(const Symbol &pointer, const AstOperand *results,
                    const AstOperand *arguments, int scope);
  bool externalCall(const std::string &name);
  bool find(const std::string &name, int scope, Symbol &out);
  bool sharedSymbol(const AstVariable &v, Symbol &out);
  bool resolveFixups();
  uint32_t newLines(unsigned bytes);

  const ModuleSymbols &symbols_;
  Program &program_;
  std::string error_;
  std::vector<std::unique_ptr<Scope>> scopes_;
  std::vector<Fixup> fixups_;
  std::vector<std::vector<size_t>> returns_; // of the calls being expanded
  unsigned depth_ = 0;                       // of the calls being expanded
  size_t calls_ = 0;                         // expanded so far
  std::unordered_map<std::string, uint32_t> sharedOffsets_;
  std::unordered_map<uint64_t, uint32_t> constants32_, constants64_;
  std::unordered_map<int, uint32_t> specials_;
  uint32_t trashLine_ = 0, carryLine_ = 0;
  // The statement being decoded.
  const AstStatement *statement_ = nullptr;
  int scope_ = 0;
  std::vector<std::string> parts_;
  std::vector<bool> taken_;
  std::vector<Operand> pending_;
  Instruction instruction_;
};

/// A family decodes the current statement of `d`, or returns false: not
/// supported, unless `d` says more.
using Family = bool (*)(Decoder &d);
bool decodeInteger(Decoder &d);
bool decodeFloat(Decoder &d);
bool decodeArithmetic(Decoder &d); // by type: integer, float, or half
bool decodeHalf(Decoder &d, std::string_view op, Type type);
bool decodeCompare(Decoder &d);
bool decodeConvert(Decoder &d);
bool decodeMove(Decoder &d);
bool decodeMemory(Decoder &d);
bool decodePolicy(Decoder &d); // createpolicy
bool decodeAtomic(Decoder &d);
bool decodeAtomic128(Decoder &d);
bool decodeBarrier(Decoder &d);
bool decodeMbarrier(Decoder &d);
bool decodeWarp(Decoder &d);
bool decodeMisc(Decoder &d);
bool decodeFence(Decoder &d);
bool decodeRegisterBudget(Decoder &d);
bool decodeBulk(Decoder &d);
bool decodeTensorCore(Decoder &d);
bool decodeMatrix(Decoder &d);
bool isAsyncStore(const Decoder &d);
bool decodeAsyncStore(Decoder &d);
bool isThreadCopy(const Decoder &d);
bool decodeThreadCopy(Decoder &d);
bool decodeWgmma(Decoder &d);
bool decodeMmaSync(Decoder &d);
bool isExtendedInteger(const Decoder &d);
bool decodeExtendedInteger(Decoder &d);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_DECODER_H
