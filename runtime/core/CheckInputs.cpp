// Reads offsets and pointer arrays back and compares them with the contracts.
#include "runtime/core/Launch.h"
#include "runtime/core/Text.h"

#include <cstring>

using namespace gmoe;

namespace {

/// The values of an i32 or i64 array in device memory.
Expected<std::vector<int64_t>> readBack(Device &device, ElementType element,
                                        const ArgumentValue &argument,
                                        StreamHandle stream) {
  Expected<uint64_t> bytes = byteSize(element, argument.shape);
  if (!bytes) {
    return bytes.status();
  }
  std::vector<uint8_t> raw(*bytes);
  if (!raw.empty()) {
    if (Status s =
            device.copyToHost(raw.data(), argument.address, *bytes, stream);
        !s) {
      return s;
    }
    if (Status s = device.synchronize(stream); !s) {
      return s;
    }
  }
  size_t width = bitsOf(element) / 8;
  std::vector<int64_t> values(raw.size() / width);
  for (size_t i = 0; i < values.size(); ++i) {
    if (width == 4) {
      int32_t value;
      std::memcpy(&value, &raw[i * width], width);
      values[i] = value;
    } else {
      std::memcpy(&values[i], &raw[i * width], width);
    }
  }
  return values;
}

} // namespace

Status Entry::checkOffsets(Device &device, const OffsetsContract &contract,
                           const ArgumentValue &argument, const Values &values,
                           StreamHandle stream) const {
  auto fail = [&](auto... parts) {
    return invalidArgument(cat("entry \"", name(),
                               "\": ", argumentText(contract.argument), ": ",
                               parts...));
  };
  Expected<int64_t> rows = values.get(contract.rows);
  if (!rows) {
    return fail("row count: ", rows.status().message());
  }
  Expected<std::vector<int64_t>> ends = readBack(
      device, arguments()[contract.argument].element, argument, stream);
  if (!ends) {
    return ends.status();
  }
  int64_t previous = 0;
  for (size_t group = 0; group < ends->size(); ++group) {
    int64_t end = (*ends)[group];
    if (end < 0) {
      return fail("group ", group, " ends at row ", end,
                  ", expected 0 or more: offsets are cumulative ends");
    }
    if (end < previous) {
      return fail("group ", group, " ends at row ", end,
                  ", before the group in front of it at ", previous,
                  ": offsets are cumulative ends and must not decrease");
    }
    if (end > *rows) {
      return fail("group ", group, " ends at row ", end, ", expected at most ",
                  *rows, ": enlarge the arrays to the last offset's rows");
    }
    if (contract.aligned > 1 && end % contract.aligned != 0) {
      return fail("group ", group, " ends at row ", end,
                  ", expected a multiple of ", contract.aligned,
                  ": pad every group to that many rows");
    }
    previous = end;
  }
  return {};
}

Status Entry::checkPointers(Device &device, const PointersContract &contract,
                            const std::vector<ArgumentValue> &arguments,
                            StreamHandle stream) const {
  Expected<std::vector<int64_t>> pointers =
      readBack(device, ElementType::I64, arguments[contract.argument], stream);
  if (!pointers) {
    return pointers.status();
  }
  std::vector<int64_t> ends;
  if (contract.groups >= 0) {
    Expected<std::vector<int64_t>> read =
        readBack(device, this->arguments()[contract.groups].element,
                 arguments[contract.groups], stream);
    if (!read) {
      return read.status();
    }
    ends = std::move(*read);
  }
  auto hasRows = [&](size_t i) {
    return i >= ends.size() || ends[i] > (i == 0 ? 0 : ends[i - 1]);
  };
  for (size_t i = 0; i < pointers->size(); ++i) {
    if (!hasRows(i)) {
      continue;
    }
    uint64_t address = static_cast<uint64_t>((*pointers)[i]);
    std::string where =
        cat("entry \"", name(), "\": ", argumentText(contract.argument),
            ": pointer ", i);
    if (address == 0) {
      return invalidArgument(
          where + (ends.empty() ? " is null: give every expert an array"
                                : " is null: give every expert with rows an "
                                  "array"));
    }
    if (address % contract.alignment != 0) {
      return invalidArgument(
          cat(where, " is ", Hex{address}, ", expected a multiple of ",
              contract.alignment, " bytes: align its allocation"));
    }
  }
  return {};
}

Status Entry::checkInputs(Device &device,
                          const std::vector<ArgumentValue> &arguments,
                          StreamHandle stream) const {
  Expected<ShapeRefs> refs = refsOf(arguments);
  if (!refs) {
    return refs.status();
  }
  Values values(program_, *refs, device.info().smCount);
  if (Status s = checkShapes(*refs, values); !s) {
    return s;
  }
  for (const OffsetsContract &contract : program_.offsets) {
    if (Status s = checkOffsets(device, contract, arguments[contract.argument],
                                values, stream);
        !s) {
      return s;
    }
  }
  for (const PointersContract &contract : program_.pointers) {
    if (Status s = checkPointers(device, contract, arguments, stream); !s) {
      return s;
    }
  }
  return {};
}
