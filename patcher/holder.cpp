#include "patcher/holder.h"

namespace patcher {
namespace {

bool is_named(const Scope& scope) {
  return scope.kind == Scope::Kind::kFunction || scope.kind == Scope::Kind::kType;
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

std::vector<const Scope*> same_definitions(const std::vector<Scope>& scopes, const Scope& scope,
                                           bool parameters) {
  std::vector<const Scope*> out;
  for (const Scope& s : scopes) {
    if (s.kind != scope.kind || s.name != scope.name) continue;
    if (parameters && (s.params != scope.params || s.qualifiers != scope.qualifiers)) continue;
    out.push_back(&s);
  }
  return out;
}

}  // namespace patcher
