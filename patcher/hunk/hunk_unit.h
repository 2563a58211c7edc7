#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "patcher/hunk/anchor.h"
#include "patcher/text/indentation.h"

namespace patcher {

// The smallest run of hunk lines of one side that no token crosses: nearly always one line, more
// for a block comment or a raw string.
struct Unit {
  size_t first_line = 0;  // indices into Hunk::lines
  size_t last_line = 0;
  HunkLine::Kind kind = HunkLine::Kind::kContext;
  std::vector<size_t> elements = {};  // indices into Side::tokens, comments included
  std::vector<std::string> lines = {};
  bool verbatim_tail = false;  // its later lines are the inside of a literal: never re-indented

  bool blank() const { return elements.empty(); }
};

// The units of the hunk's lines of this side, in order; skipped lines separate and are no units.
std::vector<Unit> make_units(const Hunk& hunk, const Side& side, HunkLine::Kind changed);

// A run of changed lines of a hunk: indices of its removed and its added units, in order.
struct UnitBlock {
  std::vector<size_t> removed = {};
  std::vector<size_t> added = {};
};
std::vector<UnitBlock> unit_blocks(const Hunk& hunk, const std::vector<Unit>& old_units,
                                   const std::vector<Unit>& new_units);

// Where a unit of the anchor lies in the target.
struct Extent {
  uint32_t begin = 0;
  uint32_t end = 0;
  bool starts_line = false;  // nothing but white space before it on its line
  bool ends_line = false;    // nothing but white space after it on its line

  size_t last_line = 0;  // the line that it ends on

  bool whole_lines() const { return starts_line && ends_line; }
};

// The anchor laid over the target: which target token each of its tokens is, and where each unit
// lies. Comments and blank lines, which matching skips, are aligned by their text between the
// tokens that did match; what the target does not have stays empty.
struct Overlay {
  std::vector<std::optional<uint32_t>> token = {};  // per Side::tokens: index into Source::tokens()
  std::vector<std::optional<Extent>> unit = {};     // per unit
};

Overlay lay_over(const Source& source, const Side& side, const std::vector<Unit>& units,
                 const Match& match);

}  // namespace patcher
