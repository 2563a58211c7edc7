// Cuts a text at what a pattern matches. Internal.
#pragma once

#include <string_view>
#include <vector>

#include "model/json_file.h"
#include "model/pattern.h"

namespace engine::model {

// What becomes of a match. The names are tokenizer.json's.
enum class SplitBehavior {
  kIsolated,            // a piece
  kRemoved,             // nothing
  kMergedWithPrevious,  // the end of the piece before it
  kMergedWithNext,      // the beginning of the piece after it
  kContiguous,          // a piece, together with the matches right behind it
};

SplitBehavior read_split_behavior(const JsonNode& node);

// Const after construction; any thread may call it.
class Splitter {
 public:
  // `invert`: what lies between matches counts as the match.
  Splitter(Pattern pattern, SplitBehavior behavior, bool invert = false)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  // The pieces of `text`, in order, none empty; together they are `text` but for what is removed.
  // REQUIRES: valid UTF-8. Throws ModelError as Pattern does.
  std::vector<Range> split(std::string_view text) const;

 private:
  struct Segment;
  std::vector<Segment> segments(std::string_view text) const;

  Pattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

}  // namespace engine::model
