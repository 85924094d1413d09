// Cases of instructions that map registers to a register: a table row is one
// instruction, and becomes one kernel that applies it to every input tuple.
#ifndef GMOE_TEST_RUNTIME_CONFORMANCE_ELEMENTWISE_H
#define GMOE_TEST_RUNTIME_CONFORMANCE_ELEMENTWISE_H

#include "test/runtime/conformance/Case.h"

namespace gmoe::conformance {

/// Values of the operands, column by column, all of one length.
using Columns = std::vector<std::vector<uint64_t>>;
using Function = std::function<uint64_t(const uint64_t *)>;
using ExactFunction = std::function<double(const uint64_t *)>;

class Table {
public:
  explicit Table(std::string name);

  /// `text` uses $d, $a, $b, $c. `widths` are register bits: destination first,
  /// 1 for a predicate. Inputs and results travel as 64-bit words.
  void row(const std::string &text, std::vector<unsigned> widths,
           const Columns &columns, const Function &expected,
           Rule rule = Rule());
  /// Results within a bound of the exact value.
  void approximate(const std::string &text, std::vector<unsigned> widths,
                   const Columns &columns, const ExactFunction &exact,
                   Rule rule);
  /// When the result depends on the whole warp: `expected` gets the element,
  /// whose lane is element % 32. The number of elements is a multiple of 128.
  void warpRow(const std::string &text, std::vector<unsigned> widths,
               const Columns &columns,
               const std::function<uint64_t(size_t)> &expected);
  /// Text before the first kernel: functions that rows call.
  void preamble(const std::string &text) { family_.ptx += text; }
  Family take() { return std::move(family_); }

private:
  Case &begin(const std::string &text, const std::vector<unsigned> &widths,
              const Columns &columns, Rule rule);
  Family family_;
};

// Input tuples: every combination of edge values, then random ones.
std::vector<uint64_t> integerEdges(unsigned bits);
std::vector<uint64_t> floatEdges(unsigned exponentBits, unsigned mantissaBits);
Columns cross(const std::vector<std::vector<uint64_t>> &sets, size_t random,
              unsigned bits, uint64_t seed = 1);
/// Every code of `bits` bits.
Columns everyCode(unsigned bits);

} // namespace gmoe::conformance

#endif // GMOE_TEST_RUNTIME_CONFORMANCE_ELEMENTWISE_H
