#include "patcher/syntax/code_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "patcher/hunk/anchor.h"

namespace patcher {
namespace {

std::string random_code(std::mt19937& rng, size_t words) {
  constexpr std::string_view kWords[] = {"a", "b", "(", ")", "{", "}", ";\n", "\n#define b\n"};
  std::string text;
  for (; words > 0; --words)
    text += std::string(kWords[rng() % std::size(kWords)]) + " ";
  return text + "\n";
}

TEST(CodeIndex, KnowsAllPlacesInOrder) {
  std::mt19937 rng(1);
  const Source source("a.cpp", random_code(rng, 500));
  const CodeIndex index(source.tokens(), source.code(), source.bytes());
  for (const std::string_view word : {"a", "b", "(", "}", "#", "absent"}) {
    const auto places = index.places(word);
    EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
    for (uint32_t i = 0; i < source.code().size(); ++i) {
      const bool is = source.tokens()[source.code()[i]].text(source.bytes()) == word;
      EXPECT_TRUE(!is || std::binary_search(places.begin(), places.end(), i)) << word << i;
    }
  }
}

// Whether `to` is reached from `from` over balanced brackets only.
bool walks(const Source& source, uint32_t from, uint32_t to) {
  int depth = 0;
  for (uint32_t i = from; i < to && depth >= 0; ++i) {
    const Token& token = source.tokens()[source.code()[i]];
    const std::string_view text = token.text(source.bytes());
    if (token.directive) continue;
    depth += text == "(" || text == "{" ? 1 : text == ")" || text == "}" ? -1 : 0;
  }
  return depth == 0;
}

TEST(BracketBlocks, AreWhatAWalkLeavesNot) {
  std::mt19937 rng(2);
  const Source source("a.cpp", random_code(rng, 120));
  const auto& blocks = source.blocks();
  ASSERT_EQ(blocks.size(), source.code().size() + 1);
  for (uint32_t from = 0; from < blocks.size(); ++from) {
    for (uint32_t to = from; to < blocks.size(); ++to)
      ASSERT_EQ(blocks[from] == blocks[to], walks(source, from, to)) << from << " " << to;
  }
}

Hunk random_hunk(std::mt19937& rng) {
  Hunk hunk;
  for (size_t n = 1 + rng() % 3; n > 0; --n) {
    const bool skip = !hunk.lines.empty() && rng() % 2 == 0;
    if (skip) hunk.lines.push_back({.kind = HunkLine::Kind::kSkip, .text = "..."});
    std::string line = random_code(rng, 1 + rng() % 2);
    std::replace(line.begin(), line.end(), '\n', ' ');
    hunk.lines.push_back({.text = line});
  }
  return hunk;
}

// A source that has been searched often looks its places up, a new one walks over its tokens.
TEST(CodeIndex, GivesTheSameMatchesAsAWalk) {
  std::mt19937 rng(3);
  size_t found = 0;
  for (int round = 0; round < 40; ++round) {
    const std::string text = random_code(rng, 60);
    const Source often("a.cpp", text);
    const auto size = static_cast<uint32_t>(often.code().size());
    for (int i = 0; i < 50; ++i) {
      const Source once("a.cpp", text);
      const Side side = make_side(random_hunk(rng), Language::kCpp, HunkLine::Kind::kRemoved);
      if (side.code.empty()) continue;
      const CodeRange range{static_cast<uint32_t>(rng() % (size / 2)), size};
      const auto a = find_matches(often, side, {range});
      const auto b = find_matches(once, side, {range});
      ASSERT_EQ(a.size(), b.size());
      for (size_t m = 0; m < a.size(); ++m)
        ASSERT_EQ(a[m].code, b[m].code);
      found += a.size();
    }
    ASSERT_NE(often.index_for(size), nullptr);
  }
  EXPECT_GT(found, 500u);
}

}  // namespace
}  // namespace patcher
