// gmoe-run: runs an entry and compares it with the reference executor.
#ifndef TOOLS_RUN_RUN_H
#define TOOLS_RUN_RUN_H

namespace gmoe::run {

/// 0, 1 (refused, failed check, or a hazard found), 2 (usage).
int runTool(int argc, const char *const *argv);

} // namespace gmoe::run

#endif // TOOLS_RUN_RUN_H
