// Splits PTX text into tokens. Names keep their dots and "::", so that a whole
// mnemonic is one token.
#ifndef GMOE_RUNTIME_EMULATOR_LEXER_H
#define GMOE_RUNTIME_EMULATOR_LEXER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gmoe::emulator {

struct Token {
  enum Kind : uint8_t { Name, Directive, Number, Text, Symbol, End };
  Kind kind = End;
  uint32_t line = 0;
  std::string_view text;

  bool is(char symbol) const { return kind == Symbol && text[0] == symbol; }
};

/// The tokens end with one of kind End. On an error `error` says what and
/// where.
std::vector<Token> tokenize(std::string_view source, std::string &error);

/// Parses 12, -1 is not included, 0x1F, 0b01, 017, 0f3F800000, 0d..., 1.5.
struct Literal {
  enum Kind : uint8_t { Invalid, Integer, Float32, Float64 };
  Kind kind = Invalid;
  uint64_t value = 0;
};
Literal parseLiteral(std::string_view text);

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_LEXER_H
