#include "runtime/emulator/Lexer.h"

#include <cstdlib>
#include <cstring>

namespace gmoe::emulator {
namespace {

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '%';
}
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) { return isLetter(c) || isDigit(c); }

int hexDigit(char c) {
  if (isDigit(c)) {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

} // namespace

std::vector<Token> tokenize(std::string_view s, std::string &error) {
  std::vector<Token> tokens;
  uint32_t line = 1;
  size_t i = 0, n = s.size();
  auto at = [&](size_t k) { return k < n ? s[k] : '\0'; };
  while (i < n) {
    char c = s[i];
    if (c == '\n') {
      ++line;
      ++i;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\0') {
      ++i;
      continue;
    }
    if (c == '/' && at(i + 1) == '/') {
      while (i < n && s[i] != '\n') {
        ++i;
      }
      continue;
    }
    if (c == '/' && at(i + 1) == '*') {
      uint32_t start = line;
      i += 2;
      while (i < n && !(s[i] == '*' && at(i + 1) == '/')) {
        line += s[i] == '\n';
        ++i;
      }
      if (i >= n) {
        error = "line " + std::to_string(start) + ": comment is not closed";
        return {};
      }
      i += 2;
      continue;
    }
    size_t begin = i;
    Token token;
    token.line = line;
    if (isLetter(c) || (c == '.' && isLetter(at(i + 1)))) {
      token.kind = c == '.' ? Token::Directive : Token::Name;
      ++i;
      while (i < n) {
        if (isWord(s[i]) || (s[i] == '.' && isWord(at(i + 1)))) {
          ++i;
        } else if (s[i] == ':' && at(i + 1) == ':' && isWord(at(i + 2)) &&
                   token.kind == Token::Name) {
          i += 2;
        } else {
          break;
        }
      }
    } else if (isDigit(c)) {
      token.kind = Token::Number;
      bool prefixed = c == '0' && isLetter(at(i + 1));
      while (i < n && (isWord(s[i]) || s[i] == '.' ||
                       (!prefixed && (s[i] == '+' || s[i] == '-') &&
                        (s[i - 1] == 'e' || s[i - 1] == 'E')))) {
        ++i;
      }
    } else if (c == '"') {
      token.kind = Token::Text;
      ++i;
      while (i < n && s[i] != '"' && s[i] != '\n') {
        ++i;
      }
      if (at(i) != '"') {
        error = "line " + std::to_string(line) + ": string is not closed";
        return {};
      }
      ++i;
    } else if (std::strchr("{}[]()<>,;:+-|!@=~*", c)) {
      token.kind = Token::Symbol;
      ++i;
    } else {
      error = "line " + std::to_string(line) +
              ": unexpected character with code " +
              std::to_string(int(uint8_t(c)));
      return {};
    }
    token.text = s.substr(begin, i - begin);
    tokens.push_back(token);
  }
  Token end;
  end.line = line;
  end.text = s.substr(n);
  tokens.push_back(end);
  return tokens;
}

Literal parseLiteral(std::string_view text) {
  Literal result;
  if (text.size() > 2 && text[0] == '0' && std::strchr("fFdD", text[1])) {
    bool isDouble = text[1] == 'd' || text[1] == 'D';
    if (text.size() != (isDouble ? 18u : 10u)) {
      return result;
    }
    for (char c : text.substr(2)) {
      int digit = hexDigit(c);
      if (digit < 0) {
        return result;
      }
      result.value = result.value << 4 | uint64_t(digit);
    }
    result.kind = isDouble ? Literal::Float64 : Literal::Float32;
    return result;
  }
  unsigned base = 10;
  std::string_view digits = text;
  if (text.size() > 1 && text[0] == '0') {
    if (text[1] == 'x' || text[1] == 'X') {
      base = 16;
      digits.remove_prefix(2);
    } else if (text[1] == 'b' || text[1] == 'B') {
      base = 2;
      digits.remove_prefix(2);
    } else if (text.find('.') == text.npos) {
      base = 8;
      digits.remove_prefix(1);
    }
  }
  if (!digits.empty() && digits.back() == 'U') {
    digits.remove_suffix(1);
  }
  if (base == 10 && digits.find_first_of(".eE") != digits.npos) {
    std::string copy(digits);
    char *end = nullptr;
    double value = std::strtod(copy.c_str(), &end);
    if (end != copy.c_str() + copy.size()) {
      return result;
    }
    std::memcpy(&result.value, &value, 8);
    result.kind = Literal::Float64;
    return result;
  }
  if (digits.empty()) {
    return result;
  }
  for (char c : digits) {
    int digit = hexDigit(c);
    if (digit < 0 || unsigned(digit) >= base) {
      return result;
    }
    result.value = result.value * base + uint64_t(digit);
  }
  result.kind = Literal::Integer;
  return result;
}

} // namespace gmoe::emulator
