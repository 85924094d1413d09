// The mutation score of the hazard checker.
#ifndef TOOLS_MUTATION_SCORE_H
#define TOOLS_MUTATION_SCORE_H

#include <cstdint>
#include <string>

namespace gmoe::mutation {

struct Options {
  std::string list, reasons, only;
  uint32_t every = 1, seeds = 20;
  bool verbose = false;
};

/// Prints survivors and the score; 0 at 95 % or more, every survivor explained.
int runScore(const Options &options);

} // namespace gmoe::mutation

#endif // TOOLS_MUTATION_SCORE_H
