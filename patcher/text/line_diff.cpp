#include "patcher/text/line_diff.h"

#include <fmt/format.h>

#include <algorithm>

#include "patcher/base/libgit2.h"
#include "patcher/text/change_blocks.h"
#include "patcher/text/lines.h"
#include "patcher/text/printable.h"

namespace patcher {
namespace {

constexpr size_t kContext = 3;

// Builds the hunks out of the blocks; lines are copied from where they stand.
class HunkBuilder {
 public:
  HunkBuilder(std::string_view before, std::string_view after)
      : before_(before), after_(after), old_(before), new_(after) {}

  void add(const ChangeBlock& block) {
    const bool joins = !hunks_.empty() && block.before_begin <= old_at_ + 2 * kContext;
    if (!joins) {
      close();
      const size_t context = std::min(kContext, block.before_begin);
      old_at_ = block.before_begin - context;
      new_at_ = block.after_begin - context;
      hunks_.push_back({.before_line = old_at_, .after_line = new_at_});
    }
    keep(block.before_begin - old_at_);
    for (; old_at_ < block.before_end; ++old_at_)
      put('-', before_, old_, old_at_);
    for (; new_at_ < block.after_end; ++new_at_)
      put('+', after_, new_, new_at_);
  }

  std::vector<DiffHunk> take() {
    close();
    return std::move(hunks_);
  }

 private:
  void close() {
    const size_t left = before_.empty() ? 0 : old_.count() - old_at_;
    if (!hunks_.empty()) keep(std::min(kContext, left));
  }

  void keep(size_t count) {
    for (; count > 0; --count, ++old_at_, ++new_at_)
      put(' ', before_, old_, old_at_);
  }

  void put(char kind, std::string_view text, const Lines& lines, size_t line) {
    const auto whole = text.substr(lines.begin(line), lines.end(line) - lines.begin(line));
    hunks_.back().lines.push_back({kind, whole, old_at_, new_at_});
  }

  std::string_view before_;
  std::string_view after_;
  const Lines old_;
  const Lines new_;
  size_t old_at_ = 0;  // the line of either text that follows what the last hunk has
  size_t new_at_ = 0;
  std::vector<DiffHunk> hunks_;
};

// As git writes a path in a diff: in quotes, with C's escapes, where it would not be read back.
std::string git_path(const std::string& path) {
  std::string out;
  for (std::string_view rest = path; !rest.empty();) {
    const size_t length = std::max<size_t>(character_length(rest), 1);
    if (rest[0] == '"' || rest[0] == '\\') {
      out += fmt::format("\\{}", rest[0]);
    } else if (is_control(rest)) {
      for (char c : rest.substr(0, length))
        out += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
    } else {
      out += rest.substr(0, length);
    }
    rest.remove_prefix(length);
  }
  return out == path ? path : "\"" + out + "\"";
}

}  // namespace

std::vector<DiffHunk> diff_hunks(std::string_view before, std::string_view after) {
  HunkBuilder builder(before, after);
  for (const ChangeBlock& block : change_blocks(before, after))
    builder.add(block);
  return builder.take();
}

std::string hunk_header(const DiffHunk& hunk) {
  const auto range = [&](size_t begin, char other) {
    const auto count = std::count_if(hunk.lines.begin(), hunk.lines.end(),
                                     [&](const DiffLine& l) { return l.kind != other; });
    const size_t first = count == 0 ? begin : begin + 1;
    return count == 1 ? fmt::format("{}", first) : fmt::format("{},{}", first, count);
  };
  return fmt::format("@@ -{} +{} @@", range(hunk.before_line, '+'), range(hunk.after_line, '-'));
}

std::string hunk_body(const DiffHunk& hunk) {
  std::string out;
  for (const DiffLine& line : hunk.lines) {
    out += line.kind;
    out += line.text;
    if (!line.text.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  }
  return out;
}

std::string file_header(const DiffSide& before, const DiffSide& after, bool named) {
  const std::string a = git_path("a/" + before.path);
  const std::string b = git_path("b/" + after.path);
  std::string out = fmt::format("diff --git {} {}\n", a, b);
  if (!before.bytes) {
    out += fmt::format("new file mode {}\n", file_mode(after.mode));
  } else if (!after.bytes) {
    out += fmt::format("deleted file mode {}\n", file_mode(before.mode));
  } else if (file_mode(before.mode) != file_mode(after.mode)) {
    out += fmt::format("old mode {}\nnew mode {}\n", file_mode(before.mode), file_mode(after.mode));
  }
  if (before.path != after.path) {
    out +=
        fmt::format("rename from {}\nrename to {}\n", git_path(before.path), git_path(after.path));
  }
  if (before.bytes.value_or("") == after.bytes.value_or("")) return out;
  const auto name = [](const DiffSide& side) {
    return side.bytes ? blob_name(*side.bytes) : std::string(40, '0');
  };
  if (named) out += fmt::format("index {}..{}\n", name(before), name(after));
  return out + fmt::format("--- {}\n+++ {}\n", before.bytes ? a : "/dev/null",
                           after.bytes ? b : "/dev/null");
}

DiffCount count_changes(std::string_view before, std::string_view after) {
  DiffCount count;
  for (const ChangeBlock& block : change_blocks(before, after, Placing::kAnywhere)) {
    count.added += block.after_end - block.after_begin;
    count.removed += block.before_end - block.before_begin;
  }
  return count;
}

}  // namespace patcher
