// The fixture of the cases made from public bug reports: the series' defaults, and lanes that hold
// every request against a cold run.
#pragma once

#include <gtest/gtest.h>

#include "proof/compared_lane.h"
#include "series/series_environment.h"

namespace engine::runtime::testing {

class PrefixCase : public ::testing::Test {
 protected:
  PrefixCase() : defaults_(nullptr, nullptr) {}

  static ComparedLane lane(std::size_t grid, std::size_t longest,
                           std::size_t spare_ring_rows = 1024) {
    return ComparedLane(shared_model(), {.grid = grid,
                                         .longest_prompt = longest,
                                         .reply_room = 40,
                                         .spare_ring_rows = spare_ring_rows});
  }
  static std::vector<Token> head(const std::vector<Token>& text, std::size_t count) {
    return {text.begin(), text.begin() + static_cast<std::ptrdiff_t>(count)};
  }

 private:
  Environment defaults_;
};

}  // namespace engine::runtime::testing
