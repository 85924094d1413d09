#include "test/runtime/conformance/Elementwise.h"

#include <algorithm>

namespace gmoe::conformance {

Table::Table(std::string name) {
  family_.name = std::move(name);
  family_.ptx = moduleHeader();
}

static std::string kernelText(const std::string &name, std::string text,
                              const std::vector<unsigned> &widths) {
  std::string params = ".param .u64 out", loads;
  std::string declare = ".reg .pred %s; .reg .b32 %i, %n; .reg .b64 %q<6>; "
                        ".reg .b64 %at;\n";
  auto replaceAll = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
         at += to.size()) {
      text.replace(at, from.size(), to);
    }
  };
  for (size_t k = 0; k < widths.size(); ++k) {
    std::string letter(1, k == 0 ? 'd' : char('a' + k - 1));
    std::string reg = "%v" + letter;
    std::string width = std::to_string(widths[k]);
    declare += widths[k] == 1 ? ".reg .pred " + reg + ";\n"
                              : ".reg .b" + width + " " + reg + ";\n";
    replaceAll("$" + letter, reg);
    if (k == 0) {
      continue;
    }
    params += ", .param .u64 in" + letter;
    loads += "ld.param.u64 %q1, [in" + letter +
             "]; add.s64 %q1, %q1, %at; ld.global.b64 %q2, [%q1];\n";
    loads += widths[k] == 64  ? "mov.b64 " + reg + ", %q2;\n"
             : widths[k] == 1 ? "setp.ne.s64 " + reg + ", %q2, 0;\n"
                              : "cvt.u" + width + ".u64 " + reg + ", %q2;\n";
  }
  unsigned d = widths[0];
  std::string store = d == 64 ? "mov.b64 %q3, %vd;\n"
                      : d == 1
                          ? "selp.b64 %q3, 1, 0, %vd;\n"
                          : "cvt.u64.u" + std::to_string(d) + " %q3, %vd;\n";
  return ".visible .entry " + name + "(" + params + ", .param .u32 n)\n{\n" +
         declare +
         "mov.u32 %i, %ctaid.x; mov.u32 %n, %tid.x; mad.lo.u32 %i, %i, 128, "
         "%n;\nld.param.u32 %n, [n]; setp.ge.u32 %s, %i, %n; @%s ret;\n"
         "mul.wide.u32 %at, %i, 8;\n" +
         loads + text + "\n" + store +
         "ld.param.u64 %q4, [out]; add.s64 %q4, %q4, %at; st.global.b64 [%q4], "
         "%q3;\nret;\n}\n";
}

Case &Table::begin(const std::string &text, const std::vector<unsigned> &widths,
                   const Columns &columns, Rule rule) {
  Case c;
  c.name = text;
  c.kernel = "k" + std::to_string(family_.cases.size());
  family_.ptx += kernelText(c.kernel, text, widths);
  uint32_t n = uint32_t(columns[0].size());
  c.grid = {(n + 127) / 128, 1, 1};
  c.block = {128, 1, 1};
  for (const auto &column : columns) {
    c.inputs.push_back(bytesOf(column));
  }
  c.scalars = {n};
  c.rule = rule;
  family_.cases.push_back(std::move(c));
  return family_.cases.back();
}

void Table::row(const std::string &text, std::vector<unsigned> widths,
                const Columns &columns, const Function &expected, Rule rule) {
  Case &c = begin(text, widths, columns, rule);
  std::vector<uint64_t> want;
  for (size_t k = 0; k < columns[0].size(); ++k) {
    uint64_t v[4] = {};
    for (size_t j = 0; j < columns.size(); ++j) {
      v[j] = columns[j][k];
    }
    want.push_back(expected(v));
  }
  c.expected = bytesOf(want);
}

void Table::warpRow(const std::string &text, std::vector<unsigned> widths,
                    const Columns &columns,
                    const std::function<uint64_t(size_t)> &expected) {
  Case &c = begin(text, widths, columns, Rule());
  std::vector<uint64_t> want;
  for (size_t k = 0; k < columns[0].size(); ++k) {
    want.push_back(expected(k));
  }
  c.expected = bytesOf(want);
}

void Table::approximate(const std::string &text, std::vector<unsigned> widths,
                        const Columns &columns, const ExactFunction &exact,
                        Rule rule) {
  Case &c = begin(text, widths, columns, rule);
  for (size_t k = 0; k < columns[0].size(); ++k) {
    uint64_t v[4] = {};
    for (size_t j = 0; j < columns.size(); ++j) {
      v[j] = columns[j][k];
    }
    c.exact.push_back(exact(v));
  }
  c.expected.assign(c.exact.size() * 8, 0);
}

std::vector<uint64_t> integerEdges(unsigned bits) {
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  uint64_t top = uint64_t(1) << (bits - 1);
  std::vector<uint64_t> v = {0,
                             1,
                             2,
                             3,
                             7,
                             10,
                             mask,
                             mask - 1,
                             mask - 6,
                             top,
                             top + 1,
                             top - 1,
                             top - 2,
                             top >> 1,
                             0x5555555555555555ull & mask,
                             0xaaaaaaaaaaaaaaaaull & mask,
                             0x123456789abcdef0ull & mask,
                             (uint64_t(1) << (bits / 2)) & mask,
                             ((uint64_t(1) << (bits / 2)) - 1) & mask,
                             ((uint64_t(1) << (bits / 2)) + 1) & mask,
                             31,
                             32,
                             33,
                             63,
                             64,
                             255 & mask};
  return v;
}

std::vector<uint64_t> floatEdges(unsigned exponentBits, unsigned mantissaBits) {
  uint64_t one = uint64_t(1) << mantissaBits;
  uint64_t infinity = ((uint64_t(1) << exponentBits) - 1) << mantissaBits;
  uint64_t bias = (uint64_t(1) << (exponentBits - 1)) - 1;
  auto make = [&](int64_t exponent, uint64_t mantissa) {
    return uint64_t(exponent + int64_t(bias)) << mantissaBits | mantissa;
  };
  std::vector<uint64_t> v = {0,
                             1,
                             one / 2,
                             one - 1,
                             one,
                             one + 1,
                             make(0, 0),
                             make(0, 1),
                             make(-1, one - 1),
                             make(-1, 0),
                             make(1, 0),
                             make(1, one / 2),
                             make(0, one / 2),
                             make(int64_t(mantissaBits), 1),
                             make(-int64_t(mantissaBits) - 1, 0),
                             infinity - 1,
                             infinity - one,
                             infinity,
                             infinity + 1,
                             infinity | one / 2};
  size_t n = v.size();
  uint64_t sign = uint64_t(1) << (exponentBits + mantissaBits);
  for (size_t k = 0; k < n; ++k) {
    v.push_back(v[k] | sign);
  }
  return v;
}

Columns cross(const std::vector<std::vector<uint64_t>> &sets, size_t random,
              unsigned bits, uint64_t seed) {
  Columns columns(sets.size());
  size_t total = 1;
  for (const auto &s : sets) {
    total *= s.size();
  }
  for (size_t k = 0; k < total; ++k) {
    size_t rest = k;
    for (size_t j = 0; j < sets.size(); ++j) {
      columns[j].push_back(sets[j][rest % sets[j].size()]);
      rest /= sets[j].size();
    }
  }
  Draw draw(seed);
  uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  for (size_t k = 0; k < random; ++k) {
    for (auto &column : columns) {
      column.push_back(draw() & mask);
    }
  }
  return columns;
}

Columns everyCode(unsigned bits) {
  Columns columns(1);
  for (uint64_t v = 0; v < (uint64_t(1) << bits); ++v) {
    columns[0].push_back(v);
  }
  return columns;
}

} // namespace gmoe::conformance
