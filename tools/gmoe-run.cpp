// gmoe-run IN.mlir|IN.gmoe: runs an entry on a device or the reference
// executor.
#include "tools/run/Run.h"

int main(int argc, char **argv) { return gmoe::run::runTool(argc, argv); }
