#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "patcher/syntax/language.h"
#include "patcher/syntax/syntax_tree.h"

namespace patcher {

// A named region of a file that a hunk header can name: a function with a body (or, where a file
// has none of that name, its declaration), class, struct, union, enum or namespace.
struct Scope {
  enum class Kind { kFunction, kDeclaration, kType, kNamespace };
  Kind kind = Kind::kFunction;
  std::vector<std::string> name = {};  // qualified, outermost first; anonymous namespaces left out
  std::vector<std::string> params =
      {};  // functions: each parameter's type as tokens joined by blanks
  std::vector<std::string> written_params = {};  // the same with names, without default values
  std::string qualifiers = {};  // after the parameters: "const", "const noexcept", ...
  uint32_t begin = 0;           // with its template<> line, without a trailing `;`
  uint32_t end = 0;
  bool damaged = false;  // its own head (not its body) holds an ERROR or MISSING node

  // As one would write it in a hunk header.
  std::string display() const;
};

// All scopes of a parsed text, in order of begin; an enclosing scope comes before what it encloses.
// Functions inside of function bodies do not count, except members of local classes: that is what
// the grammar makes of loop macros.
std::vector<Scope> find_scopes(const SyntaxTree& tree, std::string_view text);

// What a hunk header says before its first `|`:
//   file
//   [class|struct|union|enum|namespace] NAME
//   NAME(TYPE, TYPE, ...) [const ...]
// NAME is `a::b::c` and matches every scope whose qualified name ends in these components (a
// leading `::` asks for the whole name). Template arguments count only where they are written.
struct ScopeSpec {
  bool file = false;
  bool absolute = false;
  std::string keyword = {};
  std::vector<std::string> name = {};
  std::optional<std::vector<std::string>> params = {};
  std::string qualifiers = {};
  std::string text = {};  // as written
};

// Nothing when the text is not a scope.
std::optional<ScopeSpec> parse_scope(std::string_view text);

// The scopes that the spec names, in file order: no first match, no nearest. A class wins over its
// own constructors, a definition over declarations.
std::vector<const Scope*> resolve_scope(const std::vector<Scope>& scopes, const ScopeSpec& spec);

// The same of the scopes of a file that end in the spec's last name, whatever is around them.
std::vector<const Scope*> resolve_scope(const std::vector<const Scope*>& scopes,
                                        const ScopeSpec& spec);

// The scopes of a file by their last names. Borrows them.
class ScopeNames {
 public:
  explicit ScopeNames(const std::vector<Scope>& scopes);
  // All, in file order, that can match the spec.
  std::vector<const Scope*> ending_in(const ScopeSpec& spec) const;

 private:
  std::unordered_map<std::string_view, std::vector<const Scope*>> by_name_;
};

}  // namespace patcher
