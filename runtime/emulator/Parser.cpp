#include "runtime/emulator/Parser.h"
#include "runtime/emulator/OperandParser.h"

#include <algorithm>
#include <utility>

namespace gmoe::emulator {
namespace {

constexpr uint64_t kMaximumVariableBytes = uint64_t(1) << 32;

struct TypeInfo {
  uint32_t bytes = 0;
  bool predicate = false;
};

bool fundamentalType(std::string_view name, TypeInfo &type) {
  static const std::pair<const char *, uint32_t> kTypes[] = {
      {".b8", 1},  {".u8", 1},  {".s8", 1},    {".b16", 2},    {".u16", 2},
      {".s16", 2}, {".f16", 2}, {".bf16", 2},  {".b32", 4},    {".u32", 4},
      {".s32", 4}, {".f32", 4}, {".f16x2", 4}, {".bf16x2", 4}, {".b64", 8},
      {".u64", 8}, {".s64", 8}, {".f64", 8},   {".f32x2", 8},  {".b128", 16}};
  if (name == ".pred") {
    type = {4, true};
    return true;
  }
  for (const auto &[spelling, bytes] : kTypes) {
    if (name == spelling) {
      type = {bytes, false};
      return true;
    }
  }
  return false;
}

class Parser : private OperandParser {
public:
  Parser(std::string_view source) : source_(source) {}

  Expected<AstModule> run() {
    tokens_ = tokenize(source_, error_);
    if (error_.empty()) {
      parseTop();
    }
    if (!error_.empty()) {
      return invalidArgument(error_);
    }
    return std::move(module_);
  }

private:
  void parseTop() {
    while (error_.empty() && peek().kind != Token::End) {
      if (accept(';')) {
        continue;
      }
      if (peek().kind != Token::Directive) {
        fail("expected a directive, found '" + std::string(peek().text) + "'");
        return;
      }
      std::string_view text = peek().text;
      if (text == ".version") {
        next();
        module_.version = std::string(next().text);
      } else if (text == ".target") {
        next();
        module_.target = std::string(next().text);
        while (accept(',')) {
          next();
        }
      } else if (text == ".address_size") {
        next();
        uint64_t bits = 0;
        if (number(bits) && bits != 64) {
          fail("address size is " + std::to_string(bits) + ", must be 64");
        }
      } else if (text == ".file") {
        parseFile();
      } else if (text == ".loc") {
        parseLocation();
      } else if (text == ".section") {
        skipSection();
      } else if (text == ".alias" || text == ".pragma") {
        skipToSemicolon();
      } else {
        parseDeclaration();
      }
    }
  }

  /// `.file N "name"`
  void parseFile() {
    next();
    Literal n = parseLiteral(peek().text);
    if (n.kind == Literal::Integer && n.value < kMaximumFiles &&
        peek(1).kind == Token::Text) {
      if (module_.files.size() <= n.value) {
        module_.files.resize(n.value + 1);
      }
      std::string_view name = peek(1).text;
      while (!name.empty() && (name.front() == '"' || name.back() == '"')) {
        name.remove_prefix(name.front() == '"');
        name.remove_suffix(!name.empty() && name.back() == '"');
      }
      module_.files[n.value] = std::string(name);
    }
    skipLine();
  }
  /// `.loc FILE LINE COLUMN`, which later instructions come from.
  void parseLocation() {
    uint32_t line = peek().line;
    next();
    uint64_t values[3] = {};
    for (uint64_t &v : values) {
      if (peek().line != line) {
        return;
      }
      Literal n = parseLiteral(peek().text);
      v = n.kind == Literal::Integer ? n.value : 0;
      next();
    }
    location_ = {uint32_t(values[0]), uint32_t(values[1]), uint32_t(values[2])};
    if (peek().line == line) {
      skipLine();
    }
  }

  void skipSection() {
    while (peek().kind != Token::End && !peek().is('{')) {
      next();
    }
    unsigned depth = 0;
    while (peek().kind != Token::End) {
      Token t = next();
      depth += t.is('{');
      if (t.is('}') && --depth == 0) {
        return;
      }
    }
    fail("section is not closed");
  }

  void parseDeclaration() {
    bool isExtern = false;
    for (;;) {
      if (directive(".visible") || directive(".weak") || directive(".common")) {
        continue;
      }
      if (directive(".extern")) {
        isExtern = true;
        continue;
      }
      break;
    }
    if (peek().text == ".entry" || peek().text == ".func") {
      parseFunction();
      return;
    }
    std::vector<AstVariable> variables;
    if (!parseVariables(variables)) {
      return;
    }
    for (AstVariable &v : variables) {
      v.isExtern = isExtern;
      module_.variables.push_back(std::move(v));
    }
  }

  bool spaceDirective(AstVariable &v) {
    static const std::pair<const char *, StateSpace> kSpaces[] = {
        {".global", StateSpace::Global},
        {".shared", StateSpace::Shared},
        {".const", StateSpace::Const},
        {".local", StateSpace::Local},
        {".param", StateSpace::Param}};
    for (const auto &[spelling, space] : kSpaces) {
      if (peek().kind == Token::Directive && peek().text == spelling) {
        v.space = space;
        next();
        return true;
      }
    }
    if (directive(".reg")) {
      v.isRegister = true;
      return true;
    }
    return false;
  }

  /// The common part: space, alignment, vector, type, and pointer attributes.
  bool variablePrefix(AstVariable &v) {
    v.line = peek().line;
    std::string found(peek().text);
    if (!spaceDirective(v)) {
      return fail("unsupported directive '" + found + "'");
    }
    uint32_t vector = 1;
    TypeInfo type;
    while (peek().kind == Token::Directive) {
      std::string_view text = peek().text;
      uint64_t value = 0;
      if (text == ".align") {
        next();
        if (!number(value)) {
          return false;
        }
        if (value == 0 || value > 4096 || (value & (value - 1))) {
          return fail("alignment is " + std::to_string(value) +
                      ", must be a power of two up to 4096");
        }
        v.align = uint32_t(value);
      } else if (text == ".v2" || text == ".v4" || text == ".v8") {
        next();
        vector = uint32_t(text[2] - '0');
      } else if (text == ".attribute") {
        next();
        while (peek().kind != Token::End && !accept(')')) {
          next();
        }
      } else if (fundamentalType(text, type)) {
        next();
        break;
      } else {
        return fail("unsupported directive '" + std::string(text) + "'");
      }
    }
    if (type.bytes == 0) {
      return fail("expected a type, found '" + std::string(peek().text) + "'");
    }
    v.isPredicate = type.predicate;
    v.elementBytes = type.bytes * vector;
    uint32_t typeAlign = v.elementBytes;
    // Parameters may carry `.ptr .global .align 16` after the type.
    while (peek().kind == Token::Directive) {
      std::string_view text = peek().text;
      if (text == ".ptr" || text == ".global" || text == ".shared" ||
          text == ".const" || text == ".local") {
        next();
      } else if (text == ".align") {
        next();
        uint64_t ignored;
        if (!number(ignored)) {
          return false;
        }
      } else {
        return fail("unsupported directive '" + std::string(text) + "'");
      }
    }
    if (v.align == 0) {
      v.align = typeAlign;
    }
    return true;
  }

  bool variableName(AstVariable &v) {
    Token name = next();
    if (name.kind != Token::Name) {
      return fail("expected a name, found '" + std::string(name.text) + "'",
                  name.line);
    }
    v.name = std::string(name.text);
    v.bytes = v.elementBytes;
    if (accept('<')) {
      uint64_t count = 0;
      if (!number(count) || !expect('>')) {
        return false;
      }
      if (count == 0 || count > 1000000) {
        return fail("register count is " + std::to_string(count) +
                    ", limit 1000000");
      }
      v.count = uint32_t(count);
    }
    while (accept('[')) {
      uint64_t extent = 0;
      if (!peek().is(']') && !number(extent)) {
        return false;
      }
      if (!expect(']')) {
        return false;
      }
      if (extent > kMaximumVariableBytes ||
          v.bytes * extent > kMaximumVariableBytes) {
        return fail("variable '" + v.name + "' is larger than " +
                    std::to_string(kMaximumVariableBytes) + " bytes");
      }
      v.bytes *= extent;
    }
    return true;
  }

  bool initializer(AstVariable &v, uint32_t depth) {
    if (depth > 8) {
      return fail("initializer nests deeper than 8");
    }
    if (accept('{')) {
      while (!accept('}')) {
        if (!initializer(v, depth + 1)) {
          return false;
        }
        if (!accept(',') && !peek().is('}')) {
          return expect('}');
        }
      }
      return true;
    }
    bool minus = accept('-');
    Token t = next();
    uint64_t value = 0;
    if (t.kind == Token::Number) {
      Literal literal = parseLiteral(t.text);
      if (literal.kind == Literal::Invalid) {
        return fail("invalid literal '" + std::string(t.text) + "'", t.line);
      }
      value = minus ? uint64_t(-int64_t(literal.value)) : literal.value;
    } else if (t.kind == Token::Name) {
      std::string symbol(t.text);
      if (symbol == "generic") {
        if (!expect('(')) {
          return false;
        }
        symbol = std::string(next().text);
        if (!expect(')')) {
          return false;
        }
      }
      if (v.elementBytes != 8) {
        return fail("an address needs an 8-byte element");
      }
      if (accept('+')) {
        if (!number(value)) {
          return false;
        }
      }
      v.relocations.emplace_back(v.data.size(), symbol);
    } else {
      return fail("unsupported initializer '" + std::string(t.text) + "'",
                  t.line);
    }
    if (v.data.size() + v.elementBytes > std::max<uint64_t>(v.bytes, 16)) {
      return fail("initializer of '" + v.name +
                  "' is longer than the variable");
    }
    for (uint32_t b = 0; b < v.elementBytes; ++b) {
      v.data.push_back(b < 8 ? uint8_t(value >> (8 * b)) : 0);
    }
    return true;
  }

  bool parseVariables(std::vector<AstVariable> &out) {
    AstVariable prefix;
    if (!variablePrefix(prefix)) {
      return false;
    }
    do {
      AstVariable v = prefix;
      if (!variableName(v)) {
        return false;
      }
      if (accept('=') && !initializer(v, 0)) {
        return false;
      }
      out.push_back(std::move(v));
    } while (accept(','));
    return expect(';');
  }

  bool parameterList(std::vector<AstVariable> &out) {
    if (!expect('(')) {
      return false;
    }
    while (!accept(')')) {
      AstVariable v;
      if (!variablePrefix(v)) {
        return false;
      }
      if (peek().text == "_") {
        next();
      } else if (!variableName(v)) {
        return false;
      }
      out.push_back(std::move(v));
      if (!accept(',') && !peek().is(')')) {
        return expect(')');
      }
    }
    return true;
  }

  bool triple(std::array<uint32_t, 3> &out) {
    for (unsigned i = 0; i < 3; ++i) {
      uint64_t value = 1;
      if ((i == 0 || accept(',')) && !number(value)) {
        return false;
      }
      out[i] = uint32_t(std::min<uint64_t>(value, UINT32_MAX));
    }
    return true;
  }

  void parseFunction() {
    AstFunction f;
    f.line = peek().line;
    f.isEntry = next().text == ".entry";
    if (!f.isEntry && peek().is('(') && !parameterList(f.results)) {
      return;
    }
    Token name = next();
    if (name.kind != Token::Name) {
      fail("expected a function name, found '" + std::string(name.text) + "'",
           name.line);
      return;
    }
    f.name = std::string(name.text);
    location_ = SourceLocation();
    if (peek().is('(') && !parameterList(f.parameters)) {
      return;
    }
    while (peek().kind == Token::Directive) {
      Token t = next();
      uint64_t value = 0;
      if (t.text == ".reqntid") {
        triple(f.requiredThreads);
      } else if (t.text == ".maxntid") {
        triple(f.maximumThreads);
      } else if (t.text == ".reqnctapercluster") {
        triple(f.cluster);
      } else if (t.text == ".minnctapersm" || t.text == ".maxnctapersm" ||
                 t.text == ".abi_preserve" ||
                 t.text == ".abi_preserve_control") {
        number(value);
      } else if (t.text == ".maxnreg") {
        number(value);
        f.maximumRegisters = uint32_t(value);
      } else if (t.text == ".maxclusterrank") {
        number(value);
        f.maximumClusterRank = uint32_t(value);
      } else if (t.text == ".explicitcluster") {
        f.explicitCluster = true;
      } else if (t.text == ".pragma") {
        skipToSemicolon();
      } else if (t.text != ".noreturn" && t.text != ".blocksareclusters") {
        fail("unsupported directive '" + std::string(t.text) + "'", t.line);
      }
      if (!error_.empty()) {
        return;
      }
    }
    if (accept(';')) {
      module_.functions.push_back(std::move(f));
      return;
    }
    f.hasBody = true;
    if (!expect('{')) {
      return;
    }
    unsigned depth = 1;
    while (depth > 0) {
      if (!parseStatement(f, depth)) {
        return;
      }
    }
    module_.functions.push_back(std::move(f));
  }

  bool parseStatement(AstFunction &f, unsigned &depth) {
    const Token t = peek();
    AstStatement s;
    s.line = t.line;
    s.location = location_;
    if (t.kind == Token::End) {
      return fail("function '" + f.name + "' is not closed");
    }
    if (accept(';')) {
      return true;
    }
    if (accept('{')) {
      s.kind = AstStatement::Open;
      ++depth;
      f.body.push_back(std::move(s));
      return true;
    }
    if (accept('}')) {
      if (--depth > 0) {
        s.kind = AstStatement::Close;
        f.body.push_back(std::move(s));
      }
      return true;
    }
    if (t.kind == Token::Directive) {
      return bodyDirective(f, t);
    }
    if (t.kind == Token::Name && peek(1).is(':')) {
      next();
      next();
      s.name = std::string(t.text);
      s.kind = AstStatement::Label;
      if (directive(".branchtargets")) {
        s.kind = AstStatement::Targets;
        do {
          AstOperand target;
          target.name = std::string(next().text);
          s.operands.push_back(std::move(target));
        } while (accept(','));
        f.body.push_back(std::move(s));
        return expect(';');
      }
      if (directive(".callprototype") || directive(".calltargets")) {
        skipToSemicolon();
        return true;
      }
      f.body.push_back(std::move(s));
      return true;
    }
    return parseInstruction(f, s);
  }

  bool bodyDirective(AstFunction &f, const Token &t) {
    if (t.text == ".loc") {
      parseLocation();
      return true;
    }
    if (t.text == ".file") {
      parseFile();
      return true;
    }
    if (t.text == ".pragma") {
      skipToSemicolon();
      return true;
    }
    std::vector<AstVariable> variables;
    if (!parseVariables(variables)) {
      return false;
    }
    for (AstVariable &v : variables) {
      AstStatement s;
      s.kind = AstStatement::Declaration;
      s.line = t.line;
      s.variable = std::move(v);
      f.body.push_back(std::move(s));
    }
    return true;
  }

  bool parseInstruction(AstFunction &f, AstStatement &s) {
    if (accept('@')) {
      s.guarded = true;
      s.guardNegated = accept('!');
      s.guard = std::string(next().text);
    }
    Token name = next();
    if (name.kind != Token::Name) {
      return fail("expected an instruction, found '" + std::string(name.text) +
                      "'",
                  name.line);
    }
    s.name = std::string(name.text);
    const char *begin = name.text.data();
    if (!peek().is(';')) {
      do {
        AstOperand operand;
        if (!parseOperand(operand, 0)) {
          return false;
        }
        s.operands.push_back(std::move(operand));
        if (s.operands.size() > 16) {
          return fail("more than 16 operands");
        }
      } while (accept(','));
    }
    const char *end = peek().text.data();
    if (!expect(';')) {
      return false;
    }
    s.text = std::string_view(begin, size_t(end - begin));
    f.body.push_back(std::move(s));
    return true;
  }

  std::string_view source_;
  static constexpr uint64_t kMaximumFiles = 4096;
  AstModule module_;
  SourceLocation location_;
};

} // namespace

Expected<AstModule> parseModule(std::string_view source) {
  return Parser(source).run();
}

} // namespace gmoe::emulator
