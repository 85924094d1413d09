// What gmoe-run prints: a table, or JSON.
#ifndef TOOLS_RUN_REPORT_H
#define TOOLS_RUN_REPORT_H

#include "tools/run/Check.h"
#include "tools/run/DeviceRun.h"
#include "tools/run/Options.h"
#include "tools/run/Signature.h"

#include <optional>
#include <string>
#include <vector>

namespace gmoe::run {

struct ResultReport {
  std::string name, type, file;
  std::vector<int64_t> shape;
  std::optional<Comparison> comparison;
};

struct Report {
  std::string entry;
  DeviceReport device;
  std::vector<ResultReport> results;
  std::vector<std::string> findings; // errors and failed checks
};

std::string textReport(const Report &report, const Options &options);
std::string jsonReport(const Report &report, const Options &options);

} // namespace gmoe::run

#endif // TOOLS_RUN_REPORT_H
