#include "patcher/carry/block_edits.h"

#include <algorithm>

#include "patcher/hunk/rewrite.h"
#include "patcher/hunk/verbatim.h"

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

constexpr size_t kLettersAlone = 12;  // of lines that are found alone

// A block as a hunk, and where its tokens are in the target.
class BlockHunk {
 public:
  BlockHunk(const TokenIndex& base, const TokenIndex& target, const ChangeBlock& block,
            const CarriedPlace& place)
      : base_(base),
        target_(target),
        block_(block),
        place_(place),
        first_(base.at_line(block.before_begin)),
        last_(base.at_line(block.before_end)) {}

  Hunk hunk(const std::vector<std::string_view>& after_lines) {
    hunk_.foreign = true;  // its indentation is the base's, and nobody's style
    add_context_before();
    const Lines& lines = base_.source().lines();
    for (size_t line = block_.before_begin; line < block_.before_end; ++line)
      add(Kind::kRemoved, lines.text(line));
    for (size_t code = first_; code < last_; ++code)
      match_.code.push_back(static_cast<uint32_t>(place_.begin + code - first_));
    for (size_t line = block_.after_begin; line < block_.after_end; ++line)
      add(Kind::kAdded, after_lines[line]);
    add_context_behind();
    return std::move(hunk_);
  }

  const Match& match() const { return match_; }

 private:
  void add(Kind kind, std::string_view text) {
    hunk_.lines.push_back({.kind = kind, .text = std::string(text)});
  }

  // From the token before the block on, with the rest of its line as far as the target has it.
  void add_context_before() {
    if (first_ == 0) return add_lines(0, block_.before_begin, 0, UINT32_MAX);
    if (place_.begin == 0) return;
    const size_t line = base_.line_of(first_ - 1);
    size_t from = first_ - 1;
    size_t there = place_.begin - 1;
    while (from > 0 && there > 0 && base_.line_of(from - 1) == line &&
           base_.last_line_of(from - 1) == line &&
           base_.number(from - 1) == target_.number(there - 1)) {
      --from;
      --there;
    }
    for (size_t code = from; code < first_; ++code)
      match_.code.push_back(static_cast<uint32_t>(there + code - from));
    add_lines(line, block_.before_begin, base_.token(from).begin, UINT32_MAX);
  }

  void add_context_behind() {
    if (last_ == base_.size()) {
      return add_lines(block_.before_end, base_.source().lines().count(), 0, UINT32_MAX);
    }
    if (place_.end == target_.size()) return;
    const size_t line = base_.last_line_of(last_);
    size_t to = last_ + 1;
    size_t there = place_.end + 1;
    while (to < base_.size() && there < target_.size() && base_.last_line_of(to) == line &&
           base_.number(to) == target_.number(there)) {
      ++to;
      ++there;
    }
    for (size_t code = last_; code < to; ++code)
      match_.code.push_back(static_cast<uint32_t>(place_.end + code - last_));
    add_lines(block_.before_end, line + 1, 0, base_.token(to - 1).end);
  }

  // The base's lines [first, last) as context; of their text, not their indentation, only what
  // stands in [begin, end).
  void add_lines(size_t first, size_t last, uint32_t begin, uint32_t end) {
    const Lines& lines = base_.source().lines();
    const std::string_view bytes = base_.source().bytes();
    for (size_t line = first; line < last; ++line) {
      const std::string_view indentation = lines.indentation(line);
      const auto content = static_cast<uint32_t>(lines.begin(line) + indentation.size());
      const uint32_t from = std::max(begin, content);
      const uint32_t to = std::max(from, std::min(end, lines.text_end(line)));
      add(Kind::kContext, std::string(indentation) + std::string(bytes.substr(from, to - from)));
    }
  }

  const TokenIndex& base_;
  const TokenIndex& target_;
  const ChangeBlock& block_;
  const CarriedPlace& place_;
  const size_t first_;
  const size_t last_;
  Hunk hunk_;
  Match match_;
};

// Lines of the base on each side of a block.
struct Around {
  size_t before = 0;
  size_t behind = 0;
};

// The block's lines between those around it.
Hunk line_hunk(const TokenIndex& base, const std::vector<std::string_view>& after_lines,
               const ChangeBlock& block, Around around) {
  const Lines& lines = base.source().lines();
  Hunk hunk;
  const auto add = [&](Kind kind, std::string_view text) {
    hunk.lines.push_back({.kind = kind, .text = std::string(text)});
  };
  for (size_t l = block.before_begin - std::min(around.before, block.before_begin);
       l < block.before_begin; ++l)
    add(Kind::kContext, lines.text(l));
  for (size_t l = block.before_begin; l < block.before_end; ++l)
    add(Kind::kRemoved, lines.text(l));
  for (size_t l = block.after_begin; l < block.after_end; ++l)
    add(Kind::kAdded, after_lines[l]);
  for (size_t l = block.before_end; l < std::min(block.before_end + around.behind, lines.count());
       ++l)
    add(Kind::kContext, lines.text(l));
  return hunk;
}

// A change between two tokens, of comments: where its lines stand once between these tokens in the
// target, with as many lines around them as are there.
std::optional<std::vector<ByteEdit>> line_edits(const TokenIndex& base, const TokenIndex& target,
                                                const std::vector<std::string_view>& after_lines,
                                                const ChangeBlock& block,
                                                const CarriedPlace& place) {
  const Source& source = target.source();
  const uint32_t begin = place.begin > 0 ? target.token(place.begin - 1).end : 0;
  const auto end = place.end < target.size() ? target.token(place.end).begin
                                             : static_cast<uint32_t>(source.bytes().size());
  // Two lines may be those around another change, where the third says so: then one alone decides.
  for (const size_t context : {size_t{3}, size_t{1}}) {
    const Hunk hunk = line_hunk(base, after_lines, block, {context, context});
    std::vector<std::vector<ByteEdit>> found;
    for (const size_t line : verbatim_places(source, hunk)) {
      std::vector<ByteEdit> edits = verbatim_edits(source, hunk, line);
      const bool inside = std::all_of(edits.begin(), edits.end(), [&](const ByteEdit& e) {
        return begin <= e.begin && e.end <= end;
      });
      if (inside) found.push_back(std::move(edits));
    }
    if (found.size() == 1) return std::move(found.front());
    if (found.size() > 1) break;
  }
  return std::nullopt;
}

// Where the block's lines and those around it stand once in either file, and say enough.
std::optional<std::vector<ByteEdit>> once(const TokenIndex& base, const TokenIndex& target,
                                          const std::vector<std::string_view>& after_lines,
                                          const ChangeBlock& block, Around around) {
  const Hunk hunk = line_hunk(base, after_lines, block, around);
  size_t said = 0;
  for (const HunkLine& l : hunk.lines)
    said += l.kind == Kind::kAdded ? 0 : letters(l.text);
  if (said < kLettersAlone || verbatim_places(base.source(), hunk).size() != 1) return std::nullopt;
  const auto there = verbatim_places(target.source(), hunk);
  if (there.size() != 1) return std::nullopt;
  return verbatim_edits(target.source(), hunk, there.front());
}

}  // namespace

std::optional<std::vector<ByteEdit>> comment_edits(const TokenIndex& base, const TokenIndex& target,
                                                   const std::vector<std::string_view>& after_lines,
                                                   const ChangeBlock& block) {
  const auto found = [&](Around around) { return once(base, target, after_lines, block, around); };
  if (!block.inserts()) return found({0, 0});
  const Lines& lines = base.source().lines();
  const auto in_comment = [&](size_t line) {
    return line < lines.count() && !is_blank(lines.text(line)) &&
           base.at_line(line) == base.at_line(line + 1);
  };
  // How many lines there are up to the first that has letters; none where these are gone.
  const auto left = [&](size_t line, bool up) -> size_t {
    Hunk side;
    for (; line < lines.count(); line += up ? SIZE_MAX : 1) {
      const auto at = up ? side.lines.begin() : side.lines.end();
      side.lines.insert(at, {.text = std::string(lines.text(line))});
      if (letters(lines.text(line)) == 0) continue;
      return verbatim_places(target.source(), side).empty() ? 0 : side.lines.size();
    }
    return 0;
  };
  const size_t behind = block.before_begin;
  const size_t before = behind > 0 ? behind - 1 : lines.count();
  if (in_comment(before) && in_comment(behind)) {
    if (auto edits = found({1, 1})) return edits;
  }
  // Beside a line of a comment, where the other neighbour is gone.
  const Around alone{left(before, true), left(behind, false)};
  const bool one = (alone.before > 0) != (alone.behind > 0);
  const bool beside = alone.before > 0 ? in_comment(before) : in_comment(behind);
  return one && beside ? found(alone) : std::nullopt;
}

std::optional<std::vector<ByteEdit>> block_edits(const TokenIndex& base, const TokenIndex& target,
                                                 const std::vector<std::string_view>& after_lines,
                                                 const ChangeBlock& block,
                                                 const CarriedPlace& place, std::string& why) {
  const auto refused = [&](const char* reason) -> std::optional<std::vector<ByteEdit>> {
    const bool between_tokens = base.at_line(block.before_begin) == base.at_line(block.before_end);
    auto edits =
        between_tokens ? line_edits(base, target, after_lines, block, place) : std::nullopt;
    if (!edits) why = reason;
    return edits;
  };
  BlockHunk made(base, target, block, place);
  const Language language = target.source().language();
  const Hunk hunk = whole_tokens(made.hunk(after_lines), language);
  const Side before = make_side(hunk, language, Kind::kRemoved);
  if (before.code.size() != made.match().code.size() || before.code.empty()) {
    return refused("the lines around the change cannot be read by themselves");
  }
  Rewrite out = rewrite_hunk(target.source(), hunk, before, made.match());
  if (out.absent_comment) {
    return refused("a comment at the removed lines is another one now, or is not there");
  }
  if (out.lost_comment) {
    return refused("a comment stands behind what is removed");
  }
  return std::move(out.edits);
}

}  // namespace patcher
