#include "patcher/text/edit.h"

#include <gtest/gtest.h>

#include <random>

namespace patcher {
namespace {

std::vector<ByteEdit> random_edits(std::mt19937& rng, uint32_t size) {
  std::vector<ByteEdit> edits;
  for (uint32_t at = static_cast<uint32_t>(rng() % 4); at < size; at += 1 + rng() % 6) {
    const uint32_t end = std::min<uint32_t>(at + static_cast<uint32_t>(rng() % 3), size);
    edits.push_back({at, end, std::string(rng() % 3, static_cast<char>('a' + rng() % 2))});
    at = end;
  }
  return edits;
}

TEST(SameResult, IsThatOfTheWholeText) {
  std::mt19937 rng(1);
  size_t same = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (size_t n = rng() % 6; n > 0; --n)
      text += static_cast<char>('a' + rng() % 2);
    const auto a = random_edits(rng, static_cast<uint32_t>(text.size()));
    const auto b = random_edits(rng, static_cast<uint32_t>(text.size()));
    const bool equal = apply_edits(text, a) == apply_edits(text, b);
    ASSERT_EQ(same_result(text, a, b), equal) << text;
    same += equal ? 1 : 0;
  }
  EXPECT_GT(same, 1000u);
}

}  // namespace
}  // namespace patcher
