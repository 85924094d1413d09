#include "lib/Reference/Layout.h"

#include <algorithm>

using namespace grouped_moe::reference;

static int64_t ceilDiv(int64_t value, int64_t by) {
  return (value + by - 1) / by;
}

int64_t ScaleRegion::offset(int64_t row, int64_t column) const {
  int64_t local = row - firstRow;
  return base + (form.column ? scaleOffset(0, column, local / form.block,
                                           columns, ceilDiv(rows, form.block))
                             : scaleOffset(0, local, column / form.block, rows,
                                           ceilDiv(columns, form.block)));
}

int64_t ScaleRegion::bytes() const {
  int64_t lines = form.column ? columns : rows;
  int64_t along = form.column ? rows : columns;
  return 512 * ceilDiv(lines, 128) * ceilDiv(ceilDiv(along, form.block), 4);
}

std::vector<ScaleRegion>
grouped_moe::reference::scaleRegions(ScaleForm form, int64_t matrices,
                                     int64_t rows, int64_t columns,
                                     const std::vector<int64_t> &ends) {
  std::vector<ScaleRegion> regions;
  auto append = [&](int64_t firstRow, int64_t count) {
    int64_t base =
        regions.empty() ? 0 : regions.back().base + regions.back().bytes();
    regions.push_back({form, firstRow, count, columns, base});
  };
  if (!form.perGroup) {
    for (int64_t m = 0; m < matrices; ++m) {
      append(m * rows, rows);
    }
    return regions;
  }
  int64_t begin = 0;
  for (int64_t end : ends) {
    append(begin, end - begin);
    begin = end;
  }
  return regions;
}

DefinedPart
grouped_moe::reference::definedScales(const Array &scales,
                                      const std::vector<ScaleRegion> &regions,
                                      int64_t rows, bool whole) {
  int64_t atoms = static_cast<int64_t>(scales.bytes.size()) / 512;
  if (regions.empty()) {
    return {512, atoms, atoms};
  }
  ScaleForm form = regions[0].form;
  int64_t span = form.column ? 4 * form.block : 128; // rows of an atom
  if (form.perGroup) {
    int64_t used = 0;
    for (const ScaleRegion &region : regions) {
      bool in = region.firstRow + region.rows <= rows || !whole;
      used = in ? region.base + region.bytes() : used;
    }
    return {512, atoms, used / 512};
  }
  int64_t along = ceilDiv(regions[0].rows, span);
  bool everything = rows == regions[0].rows;
  int64_t count = whole && !everything ? rows / span : ceilDiv(rows, span);
  int64_t run =
      form.column ? 512 : regions[0].bytes() / std::max<int64_t>(1, along);
  return {std::max<int64_t>(1, run), along, count};
}

std::vector<int64_t>
grouped_moe::reference::scaleShape(ScaleForm form,
                                   const std::vector<int64_t> &matrix,
                                   int64_t groups, int64_t aligned) {
  int64_t rows = matrix[matrix.size() - 2], columns = matrix.back();
  int64_t rowSpan = form.column ? 4 * form.block : 128;
  int64_t columnSpan = form.column ? 128 : 4 * form.block;
  int64_t alongColumns = ceilDiv(columns, columnSpan);
  int64_t alongRows = ceilDiv(rows, rowSpan);
  if (form.perGroup) {
    // Groups that start within an atom may leave a part of one each.
    if (aligned % rowSpan != 0) {
      alongRows = rows / rowSpan + groups;
    }
    return {alongRows * alongColumns, 32, 4, 4};
  }
  std::vector<int64_t> shape(matrix.begin(), matrix.end() - 2);
  shape.push_back(form.column ? alongColumns : alongRows);
  shape.push_back(form.column ? alongRows : alongColumns);
  shape.insert(shape.end(), {32, 4, 4});
  return shape;
}
