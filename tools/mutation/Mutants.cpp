#include "tools/mutation/Mutants.h"

#include <algorithm>

namespace gmoe::mutation {
namespace {

/// A statement: guard, mnemonic and operands, without the semicolon.
struct Statement {
  size_t begin = 0, end = 0; // end: after the semicolon
  uint32_t line = 0;
  std::string guard, name;
  std::vector<std::string> operands;

  bool is(std::string_view prefix) const {
    return name.compare(0, prefix.size(), prefix) == 0;
  }
  bool has(std::string_view part) const {
    return name.find(part) != std::string::npos;
  }
};

bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n'; }

/// Splits at commas outside brackets.
std::vector<std::string> splitOperands(std::string_view text) {
  std::vector<std::string> result;
  std::string current;
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{' || c == '(';
    depth -= c == ']' || c == '}' || c == ')';
    if (c == ',' && depth == 0) {
      result.push_back(current);
      current.clear();
    } else if (!isSpace(c) || (!current.empty() && current.back() != ' ')) {
      current += isSpace(c) ? ' ' : c;
    }
  }
  while (!current.empty() && current.back() == ' ') {
    current.pop_back();
  }
  if (!current.empty()) {
    result.push_back(current);
  }
  return result;
}

/// The PTX as a list of statements and block boundaries (labels, braces of
/// functions and branches end a run of straight code).
class Scanner {
public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Statement> run(std::vector<size_t> &blocks) {
    std::vector<Statement> result;
    while (skip()) {
      char c = text_[at_];
      if (c == '{' || c == '}') {
        ++at_;
        continue;
      }
      size_t begin = at_;
      uint32_t line = line_;
      // A vector operand's braces belong to its statement.
      while (at_ < text_.size() && text_[at_] != ';' && text_[at_] != ':' &&
             !(text_[at_] == '{' && startsBlock(begin))) {
        advance();
        // "::" is part of a name.
        if (at_ + 1 < text_.size() && text_[at_] == ':' &&
            text_[at_ + 1] == ':') {
          advance();
          advance();
        }
      }
      if (at_ >= text_.size()) {
        break;
      }
      if (text_[at_] != ';') {
        blocks.push_back(result.size());
        at_ += text_[at_] == ':';
        continue;
      }
      ++at_;
      Statement s = parse(begin, at_ - 1);
      s.begin = begin;
      s.end = at_;
      s.line = line;
      if (s.is("bra") || s.is("ret") || s.is("exit") || s.is("brx")) {
        blocks.push_back(result.size() + 1);
      }
      result.push_back(std::move(s));
    }
    return result;
  }

private:
  void advance() {
    line_ += text_[at_] == '\n';
    ++at_;
  }
  /// Skips white space, comments and what ends with its line; false at the
  /// end.
  bool skip() {
    while (at_ < text_.size()) {
      if (isSpace(text_[at_]) || text_[at_] == '\r') {
        advance();
      } else if (text_.substr(at_, 2) == "//" ||
                 text_.substr(at_, 5) == ".loc\t" ||
                 text_.substr(at_, 5) == ".loc " ||
                 text_.substr(at_, 5) == ".file") {
        while (at_ < text_.size() && text_[at_] != '\n') {
          ++at_;
        }
      } else if (text_.substr(at_, 2) == "/*") {
        size_t end = text_.find("*/", at_ + 2);
        end = end == std::string_view::npos ? text_.size() : end + 2;
        while (at_ < end) {
          advance();
        }
      } else {
        return true;
      }
    }
    return false;
  }
  /// A brace right after a directive or the parameter list opens a body.
  bool startsBlock(size_t begin) const {
    return text_[begin] == '.' || text_[begin] == '{';
  }
  Statement parse(size_t begin, size_t end) const {
    Statement s;
    std::string_view rest = text_.substr(begin, end - begin);
    auto word = [&] {
      size_t k = 0;
      while (k < rest.size() && !isSpace(rest[k])) {
        ++k;
      }
      std::string w(rest.substr(0, k));
      while (k < rest.size() && isSpace(rest[k])) {
        ++k;
      }
      rest.remove_prefix(k);
      return w;
    };
    if (!rest.empty() && rest[0] == '@') {
      s.guard = word() + " ";
    }
    s.name = word();
    s.operands = splitOperands(rest);
    return s;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

class Finder {
public:
  explicit Finder(std::string_view ptx) : ptx_(ptx) {
    statements_ = Scanner(ptx).run(blocks_);
  }

  std::vector<Mutant> run() {
    for (size_t k = 0; k < statements_.size(); ++k) {
      mutate(k);
    }
    return std::move(result_);
  }

private:
  std::string textOf(const Statement &s) const {
    std::string text = s.guard + s.name;
    for (size_t k = 0; k < s.operands.size(); ++k) {
      text += (k ? ", " : " ") + s.operands[k];
    }
    return text + ";";
  }
  void add(size_t k, const std::string &change, const std::string &text) {
    const Statement &s = statements_[k];
    Mutant m;
    m.change = change;
    m.instruction = textOf(s);
    m.line = s.line;
    m.begin = s.begin;
    m.length = s.end - s.begin;
    m.text = text;
    result_.push_back(std::move(m));
  }
  /// The statement with operand `n` replaced by `op` of it and `value`.
  std::string adjusted(const Statement &s, size_t n, const char *op,
                       const std::string &value) const {
    Statement changed = s;
    std::string old = changed.operands[n];
    changed.operands[n] = "%gmoe_mutant";
    return std::string("{ .reg .b32 %gmoe_mutant; ") + op + " %gmoe_mutant, " +
           old + ", " + value + "; " + textOf(changed) + " }";
  }
  /// Moves statement k before the last of `targets` in its straight run.
  void early(size_t k, std::initializer_list<std::string_view> targets) {
    const Statement &s = statements_[k];
    for (size_t n = k; n-- > 0 && !endsBlock(n + 1);) {
      const Statement &o = statements_[n];
      for (std::string_view target : targets) {
        if (o.is(target)) {
          add(k,
              "moved before '" + o.name + "' of line " + std::to_string(o.line),
              "");
          result_.back().earlyAt = o.begin;
          result_.back().early = textOf(s) + " ";
          return;
        }
      }
      // Its address must not be computed after the new place.
      if (!o.operands.empty() && uses(s, o.operands[0])) {
        return;
      }
    }
  }
  bool endsBlock(size_t k) const {
    return std::find(blocks_.begin(), blocks_.end(), k) != blocks_.end();
  }
  static bool uses(const Statement &s, const std::string &name) {
    if (s.guard.find(name) != std::string::npos) {
      return true;
    }
    for (const std::string &o : s.operands) {
      size_t at = o.find(name);
      while (at != std::string::npos) {
        size_t end = at + name.size();
        if (end >= o.size() ||
            !(std::isalnum((unsigned char)o[end]) || o[end] == '_')) {
          return true;
        }
        at = o.find(name, end);
      }
    }
    return false;
  }

  void mutate(size_t k) {
    const Statement &s = statements_[k];
    size_t n = s.operands.size();
    if ((s.is("mbarrier.try_wait") || s.is("mbarrier.test_wait")) && n >= 3) {
      add(k, "removed", s.guard + "setp.eq.u32 " + s.operands[0] + ", 0, 0;");
      if (s.has(".parity")) {
        add(k, "parity flipped", adjusted(s, 2, "xor.b32", "1"));
      }
    } else if (s.is("mbarrier.arrive.expect_tx") ||
               s.is("mbarrier.expect_tx")) {
      add(k, "16 bytes more", adjusted(s, n - 1, "add.u32", "16"));
      add(k, "16 bytes less", adjusted(s, n - 1, "sub.u32", "16"));
      if (s.is("mbarrier.arrive")) {
        Statement plain = s;
        plain.name.erase(plain.name.find(".expect_tx"), 10);
        plain.operands.pop_back();
        add(k, "bytes not expected", textOf(plain));
      }
      add(k, "removed", "");
    } else if (s.is("mbarrier.arrive")) {
      add(k, "removed", "");
      add(k, "twice", textOf(s) + " " + textOf(s));
      early(k, {"tcgen05.wait::ld", "tcgen05.ld", "ld.shared"});
    } else if (s.is("tcgen05.commit")) {
      add(k, "removed", "");
      early(k, {"tcgen05.mma"});
    } else if (s.is("fence.") || s.is("membar") || s.is("tcgen05.fence") ||
               s.is("tcgen05.wait") || s.is("wgmma.wait_group")) {
      add(k, "removed", "");
    } else if (s.is("bar.") || s.is("barrier.")) {
      add(k, "removed", "");
    } else if (s.is("cp.async.bulk.wait_group")) {
      add(k, "removed", "");
      if (!s.has(".read")) {
        Statement weaker = s;
        weaker.name += ".read";
        add(k, "only of reads", textOf(weaker));
      }
    }
  }

  std::string_view ptx_;
  std::vector<Statement> statements_;
  std::vector<size_t> blocks_;
  std::vector<Mutant> result_;
};

} // namespace

std::string Mutant::apply(std::string_view ptx) const {
  std::string result(ptx.substr(0, begin));
  result += text;
  result += ptx.substr(begin + length);
  if (!early.empty()) {
    result.insert(earlyAt, early);
  }
  return result;
}

std::vector<Mutant> findMutants(std::string_view ptx) {
  return Finder(ptx).run();
}

} // namespace gmoe::mutation
