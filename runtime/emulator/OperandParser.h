// Reads tokens with one error kept, and parses instruction operands (ISA 6).
#ifndef GMOE_RUNTIME_EMULATOR_OPERANDPARSER_H
#define GMOE_RUNTIME_EMULATOR_OPERANDPARSER_H

#include "runtime/emulator/Ast.h"
#include "runtime/emulator/Lexer.h"

#include <algorithm>

namespace gmoe::emulator {

class TokenReader {
protected:
  const Token &peek(size_t k = 0) const {
    return tokens_[std::min(pos_ + k, tokens_.size() - 1)];
  }
  Token next() {
    Token t = peek();
    if (pos_ + 1 < tokens_.size()) {
      ++pos_;
    }
    return t;
  }
  bool accept(char symbol) {
    if (peek().is(symbol)) {
      next();
      return true;
    }
    return false;
  }
  bool fail(const std::string &what, uint32_t line = 0) {
    if (error_.empty()) {
      error_ =
          "line " + std::to_string(line ? line : peek().line) + ": " + what;
    }
    return false;
  }
  bool expect(char symbol) {
    if (accept(symbol)) {
      return true;
    }
    return fail(
        std::string("expected '") + symbol + "', found '" +
        (peek().kind == Token::End ? "end of file" : std::string(peek().text)) +
        "'");
  }
  bool directive(std::string_view name) {
    if (peek().kind == Token::Directive && peek().text == name) {
      next();
      return true;
    }
    return false;
  }
  bool number(uint64_t &value) {
    Token t = next();
    Literal literal =
        t.kind == Token::Number ? parseLiteral(t.text) : Literal{};
    if (literal.kind != Literal::Integer) {
      return fail("expected an integer, found '" + std::string(t.text) + "'",
                  t.line);
    }
    value = literal.value;
    return true;
  }
  void skipToSemicolon() {
    while (peek().kind != Token::End && !accept(';')) {
      next();
    }
  }
  void skipLine() {
    uint32_t line = peek().line;
    while (peek().kind != Token::End && peek().line == line) {
      next();
    }
  }

  std::vector<Token> tokens_;
  size_t pos_ = 0;
  std::string error_;
};

class OperandParser : protected TokenReader {
protected:
  bool parseOperand(AstOperand &o, unsigned depth);

private:
  bool elements(AstOperand &o, char close, unsigned depth);
};

} // namespace gmoe::emulator

#endif // GMOE_RUNTIME_EMULATOR_OPERANDPARSER_H
