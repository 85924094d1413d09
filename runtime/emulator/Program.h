// A kernel decoded once: instructions with resolved register lines, and the
// shared, local and parameter layout. A "line" is 32 lanes of 4 bytes; 64-bit
// registers take two lines, 128-bit registers four (two 64-bit halves).
#ifndef GMOE_RUNTIME_EMULATOR_PROGRAM_H
#define GMOE_RUNTIME_EMULATOR_PROGRAM_H

#include "runtime/emulator/Ast.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gmoe::emulator {

struct Warp;
struct Instruction;
using Handler = void (*)(Warp &, const Instruction &, uint32_t mask);

constexpr uint32_t kLineBytes = 128;

struct Operand {
  enum Kind : uint8_t { None, Register, Constant, Predicate, Vector, Address };
  Kind kind = None;
  uint8_t bytes = 4; // register width
  uint8_t bank = 0;  // 0: the warp's registers, 1: the program's constants
  bool negated = false;
  bool written = false;                   // a destination
  StateSpace space = StateSpace::Generic; // of an Address whose symbol tells
  uint32_t line = 0;
  int64_t offset = 0; // of an Address
  /// Vector elements, or the operands after the base of an Address, as a range
  /// of Program::operands.
  uint32_t first = 0, count = 0;
};

/// Ordering and scope of a memory operation, a fence or an mbarrier operation.
enum class Order : uint8_t { Weak, Relaxed, Acquire, Release, AcqRel, Sc };
enum class MemoryScope : uint8_t { None, Cta, Cluster, Gpu, Sys };

enum class Flow : uint8_t { Normal, Branch, BranchIndexed, Exit };

struct Instruction {
  Handler handler = nullptr;
  uint32_t operands = 0; // first in Program::operands
  uint16_t operandCount = 0;
  Flow flow = Flow::Normal;
  bool guarded = false, guardNegated = false;
  Order order = Order::Weak;
  MemoryScope scope = MemoryScope::None;
  uint32_t guardLine = 0;
  uint32_t target = 0; // of a branch; first in Program::branchTargets
  uint32_t targetCount = 0;
  uint32_t sourceLine = 0;
  SourceLocation location;
  /// Family-specific settings, chosen when decoded.
  uint32_t a = 0, b = 0, c = 0, d = 0;
  std::string_view text;
};

/// Registers that the scheduler fills when a warp starts.
enum class SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  ClusteridX,
  ClusteridY,
  ClusteridZ,
  NclusteridX,
  NclusteridY,
  NclusteridZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  SmId,
  NsmId,
  GridId,
  LanemaskEq,
  LanemaskLe,
  LanemaskLt,
  LanemaskGe,
  LanemaskGt,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  SharedBase, // (CTA rank << 24): not in PTX; base of shared symbols
  Count
};

struct KernelParameter {
  std::string name;
  uint32_t offset = 0;
  uint64_t bytes = 0;
};

/// "load": warps 4 to 4.
struct WarpRole {
  std::string name;
  uint32_t firstWarp = 0, warps = 0;
};

struct Program {
  std::string name;
  std::vector<std::string> files; // of source locations
  std::vector<WarpRole> roles;
  std::vector<Instruction> code;
  std::vector<Operand> operands;
  std::vector<uint32_t> branchTargets;
  std::vector<uint32_t> constants; // lines of 32
  uint32_t registerLines = 0;
  /// (special register, line) pairs that the kernel reads.
  std::vector<std::pair<SpecialRegister, uint32_t>> specials;
  std::vector<KernelParameter> parameters;
  uint32_t parameterBytes = 0;
  uint32_t staticSharedBytes = 0; // from the start of the window, see Layout.h
  uint32_t dynamicSharedOffset = 0;
  uint32_t localBytes = 0;
  std::array<uint32_t, 3> requiredThreads{}, maximumThreads{}, cluster{};
  uint32_t maximumClusterRank = 0, maximumRegisters = 0;
  bool explicitCluster = false;
};

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_PROGRAM_H
