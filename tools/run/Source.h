// The input of gmoe-run: IR, a bundle, or both.
#ifndef TOOLS_RUN_SOURCE_H
#define TOOLS_RUN_SOURCE_H

#include "runtime/core/Module.h"
#include "runtime/core/Status.h"
#include "tools/run/Options.h"
#include "tools/run/Signature.h"

#include <memory>
#include <optional>

namespace gmoe::run {

class Source {
public:
  Source();
  ~Source();
  Source(const Source &) = delete;
  Source &operator=(const Source &) = delete;

  /// Reads the file and finds the entry. An error without a message has been
  /// reported as a diagnostic.
  Status load(const Options &options);

  const Signature &signature() const { return facts; }
  /// The bundle of the file, compiled for `target` when it was IR.
  Expected<Module *> bundle(const std::string &target, bool cubin);
  bool hasFunction() const;
  /// Runs the entry's function on the reference executor; arguments that are
  /// memrefs are updated. The results are those of the signature.
  Status execute(std::vector<Array> &arguments, bool withErrors, uint8_t fill,
                 std::vector<Array> &results);

private:
  Status parse(const std::string &text, const std::string &name);
  Status chooseFunction(const std::string &entry);
  Status prepare();

  struct Ir;
  std::unique_ptr<Ir> ir;
  std::optional<Module> loaded;
  Signature facts;
};

} // namespace gmoe::run

#endif // TOOLS_RUN_SOURCE_H
