#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patcher/hunk/anchor.h"
#include "patcher/hunk/token_index.h"
#include "patcher/syntax/source.h"
#include "patcher/text/change_blocks.h"

namespace patcher {

// A run of tokens, as numbers, against a file's: where most of it is at its place, and how much.
struct NearestRun {
  size_t at = 0;
  size_t equal = 0;   // tokens that agree
  size_t prefix = 0;  // of these, before the first that does not
};

// Nothing when no token agrees, or when looking for it would take more than kMatchSteps.
std::optional<NearestRun> nearest_run(const std::vector<uint32_t>& run,
                                      const std::vector<uint32_t>& file,
                                      const std::vector<CodeRange>& ranges);

// The place in the ranges that has most of the anchor's tokens where the anchor has them. For
// messages only: nothing is ever edited there.
struct Nearest {
  uint32_t byte = 0;        // where the place begins
  uint32_t differs = 0;     // the first differing token's byte
  size_t equal = 0;         // tokens that agree
  size_t token = 0;         // the first differing one, from 1
  std::string there = {};   // its text in the file (or that the scope ends there)
  std::string wanted = {};  // its text in the patch; empty where all of its tokens agree
  bool has_word = false;    // more than brackets and signs agree
};

// Nothing where nearest_run() finds nothing.
std::optional<Nearest> nearest_place(const Source& source, const Side& side,
                                     const std::vector<CodeRange>& ranges);

// The code token of the target where most is left of the words of the base's lines that a block
// changes, or, where it only adds, of those next to it; nothing if that is not more than half of
// them. REQUIRES that the block lies in in_base.
std::optional<size_t> nearest_lines(const TokenIndex& base, const ChangeBlock& block,
                                    CodeRange in_base, const TokenIndex& target,
                                    CodeRange in_target);

}  // namespace patcher
