#include "patcher/syntax/source.h"

#include <fmt/format.h>

#include <algorithm>

namespace patcher {
namespace {

bool has_line_starting(std::string_view text, std::string_view start) {
  for (size_t i = text.find(start); i != std::string_view::npos; i = text.find(start, i + 1)) {
    if (i == 0 || text[i - 1] == '\n') return true;
  }
  return false;
}

std::string reject(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return "the file is UTF-16";
  if (bytes.find('\0') != std::string_view::npos) return "the file is binary (it holds a NUL byte)";
  if (has_line_starting(bytes, "<<<<<<< ") && has_line_starting(bytes, ">>>>>>> ") &&
      has_line_starting(bytes, "=======")) {
    return "the file holds unresolved merge markers";
  }
  return {};
}

std::string beyond_budget() {
  return fmt::format("the file is beyond the parse budget ({})", ParseBudget{}.display());
}

// Of each scope the one that it is in.
std::vector<std::optional<size_t>> scopes_around(const std::vector<Scope>& scopes) {
  std::vector<std::optional<size_t>> out;
  for (size_t i = 0; i < scopes.size(); ++i) {
    std::optional<size_t> around;
    if (i > 0) around = i - 1;
    while (around && scopes[*around].end <= scopes[i].begin)
      around = out[*around];
    out.push_back(around);
  }
  return out;
}

// A declaration begins with the macros before it, although the grammar was not shown them.
void begin_with_attributes(const std::vector<Reading::Blank>& blanks, std::string_view text,
                           std::vector<Scope>& scopes) {
  if (blanks.empty()) return;
  for (Scope& scope : scopes) {
    auto next = std::lower_bound(blanks.begin(), blanks.end(), scope.begin,
                                 [](const auto& b, uint32_t byte) { return b.begin < byte; });
    while (next != blanks.begin() && (--next)->attached && next->end <= scope.begin) {
      const std::string_view between = text.substr(next->end, scope.begin - next->end);
      if (between.find_first_not_of(" \t\r\n") != between.npos) break;
      scope.begin = next->begin;
    }
  }
}

class ConditionalFinder {
 public:
  ConditionalFinder(std::string_view text, const std::vector<Token>& tokens)
      : text_(text), tokens_(tokens) {}

  std::vector<ConditionalBranch> run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].directive && text(i) == "#") directive(i);
    }
    while (!open_.empty())
      close(static_cast<uint32_t>(text_.size()));
    return std::move(found_);
  }

 private:
  struct Open {
    size_t branch;
    std::string condition;
  };

  std::string_view text(size_t i) const { return tokens_[i].text(text_); }

  void directive(size_t hash) {
    if (tokens_[hash].directive_end || hash + 1 >= tokens_.size()) return;
    const std::string_view word = text(hash + 1);
    const bool opens = word == "if" || word == "ifdef" || word == "ifndef";
    const bool turns = word == "else" || word == "elif" || word == "elifdef" || word == "elifndef";
    if (!opens && !turns && word != "endif") return;
    std::string condition;
    size_t last = hash + 1;
    while (!tokens_[last].directive_end && last + 1 < tokens_.size()) {
      ++last;
      if (!tokens_[last].comment)
        condition += (condition.empty() ? "" : " ") + std::string(text(last));
    }
    if (!opens && !open_.empty()) {
      if (word == "else") condition = open_.back().condition;
      close(tokens_[hash].begin);
    }
    if (word == "endif") return;
    const std::string name =
        word == "else" ? "#else of " + condition : "#" + std::string(word) + " " + condition;
    const auto around =
        open_.empty() ? std::optional<size_t>() : std::optional(open_.back().branch);
    open_.push_back({found_.size(), condition});
    found_.push_back({.begin = tokens_[last].end, .end = 0, .name = name, .around = around});
  }

  void close(uint32_t end) {
    found_[open_.back().branch].end = end;
    open_.pop_back();
  }

  std::string_view text_;
  const std::vector<Token>& tokens_;
  std::vector<Open> open_;
  std::vector<ConditionalBranch> found_;
};

}  // namespace

Source::Source(std::string path, std::string bytes)
    : path_(std::move(path)), bytes_(std::move(bytes)), language_(choose_language(path_, bytes_)) {}

std::shared_ptr<const Source> Source::edited(const std::shared_ptr<const Source>& old,
                                             std::vector<ByteEdit> edits) {
  std::string bytes = apply_edits(old->bytes_, edits);
  if (auto earlier = old->made_from_.lock(); earlier && earlier->bytes_ == bytes) return earlier;
  auto next = std::make_shared<Source>(old->path_, std::move(bytes));
  next->made_from_ = old;
  if (old->has_tree() && old->language_ == next->language_) {
    next->old_ = old;
    next->edits_ = std::move(edits);
  }
  return next;
}

const std::vector<Token>& Source::tokens() const {
  if (!tokens_) tokens_ = tokenize(bytes_, language_);
  return *tokens_;
}

const std::vector<uint32_t>& Source::code() const {
  if (code_) return *code_;
  const std::vector<Token>& all = tokens();
  std::vector<uint32_t> code;
  code.reserve(all.size());
  for (uint32_t i = 0; i < all.size(); ++i) {
    if (!all[i].comment) code.push_back(i);
  }
  code_ = std::move(code);
  return *code_;
}

const CodeIndex* Source::index_for(size_t tokens) const {
  // As much work as a few searches of the whole file.
  constexpr size_t kWorth = 4;
  if (!index_) {
    if (searched_ < kWorth * code().size()) {
      searched_ += tokens;
      return nullptr;
    }
  }
  return &index();
}

const CodeIndex& Source::index() const {
  if (!index_) index_.emplace(tokens(), code(), bytes_);
  return *index_;
}

const std::vector<uint32_t>& Source::blocks() const {
  if (!blocks_) blocks_ = bracket_blocks(tokens(), code(), bytes_);
  return *blocks_;
}

const IndentSurvey& Source::indentation() const {
  if (indentation_) return *indentation_;
  indentation_.emplace();
  for (size_t l = 0; l < lines().count(); ++l) {
    if (shows_level(lines().text(l))) indentation_->add(lines().indentation(l));
  }
  return *indentation_;
}

const Lines& Source::lines() const {
  if (!lines_) lines_.emplace(bytes_);
  return *lines_;
}

Place Source::place(uint32_t byte) const {
  const size_t line = lines().line_of(byte);
  return {.file = path_,
          .line = static_cast<int>(line) + 1,
          .column = static_cast<int>(byte - lines().begin(line)) + 1};
}

const std::string& Source::bad_bytes() const {
  if (bad_bytes_) return *bad_bytes_;
  bad_bytes_ = reject(bytes_);
  return *bad_bytes_;
}

bool Source::is_large() const {
  return language_ != Language::kLines && bytes_.size() > ParseBudget{}.bytes;
}

void Source::forget() const {
  tokens_.reset();
  code_.reset();
  index_.reset();
  blocks_.reset();
  lines_.reset();
  indentation_.reset();
  scope_names_.reset();
  scopes_around_.clear();
  scopes_.reset();
  conditionals_.reset();
  if (tree_ == nullptr) return;
  damage();
  tree_.reset();
}

void Source::parse() const {
  if (parsed_) return;
  parsed_ = true;
  unreadable_ = bad_bytes();
  if (!unreadable_.empty() || language_ == Language::kLines || is_large()) return;
  const Reading reading = read_as(bytes_, tokens());
  tree_ =
      SyntaxTree::parse(bytes_, language_, reading, {}, old_ ? old_->tree_.get() : nullptr, edits_);
  old_.reset();
  if (!tree_) unreadable_ = beyond_budget();
}

const std::string& Source::unreadable() const {
  parse();
  return unreadable_;
}

const SyntaxTree* Source::tree() const {
  const bool forgotten = parsed_ && tree_ == nullptr && unreadable_.empty() && damage_;
  if (forgotten) parsed_ = false;
  parse();
  return tree_.get();
}

const std::vector<Scope>& Source::scopes() const {
  if (scopes_) return *scopes_;
  scopes_ = tree() != nullptr ? find_scopes(*tree(), bytes_) : std::vector<Scope>{};
  if (tree() != nullptr) begin_with_attributes(tree()->reading().blanks, bytes_, *scopes_);
  return *scopes_;
}

const Scope* Source::scope_at(uint32_t byte) const {
  const std::vector<Scope>& all = scopes();
  if (scopes_around_.empty()) scopes_around_ = scopes_around(all);
  const auto after = std::upper_bound(all.begin(), all.end(), byte,
                                      [](uint32_t at, const Scope& s) { return at < s.begin; });
  if (after == all.begin()) return nullptr;
  std::optional<size_t> scope = static_cast<size_t>(after - all.begin()) - 1;
  while (scope && byte >= all[*scope].end)
    scope = scopes_around_[*scope];
  return scope ? &all[*scope] : nullptr;
}

std::vector<const Scope*> Source::resolve(const ScopeSpec& spec) const {
  if (!scope_names_) scope_names_.emplace(scopes());
  return resolve_scope(scope_names_->ending_in(spec), spec);
}

const std::vector<Damage>& Source::damage() const {
  if (!damage_) damage_ = tree() != nullptr ? tree()->damage() : std::vector<Damage>{};
  return *damage_;
}

const std::vector<ConditionalBranch>& Source::conditionals() const {
  if (!conditionals_) conditionals_ = ConditionalFinder(bytes_, tokens()).run();
  return *conditionals_;
}

std::vector<std::string> Source::conditionals_at(uint32_t byte) const {
  const std::vector<ConditionalBranch>& all = conditionals();
  const auto after = std::upper_bound(
      all.begin(), all.end(), byte,
      [](uint32_t at, const ConditionalBranch& branch) { return at < branch.begin; });
  std::vector<std::string> names;
  if (after == all.begin()) return names;
  std::optional<size_t> branch = static_cast<size_t>(after - all.begin()) - 1;
  for (; branch; branch = all[*branch].around) {
    if (byte < all[*branch].end) names.push_back(all[*branch].name);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

Candidate Source::candidate(uint32_t byte) const {
  const size_t line = lines().line_of(byte);
  Candidate out{.place = place(byte), .text = excerpt(lines().text(line))};
  const Scope* scope = unreadable().empty() ? scope_at(byte) : nullptr;
  out.scope = scope != nullptr ? scope->display() : "file";
  for (const std::string& name : conditionals_at(byte)) {
    out.conditional += (out.conditional.empty() ? "" : ", ") + name;
  }
  return out;
}

CodeRange code_range(const Source& source, uint32_t begin, uint32_t end) {
  const auto& code = source.code();
  const auto& tokens = source.tokens();
  const auto before = [&](uint32_t index, uint32_t byte) { return tokens[index].begin < byte; };
  const auto first = std::lower_bound(code.begin(), code.end(), begin, before);
  const auto last = std::lower_bound(first, code.end(), end, before);
  return {static_cast<uint32_t>(first - code.begin()), static_cast<uint32_t>(last - code.begin())};
}

}  // namespace patcher
