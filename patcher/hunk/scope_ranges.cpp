#include "patcher/hunk/scope_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/syntax/health.h"

namespace patcher {
namespace {

bool same_name_roughly(const Scope& scope, const ScopeSpec& spec) {
  const std::string& a = scope.name.back();
  const std::string& b = spec.name.back();
  if (a == b || a.find(b) != std::string::npos || b.find(a) != std::string::npos) return true;
  const size_t most = std::min(a.size(), b.size());
  size_t prefix = 0;
  while (prefix < most && a[prefix] == b[prefix])
    ++prefix;
  return prefix >= 3 || (most <= 3 && prefix + 1 >= most && prefix > 0);
}

void keep_stated_branch(const Source& source, const Hunk& hunk, std::vector<const Scope*>& scopes) {
  if (hunk.conditional.empty() || scopes.size() < 2) return;
  const auto outside = [&](const Scope* s) { return !in_branch(source, hunk, s->begin); };
  if (std::all_of(scopes.begin(), scopes.end(), outside)) return;
  std::erase_if(scopes, outside);
}

void no_scope(const Source& source, const Hunk& hunk, bool explains, HunkFailure& failure) {
  failure.in_file(Verdict::kMissing, fmt::format("scope `{}` is missing", hunk.scope.text));
  if (!explains) return;
  if (!source.damage().empty()) {
    failure.hint("the file has damaged regions that may hide it: " +
                 describe(source, source.damage().front()));
    failure.finding().place = source.place(source.damage().front().begin);
  }
  std::vector<uint32_t> near;
  for (const Scope& scope : source.scopes()) {
    if (same_name_roughly(scope, hunk.scope)) near.push_back(scope.begin);
  }
  failure.list(near);
  if (!near.empty()) failure.hint("scopes with a similar name are listed; none is used");
}

void many_scopes(const Hunk& hunk, const std::vector<const Scope*>& scopes, HunkFailure& failure) {
  failure.at(scopes.front()->begin, Verdict::kAmbiguous,
             fmt::format("scope `{}` names {} places", hunk.scope.text, scopes.size()));
  failure.hint("say which by its qualified name, parameter types, `| #if state` or `| N of M`");
  std::vector<uint32_t> bytes;
  for (const Scope* scope : scopes)
    bytes.push_back(scope->begin);
  failure.list(bytes);
  std::vector<Candidate>& candidates = failure.finding().candidates;
  for (size_t i = 0; i < candidates.size(); ++i)
    candidates[i].scope = scopes[i]->display();
}

void damaged_scope(const Source& source, const Hunk& hunk, const Scope& scope,
                   HunkFailure& failure) {
  failure.at(scope.begin, Verdict::kDamagedParse,
             fmt::format("the head of scope `{}` does not parse", hunk.scope.text));
  for (const Damage& damage : source.damage()) {
    if (scope.begin <= damage.begin && damage.begin <= scope.end) {
      failure.hint(describe(source, damage));
    }
  }
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
                                                   ScopeRule rule, bool explains,
                                                   HunkFailure& failure) {
  if (hunk.scope.file) return {{whole_file(source)}};
  if (source.language() == Language::kLines) {
    failure.in_file(Verdict::kMalformed, "a file without a grammar has the one scope `file`");
    return std::nullopt;
  }
  std::vector<const Scope*> scopes = source.resolve(hunk.scope);
  keep_stated_branch(source, hunk, scopes);
  if (scopes.empty()) {
    if (rule == ScopeRule::kUndo) return {{whole_file(source)}};
    no_scope(source, hunk, explains, failure);
    return std::nullopt;
  }
  if (scopes.size() > 1 && !hunk.occurrence && rule == ScopeRule::kStrict) {
    many_scopes(hunk, scopes, failure);
    return std::nullopt;
  }
  std::vector<CodeRange> ranges;
  for (const Scope* scope : scopes) {
    if (scope->damaged) {
      damaged_scope(source, hunk, *scope, failure);
      return std::nullopt;
    }
    ranges.push_back(code_range(source, scope->begin, scope->end));
  }
  return ranges;
}

}  // namespace patcher
