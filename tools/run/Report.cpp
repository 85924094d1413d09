#include "tools/run/Report.h"

#include "runtime/core/Text.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstdio>

using namespace gmoe;
using namespace gmoe::run;

static std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

static void appendRow(std::string &out, const std::vector<std::string> &cells) {
  static constexpr size_t widths[] = {16, 20, 10, 12, 9, 8, 0};
  for (size_t i = 0; i < cells.size(); ++i) {
    std::string cell = cells[i];
    if (i + 1 < cells.size()) {
      cell.resize(std::max(cell.size() + 1, widths[i]), ' ');
    }
    out += cell;
  }
  out += '\n';
}

std::string run::textReport(const Report &report, const Options &options) {
  std::string out;
  std::vector<std::string> head = {"result", "shape", "type"};
  if (options.check) {
    head.insert(head.end(), {"max error", "SQNR dB", "bitwise", "check"});
  }
  appendRow(out, head);
  for (const ResultReport &result : report.results) {
    std::vector<std::string> cells = {result.name, textOf(result.shape),
                                      result.type};
    if (result.comparison) {
      const Comparison &c = *result.comparison;
      cells.insert(cells.end(),
                   {number(c.maxError), number(c.sqnr),
                    c.bitwise ? "yes" : "no", c.passed ? "passed" : "FAILED"});
    }
    appendRow(out, cells);
  }
  return out;
}

/// JSON has no infinities.
static llvm::json::Value jsonNumber(double value) {
  if (std::isfinite(value)) {
    return value;
  }
  return value > 0 ? "inf" : value < 0 ? "-inf" : "nan";
}

static llvm::json::Value jsonOf(const ResultReport &result) {
  llvm::json::Object object{{"name", result.name},
                            {"type", result.type},
                            {"shape", llvm::json::Array(result.shape)}};
  if (!result.file.empty()) {
    object["file"] = result.file;
  }
  if (result.comparison) {
    const Comparison &c = *result.comparison;
    object["check"] = llvm::json::Object{{"max_error", jsonNumber(c.maxError)},
                                         {"sqnr_db", jsonNumber(c.sqnr)},
                                         {"bitwise", c.bitwise},
                                         {"differing", c.differing},
                                         {"passed", c.passed},
                                         {"reason", c.reason}};
  }
  return object;
}

static llvm::json::Array hazardsOf(const Report &report) {
  llvm::json::Array hazards;
  for (const Finding &f : report.device.hazards) {
    hazards.push_back(llvm::json::Object{{"id", findingId(f.kind)},
                                         {"kernel", f.kernel},
                                         {"line", int64_t(f.line)},
                                         {"other_line", int64_t(f.otherLine)},
                                         {"text", f.text}});
  }
  return hazards;
}

std::string run::jsonReport(const Report &report, const Options &options) {
  llvm::json::Array results, findings;
  for (const ResultReport &result : report.results) {
    results.push_back(jsonOf(result));
  }
  for (const std::string &finding : report.findings) {
    findings.push_back(finding);
  }
  llvm::json::Object object{
      {"entry", report.entry},
      {"device", nameOf(options.device)},
      {"chip", report.device.device},
      {"target", report.device.target},
      {"launches", int64_t(report.device.launches)},
      {"fills", int64_t(report.device.fills)},
      {"workspace_bytes", int64_t(report.device.workspaceBytes)},
      {"results", std::move(results)},
      {"passed", report.findings.empty()},
      {"hazards", hazardsOf(report)},
      {"findings", std::move(findings)}};
  if (report.device.emulator) {
    const EmulatorStats &stats = *report.device.emulator;
    object["emulator"] = llvm::json::Object{
        {"launches", int64_t(stats.launches)},
        {"instructions", int64_t(stats.instructions)},
        {"thread_instructions", int64_t(stats.threadInstructions)},
        {"mma_instructions", int64_t(stats.mmaInstructions)},
        {"macs", int64_t(stats.macs)},
        {"cp_instructions", int64_t(stats.cpInstructions)},
        {"tma_bytes", int64_t(stats.tmaBytes)}};
  }
  std::string out;
  llvm::raw_string_ostream stream(out);
  // Names come from files: they may hold any byte.
  stream << llvm::formatv("{0:2}", llvm::json::Value(std::move(object)))
         << "\n";
  return out;
}
