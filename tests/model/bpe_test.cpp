// Merging against the slow, obvious algorithm.
#include "model/bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tokenizer_json.h"

namespace engine::model {
namespace {

using testing::ElementsAre;

// Looks at every pair, merges the best-ranked, leftmost one, and starts over.
std::vector<std::string> slow_bpe(const std::string& text, const StringPairs& merges) {
  std::map<std::pair<std::string, std::string>, std::size_t> ranks;
  for (std::size_t i = 0; i < merges.size(); ++i)
    ranks.emplace(merges[i], i);
  std::vector<std::string> symbols;
  for (const char c : text)
    symbols.emplace_back(1, c);
  for (;;) {
    std::size_t best = merges.size(), where = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto rank = ranks.find({symbols[i], symbols[i + 1]});
      if (rank == ranks.end() || rank->second >= best) continue;
      best = rank->second;
      where = i;
    }
    if (best == merges.size()) return symbols;
    symbols[where] += symbols[where + 1];
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

std::vector<std::string> fast_bpe(const Tokenizer& tokenizer, const std::string& text) {
  std::vector<std::string> symbols;
  for (const Token token : tokenizer.encode(text, SpecialText::kIsText)) {
    symbols.emplace_back(tokenizer.decode(token));
  }
  return symbols;
}

// Merges over a few letters, in any order: a merge may rank before those that make its parts.
StringPairs random_merges(std::mt19937& random, std::size_t count) {
  std::vector<std::string> tokens = {"a", "b", "c"};
  StringPairs merges;
  while (merges.size() < count) {
    const std::pair pair{tokens[random() % tokens.size()], tokens[random() % tokens.size()]};
    if (std::ranges::find(merges, pair) != merges.end()) continue;
    merges.push_back(pair);
    if (pair.first.size() + pair.second.size() < 9) tokens.push_back(pair.first + pair.second);
  }
  std::ranges::shuffle(merges, random);
  return merges;
}

TEST(Bpe, EqualsTheSlowAlgorithm) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    const StringPairs merges = random_merges(random, 1 + random() % 40);
    const Tokenizer tokenizer = parse_tokenizer(tokenizer_json(merges));
    for (int i = 0; i < 40; ++i) {
      std::string text(random() % 60, 'a');
      for (char& c : text)
        c = static_cast<char>('a' + random() % 3);
      ASSERT_EQ(fast_bpe(tokenizer, text), slow_bpe(text, merges)) << text;
    }
  }
}

TEST(Bpe, MergesTheLeftmostOfEqualRank) {
  const Tokenizer tokenizer = parse_tokenizer(tokenizer_json({{"a", "a"}}));
  EXPECT_THAT(fast_bpe(tokenizer, "aaaaa"), ElementsAre("aa", "aa", "a"));
}

TEST(Bpe, RankDecidesNotPosition) {
  const Tokenizer tokenizer = parse_tokenizer(tokenizer_json({{"b", "c"}, {"a", "b"}}));
  EXPECT_THAT(fast_bpe(tokenizer, "abc"), ElementsAre("a", "bc"));
}

// Quadratic work or recursion would show: one piece of four million bytes.
TEST(Bpe, LongPiecesAreFine) {
  StringPairs merges;
  for (std::string half = "a"; half.size() < 64; half += half)
    merges.emplace_back(half, half);
  const Tokenizer tokenizer = parse_tokenizer(tokenizer_json(merges));
  const std::size_t length = 4'000'000;
  const auto tokens = tokenizer.encode(std::string(length, 'a'), SpecialText::kIsText);
  EXPECT_EQ(tokens.size(), length / 64);
}

TEST(Bpe, EmptyPiece) {
  const Bpe bpe;
  Bpe::Scratch scratch;
  std::vector<Token> tokens;
  bpe.merge({}, scratch, tokens);
  EXPECT_TRUE(tokens.empty());
  bpe.merge(std::vector<Token>{'z'}, scratch, tokens);
  EXPECT_THAT(tokens, ElementsAre('z'));
}

}  // namespace
}  // namespace engine::model
