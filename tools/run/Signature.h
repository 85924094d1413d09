// What gmoe-run knows of an entry: the arguments, what each is for, and where
// the results are.
#ifndef TOOLS_RUN_SIGNATURE_H
#define TOOLS_RUN_SIGNATURE_H

#include "lib/Reference/Layout.h"
#include "runtime/core/Element.h"
#include "runtime/core/Status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace mlir {
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace gmoe {
class Entry;
namespace run {

using grouped_moe::reference::Array;
using grouped_moe::reference::Format;
using grouped_moe::reference::ScaleForm;

/// Bytes of an argument, at most.
inline constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 36;

enum class Role {
  Data,    // FP8 operand of a product, or of dequantize
  Scales,  // blocked
  Offsets, // cumulative ends
  Factor,  // per_row, per_group
  Addend,  // per_element, per_group_column
  NormConst,
  QuantizeInput,
  Destination, // only written
  Other
};

constexpr int64_t kRows = -1; // an extent that follows R

/// A dynamic extent for R rows. Without a rule it is R, or ceil(R / 128) of
/// e8m0 arrays.
using ExtentRule = std::function<int64_t(int64_t rows)>;

struct ArgumentFacts {
  std::string name;
  Format format = Format::f32;
  std::vector<int64_t> shape; // kRows where it is dynamic
  Role role = Role::Other;
  bool written = false;
  /// Rows of the array are rows of an activation, which end at the last offset.
  bool byRow = false;
  /// Scales: the columns of their matrix and its rows. Data: the columns.
  int64_t columns = 0;
  int64_t matrixRows = kRows;
  /// Offsets: every end is a multiple of this.
  int64_t aligned = 1;
  ExtentRule extent;
  /// Scales: their layout, and the argument with the ends of the groups, which
  /// addresses that are read have, too.
  ScaleForm form;
  int offsets = -1;
  /// The extent that R is, or follows: 1 of a transposed matrix.
  size_t rowAxis = 0;
  /// Data: its products are added along the rows, not along the columns.
  bool alongRows = false;
  /// An array of device addresses, one a group: format and shape are those of
  /// the arrays that they address, one behind the other.
  bool addresses = false;
};

struct ResultFacts {
  std::string name;
  /// The argument whose memory holds it; -1 for memory of its own.
  int argument = -1;
  Format format = Format::f32;
  std::vector<int64_t> shape;
  ExtentRule extent;
};

struct Signature {
  std::string name;
  std::vector<ArgumentFacts> arguments;
  std::vector<ResultFacts> results;
  /// The results are the function's; else the arguments that it writes.
  bool returned = false;
};

/// From the uses of a function's arguments.
Expected<Signature> signatureOf(mlir::func::FuncOp function);
/// From a bundle without source.
Expected<Signature> signatureOf(const Entry &entry);

ElementType elementOf(Format format);
Format formatOf(ElementType element);

} // namespace run
} // namespace gmoe

#endif // TOOLS_RUN_SIGNATURE_H
