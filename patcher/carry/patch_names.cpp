#include "patcher/carry/patch_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "patcher/carry/enclosing_definition.h"
#include "patcher/carry/lost_names.h"
#include "patcher/text/change_blocks.h"

namespace patcher {
namespace {

// Where in the target the first added line with the name goes.
Place place_in(const Source& target, const Source& result, std::string_view name) {
  for (const ChangeBlock& block : change_blocks(target.bytes(), result.bytes())) {
    for (size_t line = block.after_begin; line < block.after_end; ++line) {
      if (!has_word(result.lines().text(line), name)) continue;
      return {.file = target.path(), .line = static_cast<int>(block.before_begin) + 1, .column = 1};
    }
  }
  return {.file = target.path()};
}

Place origin_in(const Patch& patch, const std::string& path, std::string_view name) {
  for (const FileChange& change : patch.changes) {
    if (change.path != path) continue;
    for (const Hunk& hunk : change.hunks) {
      for (const HunkLine& line : hunk.lines) {
        if (line.kind == HunkLine::Kind::kAdded && has_word(line.text, name)) {
          return {.file = patch.name, .line = line.line, .column = 1};
        }
      }
    }
  }
  return {.file = patch.name, .line = 1, .column = 1};
}

// A lost name and where: the file that the patch changes, by its path afterwards and as it is in
// the target.
struct NameUse {
  std::string path;
  std::shared_ptr<const Source> there;
  LostName lost;
};

// What `look` finds in the files that are in both trees.
template <typename Look>
std::vector<NameUse> uses_of(const BaseStep& from, const FileMap& target, Look look) {
  std::vector<NameUse> out;
  for (const FileChange& change : from.patch->changes) {
    const std::string path = from.path_before(change.path);
    const FileState after = from.after.get(change.path);
    const FileState before = from.before.get(path);
    const FileState there = target.get(path);
    if (!before.exists() || !after.exists() || !there.exists()) continue;
    for (LostName& lost : look(*before.source, *after.source, *there.source))
      out.push_back({change.path, there.source, std::move(lost)});
  }
  return out;
}

// The names that no file of the tree has. A tree with no other source than the patch's own files is
// a part of one, and what it lacks may be elsewhere.
std::vector<NameUse> nowhere(std::vector<NameUse> uses, const BaseStep& from, const FileMap& tree) {
  if (uses.empty()) return uses;
  bool whole = false;
  for (const std::string& path : tree.list()) {
    if (choose_language(path, "") == Language::kLines) continue;
    whole = whole || std::find(from.paths.begin(), from.paths.end(), path) == from.paths.end();
    const auto bytes = tree.peek(path, ParseBudget{}.bytes);
    if (bytes)
      std::erase_if(uses, [&](const auto& use) { return has_word(*bytes, use.lost.name); });
    if (uses.empty()) break;
  }
  return whole ? uses : std::vector<NameUse>{};
}

void add_findings(const std::vector<NameUse>& uses, const BaseStep& from, const FileMap& result,
                  std::vector<Finding>& out) {
  for (const NameUse& use : uses) {
    const FileState made = result.get(use.path);
    const Place at = made.exists() ? place_in(*use.there, *made.source, use.lost.name)
                                   : Place{.file = use.there->path()};
    out.push_back({.verdict = Verdict::kMissing,
                   .place = at,
                   .origin = origin_in(*from.patch, use.path, use.lost.name),
                   .message = message(use.lost)});
  }
}

}  // namespace

std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<Finding> out = collisions_of(from, target);
  add_findings(uses_of(from, target, lost_names), from, result, out);
  return out.empty() ? gone_names_of(from, target, result) : out;
}

std::vector<Finding> gone_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<Finding> out = collisions_of(from, target);
  add_findings(uses_of(from, target, changed_calls), from, result, out);
  add_findings(nowhere(uses_of(from, target, missing_names), from, target), from, result, out);
  return out;
}

std::vector<Finding> collisions_of(const BaseStep& from, const FileMap& target) {
  std::vector<Finding> out;
  for (const FileChange& change : from.patch->changes) {
    const FileState before = from.before.get(from.path_before(change.path));
    const FileState after = from.after.get(change.path);
    const FileState there = target.get(from.path_before(change.path));
    if (!before.exists() || !after.exists() || !there.exists()) continue;
    for (const Scope& scope : after.source->scopes()) {
      const bool body = scope.kind == Scope::Kind::kFunction || scope.kind == Scope::Kind::kType;
      if (!body || scope.damaged) continue;
      if (!same_definitions(before.source->scopes(), scope, true).empty()) continue;
      const auto known = same_definitions(there.source->scopes(), scope, true);
      if (known.empty()) continue;
      out.push_back({.verdict = Verdict::kOutdated,
                     .place = there.source->place(known.front()->begin),
                     .origin = origin_in(*from.patch, change.path, scope.name.back()),
                     .message = fmt::format("collision: the patch adds `{}`, and the tree has one "
                                            "of its own by now",
                                            scope.display())});
    }
  }
  return out;
}

}  // namespace patcher
