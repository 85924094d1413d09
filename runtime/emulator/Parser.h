// Parses PTX text (ISA chapters 4, 5 and 11) into the syntax tree.
#ifndef GMOE_RUNTIME_EMULATOR_PARSER_H
#define GMOE_RUNTIME_EMULATOR_PARSER_H

#include "runtime/core/Status.h"
#include "runtime/emulator/Ast.h"

namespace gmoe::emulator {

/// Statement texts are views into `source`, which must outlive the module.
/// Errors read "line N: ...".
Expected<AstModule> parseModule(std::string_view source);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_PARSER_H
