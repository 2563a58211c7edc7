#include "model/splitter.h"

#include <algorithm>
#include <array>
#include <utility>

namespace engine::model {
namespace {

constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kBehaviors{
    {{"Isolated", SplitBehavior::kIsolated},
     {"Removed", SplitBehavior::kRemoved},
     {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
     {"MergedWithNext", SplitBehavior::kMergedWithNext},
     {"Contiguous", SplitBehavior::kContiguous}}};

}  // namespace

SplitBehavior read_split_behavior(const JsonNode& node) {
  const std::string name = node.string();
  const auto* const found =
      std::ranges::find(kBehaviors, name, &std::pair<std::string_view, SplitBehavior>::first);
  if (found == kBehaviors.end()) {
    node.fail_expected(
        "\"Isolated\", \"Removed\", \"MergedWithPrevious\", \"MergedWithNext\" or \"Contiguous\"");
  }
  return found->second;
}

struct Splitter::Segment {
  Range range;
  bool match;
};

// Matches and what lies between them; an empty match is a segment too, so that it cuts.
std::vector<Splitter::Segment> Splitter::segments(std::string_view text) const {
  std::vector<Segment> result;
  std::size_t done = 0;
  for (const Range match : pattern_.matches(text)) {
    if (match.begin > done) result.push_back({{done, match.begin}, invert_});
    result.push_back({match, !invert_});
    done = match.end;
  }
  if (done < text.size()) result.push_back({{done, text.size()}, invert_});
  return result;
}

std::vector<Range> Splitter::split(std::string_view text) const {
  std::vector<Segment> parts = segments(text);
  const bool backwards = behavior_ == SplitBehavior::kMergedWithNext;
  if (backwards) std::ranges::reverse(parts);
  std::vector<Range> pieces;
  bool previous = false;  // whether the segment before was a match
  for (const auto& [range, match] : parts) {
    const bool was_match = std::exchange(previous, match);
    bool join = false;
    if (behavior_ == SplitBehavior::kContiguous) join = match == was_match;
    if (behavior_ == SplitBehavior::kMergedWithPrevious || backwards) join = match && !was_match;
    if (behavior_ == SplitBehavior::kRemoved && match) continue;
    if (!join || pieces.empty()) {
      pieces.push_back(range);
    } else if (backwards) {
      pieces.back().begin = range.begin;
    } else {
      pieces.back().end = range.end;
    }
  }
  if (backwards) std::ranges::reverse(pieces);
  std::erase_if(pieces, [](const Range& piece) { return piece.begin == piece.end; });
  return pieces;
}

}  // namespace engine::model
