#include "patcher/hunk/scope_ranges.h"

#include <algorithm>

namespace patcher {
namespace {

void keep_stated_branch(const Source& source, const Hunk& hunk, std::vector<const Scope*>& scopes) {
  if (hunk.conditional.empty() || scopes.size() < 2) return;
  const auto outside = [&](const Scope* s) { return !in_branch(source, hunk, s->begin); };
  if (std::all_of(scopes.begin(), scopes.end(), outside)) return;
  std::erase_if(scopes, outside);
}

}  // namespace

CodeRange whole_file(const Source& source) {
  return {0, static_cast<uint32_t>(source.code().size())};
}

bool in_branch(const Source& source, const Hunk& hunk, uint32_t byte) {
  const auto names = source.conditionals_at(byte);
  return std::find(names.begin(), names.end(), hunk.conditional) != names.end();
}

std::optional<std::vector<CodeRange>> scope_ranges(const Source& source, const Hunk& hunk,
                                                   ScopeRule rule,
                                                   std::optional<Unplaced>& failure) {
  using Why = Unplaced::Why;
  if (hunk.scope.file) return {{whole_file(source)}};
  if (source.language() == Language::kLines || source.is_large()) {
    failure = Unplaced{.why = Why::kNoScopes};
    return std::nullopt;
  }
  std::vector<const Scope*> scopes = source.resolve(hunk.scope);
  keep_stated_branch(source, hunk, scopes);
  if (scopes.empty() && rule == ScopeRule::kUndo) return {{whole_file(source)}};
  if (scopes.empty()) {
    failure = Unplaced{.why = Why::kScopeMissing};
    return std::nullopt;
  }
  if (scopes.size() > 1 && !hunk.occurrence && rule == ScopeRule::kStrict) {
    failure = Unplaced{.why = Why::kScopeShared, .byte = scopes.front()->begin};
    for (const Scope* scope : scopes)
      failure->sites.push_back(scope->begin);
    return std::nullopt;
  }
  std::vector<CodeRange> ranges;
  for (const Scope* scope : scopes) {
    if (scope->damaged) {
      failure = Unplaced{.why = Why::kScopeDamaged, .byte = scope->begin};
      return std::nullopt;
    }
    ranges.push_back(code_range(source, scope->begin, scope->end));
  }
  return ranges;
}

}  // namespace patcher
