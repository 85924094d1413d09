// What gmoe-bundle does: prints a bundle, extracts its parts, strips its IR.
#ifndef GMOE_TOOLS_BUNDLE_BUNDLETOOL_H
#define GMOE_TOOLS_BUNDLE_BUNDLETOOL_H

#include "runtime/core/Module.h"
#include "runtime/core/Status.h"

#include <string>
#include <string_view>

namespace gmoe {

struct BundleToolOptions {
  enum class Action { Print, Extract, StripSource, Version, Help };
  Action action = Action::Print;
  std::string input;
  std::string output;  // empty: standard output
  std::string extract; // "ptx", "cubin" or "ir"
  std::string target;  // of an extracted image; empty: the first
};

/// The status' message is for a user who mistyped.
Expected<BundleToolOptions> parseBundleToolOptions(int argc,
                                                   const char *const *argv);
const char *bundleToolUsage();

/// Entries, arguments, launches, kernels, images and versions as text.
std::string describeBundle(const Module &module);
/// The bytes of an image or the IR.
Expected<std::string> extractFrom(const Module &module, std::string_view what,
                                  std::string_view target);
/// The same bundle without its source IR.
Expected<std::string> stripSource(std::string_view bytes);

/// Runs the tool; what it prints goes to `out`.
Status runBundleTool(const BundleToolOptions &options, std::string &out);

} // namespace gmoe

#endif // GMOE_TOOLS_BUNDLE_BUNDLETOOL_H
