#include "patcher/carry/enclosing_definition.h"

#include <algorithm>
#include <string_view>

namespace patcher {
namespace {

bool is_named(const Scope& scope) {
  return scope.kind == Scope::Kind::kFunction || scope.kind == Scope::Kind::kType;
}

// With the blank that parts it from a name.
bool is_keyword(std::string_view word) {
  return word == "struct " || word == "class " || word == "union " || word == "enum ";
}

}  // namespace

const Scope* holder_of(const Source& base, const ChangeBlock& block) {
  const Lines& lines = base.lines();
  const Scope* best = nullptr;
  for (const Scope& scope : base.scopes()) {
    if (!is_named(scope)) continue;
    const size_t first = lines.line_of(scope.begin);
    const size_t last = lines.line_of(scope.end - 1);
    const bool begins =
        first < block.before_begin || (!block.inserts() && first == block.before_begin);
    if (begins && block.before_end <= last) best = &scope;
  }
  return best;
}

std::vector<std::string> plain_params(const Scope& scope) {
  std::vector<std::string> out;
  for (const std::string& type : scope.params) {
    out.emplace_back();
    for (size_t begin = 0; begin < type.size();) {
      const size_t end = std::min(type.find(' ', begin), type.size() - 1) + 1;
      const std::string_view word = std::string_view(type).substr(begin, end - begin);
      if (!is_keyword(word)) out.back() += word;
      begin = end;
    }
  }
  return out;
}

std::vector<const Scope*> same_definitions(const std::vector<Scope>& scopes, const Scope& scope,
                                           bool parameters) {
  const auto params = plain_params(scope);
  std::vector<const Scope*> out;
  for (const Scope& s : scopes) {
    if (s.kind != scope.kind || s.name != scope.name) continue;
    if (parameters && (plain_params(s) != params || s.qualifiers != scope.qualifiers)) continue;
    out.push_back(&s);
  }
  return out;
}

}  // namespace patcher
