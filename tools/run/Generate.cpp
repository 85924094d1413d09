#include "tools/run/Generate.h"

#include "runtime/core/Npy.h"
#include "runtime/core/Text.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace gmoe;
using namespace gmoe::run;
using grouped_moe::reference::ScaleRegion;
using grouped_moe::reference::sizeOf;

Expected<Array> run::readArray(const std::string &path, Format format) {
  Expected<NpyArray> file = readNpy(path);
  if (!file) {
    return file.status();
  }
  Expected<Shape> shape = file->shapeAs(elementOf(format));
  if (!shape) {
    return invalidArgument(cat(path, ": ", shape.status().message()));
  }
  Array array;
  array.format = format;
  array.shape = *shape;
  array.bytes = std::move(file->bytes);
  return array;
}

Status run::writeArray(const std::string &path, const Array &array) {
  return writeNpy(path, elementOf(array.format), array.shape,
                  array.bytes.data(), array.bytes.size());
}

/// Whether an extent is R itself.
static bool hasRows(const ArgumentFacts &facts) {
  return !facts.extent && facts.format != Format::e8m0 &&
         facts.shape.size() > facts.rowAxis &&
         facts.shape[facts.rowAxis] == kRows;
}

int64_t run::rowsOf(const Signature &signature,
                    const std::vector<Array> &arrays) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ArgumentFacts &facts = signature.arguments[i];
    if (hasRows(facts)) {
      return arrays[i].shape[facts.rowAxis];
    }
  }
  return 0;
}

namespace {

/// splitmix64: the same numbers on every machine.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u + 1) {}
  int64_t between(int64_t low, int64_t high) {
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return low + static_cast<int64_t>(z % uint64_t(high - low + 1));
  }

private:
  uint64_t state;
};

class Generator {
public:
  Generator(const Signature &signature, const Options &options)
      : signature(signature), options(options),
        arrays(signature.arguments.size()) {}
  Expected<std::vector<Array>> make();

private:
  const ArgumentSpec &specOf(size_t i) const;
  Status fail(size_t i, const std::string &reason) const {
    return invalidArgument(signature.arguments[i].name + ": " + reason);
  }
  void readStaticRows();
  Status readFiles();
  Status readPointees(size_t i);
  Status makeOffsets(size_t i);
  void generateEnds(int64_t groups, int64_t aligned,
                    std::vector<int64_t> &ends) const;
  Status chooseRows();
  Status makeArgument(size_t i);
  Status fillConstant(size_t i);
  void fillRandom(size_t i, Random &random);
  void fillScales(size_t i, Random &random);
  bool isScales(size_t i) const {
    const ArgumentFacts &facts = signature.arguments[i];
    return facts.format == Format::e8m0 || facts.role == Role::Scales;
  }
  int64_t activeRows() const { return options.poison ? lastEnd : rows; }

  const Signature &signature;
  const Options &options;
  std::vector<Array> arrays;
  std::vector<bool> done = std::vector<bool>(arrays.size());
  int64_t rows = -1; // R, once known
  int64_t lastEnd = -1;
};

const ArgumentSpec &Generator::specOf(size_t i) const {
  static const ArgumentSpec generated;
  auto it = options.arguments.find(static_cast<unsigned>(i));
  return it == options.arguments.end() ? generated : it->second;
}

/// R of an entry whose shapes are all static.
void Generator::readStaticRows() {
  int64_t fixed = -1;
  for (const ArgumentFacts &facts : signature.arguments) {
    if (std::count(facts.shape.begin(), facts.shape.end(), kRows) != 0) {
      return;
    }
    if (facts.byRow && facts.role != Role::Scales) {
      fixed = std::max(fixed, facts.shape[facts.rowAxis]);
    }
  }
  rows = fixed;
}

/// One file for each group, of the extents behind the first one.
Status Generator::readPointees(size_t i) {
  const ArgumentFacts &facts = signature.arguments[i];
  const std::vector<std::string> &paths = specOf(i).paths;
  if (!facts.addresses) {
    return fail(i, "is no array of addresses, expected FILE.npy");
  }
  if (static_cast<int64_t>(paths.size()) != facts.shape[0]) {
    return fail(i, cat(paths.size(), " files were given, expected ",
                       facts.shape[0], ": one array for each group"));
  }
  std::vector<int64_t> one(facts.shape.begin() + 1, facts.shape.end());
  Array all(facts.format, facts.shape);
  all.bytes.clear();
  for (const std::string &path : paths) {
    Expected<Array> array = readArray(path, facts.format);
    if (!array) {
      return fail(i, array.status().message());
    }
    if (array->shape != one) {
      return fail(i, cat(path, ": shape is ", textOf(array->shape),
                         ", expected ", textOf(one)));
    }
    all.bytes.insert(all.bytes.end(), array->bytes.begin(), array->bytes.end());
  }
  arrays[i] = std::move(all);
  done[i] = true;
  return {};
}

Status Generator::readFiles() {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (specOf(i).kind == ArgumentSpec::Kind::Pointers) {
      if (Status s = readPointees(i); !s) {
        return s;
      }
      continue;
    }
    if (specOf(i).kind != ArgumentSpec::Kind::File) {
      continue;
    }
    const ArgumentFacts &facts = signature.arguments[i];
    Expected<Array> array = readArray(specOf(i).path, facts.format);
    if (!array) {
      return fail(i, array.status().message());
    }
    const std::vector<int64_t> &shape = array->shape;
    bool fits = shape.size() == facts.shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      fits = facts.shape[d] == kRows || facts.shape[d] == shape[d];
    }
    if (!fits) {
      std::string expected;
      for (int64_t extent : facts.shape) {
        expected += (expected.empty() ? "" : ", ") +
                    (extent == kRows ? "?" : std::to_string(extent));
      }
      return fail(i, cat(specOf(i).path, ": shape is ", textOf(shape),
                         ", expected [", expected, "]"));
    }
    if (hasRows(facts) && rows < 0) {
      rows = shape[facts.rowAxis];
    }
    arrays[i] = std::move(*array);
    done[i] = true;
  }
  return {};
}

/// Groups of different sizes, the second one empty, that fill R when it is
/// known; within a tile, where they may start anywhere.
void Generator::generateEnds(int64_t groups, int64_t aligned,
                             std::vector<int64_t> &ends) const {
  static constexpr int64_t weights[] = {1, 0, 2, 1, 1, 0, 3, 1};
  std::vector<int64_t> units(groups);
  int64_t sum = 0;
  for (int64_t g = 0; g < groups; ++g) {
    // Of many groups most are small or empty: the data stays small.
    units[g] = g < 8 ? weights[g] : g % 8 == 0;
    sum += units[g];
  }
  if (rows >= 0) {
    int64_t available = rows / aligned, used = 0;
    for (int64_t &unit : units) {
      unit = unit * available / sum;
      used += unit;
    }
    units[groups > 2 ? 2 : 0] += available - used;
  }
  constexpr int64_t unaligned = 67;
  int64_t rowsOfUnit = aligned == 1 && rows < 0 ? unaligned : aligned, end = 0;
  for (int64_t unit : units) {
    ends.push_back(end += unit * rowsOfUnit);
  }
}

Status Generator::makeOffsets(size_t i) {
  const ArgumentFacts &facts = signature.arguments[i];
  if (facts.shape.size() != 1 || facts.shape[0] == kRows) {
    return fail(i, "offsets have a dynamic length: give them as --arg");
  }
  int64_t groups = facts.shape[0];
  std::vector<int64_t> ends;
  const ArgumentSpec &spec = specOf(i);
  switch (spec.kind) {
  case ArgumentSpec::Kind::Offsets:
    ends = spec.offsets;
    break;
  case ArgumentSpec::Kind::Constant:
    ends.assign(groups, static_cast<int64_t>(spec.value));
    break;
  default:
    generateEnds(groups, facts.aligned, ends);
    break;
  }
  if (static_cast<int64_t>(ends.size()) != groups) {
    return fail(i, cat(ends.size(), " offsets were given, expected ", groups,
                       ": one cumulative end for each group"));
  }
  arrays[i] = Array(facts.format, {groups});
  unsigned size = sizeOf(facts.format);
  for (int64_t g = 0; g < groups; ++g) {
    if (size == 4 && ends[g] != static_cast<int32_t>(ends[g])) {
      return fail(i, cat("offset ", ends[g], " does not fit in i32"));
    }
    std::memcpy(&arrays[i].bytes[g * size], &ends[g], size);
  }
  done[i] = true;
  return {};
}

Status Generator::chooseRows() {
  if (options.rows) {
    if (rows >= 0 && rows != *options.rows) {
      return invalidArgument(cat("--rows ", *options.rows,
                                 ": the arguments have ", rows, " rows"));
    }
    rows = *options.rows;
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    const ArgumentFacts &facts = signature.arguments[i];
    if (facts.role != Role::Offsets) {
      if (specOf(i).kind == ArgumentSpec::Kind::Offsets) {
        return fail(i, "is no offsets operand: give it another SPEC");
      }
      continue;
    }
    if (!done[i]) {
      if (Status s = makeOffsets(i); !s) {
        return s;
      }
    }
    if (arrays[i].elements() > 0) {
      lastEnd = std::max(lastEnd, static_cast<int64_t>(
                                      arrays[i].at(arrays[i].elements() - 1)));
    }
  }
  if (rows < 0) {
    rows = lastEnd >= 0 ? lastEnd : 256;
  }
  if (lastEnd < 0 || lastEnd > rows) {
    lastEnd = rows;
  }
  return {};
}

/// The byte of a scale, -1 where no scale has that value.
static int scaleByte(Format format, double value) {
  if (format == Format::e8m0) {
    return grouped_moe::reference::encodeScaleExact(value);
  }
  if (std::isnan(value)) {
    return 0x7F;
  }
  Array one(format, {1});
  one.set(0, value);
  return one.at(0) == value && !std::signbit(value) ? one.codeAt(0) : -1;
}

/// A power of two from 1/4 to 4.
static uint8_t randomScale(Format format, Random &random) {
  return static_cast<uint8_t>(scaleByte(
      format, std::ldexp(1.0, static_cast<int>(random.between(-2, 2)))));
}

void Generator::fillScales(size_t i, Random &random) {
  const ArgumentFacts &facts = signature.arguments[i];
  Array &array = arrays[i];
  const ArgumentSpec &spec = specOf(i);
  // 0x7F is NaN as an unsigned f8E4M3FN, 0xFF as f8E8M0FNU.
  uint8_t poison = array.format == Format::e8m0 || fillOf(options) == 0
                       ? fillOf(options)
                       : 0x7F;
  std::fill(array.bytes.begin(), array.bytes.end(), poison);
  int64_t matrixRows = facts.matrixRows == kRows ? rows : facts.matrixRows;
  bool known =
      facts.columns != 0 && (!facts.form.perGroup || facts.offsets >= 0);
  if (!known) { // no matrix: every byte is a scale
    for (uint8_t &byte : array.bytes) {
      byte = randomScale(facts.format, random);
    }
    return;
  }
  std::vector<int64_t> ends;
  if (facts.form.perGroup) {
    const Array &offsets = arrays[facts.offsets];
    for (int64_t g = 0; g < offsets.elements(); ++g) {
      ends.push_back(static_cast<int64_t>(offsets.at(g)));
    }
  }
  int64_t matrices = array.shape.size() == 6 ? array.shape[0] : 1;
  bool constant = spec.kind == ArgumentSpec::Kind::Constant;
  int byte = scaleByte(facts.format, spec.value);
  bool poisoned = facts.byRow && !constant;
  int64_t rowStep = facts.form.column ? facts.form.block : 1;
  int64_t columnStep = facts.form.column ? 1 : facts.form.block;
  for (const ScaleRegion &region : grouped_moe::reference::scaleRegions(
           facts.form, matrices, matrixRows, facts.columns, ends)) {
    // Offsets that break their contract reach past the matrix.
    int64_t end = region.firstRow + region.rows;
    end = std::min(end, poisoned ? activeRows() : matrices * matrixRows);
    int64_t first = std::max<int64_t>(region.firstRow, 0);
    for (int64_t row = first; row < end; row += rowStep) {
      for (int64_t column = 0; column < facts.columns; column += columnStep) {
        int64_t at = region.offset(row, column);
        int value = constant ? byte : randomScale(facts.format, random);
        if (at >= 0 && at < static_cast<int64_t>(array.bytes.size())) {
          array.bytes[at] = static_cast<uint8_t>(value);
        }
      }
    }
  }
}

Status Generator::fillConstant(size_t i) {
  const ArgumentSpec &spec = specOf(i);
  Array &array = arrays[i];
  unsigned size = sizeOf(array.format);
  if (isScales(i)) {
    if (scaleByte(array.format, spec.value) < 0) {
      return fail(i, cat("const:", std::to_string(spec.value),
                         array.format == Format::e8m0
                             ? ": is no value of e8m0, expected a power of two "
                               "from 2^-127 to 2^127"
                             : ": is no scale of e4m3, expected one of its "
                               "values from 0 to 448"));
    }
    Random unused(0);
    fillScales(i, unused);
    return {};
  }
  bool integer = array.format == Format::i8 || array.format == Format::i32 ||
                 array.format == Format::i64;
  auto whole = static_cast<int64_t>(spec.value);
  for (int64_t e = 0; e < array.elements(); ++e) {
    if (integer) {
      std::memcpy(&array.bytes[e * size], &whole, size);
    } else {
      array.set(e, spec.value);
    }
  }
  return {};
}

void Generator::fillRandom(size_t i, Random &random) {
  const ArgumentFacts &facts = signature.arguments[i];
  Array &array = arrays[i];
  if (isScales(i)) {
    fillScales(i, random);
    return;
  }
  unsigned size = sizeOf(array.format);
  bool integer = array.format == Format::i8 || array.format == Format::i32 ||
                 array.format == Format::i64;
  int64_t last = array.shape.empty() ? 1 : array.shape.back();
  int64_t inner = 1; // elements of a row
  for (size_t d = 1; d < array.shape.size(); ++d) {
    inner *= array.shape[d];
  }
  int64_t total = array.elements();
  bool transposed = facts.byRow && facts.rowAxis == 1;
  int64_t filled = facts.byRow && !transposed
                       ? std::min(activeRows() * inner, total)
                       : total;
  static constexpr double factors[] = {1, -0.5, 2, 0.5, 0, -1, 1, -2};
  static constexpr double norms[] = {1, 0.5, 2};
  // K * 9 products of scales from 2^-4 to 2^4 stay below 2^24 units.
  int64_t limit = (facts.alongRows ? rows : facts.columns) <= 4096 ? 3 : 1;
  double power = 1;
  for (int64_t e = 0; e < filled; ++e) {
    if (transposed && e % last >= activeRows()) {
      continue;
    }
    double value = 0;
    switch (facts.role) {
    case Role::Factor:
      value = factors[random.between(0, 7)];
      break;
    case Role::NormConst:
      value = norms[random.between(0, 2)];
      break;
    case Role::QuantizeInput:
      if (e % last % 32 == 0) {
        power = std::ldexp(1.0, static_cast<int>(random.between(-2, 2)));
      }
      value = static_cast<double>(random.between(-7, 7)) * power;
      break;
    case Role::Addend:
      value = static_cast<double>(random.between(-8, 8));
      break;
    default:
      value = static_cast<double>(random.between(-limit, limit));
      break;
    }
    if (integer) {
      auto whole = static_cast<int64_t>(value);
      std::memcpy(&array.bytes[e * size], &whole, size);
    } else {
      array.set(e, value);
    }
  }
}

Status Generator::makeArgument(size_t i) {
  const ArgumentFacts &facts = signature.arguments[i];
  std::vector<int64_t> shape = resolveShape(facts, rows);
  Expected<uint64_t> bytes = byteSize(elementOf(facts.format), shape);
  if (!bytes) {
    return fail(i, bytes.status().message());
  }
  if (*bytes > kMaxArrayBytes) {
    return fail(i, cat("needs ", *bytes, " bytes, expected at most ",
                       kMaxArrayBytes, ": ask for fewer rows"));
  }
  arrays[i] = Array(facts.format, shape, fillOf(options));
  const ArgumentSpec &spec = specOf(i);
  if (spec.kind == ArgumentSpec::Kind::Constant) {
    return fillConstant(i);
  }
  if (facts.role == Role::Destination &&
      spec.kind == ArgumentSpec::Kind::Generated) {
    return {};
  }
  Random random(spec.seed * 1024 + i);
  fillRandom(i, random);
  return {};
}

Expected<std::vector<Array>> Generator::make() {
  for (const auto &[index, spec] : options.arguments) {
    if (index >= arrays.size()) {
      return invalidArgument(cat("--arg ", index, ": entry \"", signature.name,
                                 "\" has ", arrays.size(), " arguments"));
    }
  }
  readStaticRows();
  if (Status s = readFiles(); !s) {
    return s;
  }
  if (Status s = chooseRows(); !s) {
    return s;
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!done[i]) {
      if (Status s = makeArgument(i); !s) {
        return s;
      }
    }
  }
  return std::move(arrays);
}

} // namespace

Expected<std::vector<Array>> run::makeArguments(const Signature &signature,
                                                const Options &options) {
  return Generator(signature, options).make();
}
