#include "patcher/hunk/anchor.h"

#include <algorithm>

namespace patcher {
namespace {

using Kind = HunkLine::Kind;

// +1, -1 or 0 for a bracket; preprocessor lines do not count.
int bracket(const Token& token, std::string_view text) {
  if (token.directive || token.comment || token.end - token.begin != 1) return 0;
  switch (text[token.begin]) {
    case '(':
    case '[':
    case '{':
      return 1;
    case ')':
    case ']':
    case '}':
      return -1;
    default:
      return 0;
  }
}

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
    complete_.clear();
    if (side_.segments.size() > 1 && !find_complete(range)) return;
    spend(range.second - range.first);
    for (uint32_t p = range.first; p < range.second && found.size() < kMaxMatches; ++p) {
      if (!may_begin(p)) continue;
      if (can_complete(0, p, range) && segment_at(0, p, range.second)) extend(p, range, found);
      if (is_spent()) return;
    }
  }

 private:
  void spend(size_t n) {
    if (steps_ != nullptr) *steps_ -= std::min<uint64_t>(*steps_, n);
  }
  bool is_spent() const { return steps_ != nullptr && *steps_ == 0; }

  // Whether the first token of the anchor can be there: nearly everywhere its size or its first
  // byte says that it is not.
  bool may_begin(uint32_t target) const {
    const Token& a = side_.tokens[side_.code.front()];
    const Token& b = tokens_[code_[target]];
    return a.end - a.begin == b.end - b.begin && side_.text[a.begin] == bytes_[b.begin];
  }

  size_t segment_begin(size_t s) const { return side_.segments[s]; }
  size_t segment_size(size_t s) const {
    const size_t end = s + 1 < side_.segments.size() ? side_.segments[s + 1] : side_.code.size();
    return end - side_.segments[s];
  }

  bool equal(size_t pattern, uint32_t target) const {
    const Token& a = side_.tokens[side_.code[pattern]];
    const Token& b = tokens_[code_[target]];
    if (a.end - a.begin != b.end - b.begin) return false;  // as nearly all are
    if (compare_ == Compare::kExact) return same_token(a, side_.text, b, source_.bytes());
    return a.text(side_.text) == b.text(source_.bytes());
  }

  bool segment_at(size_t s, uint32_t at, uint32_t end) {
    const size_t size = segment_size(s);
    if (end - at < size) return false;
    size_t i = 0;
    while (i < size && equal(segment_begin(s) + i, at + static_cast<uint32_t>(i)))
      ++i;
    spend(i + 1);
    return i == size;
  }

  bool can_complete(size_t s, uint32_t p, CodeRange range) const {
    return complete_.empty() || complete_[s][p - range.first];
  }

  // Marks, from the last segment to the first, the places from which all later segments can be
  // reached. Without it a text with many places for each of many segments and none for the last
  // would be searched for longer than anybody waits. False when there is no match at all.
  bool find_complete(CodeRange range) {
    const size_t segments = side_.segments.size();
    const size_t size = range.second - range.first;
    std::vector<std::vector<bool>> complete(segments, std::vector<bool>(size));
    std::vector<bool> reaches;  // from where the next segment can be reached
    for (size_t s = segments; s-- > 0;) {
      bool any = false;
      spend(size);
      for (uint32_t p = range.first; p < range.second && !is_spent(); ++p) {
        if (!segment_at(s, p, range.second)) continue;
        const size_t from = p - range.first + segment_size(s);
        const bool ok = s + 1 == segments || reaches[from];
        complete[s][p - range.first] = ok;
        any = any || ok;
      }
      if (!any || is_spent()) return false;
      reaches = reach(complete[s], range);
    }
    complete_ = std::move(complete);
    return true;
  }

  // For each place of the range, and its end, whether a marked one lies at or after it in the same
  // block. From the last to the first: behind an opening bracket it goes on past the closing one.
  std::vector<bool> reach(const std::vector<bool>& marked, CodeRange range) const {
    std::vector<bool> out(marked.size() + 1);
    std::vector<size_t> closing;
    for (size_t i = marked.size(); i-- > 0;) {
      const int turn = bracket(tokens_[code_[range.first + i]], source_.bytes());
      bool further = turn == 0 && out[i + 1];
      if (turn < 0) closing.push_back(i);
      if (turn > 0 && !closing.empty()) {
        further = out[closing.back() + 1];
        closing.pop_back();
      }
      out[i] = marked[i] || further;
    }
    return out;
  }

  // The first `most` places where segment s can lie when the tokens since `from` are skipped.
  std::vector<uint32_t> places(size_t s, uint32_t from, CodeRange range, size_t most) {
    std::vector<uint32_t> out;
    int depth = 0;
    uint32_t p = from;
    for (; p < range.second && depth >= 0 && out.size() < most; ++p) {
      if (depth == 0 && can_complete(s, p, range)) out.push_back(p);
      depth += bracket(tokens_[code_[p]], source_.bytes());
    }
    spend(p - from);
    return out;
  }

  // Depth-first over the segments' places, on a stack of its own. Every path ends in a match, so
  // that no more places are needed than matches.
  void extend(uint32_t first, CodeRange range, std::vector<Match>& found) {
    std::vector<std::vector<uint32_t>> open{{first}};
    while (!open.empty() && found.size() < kMaxMatches && !is_spent()) {
      const std::vector<uint32_t> starts = std::move(open.back());
      open.pop_back();
      if (starts.size() == side_.segments.size()) {
        found.push_back(to_match(starts));
        continue;
      }
      const uint32_t from = starts.back() + static_cast<uint32_t>(segment_size(starts.size() - 1));
      const auto next = places(starts.size(), from, range, kMaxMatches - found.size());
      for (auto it = next.rbegin(); it != next.rend(); ++it) {
        open.push_back(starts);
        open.back().push_back(*it);
      }
    }
  }

  Match to_match(const std::vector<uint32_t>& starts) const {
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
  uint64_t* const steps_;                    // left; null for no limit
  std::vector<std::vector<bool>> complete_;  // per segment and token of the range; empty for one
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
