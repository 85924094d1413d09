// From IR to a bundle, or to the artefact of any stage before it.
#include "tools/compile/Driver.h"

int main(int argc, char **argv) { return grouped_moe::compileMain(argc, argv); }
