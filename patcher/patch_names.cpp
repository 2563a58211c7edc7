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

}  // namespace

std::vector<Finding> lost_names_of(const BaseStep& from, const FileMap& target,
                                   const FileMap& result) {
  std::vector<Finding> out;
  for (const FileChange& change : from.patch->changes) {
    const std::string path = from.path_before(change.path);
    const FileState after = from.after.get(change.path);
    const FileState before = from.before.get(path);
    const FileState there = target.get(path);
    const FileState made = result.get(change.path);
    if (!before.exists() || !after.exists() || !there.exists() || !made.exists()) continue;
    for (const LostName& lost : lost_names(*before.source, *after.source, *there.source)) {
      out.push_back({.verdict = Verdict::kMissing,
                     .place = place_in(*there.source, *made.source, lost.name),
                     .origin = origin_in(*from.patch, change.path, lost.name),
                     .message = message(lost)});
    }
  }
  return out;
}

}  // namespace patcher
