#pragma once

#include <optional>
#include <string>

#include "patcher/anchor.h"
#include "patcher/source.h"

namespace patcher {

// The place in the ranges that has most of the anchor's tokens where the anchor has them. For
// messages only: nothing is ever edited there.
struct Nearest {
  uint32_t byte = 0;        // where the place begins
  uint32_t differs = 0;     // the first differing token's byte
  size_t equal = 0;         // tokens that agree
  size_t token = 0;         // the first differing one, from 1
  std::string there = {};   // its text in the file ("end of scope" past the range)
  std::string wanted = {};  // its text in the patch
};

// Nothing when no token agrees, or when looking for it would take more than kMatchSteps.
std::optional<Nearest> nearest_place(const Source& source, const Side& side,
                                     const std::vector<CodeRange>& ranges);

}  // namespace patcher
