// From an epilogue region to steps.
#ifndef LIB_REFERENCE_EPILOGUECOMPILE_H
#define LIB_REFERENCE_EPILOGUECOMPILE_H

#include "lib/Reference/Epilogue.h"

namespace grouped_moe {
class FusedProduct;
namespace reference {

/// False, with a diagnostic that names the operation, for what the executor
/// does not know.
bool compileEpilogue(FusedProduct op, Epilogue &epilogue);

} // namespace reference
} // namespace grouped_moe

#endif // LIB_REFERENCE_EPILOGUECOMPILE_H
