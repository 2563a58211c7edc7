#include "patcher/hunk/anchor.h"

#include <algorithm>
#include <span>

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

class Matcher {
 public:
  Matcher(const Source& source, const Side& side, Compare compare, uint64_t* steps)
      : source_(source),
        tokens_(source.tokens()),
        code_(source.code()),
        bytes_(source.bytes()),
        side_(side),
        compare_(compare),
        steps_(steps) {}

  void search(CodeRange range, std::vector<Match>& found) {
    if (side_.segments.size() > 1) return search_segments(range, found);
    for (const uint32_t at : places(0, range, kMaxMatches - found.size()))
      found.push_back(to_match({at}));
  }

 private:
  using Places = std::vector<uint32_t>;

  void spend(size_t n) {
    if (steps_ != nullptr) *steps_ -= std::min<uint64_t>(*steps_, n);
  }
  bool is_spent() const { return steps_ != nullptr && *steps_ == 0; }

  size_t segment_begin(size_t s) const { return side_.segments[s]; }
  size_t segment_size(size_t s) const {
    const size_t end = s + 1 < side_.segments.size() ? side_.segments[s + 1] : side_.code.size();
    return end - side_.segments[s];
  }
  const Token& wanted(size_t pattern) const { return side_.tokens[side_.code[pattern]]; }

  bool equal(size_t pattern, uint32_t target) const {
    const Token& a = wanted(pattern);
    const Token& b = tokens_[code_[target]];
    if (a.end - a.begin != b.end - b.begin) return false;  // as nearly all are
    if (compare_ == Compare::kExact) return same_token(a, side_.text, b, bytes_);
    return a.text(side_.text) == b.text(bytes_);
  }

  bool segment_at(size_t s, uint32_t at) {
    const size_t size = segment_size(s);
    size_t i = 0;
    while (i < size && equal(segment_begin(s) + i, at + static_cast<uint32_t>(i)))
      ++i;
    spend(i + 1);
    return i == size;
  }

  // The first `most` places of segment s in the range, in order.
  Places places(size_t s, CodeRange range, size_t most) {
    if (range.second - range.first < segment_size(s)) return {};
    const CodeIndex* index = source_.index_for(range.second - range.first);
    return index != nullptr ? indexed_places(*index, s, range, most)
                            : scanned_places(s, range, most);
  }

  // Looks only where the segment's rarest token is.
  Places indexed_places(const CodeIndex& index, size_t s, CodeRange range, size_t most) {
    std::span<const uint32_t> rarest;
    uint32_t offset = 0;
    const auto size = static_cast<uint32_t>(segment_size(s));
    for (uint32_t i = 0; i < size; ++i) {
      const auto there = index.places(wanted(segment_begin(s) + i).text(side_.text));
      if (i > 0 && there.size() >= rarest.size()) continue;
      rarest = there;
      offset = i;
    }
    Places out;
    auto it = std::lower_bound(rarest.begin(), rarest.end(), range.first + offset);
    for (; it != rarest.end() && *it - offset + size <= range.second; ++it) {
      if (out.size() == most || is_spent()) break;
      if (segment_at(s, *it - offset)) out.push_back(*it - offset);
    }
    return out;
  }

  Places scanned_places(size_t s, CodeRange range, size_t most) {
    spend(range.second - range.first);
    Places out;
    const Token& first = wanted(segment_begin(s));
    const uint32_t length = first.end - first.begin;
    const char letter = side_.text[first.begin];
    const auto last = range.second - static_cast<uint32_t>(segment_size(s));
    for (uint32_t p = range.first; p <= last && out.size() < most && !is_spent(); ++p) {
      // Nearly everywhere the first token's size or its first byte says that it is not there.
      const Token& there = tokens_[code_[p]];
      if (there.end - there.begin != length || bytes_[there.begin] != letter) continue;
      if (segment_at(s, p)) out.push_back(p);
    }
    return out;
  }

  // A place of a segment by the block that it is in.
  using InBlock = std::pair<uint32_t, uint32_t>;

  // From the last segment to the first, the places from which all later segments can be reached.
  // Without it a text with many places for each of many segments and none for the last would be
  // searched for longer than anybody waits.
  void search_segments(CodeRange range, std::vector<Match>& found) {
    const std::vector<uint32_t>& blocks = source_.blocks();
    std::vector<std::vector<InBlock>> complete(side_.segments.size());
    Places first;
    for (size_t s = side_.segments.size(); s-- > 0;) {
      first.clear();
      const auto size = static_cast<uint32_t>(segment_size(s));
      for (const uint32_t p : places(s, range, SIZE_MAX)) {
        const bool last = s + 1 == side_.segments.size();
        if (last || reachable(complete[s + 1], {blocks[p + size], p + size}, 1).size() == 1)
          first.push_back(p);
      }
      if (first.empty() || is_spent()) return;
      for (const uint32_t p : first)
        complete[s].emplace_back(blocks[p], p);
      std::sort(complete[s].begin(), complete[s].end());
      spend(first.size());
    }
    for (const uint32_t p : first)
      extend(p, complete, found);
  }

  // The first `most` places in the block of `from`, at or after it.
  static std::span<const InBlock> reachable(const std::vector<InBlock>& places, InBlock from,
                                            size_t most) {
    const auto begin = std::lower_bound(places.begin(), places.end(), from);
    auto end = begin;
    while (end != places.end() && end->first == from.first && most > 0) {
      ++end;
      --most;
    }
    return {begin, end};
  }

  // Depth-first over the segments' places, on a stack of its own. Every path ends in a match, so
  // that no more places are needed than matches.
  void extend(uint32_t first, const std::vector<std::vector<InBlock>>& complete,
              std::vector<Match>& found) {
    std::vector<Places> open{{first}};
    while (!open.empty() && found.size() < kMaxMatches && !is_spent()) {
      const Places starts = std::move(open.back());
      open.pop_back();
      const size_t s = starts.size();
      if (s == side_.segments.size()) {
        found.push_back(to_match(starts));
        continue;
      }
      const uint32_t from = starts.back() + static_cast<uint32_t>(segment_size(s - 1));
      const auto next =
          reachable(complete[s], {source_.blocks()[from], from}, kMaxMatches - found.size());
      spend(next.size());
      for (auto it = next.rbegin(); it != next.rend(); ++it) {
        open.push_back(starts);
        open.back().push_back(it->second);
      }
    }
  }

  Match to_match(const Places& starts) const {
    Match match;
    for (size_t s = 0; s < starts.size(); ++s) {
      for (uint32_t i = 0; i < segment_size(s); ++i)
        match.code.push_back(starts[s] + i);
    }
    return match;
  }

  const Source& source_;
  const std::vector<Token>& tokens_;
  const std::vector<uint32_t>& code_;
  const std::string_view bytes_;
  const Side& side_;
  Compare compare_;
  uint64_t* const steps_;  // left; null for no limit
};

// Marks context lines that share a token with a changed line.
bool mark_shared(const Hunk& hunk, const Side& side, std::vector<bool>& split) {
  bool any = false;
  for (size_t t = 0; t < side.tokens.size(); ++t) {
    const auto first = hunk.lines.begin() + static_cast<std::ptrdiff_t>(side.first_line[t]);
    const auto last = hunk.lines.begin() + static_cast<std::ptrdiff_t>(side.last_line[t]) + 1;
    const auto changed = [](const HunkLine& l) {
      return l.kind == Kind::kRemoved || l.kind == Kind::kAdded;
    };
    if (!std::any_of(first, last, changed)) continue;
    for (size_t i = side.first_line[t]; i <= side.last_line[t]; ++i) {
      if (hunk.lines[i].kind == Kind::kContext) any = split[i] = true;
    }
  }
  return any;
}

// A diff's context may begin or end inside of a block comment, where its words are no tokens of
// the file: such lines are no anchor.
void drop_half_comments(std::vector<HunkLine>& lines) {
  const auto anchor = [](const HunkLine& l) { return l.kind == Kind::kContext; };
  const auto holds = [](const HunkLine& l, const char* what) {
    return l.text.find(what) != std::string::npos;
  };
  for (auto it = lines.begin(); it != lines.end() && anchor(*it) && !holds(*it, "/*"); ++it) {
    if (!holds(*it, "*/")) continue;
    lines.erase(lines.begin(), it + 1);
    break;
  }
  for (auto it = lines.rbegin(); it != lines.rend() && anchor(*it) && !holds(*it, "*/"); ++it) {
    if (!holds(*it, "/*")) continue;
    lines.erase(it.base() - 1, lines.end());
    break;
  }
}

// What of a foreign diff's lines can be an anchor of tokens.
void drop_no_anchor(std::vector<HunkLine>& lines) {
  drop_half_comments(lines);
  const auto blank = [](const HunkLine& l) { return l.kind == Kind::kContext && is_blank(l.text); };
  while (!lines.empty() && blank(lines.back()))
    lines.pop_back();
}

// Whether a token of the hunk may reach from one line to the next: a block comment, a raw string,
// or anything over a backslash at a line's end.
bool may_span_lines(const Hunk& hunk) {
  return std::any_of(hunk.lines.begin(), hunk.lines.end(), [](const HunkLine& line) {
    const std::string_view text = line.text;
    return text.ends_with('\\') || text.ends_with("\\\r") || text.find("/*") != text.npos ||
           text.find("R\"") != text.npos;
  });
}

}  // namespace

Side make_side(const Hunk& hunk, Language language, Kind changed) {
  Side side;
  std::vector<size_t> line_of_text;
  std::vector<size_t> begins;
  std::vector<size_t> skips;
  for (size_t i = 0; i < hunk.lines.size(); ++i) {
    const HunkLine& line = hunk.lines[i];
    if (line.kind != changed && line.kind != Kind::kContext && line.kind != Kind::kSkip) continue;
    begins.push_back(side.text.size());
    line_of_text.push_back(i);
    if (line.kind == Kind::kSkip) {
      skips.push_back(side.text.size());
      side.skip_lines.push_back(i);
    }
    side.text += (line.kind == Kind::kSkip ? "" : line.text) + "\n";
  }
  side.tokens = tokenize(side.text, language);
  const auto line_at = [&](size_t byte) {
    const auto it = std::upper_bound(begins.begin(), begins.end(), byte);
    return line_of_text[static_cast<size_t>(it - begins.begin()) - 1];
  };
  side.segments.push_back(0);
  size_t skip = 0;
  for (size_t t = 0; t < side.tokens.size(); ++t) {
    const Token& token = side.tokens[t];
    side.first_line.push_back(line_at(token.begin));
    side.last_line.push_back(line_at(token.end - 1));
    for (; skip < skips.size() && skips[skip] < token.begin; ++skip) {
      if (side.code.size() > side.segments.back()) side.segments.push_back(side.code.size());
    }
    if (!token.comment) side.code.push_back(t);
  }
  if (side.segments.back() == side.code.size() && side.segments.size() > 1)
    side.segments.pop_back();
  return side;
}

Hunk whole_tokens(const Hunk& hunk, Language language) {
  Hunk out = hunk;
  if (hunk.foreign) drop_no_anchor(out.lines);
  for (bool again = language != Language::kLines && may_span_lines(hunk); again;) {
    std::vector<bool> split(out.lines.size());
    const bool before = mark_shared(out, make_side(out, language, Kind::kRemoved), split);
    const bool after = mark_shared(out, make_side(out, language, Kind::kAdded), split);
    again = before || after;
    std::vector<HunkLine> lines;
    for (size_t i = 0; i < out.lines.size(); ++i) {
      lines.push_back(out.lines[i]);
      if (!split[i]) continue;
      lines.back().kind = Kind::kRemoved;
      lines.push_back(out.lines[i]);
      lines.back().kind = Kind::kAdded;
    }
    out.lines = std::move(lines);
  }
  return out;
}

std::vector<Match> find_matches(const Source& source, const Side& side,
                                const std::vector<CodeRange>& ranges, Compare compare,
                                uint64_t* steps) {
  std::vector<Match> found;
  Matcher matcher(source, side, compare, steps);
  for (const CodeRange& range : ranges)
    matcher.search(range, found);
  std::sort(found.begin(), found.end(),
            [](const Match& a, const Match& b) { return a.code < b.code; });
  const auto same = [](const Match& a, const Match& b) { return a.code == b.code; };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  return found;
}

std::pair<uint32_t, uint32_t> match_bytes(const Source& source, const Match& match) {
  const auto& tokens = source.tokens();
  return {tokens[source.code()[match.code.front()]].begin,
          tokens[source.code()[match.code.back()]].end};
}

}  // namespace patcher
