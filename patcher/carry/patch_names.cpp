#include "patcher/carry/patch_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "patcher/carry/enclosing_definition.h"
#include "patcher/carry/lost_locals.h"
#include "patcher/carry/lost_names.h"
#include "patcher/carry/name_uses.h"
#include "patcher/carry/removed_calls.h"
#include "patcher/carry/tree_names.h"
#include "patcher/text/change_blocks.h"

namespace patcher {
namespace {

// Where in the target the first added line with the name goes.
Place place_in(const Source& target, const Source& result, std::string_view name) {
  for (const ChangeBlock& block : change_blocks(target.bytes(), result.bytes())) {
    for (size_t line = block.after_begin; line < block.after_end; ++line) {
      if (!has_word(result.lines().text(line), name)) continue;
      return at_line(target.path(), static_cast<int>(block.before_begin) + 1);
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
          return at_line(patch.name, line.line);
        }
      }
    }
  }
  return at_line(patch.name);
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
std::vector<NameUse> uses_of(const BaseStep& from, const FileMap& target, const FileMap& result,
                             Look look) {
  std::vector<NameUse> out;
  for (const FileChange& change : from.patch->changes) {
    const std::string path = from.path_before(change.path);
    const FileState after = from.after.get(change.path);
    const FileState before = from.before.get(path);
    const FileState there = target.get(path);
    const FileState made = result.get(change.path);
    if (!before.exists() || !after.exists() || !there.exists() || !made.exists()) continue;
    const ChangedFile file{*before.source, *after.source, *there.source, *made.source};
    for (LostName& lost : look(file))
      out.push_back({change.path, there.source, std::move(lost)});
  }
  return out;
}

// Of the names those that no file of the target has, and of these, where `declared` asks for it,
// those that the base declares somewhere: others are made by what no tree holds.
std::vector<NameUse> gone_from_tree(std::vector<NameUse> uses, const BaseStep& from,
                                    const FileMap& target, bool declared) {
  if (uses.empty() || !is_whole(target, from.paths)) return {};
  NameSet names;
  for (const NameUse& use : uses)
    names.insert(use.lost.name);
  names = names_nowhere(std::move(names), target);
  if (declared) names = names_declared(names, from.before);
  std::erase_if(uses, [&](const NameUse& use) { return !names.contains(use.lost.name); });
  return uses;
}

// Names that the patch's own lines declare, in whatever file.
NameSet own_names(const BaseStep& from) {
  NameSet out;
  for (const FileChange& change : from.patch->changes) {
    const FileState after = from.after.get(change.path);
    const FileState before = from.before.get(from.path_before(change.path));
    if (!after.exists()) continue;
    const Source none(change.path, "");
    const Source& source = *after.source;
    added_tokens(before.exists() ? *before.source : none, source, [&](size_t i) {
      if (follows_type(source, i)) out.emplace(source.tokens()[i].text(source.bytes()));
    });
  }
  return out;
}

void add_findings(const std::vector<NameUse>& uses, const BaseStep& from, const FileMap& result,
                  std::vector<Finding>& out) {
  for (const NameUse& use : uses) {
    const FileState made = result.get(use.path);
    Place at{.file = use.there->path()};
    if (use.lost.kind == LostName::Kind::kStillUsed) {
      at = made.source->place(use.lost.byte);
    } else if (made.exists()) {
      at = place_in(*use.there, *made.source, use.lost.name);
    }
    out.push_back(Finding::of(Verdict::kMissing, origin_in(*from.patch, use.path, use.lost.name),
                              message(use.lost), at));
  }
}

}  // namespace

std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<Finding> out = collisions_of(from, target);
  const auto look = [](const ChangedFile& file) {
    std::vector<LostName> lost = lost_names(file.base, file.after, file.target);
    for (LostName& local : lost_locals(file))
      lost.push_back(std::move(local));
    return lost;
  };
  add_findings(uses_of(from, target, result, look), from, result, out);
  return out.empty() ? gone_names_of(from, target, result) : out;
}

std::vector<Finding> gone_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<Finding> out = collisions_of(from, target);
  const auto tell = [&](const std::vector<NameUse>& uses) {
    add_findings(uses, from, result, out);
  };
  const auto in_files = [&](auto look) { return uses_of(from, target, result, look); };
  tell(in_files([](const ChangedFile& f) { return changed_calls(f.base, f.after, f.target); }));
  tell(in_files(still_used_names));
  tell(in_files(still_used_locals));
  const auto missing = [](const ChangedFile& f) {
    return missing_names(f.base, f.after, f.target);
  };
  const auto known = in_files([&](const ChangedFile& f) { return missing(f).known; });
  auto unknown = in_files([&](const ChangedFile& f) { return missing(f).unknown; });
  const NameSet own = unknown.empty() ? NameSet() : own_names(from);
  std::erase_if(unknown, [&](const NameUse& use) { return own.contains(use.lost.name); });
  const auto before = in_files(
      [](const ChangedFile& f) { return gone_before_removed_calls(f.base, f.after, f.target); });
  tell(gone_from_tree(known, from, target, false));
  tell(gone_from_tree(unknown, from, target, true));
  tell(gone_from_tree(before, from, target, true));
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
      out.push_back(Finding::of(
          Verdict::kOutdated, origin_in(*from.patch, change.path, scope.name.back()),
          fmt::format("collision: the patch adds `{}`, and the tree has one of its own by now",
                      scope.display()),
          there.source->place(known.front()->begin)));
    }
  }
  return out;
}

}  // namespace patcher
