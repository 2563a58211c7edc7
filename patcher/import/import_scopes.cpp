#include "patcher/import/import_scopes.h"

#include <algorithm>
#include <string>

namespace patcher {
namespace {

// A function is its name, and its parameters where the name alone is not enough.
std::vector<std::string> spellings(const Scope& scope, bool parameters) {
  std::string name;
  for (const std::string& part : scope.name)
    name += (name.empty() ? "" : "::") + part;
  if (scope.kind == Scope::Kind::kType || !parameters) return {name};
  return {name, scope.display()};
}

bool holds(const Scope& scope, const Lines& lines, const ChangeBlock& block) {
  if (block.before_begin >= lines.count()) return false;
  const uint32_t begin = lines.begin(block.before_begin);
  if (block.inserts()) return scope.begin < begin && begin < scope.end;
  const auto indent = lines.indentation(block.before_begin).size();
  return scope.begin <= begin + indent && lines.text_end(block.before_end - 1) <= scope.end;
}

}  // namespace

std::vector<ScopeSpec> scopes_around(const Source& before, std::span<const ChangeBlock> blocks,
                                     bool parameters) {
  std::vector<ScopeSpec> out;
  const auto& scopes = before.scopes();
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    const bool named = scope->kind == Scope::Kind::kFunction || scope->kind == Scope::Kind::kType;
    const bool around = std::all_of(blocks.begin(), blocks.end(), [&](const ChangeBlock& b) {
      return holds(*scope, before.lines(), b);
    });
    if (!named || scope->damaged || !around) continue;
    for (const std::string& text : spellings(*scope, parameters)) {
      const auto spec = parse_scope(text);
      if (!spec) continue;
      const auto found = before.resolve(*spec);
      if (std::find(found.begin(), found.end(), &*scope) == found.end()) continue;
      out.push_back(*spec);
      if (found.size() == 1) break;
    }
  }
  out.push_back(*parse_scope("file"));
  return out;
}

}  // namespace patcher
