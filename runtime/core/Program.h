// The validated launch program of one entry, as plain structs: what Module
// reads from a bundle and Entry executes. Indices are in range by construction.
#ifndef GMOE_RUNTIME_CORE_PROGRAM_H
#define GMOE_RUNTIME_CORE_PROGRAM_H

#include "runtime/core/Element.h"
#include "runtime/core/Types.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace gmoe {

/// The enums' values are those of the bundle's schema.
enum class ArgumentKind : uint8_t { Input, Output, InOut };
enum class ExprKind : uint8_t {
  Constant,
  Dim,
  SmCount,
  Add,
  Sub,
  Mul,
  CeilDiv,
  FloorDiv,
  Min,
  Max
};
enum class ParamKind : uint8_t { Pointer, ScalarI32, ScalarI64, TensorMap };

struct Expr {
  ExprKind kind = ExprKind::Constant;
  int32_t lhs = 0;
  int32_t rhs = 0;
  int64_t value = 0;
};

/// Static: `value` elements. Free: the caller chooses. Dependent: the value of
/// an expression over free extents.
enum class ExtentKind : uint8_t { Static, Free, Dependent };
struct Extent {
  ExtentKind kind = ExtentKind::Static;
  int64_t value = 0;
  int32_t expr = 0;
  int64_t multiple = 1; // a launch takes multiples of this many
};

struct ArgumentInfo {
  std::string name;
  ArgumentKind kind = ArgumentKind::Input;
  ElementType element = ElementType::F32;
  std::vector<Extent> extents;
  uint32_t alignment = 16; // bytes
  /// Elements from one index to the next, of every axis but the last; empty for
  /// a dense array.
  std::vector<int64_t> strides;
};

/// Cumulative ends of the groups in a 1-D i32 or i64 argument.
struct OffsetsContract {
  uint32_t argument = 0;
  uint32_t aligned = 0; // every end is a multiple of this many rows; 0: any
  int32_t rows = 0;     // expression
};

/// An i64 argument of device addresses, one array for each.
struct PointersContract {
  uint32_t argument = 0;
  ElementType element = ElementType::F32;
  std::vector<int32_t> shape; // expressions
  uint32_t alignment = 16;    // bytes
  bool readOnly = false;      // what the addresses point at
  /// Argument with the cumulative ends of groups: the address of a group
  /// without rows may be anything. -1: none may.
  int32_t groups = -1;
};

struct Temporary {
  int32_t bytes = 0; // expression
  uint32_t alignment = 256;
};

struct BufferRef {
  bool temporary = false;
  uint32_t index = 0;
};

struct TensorMapRecipe {
  BufferRef buffer;
  TensorMapType type = TensorMapType::U8;
  TensorMapSwizzle swizzle = TensorMapSwizzle::None;
  uint32_t rank = 0;
  uint32_t oobFill = 0;
  uint32_t l2Promotion = 0;
  /// Of another array, whose address a kernel puts into copies.
  bool placeholder = false;
  std::array<int32_t, 5> dims{};    // expressions
  std::array<int32_t, 4> strides{}; // expressions
  std::array<uint32_t, 5> box{};
};

struct KernelParam {
  ParamKind kind = ParamKind::Pointer;
  uint32_t offset = 0;
  BufferRef buffer;
  int32_t expr = 0;
  uint32_t tensorMap = 0; // index into the launch's tensorMaps
};

struct Launch {
  std::string kernel;
  std::array<int32_t, 3> grid{}; // expressions
  Dim3 cluster, block;
  uint32_t dynamicSharedBytes = 0;
  uint32_t paramBytes = 0;
  std::vector<KernelParam> params; // in the order of their offsets
  std::vector<TensorMapRecipe> tensorMaps;
  std::vector<BufferRef> fills; // set to zero before the kernel
};

struct Program {
  std::string name;
  std::vector<Expr> exprs;
  std::vector<ArgumentInfo> arguments;
  std::vector<OffsetsContract> offsets;
  std::vector<PointersContract> pointers;
  std::vector<Temporary> temporaries;
  std::vector<Launch> launches;
};

/// Bits of one element of a tensor map in global memory.
unsigned tensorMapElementBits(TensorMapType type);
/// Fills of all launches.
size_t countFills(const Program &program);

} // namespace gmoe

#endif // GMOE_RUNTIME_CORE_PROGRAM_H
