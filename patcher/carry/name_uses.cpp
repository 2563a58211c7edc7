#include "patcher/carry/name_uses.h"

#include "patcher/carry/enclosing_definition.h"
#include "patcher/syntax/code_words.h"

namespace patcher {
namespace {

std::string_view text(const Source& source, size_t token) {
  return source.tokens()[token].text(source.bytes());
}

}  // namespace

std::set<std::string_view> names_in(const Source& source) {
  std::set<std::string_view> out;
  for (const Token& t : source.tokens()) {
    if (!t.comment) out.insert(t.text(source.bytes()));
  }
  return out;
}

bool follows_type(const Source& source, size_t i) {
  while (i > 0 && (text(source, i - 1) == "*" || text(source, i - 1) == "&"))
    --i;
  if (i == 0) return false;
  const std::string_view before = text(source, i - 1);
  return is_name(before) || is_declaring(before) || before == ">";
}

bool is_member(const Source& source, size_t i) {
  return i > 0 && (text(source, i - 1) == "." || text(source, i - 1) == "->");
}

const Scope* only_function(const Source& source, const Scope& scope) {
  auto found = same_definitions(source.scopes(), scope, true);
  if (found.size() != 1) found = same_definitions(source.scopes(), scope, false);
  return found.size() == 1 && found[0]->kind == Scope::Kind::kFunction ? found[0] : nullptr;
}

}  // namespace patcher
