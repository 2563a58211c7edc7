#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "patcher/hunk/hunk_unit.h"
#include "patcher/text/indentation.h"

namespace patcher {

// Where the changed lines of a hunk land: the anchor lines around a place, the indentation and the
// line ends that new lines take there, and what else is on a line. Answers questions and edits
// nothing. Borrows everything that it is made from.
class TargetLayout {
 public:
  TargetLayout(const Source& source, const Hunk& hunk, const Side& before,
               const std::vector<Unit>& old_units, const Overlay& overlay);

  // The nearest anchor unit before or from `point` that lies in the target; before it, none across
  // a `...` above hunk line `line`.
  std::optional<size_t> neighbour_before(size_t point, size_t line) const;
  std::optional<size_t> neighbour_after(size_t point) const;
  // How a unit's own line moved. REQUIRES that it lies in the target.
  Reindent own_shift(size_t old_unit) const;
  // A line whose indentation is what changes cannot say where the target's indentation is: it may
  // have been changed already. A context line can.
  Reindent pair_shift(size_t old_unit, const Unit& after) const;
  // The shift of the nearest anchor line that begins a line of the target; one with the same
  // indentation as the unit is best.
  Reindent neighbour_shift(const Unit& unit) const;
  // The end of the line at a byte, or of the nearest line before it that has one.
  std::string line_end_near(uint32_t byte) const;
  // Past the comments that follow on the same line, if nothing follows them.
  uint32_t after_trailing_comments(uint32_t end) const;
  bool rest_is_white(uint32_t begin, uint32_t end) const;
  // A blank or a tab at a byte.
  bool is_blank(uint32_t i) const;
  uint32_t size() const;
  uint32_t line_begin(uint32_t byte) const;
  // The line's begin; the same, past a byte order mark.
  uint32_t content_begin(uint32_t byte) const;
  uint32_t indentation_before(uint32_t byte) const;

 private:
  void read_styles();
  bool skip_between(size_t first, size_t last) const;
  std::pair<bool, size_t> rank(size_t old_unit, const Unit& unit) const;

  const Source& source_;
  const Hunk& hunk_;
  const Side& before_;
  const std::vector<Unit>& old_units_;
  const Overlay& overlay_;
  IndentStyle patch_style_;
  IndentStyle target_style_;
  bool styles_differ_ = false;
};

}  // namespace patcher
