#include "patcher/carry/removed_calls.h"

#include <algorithm>
#include <set>

#include "patcher/carry/enclosing_definition.h"
#include "patcher/carry/name_uses.h"
#include "patcher/syntax/code_words.h"

namespace patcher {
namespace {

using Names = std::set<std::string_view>;

// The calls of a range of a file's code, and the names that their arguments begin with.
class Calls {
 public:
  Calls(const Source& source, CodeRange range) : source_(source) {
    for (uint32_t c = range.first; c + 1 < range.second; ++c) {
      if (!is_name(word(c)) || word(c + 1) != "(" || follows_type(source, source.code()[c]))
        continue;
      called_.push_back(c);
      size_t end = c + 1;
      for (int depth = 0; end < range.second; ++end) {
        depth += word(end) == "(" ? 1 : word(end) == ")" ? -1 : 0;
        if (depth == 0) break;
        const bool begins = is_name(word(end)) && !is_member(source, source.code()[end]);
        if (begins && word(end + 1) != "(") arguments_.insert(word(end));
      }
    }
  }

  const std::vector<uint32_t>& called() const { return called_; }
  std::string_view word(size_t c) const {
    if (c >= source_.code().size()) return "";
    return source_.tokens()[source_.code()[c]].text(source_.bytes());
  }
  bool shares_an_argument(const Calls& other) const {
    return std::any_of(arguments_.begin(), arguments_.end(),
                       [&](std::string_view name) { return other.arguments_.contains(name); });
  }

 private:
  const Source& source_;
  std::vector<uint32_t> called_;
  Names arguments_;
};

// The code of the last line before the range that has any.
CodeRange line_before(const Source& source, CodeRange range) {
  if (range.first == 0) return {0, 0};
  const auto line = [&](uint32_t c) {
    return source.lines().line_of(source.tokens()[source.code()[c]].begin);
  };
  uint32_t begin = range.first - 1;
  while (begin > 0 && line(begin - 1) == line(range.first - 1))
    --begin;
  return {begin, range.first};
}

}  // namespace

std::vector<LostName> gone_before_removed_calls(const Source& base, const Source& after,
                                                const Source& target) {
  if (base.language() == Language::kLines || !base.unreadable().empty()) return {};
  const auto blocks = change_blocks(base.bytes(), after.bytes());
  std::set<const Scope*> grows;
  for (const ChangeBlock& block : blocks) {
    if (!block.deletes()) grows.insert(holder_of(base, block));
  }
  const Names there = names_in(target);
  std::vector<LostName> out;
  for (const ChangeBlock& block : blocks) {
    if (!block.deletes() || grows.contains(holder_of(base, block))) continue;
    const CodeRange range = code_range(base, base.lines().begin(block.before_begin),
                                       base.lines().end(block.before_end - 1));
    const Calls removed(base, range);
    const Calls before(base, line_before(base, range));
    if (removed.called().empty() || !removed.shares_an_argument(before)) continue;
    for (const uint32_t c : before.called()) {
      if (there.contains(before.word(c))) continue;
      out.push_back({LostName::Kind::kBeforeRemoved, std::string(before.word(c)),
                     base.tokens()[base.code()[c]].begin});
    }
  }
  return out;
}

}  // namespace patcher
