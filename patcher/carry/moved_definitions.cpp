#include "patcher/carry/moved_definitions.h"

#include <algorithm>

#include "patcher/carry/enclosing_definition.h"

namespace patcher {
namespace {

// The identifier that every definition of that name holds: `f` of `f<int>`, `A` of `~A`.
std::string_view word_of(const Scope& scope) {
  std::string_view name = scope.name.back();
  if (name.starts_with('~')) name.remove_prefix(1);
  const auto end = std::find_if(name.begin(), name.end(), [](unsigned char c) {
    return c < 0x80 && std::isalnum(c) == 0 && c != '_';
  });
  return name.substr(0, static_cast<size_t>(end - name.begin()));
}

std::optional<std::string> read_source(const FileMap& tree, const std::string& path) {
  return tree.peek(path, ParseBudget{}.bytes);
}

class MovedFinder {
 public:
  MovedFinder(std::vector<SoughtDefinition>& sought, const FileMap& base)
      : sought_(sought), base_(base) {}

  void look_into(const std::string& path, std::string bytes) {
    const auto named = [&](const auto& s) { return has_word(bytes, word_of(*s.scope)); };
    if (std::none_of(sought_.begin(), sought_.end(), named)) return;
    const Source source(path, std::move(bytes));
    if (!source.unreadable().empty()) return;
    for (SoughtDefinition& s : sought_) {
      const auto here = same_definitions(source.scopes(), *s.scope, true);
      if (here.empty() || was_there(path, *s.scope)) continue;
      for (const Scope* scope : here)
        s.found.push_back(source.place(scope->begin));
    }
  }

 private:
  bool was_there(const std::string& path, const Scope& scope) const {
    auto bytes = read_source(base_, path);
    if (!bytes || !has_word(*bytes, word_of(scope))) return false;
    const Source source(path, std::move(*bytes));
    return source.unreadable().empty() && !same_definitions(source.scopes(), scope, true).empty();
  }

  std::vector<SoughtDefinition>& sought_;
  const FileMap& base_;
};

}  // namespace

void find_moved(std::vector<SoughtDefinition>& sought, const std::string& path, const FileMap& base,
                const FileMap& tree) {
  MovedFinder finder(sought, base);
  for (const std::string& other : tree.list()) {
    if (other == path || choose_language(other, "") == Language::kLines) continue;
    if (auto bytes = read_source(tree, other)) finder.look_into(other, std::move(*bytes));
  }
}

}  // namespace patcher
