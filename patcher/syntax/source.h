#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patcher/base/verdict.h"
#include "patcher/syntax/code_index.h"
#include "patcher/syntax/language.h"
#include "patcher/syntax/scope.h"
#include "patcher/syntax/syntax_tree.h"
#include "patcher/syntax/tokens.h"
#include "patcher/text/edit.h"
#include "patcher/text/indentation.h"
#include "patcher/text/lines.h"

namespace patcher {

// A branch of a preprocessor conditional: [begin, end) of its content and how a hunk header names
// it: "#ifdef FOO", "#if A > 1", "#elif B", "#else of FOO".
struct ConditionalBranch {
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string name = {};
  std::optional<size_t> around = {};  // the branch that it is in, an index
};

// One version of one file's bytes with all that is ever asked about it, each computed only when
// asked, and once unless it is forgotten: a file is parsed once whatever number of hunks touch it.
// Immutable to its users; shared by the snapshots of a series. Not for two threads at once.
class Source {
 public:
  Source(std::string path, std::string bytes);
  // The version after `edits` of `old`; its parse reuses that of `old`. Edits that take back those
  // that made `old` give the version that was there before them, if it still lives.
  static std::shared_ptr<const Source> edited(const std::shared_ptr<const Source>& old,
                                              std::vector<ByteEdit> edits);
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  const std::string& path() const { return path_; }
  const std::string& bytes() const { return bytes_; }
  Language language() const { return language_; }
  const std::vector<Token>& tokens() const;
  // Indices of the tokens that are no comments.
  const std::vector<uint32_t>& code() const;
  // For a search that would look at `tokens` of code(): where each of them is, or null as long as
  // looking is cheaper than knowing that.
  const CodeIndex* index_for(size_t tokens) const;
  const CodeIndex& index() const;
  // bracket_blocks() of the code.
  const std::vector<uint32_t>& blocks() const;
  const Lines& lines() const;
  // What the lines that show a level show of the file's style.
  const IndentSurvey& indentation() const;
  Place place(uint32_t byte) const;

  // Gives back the memory of what can be computed again, all but the damage. REQUIRES that nobody
  // holds a reference into it.
  void forget() const;

  // Why no patch may touch the file at all, or empty: as far as its bytes tell (UTF-16, NUL bytes,
  // merge markers), and with its parse (a budget of steps).
  const std::string& bad_bytes() const;
  const std::string& unreadable() const;
  // Whether the file is too large to be parsed. It has tokens and no tree, scopes or damage.
  bool is_large() const;
  // Whether the file has been parsed, so that a later version's parse can reuse it.
  bool has_tree() const { return tree_ != nullptr; }
  // REQUIRES unreadable().empty() for all of these; empty in a file without a grammar.
  const SyntaxTree* tree() const;
  const std::vector<Scope>& scopes() const;
  // resolve_scope() of scopes(), looking at those only that end in the spec's last name.
  std::vector<const Scope*> resolve(const ScopeSpec& spec) const;
  const std::vector<Damage>& damage() const;
  const std::vector<ConditionalBranch>& conditionals() const;
  // Names of the branches around a byte, outermost first.
  std::vector<std::string> conditionals_at(uint32_t byte) const;
  // The innermost scope around a byte, or null.
  const Scope* scope_at(uint32_t byte) const;
  // What to show of a place: line, enclosing scope, #if state.
  Candidate candidate(uint32_t byte) const;

 private:
  void parse() const;

  std::string path_;
  std::string bytes_;
  std::weak_ptr<const Source> made_from_;
  Language language_;
  mutable std::shared_ptr<const Source> old_;  // until parsed
  std::vector<ByteEdit> edits_;
  mutable std::optional<std::string> bad_bytes_;
  mutable bool parsed_ = false;
  mutable std::string unreadable_;
  mutable std::shared_ptr<const SyntaxTree> tree_;
  mutable std::optional<std::vector<Token>> tokens_;
  mutable std::optional<std::vector<uint32_t>> code_;
  mutable size_t searched_ = 0;  // tokens, without an index
  mutable std::optional<CodeIndex> index_;
  mutable std::optional<std::vector<uint32_t>> blocks_;
  mutable std::optional<Lines> lines_;
  mutable std::optional<IndentSurvey> indentation_;
  mutable std::optional<std::vector<Scope>> scopes_;
  mutable std::optional<ScopeNames> scope_names_;
  mutable std::vector<std::optional<size_t>> scopes_around_;  // of each scope; empty until asked
  mutable std::optional<std::vector<Damage>> damage_;
  mutable std::optional<std::vector<ConditionalBranch>> conditionals_;
};

// Positions [first, second) in Source::code().
using CodeRange = std::pair<uint32_t, uint32_t>;
// The code tokens that begin in the bytes [begin, end).
CodeRange code_range(const Source& source, uint32_t begin, uint32_t end);

}  // namespace patcher
