#include "runtime/emulator/OperandParser.h"

#include <utility>

namespace gmoe::emulator {

bool OperandParser::parseOperand(AstOperand &o, unsigned depth) {
  if (depth > 4) {
    return fail("operands nest deeper than 4");
  }
  if (accept('{')) {
    o.kind = AstOperand::Vector;
    return elements(o, '}', depth);
  }
  if (accept('(')) {
    o.kind = AstOperand::List;
    return elements(o, ')', depth);
  }
  if (accept('[')) {
    o.kind = AstOperand::Address;
    AstOperand base;
    if (!parseOperand(base, depth + 1)) {
      return false;
    }
    if (base.kind == AstOperand::Name) {
      o.name = std::move(base.name);
    } else if (base.kind == AstOperand::Integer) {
      o.value = base.value;
    } else {
      return fail("unsupported address operand");
    }
    o.offset = base.offset;
    while (accept(',')) {
      AstOperand extra;
      if (!parseOperand(extra, depth + 1)) {
        return false;
      }
      o.children.push_back(std::move(extra));
    }
    return expect(']');
  }
  if (accept('!')) {
    if (!parseOperand(o, depth + 1)) {
      return false;
    }
    o.negated = !o.negated;
    return true;
  }
  bool minus = false, invert = false;
  while (peek().is('-') || peek().is('+') || peek().is('~')) {
    minus ^= peek().is('-');
    invert ^= peek().is('~');
    next();
  }
  Token t = next();
  if (t.kind == Token::Number) {
    Literal literal = parseLiteral(t.text);
    o.value = literal.value;
    switch (literal.kind) {
    case Literal::Invalid:
      return fail("invalid literal '" + std::string(t.text) + "'", t.line);
    case Literal::Integer:
      o.kind = AstOperand::Integer;
      o.value = minus ? uint64_t(0) - o.value : o.value;
      o.value = invert ? ~o.value : o.value;
      break;
    case Literal::Float32:
      o.kind = AstOperand::Float32;
      o.value ^= minus ? 0x80000000u : 0;
      break;
    case Literal::Float64:
      o.kind = AstOperand::Float64;
      o.value ^= minus ? uint64_t(1) << 63 : 0;
      break;
    }
    return true;
  }
  if (t.kind != Token::Name || minus || invert) {
    return fail("expected an operand, found '" + std::string(t.text) + "'",
                t.line);
  }
  if (t.text == "WARP_SZ") {
    o.kind = AstOperand::Integer;
    o.value = 32;
    return true;
  }
  o.kind = AstOperand::Name;
  o.name = std::string(t.text);
  if (accept('|')) {
    AstOperand first = std::move(o);
    o = AstOperand();
    o.kind = AstOperand::Pair;
    o.children.push_back(std::move(first));
    AstOperand second;
    if (!parseOperand(second, depth + 1)) {
      return false;
    }
    o.children.push_back(std::move(second));
    return true;
  }
  while (peek().is('+') || peek().is('-')) {
    bool negative = next().is('-');
    negative ^= accept('-');
    uint64_t value = 0;
    if (!number(value)) {
      return false;
    }
    o.offset =
        int64_t(uint64_t(o.offset) + (negative ? uint64_t(0) - value : value));
  }
  return true;
}

bool OperandParser::elements(AstOperand &o, char close, unsigned depth) {
  while (!accept(close)) {
    AstOperand element;
    if (!parseOperand(element, depth + 1)) {
      return false;
    }
    o.children.push_back(std::move(element));
    if (o.children.size() > 256) {
      return fail("more than 256 vector elements");
    }
    if (!accept(',') && !peek().is(close)) {
      return expect(close);
    }
  }
  return true;
}

} // namespace gmoe::emulator
