// The mutation score of the hazard checker: how many kernels with one
// synchronization instruction removed or weakened it finds.
#include "tools/mutation/Score.h"

#include "tools/mutation/Kernels.h"
#include "tools/mutation/Mutants.h"

#include <cstdio>
#include <fstream>
#include <map>
#include <regex>

namespace gmoe::mutation {
namespace {

/// Why a mutant may survive: lines of KERNEL<TAB>CHANGE<TAB>INSTRUCTION<TAB>
/// REASON, the first three regular expressions.
struct Reason {
  std::regex kernel, change, instruction;
  std::string text;
};

bool readReasons(const std::string &path, std::vector<Reason> &out) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') {
      continue;
    }
    std::vector<std::string> fields;
    size_t at = 0;
    for (size_t tab; (tab = line.find('\t', at)) != std::string::npos;
         at = tab + 1) {
      fields.push_back(line.substr(at, tab - at));
    }
    fields.push_back(line.substr(at));
    if (fields.size() != 4) {
      std::fprintf(stderr, "error: %s: expected four fields in '%s'\n",
                   path.c_str(), line.c_str());
      return false;
    }
    out.push_back({std::regex(fields[0]), std::regex(fields[1]),
                   std::regex(fields[2]), fields[3]});
  }
  return true;
}

class Score {
public:
  explicit Score(const Options &options) : options_(options) {}

  int run() {
    std::vector<Reason> reasons;
    if (!options_.reasons.empty() && !readReasons(options_.reasons, reasons)) {
      return 1;
    }
    auto subjects = loadSubjects(options_.list);
    if (!subjects) {
      std::fprintf(stderr, "error: %s\n", subjects.status().message().c_str());
      return 1;
    }
    for (auto &subject : *subjects) {
      if (options_.only.empty() || subject->name == options_.only) {
        if (!unmutated(*subject) || !mutated(*subject, reasons)) {
          return 1;
        }
      }
    }
    double score = total_ ? 100.0 * caught_ / total_ : 0;
    std::printf("mutation score %.1f %% (%u/%u)\n", score, caught_, total_);
    return total_ && unexplained_ == 0 && score >= 95 ? 0 : 1;
  }

private:
  EmulatorOptions emulator(const Subject &subject, uint64_t seed) const {
    EmulatorOptions e;
    e.hazards = HazardLevel::Full;
    e.smCount = subject.smCount;
    e.threads = 1; // who cancels which cluster must not depend on the host
    e.maximumFindings = 1;
    e.scheduleSeed = seed;
    return e;
  }

  bool unmutated(Subject &subject) {
    images_.clear();
    for (uint32_t seed = 0; seed < options_.seeds; ++seed) {
      EmulatorOptions e = emulator(subject, seed);
      e.rewrite = [this](std::string_view ptx) {
        if (images_.empty() || images_.back() != ptx) {
          images_.emplace_back(ptx);
        }
        return std::string(ptx);
      };
      Status status = subject.run(e);
      if (!status) {
        std::printf("%s, seed %u, unmutated: %s\n", subject.name.c_str(), seed,
                    status.message().c_str());
        return false;
      }
    }
    return true;
  }

  bool mutated(Subject &subject, const std::vector<Reason> &reasons) {
    uint32_t caught = 0, total = 0;
    std::map<std::string, uint32_t> kinds;
    for (const std::string &image : images_) {
      std::vector<Mutant> mutants = findMutants(image);
      for (const Mutant &m : mutants) {
        if (count_++ % options_.every != 0) {
          continue;
        }
        ++total;
        Status status;
        for (uint64_t seed = 0; seed < 3 && status; ++seed) {
          EmulatorOptions e = emulator(subject, seed);
          e.rewrite = [&](std::string_view ptx) {
            return ptx == image ? m.apply(ptx) : std::string(ptx);
          };
          status = subject.run(e);
        }
        std::string what = subject.name + ", line " + std::to_string(m.line) +
                           ", '" + m.instruction + "' " + m.change;
        if (status.code() == StatusCode::Hazard) {
          ++caught;
          std::string text = status.message();
          size_t at = text.find('[');
          ++kinds[text.substr(at, text.find(']', at) + 1 - at)];
          if (options_.verbose) {
            std::printf("caught: %s: %s\n", what.c_str(), text.c_str());
          }
          continue;
        }
        const Reason *reason = nullptr;
        for (const Reason &r : reasons) {
          if (std::regex_search(subject.name, r.kernel) &&
              std::regex_search(m.change, r.change) &&
              std::regex_search(m.instruction, r.instruction)) {
            reason = &r;
            break;
          }
        }
        unexplained_ += !reason;
        std::printf("survived: %s: %s%s\n", what.c_str(),
                    reason ? reason->text.c_str() : "NOT EXPLAINED",
                    status ? "" : (" (" + status.message() + ")").c_str());
      }
    }
    std::printf("%s: %u of %u caught", subject.name.c_str(), caught, total);
    for (const auto &[kind, n] : kinds) {
      std::printf("%s %s %u", kind == kinds.begin()->first ? ":" : ",",
                  kind.c_str(), n);
    }
    std::printf("\n");
    std::fflush(stdout);
    caught_ += caught;
    total_ += total;
    return true;
  }

  Options options_;
  std::vector<std::string> images_;
  uint32_t caught_ = 0, total_ = 0, unexplained_ = 0, count_ = 0;
};

} // namespace
} // namespace gmoe::mutation

int gmoe::mutation::runScore(const Options &options) {
  return Score(options).run();
}
