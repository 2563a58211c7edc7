#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "patcher/patch/patch.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// Two versions of a file by their lines.
struct TwoTexts {
  std::vector<std::string_view> before = {};
  std::vector<std::string_view> after = {};
};

// Unchanged lines of the text before that may be context: [lo, begin) and [end, hi), around the
// changes in [begin, end).
struct ContextRoom {
  size_t lo = 0;
  size_t begin = 0;
  size_t end = 0;
  size_t hi = 0;
};

// How many context lines that are not blank a hunk has before and behind its changes; `least` on
// each side where that many are there.
struct ContextLines {
  size_t up = 0;
  size_t down = 0;
  size_t least = 0;
};

// The hunk, without a scope, that changes the blocks with that much context; nothing if there is
// less room than asked for. A context line of three dots alone is a skip.
std::optional<Hunk> draft_hunk(const TwoTexts& texts, std::span<const ChangeBlock> blocks,
                               const ContextRoom& room, ContextLines context);

}  // namespace patcher
