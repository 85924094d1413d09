#include "runtime/emulator/Hazards.h"

namespace gmoe::emulator {

bool LaunchHazards::report(Finding finding) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const Finding &f : findings_) {
    // Another cluster found the same.
    if (f.kind == finding.kind && f.line == finding.line &&
        f.otherLine == finding.otherLine) {
      return enough_;
    }
  }
  findings_.push_back(std::move(finding));
  enough_ = findings_.size() >= limit_;
  return enough_;
}

std::vector<Finding> LaunchHazards::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::move(findings_);
}

} // namespace gmoe::emulator
