// The gmoe-compile command: options, input, output files.
#ifndef TOOLS_COMPILE_DRIVER_H
#define TOOLS_COMPILE_DRIVER_H

namespace grouped_moe {
/// The exit status: 0, 1 (refused), 2 (usage).
int compileMain(int argc, char **argv);
} // namespace grouped_moe

#endif // TOOLS_COMPILE_DRIVER_H
