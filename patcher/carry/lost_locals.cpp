#include "patcher/carry/lost_locals.h"

#include <algorithm>
#include <set>

#include "patcher/carry/function_locals.h"
#include "patcher/carry/name_uses.h"
#include "patcher/syntax/code_words.h"

namespace patcher {
namespace {

using Mention = FunctionLocals::Mention;

std::set<uint32_t> added(const Source& before, const Source& after) {
  std::set<uint32_t> out;
  added_tokens(before, after, [&](size_t token) { out.insert(static_cast<uint32_t>(token)); });
  return out;
}

struct ChangedTokens {
  std::set<uint32_t> added;    // of the result
  std::set<uint32_t> removed;  // of the target
};

// One function in all versions of its file.
class OneFunction {
 public:
  OneFunction(const ChangedFile& file, const Scope& after, const Scope& base, const Scope& target,
              const Scope& result)
      : file_(file),
        after_(file.after, after),
        base_(file.base, base),
        target_(file.target, target),
        result_(file.result, result),
        range_(after) {}

  void lost(const std::set<uint32_t>& added_after, const ChangedTokens& there,
            std::vector<LostName>& out) const {
    const auto& tokens = file_.after.tokens();
    std::set<std::string_view> seen;
    for (const uint32_t token : added_after) {
      if (tokens[token].begin < range_.begin || tokens[token].begin >= range_.end) continue;
      const std::string_view name = tokens[token].text(file_.after.bytes());
      if (!is_name(name) || is_member(file_.after, token) || !seen.insert(name).second) continue;
      if (follows_type(file_.after, token) || base_.declarations(name) == 0) continue;
      if (is_lost(name, there)) {
        out.push_back({LostName::Kind::kLocal, std::string(name), tokens[token].begin});
      }
    }
  }

  void still_used(std::vector<LostName>& out) const {
    for (const std::string_view name : base_.declared()) {
      if (!after_.mentions(name).empty() || target_.declarations(name) != 1) continue;
      const auto& left = result_.mentions(name);
      if (left.empty() || result_.declarations(name) != 0) continue;
      out.push_back({LostName::Kind::kStillUsed, std::string(name),
                     file_.result.tokens()[left.front().token].begin});
    }
  }

 private:
  bool is_lost(std::string_view name, const ChangedTokens& there) const {
    const auto& before = target_.mentions(name);
    if (std::any_of(before.begin(), before.end(),
                    [&](const Mention& m) { return there.removed.contains(m.token); }))
      return false;
    const auto& all = result_.mentions(name);
    const auto use = std::find_if(all.begin(), all.end(),
                                  [&](const Mention& m) { return there.added.contains(m.token); });
    if (use == all.end()) return false;
    return std::all_of(all.begin(), all.end(), [&](const Mention& m) {
      return there.added.contains(m.token) ? !follows_type(file_.result, m.token)
                                           : result_.is_of_another(name, m, *use);
    });
  }

  const ChangedFile& file_;
  const FunctionLocals after_;
  const FunctionLocals base_;
  const FunctionLocals target_;
  const FunctionLocals result_;
  const Scope& range_;
};

// Calls look(OneFunction) for each function that is once in all versions.
template <typename Look>
void each_function(const ChangedFile& file, Look look) {
  for (const Source* s : {&file.base, &file.after, &file.target, &file.result}) {
    if (s->language() == Language::kLines || !s->unreadable().empty()) return;
  }
  for (const Scope& scope : file.after.scopes()) {
    if (scope.kind != Scope::Kind::kFunction) continue;
    const Scope* base = only_function(file.base, scope);
    const Scope* target = only_function(file.target, scope);
    const Scope* result = only_function(file.result, scope);
    if (base == nullptr || target == nullptr || result == nullptr) continue;
    const auto text = [](const Source& s, const Scope& f) {
      return std::string_view(s.bytes()).substr(f.begin, f.end - f.begin);
    };
    if (text(file.base, *base) == text(file.after, scope)) continue;
    look(OneFunction(file, scope, *base, *target, *result));
  }
}

}  // namespace

std::vector<LostName> lost_locals(const ChangedFile& file) {
  std::vector<LostName> out;
  const auto lines = added(file.base, file.after);
  const ChangedTokens there{.added = added(file.target, file.result),
                            .removed = added(file.result, file.target)};
  each_function(file, [&](const OneFunction& f) { f.lost(lines, there, out); });
  return out;
}

std::vector<LostName> still_used_locals(const ChangedFile& file) {
  std::vector<LostName> out;
  each_function(file, [&](const OneFunction& f) { f.still_used(out); });
  return out;
}

}  // namespace patcher
