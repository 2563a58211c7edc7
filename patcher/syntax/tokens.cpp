#include "patcher/syntax/tokens.h"

#include <array>

namespace patcher {
namespace {

// Longest first. `>>` and `>>=` are missing on purpose (tokens.h).
constexpr std::array<std::string_view, 24> kPunctuators = {
    "...", "<=>", "<<=", "->*", "::", "->", "++", "--", "<<", "<=", ">=", "==",
    "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};

constexpr bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What a byte can be, looked up: every byte of every file passes here.
constexpr uint8_t kWord = 1;
constexpr uint8_t kAlone = 2;  // a token by itself whatever follows
constexpr auto kBytes = [] {
  std::array<uint8_t, 256> table{};
  for (unsigned u = 0; u < 256; ++u) {
    const auto c = static_cast<char>(u);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || is_digit(c) || c == '_' || c == '$' || u >= 0x80) table[u] |= kWord;
    if (std::string_view("()[]{},;?~").find(c) != std::string_view::npos) table[u] |= kAlone;
  }
  return table;
}();

bool is_word(char c) {
  return (kBytes[static_cast<unsigned char>(c)] & kWord) != 0;
}
bool is_alone(char c) {
  return (kBytes[static_cast<unsigned char>(c)] & kAlone) != 0;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) pos_ = 3;
    tokens_.reserve(text.size() / 6 + 8);
  }

  std::vector<Token> run() {
    while (pos_ < text_.size())
      step();
    end_directive();
    return std::move(tokens_);
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool sees(std::string_view s) const { return text_.substr(pos_).starts_with(s); }

  // Length of a backslash-newline at i, else 0.
  size_t splice(size_t i) const {
    if (at(i) != '\\') return 0;
    if (at(i + 1) == '\n') return 2;
    return at(i + 1) == '\r' && at(i + 2) == '\n' ? 3 : 0;
  }

  void step() {
    const char c = text_[pos_];
    if (c == '\n') return newline();
    if (is_blank(c)) return void(++pos_);
    if (const size_t n = splice(pos_)) return void(pos_ += n);
    if (c == '/' && (at(pos_ + 1) == '/' || at(pos_ + 1) == '*')) return comment();
    if (c == '#' && line_start_) return directive();
    const size_t begin = pos_;
    token_end();
    emit(begin, false);
  }

  void newline() {
    end_directive();
    line_start_ = true;
    ++pos_;
  }

  void end_directive() {
    if (!in_directive_) return;
    in_directive_ = false;
    expect_header_ = false;
    tokens_[last_code_].directive_end = true;
  }

  void directive() {
    in_directive_ = true;
    expect_header_ = false;
    ++pos_;
    emit(pos_ - 1, false);
  }

  void emit(size_t begin, bool comment) {
    if (!comment) {
      last_code_ = tokens_.size();
      line_start_ = false;
      const auto word = text_.substr(begin, pos_ - begin);
      expect_header_ = in_directive_ && (word == "include" || word == "import");
    }
    tokens_.push_back({.begin = static_cast<uint32_t>(begin),
                       .end = static_cast<uint32_t>(pos_),
                       .comment = comment,
                       .directive = in_directive_});
  }

  void comment() {
    const size_t begin = pos_;
    if (sees("/*")) {
      const size_t close = text_.find("*/", pos_ + 2);
      pos_ = close == std::string_view::npos ? text_.size() : close + 2;
    } else {
      to_line_end();
      while (pos_ > begin && is_blank(text_[pos_ - 1]))
        --pos_;
    }
    emit(begin, true);
  }

  void to_line_end() {
    while (pos_ < text_.size() && text_[pos_] != '\n') {
      const size_t n = splice(pos_);
      pos_ += n != 0 ? n : 1;
    }
  }

  void token_end() {
    const char c = text_[pos_];
    if (is_alone(c)) return void(++pos_);
    if (is_word(c)) return is_digit(c) ? number() : word();
    if (expect_header_ && c == '<') return header_name();
    if (c == '.' && is_digit(at(pos_ + 1))) return number();
    if (c == '"' || c == '\'') return quoted(c);
    for (std::string_view p : kPunctuators) {
      if (p.front() == c && sees(p)) return void(pos_ += p.size());
    }
    ++pos_;
  }

  void header_name() {
    while (pos_ < text_.size() && text_[pos_] != '\n' && text_[pos_] != '>')
      ++pos_;
    if (at(pos_) == '>') ++pos_;
  }

  void number() {
    while (pos_ < text_.size()) {
      const char c = text_[pos_];
      const char next = at(pos_ + 1);
      const bool exponent = std::string_view("eEpP").find(c) != std::string_view::npos;
      if (exponent && (next == '+' || next == '-')) {
        pos_ += 2;
      } else if (is_word(c) || c == '.' || (c == '\'' && is_word(next))) {
        ++pos_;
      } else {
        return;
      }
    }
  }

  void word() {
    const size_t begin = pos_;
    while (pos_ < text_.size()) {
      if (is_word(text_[pos_])) {
        ++pos_;
      } else if (const size_t n = splice(pos_); n != 0 && is_word(at(pos_ + n))) {
        pos_ += n;
      } else {
        break;
      }
    }
    const char quote = at(pos_);
    if (quote != '"' && quote != '\'') return;
    const auto prefix = text_.substr(begin, pos_ - begin);
    if (quote == '"' && prefix.ends_with('R') && prefix.size() <= 3) return raw_string();
    const bool encoding = prefix == "u8" || prefix == "u" || prefix == "U" || prefix == "L";
    if (encoding) quoted(quote);
  }

  void raw_string() {
    const size_t open = text_.find('(', pos_);
    if (open == std::string_view::npos) return quoted('"');
    const std::string close = ")" + std::string(text_.substr(pos_ + 1, open - pos_ - 1)) + "\"";
    const size_t found = text_.find(close, open);
    pos_ = found == std::string_view::npos ? text_.size() : found + close.size();
    suffix();
  }

  void quoted(char quote) {
    ++pos_;
    while (pos_ < text_.size() && text_[pos_] != quote && text_[pos_] != '\n') {
      const size_t n = splice(pos_);
      pos_ += n != 0 ? n : (text_[pos_] == '\\' ? 2 : 1);
    }
    pos_ = std::min(pos_, text_.size());
    if (at(pos_) != quote) return trim_line_end();
    ++pos_;
    suffix();
  }

  void trim_line_end() {
    while (is_blank(text_[pos_ - 1]))
      --pos_;
  }

  void suffix() {
    while (pos_ < text_.size() && is_word(text_[pos_]))
      ++pos_;
  }

  std::string_view text_;
  size_t pos_ = 0;
  bool line_start_ = true;
  bool in_directive_ = false;
  bool expect_header_ = false;
  size_t last_code_ = 0;
  std::vector<Token> tokens_;
};

std::vector<Token> line_tokens(std::string_view text) {
  std::vector<Token> tokens;
  size_t pos = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (pos < text.size()) {
    const size_t end = std::min(text.find('\n', pos), text.size());
    size_t first = pos;
    size_t last = end;
    while (first < last && is_blank(text[first]))
      ++first;
    while (last > first && is_blank(text[last - 1]))
      --last;
    if (first < last) {
      tokens.push_back({.begin = static_cast<uint32_t>(first), .end = static_cast<uint32_t>(last)});
    }
    pos = end + 1;
  }
  return tokens;
}

}  // namespace

std::vector<Token> tokenize(std::string_view text, Language language) {
  return language == Language::kLines ? line_tokens(text) : Lexer(text).run();
}

bool same_token(const Token& a, std::string_view a_source, const Token& b,
                std::string_view b_source) {
  return a.directive == b.directive && a.directive_end == b.directive_end &&
         a.text(a_source) == b.text(b_source);
}

std::string squeeze(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool space = is_blank(c) || c == '\n';
    if (!space) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ')
    out.pop_back();
  return out;
}

std::string excerpt(std::string_view text) {
  constexpr size_t kMostBytes = 200;
  constexpr size_t kMostRead = 4 * kMostBytes;  // of a line of a megabyte the rest is not looked at
  std::string out = squeeze(text.substr(0, kMostRead));
  if (out.size() <= kMostBytes && text.size() <= kMostRead) return out;
  out.resize(std::min(out.size(), kMostBytes));
  const auto last = [&] { return out.empty() ? 0U : static_cast<unsigned char>(out.back()); };
  while ((last() & 0xc0U) == 0x80U)  // a letter may have been cut
    out.pop_back();
  if (last() >= 0xc0U) out.pop_back();
  return out + "...";
}

}  // namespace patcher
