#include "patcher/patch_names.h"

#include <algorithm>
#include <string_view>

#include "patcher/change_blocks.h"
#include "patcher/lost_names.h"

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

// Calls found(change, lost) for each name that `look` finds in a file that is in both trees.
template <typename Look, typename Use>
void each_name(const BaseStep& from, const FileMap& target, Look look, Use use) {
  for (const FileChange& change : from.patch->changes) {
    const std::string path = from.path_before(change.path);
    const FileState after = from.after.get(change.path);
    const FileState before = from.before.get(path);
    const FileState there = target.get(path);
    if (!before.exists() || !after.exists() || !there.exists()) continue;
    for (const LostName& lost : look(*before.source, *after.source, *there.source))
      use(change.path, *there.source, lost);
  }
}

// The names that no file of the tree has. A tree with no other source than the patch's own files is
// a part of one, and what it lacks may be elsewhere.
std::vector<std::string> nowhere(std::vector<std::string> names, const BaseStep& from,
                                 const FileMap& tree) {
  if (names.empty()) return names;
  bool whole = false;
  for (const std::string& path : tree.list()) {
    if (choose_language(path, "") == Language::kLines) continue;
    whole = whole || std::find(from.paths.begin(), from.paths.end(), path) == from.paths.end();
    const auto bytes = tree.peek(path, ParseBudget{}.bytes);
    if (bytes) std::erase_if(names, [&](const auto& name) { return has_word(*bytes, name); });
    if (names.empty()) break;
  }
  return whole ? names : std::vector<std::string>{};
}

Finding lost_finding(const BaseStep& from, const std::string& path, const Source& there,
                     const FileMap& result, const LostName& lost) {
  Finding f{.verdict = Verdict::kMissing,
            .place = {.file = there.path()},
            .origin = origin_in(*from.patch, path, lost.name),
            .message = message(lost)};
  const FileState made = result.get(path);
  if (made.exists()) f.place = place_in(there, *made.source, lost.name);
  return f;
}

}  // namespace

std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<Finding> out;
  each_name(from, target, lost_names,
            [&](const std::string& path, const Source& there, const LostName& lost) {
              out.push_back(lost_finding(from, path, there, result, lost));
            });
  return out.empty() ? gone_names_of(from, target, result) : out;
}

std::vector<Finding> gone_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<std::string> names;
  each_name(from, target, missing_names,
            [&](const auto&, const auto&, const LostName& lost) { names.push_back(lost.name); });
  std::vector<Finding> out;
  each_name(from, target, changed_calls,
            [&](const std::string& path, const Source& there, const LostName& lost) {
              out.push_back(lost_finding(from, path, there, result, lost));
            });
  if (names.empty()) return out;
  const std::vector<std::string> gone = nowhere(std::move(names), from, target);
  each_name(from, target, missing_names,
            [&](const std::string& path, const Source& there, const LostName& lost) {
              if (std::find(gone.begin(), gone.end(), lost.name) != gone.end())
                out.push_back(lost_finding(from, path, there, result, lost));
            });
  return out;
}

}  // namespace patcher
