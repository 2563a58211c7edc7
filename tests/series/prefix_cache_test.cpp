// The module that the series installs and lets grow: its pure parts, compiled once a step as
// cache_steps_test.cpp is.
#include "runtime/prefix_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "runtime/error.h"

namespace engine::runtime {
namespace {

using kernels::Token;

std::vector<Token> counting(std::size_t count) {
  std::vector<Token> tokens(count);
  for (std::size_t i = 0; i < count; ++i)
    tokens[i] = static_cast<Token>(i);
  return tokens;
}

TEST(LongestCommonPrefix, CountsLeadingEqualTokens) {
  const std::vector<Token> a{1, 2, 3}, b{1, 2, 4, 5}, none;
  EXPECT_EQ(longest_common_prefix(a, b), 2u);
  EXPECT_EQ(longest_common_prefix(b, a), 2u);
  EXPECT_EQ(longest_common_prefix(a, a), 3u);
  EXPECT_EQ(longest_common_prefix(a, none), 0u);
  EXPECT_EQ(longest_common_prefix(none, none), 0u);
}

TEST(LongestCommonPrefix, ComparesWholeTokens) {
  for (int bit = 0; bit < 31; ++bit) {
    const std::vector<Token> a{1, 2, 3}, b{1, 2 ^ Token{1} << bit, 3};
    EXPECT_EQ(longest_common_prefix(a, b), 1u) << "bit " << bit;
  }
}

#if SERIES_STEP <= 5

TEST(PrefixCache, RemembersTheRowsOfPromptAndReply) {
  PrefixCache cache(true);
  cache.remember(counting(10), std::vector<Token>{10, 11, 12});
  EXPECT_THAT(cache.record(), ::testing::ElementsAreArray(counting(12)));  // the last has no row
  cache.keep(8);
  cache.remember(counting(9), {});
  EXPECT_THAT(cache.record(), ::testing::ElementsAreArray(counting(8)));
  cache.remember(counting(9), std::vector<Token>{3});
  EXPECT_THAT(cache.record(), ::testing::ElementsAreArray(counting(9)));
}

TEST(PrefixCache, RecordsNothingWhenOff) {
  PrefixCache cache(false);
  cache.remember(counting(10), counting(3));
  EXPECT_TRUE(cache.record().empty());
}

#else

TEST(PrefixCache, GrowsByChunks) {
  PrefixCache cache(true);
  const std::vector<Token> prompt = counting(10);
  cache.extend_prefilled(prompt, 4);
  EXPECT_THAT(cache.record(), ::testing::ElementsAreArray(counting(4)));
  cache.extend_prefilled(prompt, 10);
  cache.extend_decoded(std::vector<Token>{10, 11, 12});
  EXPECT_THAT(cache.record(), ::testing::ElementsAreArray(counting(12)));  // the last has no row
}

TEST(PrefixCache, AnEmptyReplyChangesNothing) {
  PrefixCache cache(true);
  cache.extend_prefilled(counting(6), 6);
  cache.extend_decoded({});
  EXPECT_EQ(cache.record().size(), 6u);
}

TEST(PrefixCache, RecordsNothingWhenOff) {
  PrefixCache cache(false);
  cache.extend_prefilled(counting(10), 10);
  cache.extend_decoded(counting(3));
  EXPECT_TRUE(cache.record().empty());
}

#endif

TEST(PrefixCache, IsCutBeforeTheFirstWrite) {
  PrefixCache cache(true);
#if SERIES_STEP <= 5
  cache.remember(counting(10), std::vector<Token>{10});
#else
  cache.extend_prefilled(counting(10), 10);
#endif
  cache.keep(12);
  EXPECT_EQ(cache.record().size(), 10u);
  cache.keep(8);
  EXPECT_EQ(cache.record().size(), 8u);
  cache.keep(0);
  EXPECT_TRUE(cache.record().empty());
}

#if SERIES_STEP >= 7

// Small enough to try everything: a cell of 4, all lengths up to 3 cells and 2.
TEST(BoundReuse, ExhaustivelyEqualsTheFormula) {
  constexpr std::size_t kCell = 4, kMost = 3 * kCell + 2;
  for (std::size_t common = 0; common <= kMost; ++common) {
    for (std::size_t canonical = 0; canonical <= kMost; ++canonical) {
      for (std::size_t prompt = 1; prompt <= kMost; ++prompt) {
        const Reuse reuse = bound_reuse(common, canonical, prompt, kCell);
        const std::size_t limit = std::min({common, canonical, prompt - 1});
        ASSERT_EQ(reuse.offset % kCell, 0u);
        ASSERT_LE(reuse.offset, limit);
        ASSERT_GT(reuse.offset + kCell, limit);
        ASSERT_LT(reuse.offset, prompt);
        ASSERT_EQ(reuse.common, common);
        ASSERT_EQ(reuse.bound == ReuseBound::kGrid, limit > 0 && reuse.offset == 0);
      }
    }
  }
}

TEST(BoundReuse, NamesWhatDecided) {
  EXPECT_EQ(bound_reuse(70, 100, 200, 64).bound, ReuseBound::kLcp);
  EXPECT_EQ(bound_reuse(90, 70, 200, 64).bound, ReuseBound::kCanonicalEnd);
  EXPECT_EQ(bound_reuse(90, 90, 80, 64).bound, ReuseBound::kLastToken);
  EXPECT_EQ(bound_reuse(63, 90, 80, 64).bound, ReuseBound::kGrid);
  EXPECT_EQ(bound_reuse(0, 90, 80, 64).bound, ReuseBound::kLcp);
  EXPECT_EQ(name(ReuseBound::kCanonicalEnd), "canonical_end");
}

TEST(BoundReuse, NamesTheFirstOfThoseThatTie) {
  EXPECT_EQ(bound_reuse(70, 70, 200, 64).bound, ReuseBound::kLcp);
  EXPECT_EQ(bound_reuse(70, 90, 71, 64).bound, ReuseBound::kLcp);
  EXPECT_EQ(bound_reuse(90, 70, 71, 64).bound, ReuseBound::kCanonicalEnd);
  EXPECT_EQ(bound_reuse(70, 70, 71, 64).bound, ReuseBound::kLcp);
}

TEST(Plan, SaysNothingUntilARunHasCompletedRows) {
  PrefixCache cache(true);
  EXPECT_EQ(cache.plan(counting(9), 4).bound, ReuseBound::kEmpty);
  EXPECT_EQ(cache.plan(counting(9), 4).offset, 0u);
  cache.extend_prefilled(counting(9), 9);
  cache.keep(0);
  EXPECT_EQ(cache.plan(counting(9), 4).bound, ReuseBound::kEmpty);
}

TEST(Plan, RemembersWhereDecodeBegan) {
  PrefixCache cache(true);
  const std::vector<Token> prompt = counting(10);
  cache.extend_prefilled(prompt, 4);
  EXPECT_EQ(cache.canonical_end(), 4u);
  cache.extend_prefilled(prompt, 10);
  cache.extend_decoded(std::vector<Token>{10, 11, 12});
  EXPECT_EQ(cache.canonical_end(), 10u);
  const Reuse reuse = cache.plan(counting(20), 4);
  EXPECT_EQ(reuse.common, 12u);
  EXPECT_EQ(reuse.offset, 8u);
  EXPECT_EQ(reuse.bound, ReuseBound::kCanonicalEnd);
  cache.keep(8);
  EXPECT_EQ(cache.canonical_end(), 8u);
}

TEST(Plan, ReusesNothingWhenOff) {
  const PrefixCache cache(false);
  EXPECT_EQ(cache.plan(counting(20), 4).offset, 0u);
}

#endif

TEST(EnvironmentFlag, TakesZeroAndOneOnly) {
  constexpr const char* kVariable = "TF_GLM53_PREFIX_CACHE";
  unsetenv(kVariable);
  EXPECT_TRUE(environment_flag(kVariable, true));
  EXPECT_FALSE(environment_flag(kVariable, false));
  setenv(kVariable, "0", 1);
  EXPECT_FALSE(environment_flag(kVariable, true));
  setenv(kVariable, "1", 1);
  EXPECT_TRUE(environment_flag(kVariable, false));
  for (const char* wrong : {"", "2", "true", "on", " 1", "01"}) {
    setenv(kVariable, wrong, 1);
    EXPECT_THAT([&] { (void)environment_flag(kVariable, true); },
                ::testing::ThrowsMessage<RequestError>(::testing::HasSubstr(kVariable)))
        << wrong;
  }
  unsetenv(kVariable);
}

}  // namespace
}  // namespace engine::runtime
