#include "model/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "temp_folder.h"
#include "tokenizer_json.h"

namespace engine::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> split(const SplitRule& rule, std::string_view text) {
  std::vector<std::string_view> pieces;
  Splitter(rule, "tokenizer.json", "split").split(text, pieces);
  return {pieces.begin(), pieces.end()};
}

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

TEST(Splitter, Gpt2Words) {
  EXPECT_THAT(
      split({std::string(kGpt2)}, "Hello world's  end, 42 times\n\n x"),
      ElementsAre("Hello", " world", "'s", " ", " end", ",", " 42", " times", "\n\n", " x"));
}

TEST(Splitter, Llama3Words) {
  EXPECT_THAT(split({std::string(kLlama3)}, "It'S 12345 (ok)\r\n  go"),
              ElementsAre("It", "'S", " ", "123", "45", " (", "ok", ")\r\n", " ", " go"));
}

TEST(Splitter, LettersAreUnicode) {
  EXPECT_THAT(
      split({std::string(kGpt2)}, "\u00e9t\u00e9 \u0434\u0430\u00a0\u4f60\u597d!\u0661"),
      ElementsAre("\u00e9t\u00e9", " \u0434\u0430", "\u00a0", "\u4f60\u597d", "!", "\u0661"));
}

TEST(Splitter, StretchesBetweenMatchesArePieces) {
  EXPECT_THAT(split({"[0-9]"}, "ab12c"), ElementsAre("ab", "1", "2", "c"));
  EXPECT_THAT(split({"[0-9]"}, ""), ElementsAre());
  EXPECT_THAT(split({"[0-9]"}, "abc"), ElementsAre("abc"));
}

TEST(Splitter, EmptyMatchesCutNothing) {
  EXPECT_THAT(split({"x*"}, "a\u00e9xxb"), ElementsAre("a\u00e9", "xx", "b"));
  EXPECT_THAT(split({"(?=b)"}, "abab"), ElementsAre("abab"));
  EXPECT_THAT(split({"$"}, "ab"), ElementsAre("ab"));
}

TEST(Splitter, LiteralPatternsHaveNoMetacharacters) {
  EXPECT_THAT(split({.pattern = ".*", .regex = false}, "a.*b"), ElementsAre("a", ".*", "b"));
}

TEST(Splitter, RefusesPatternsThatDoNotCompile) {
  const auto error = [](const std::string& pattern) {
    return error_of([&] { Splitter({pattern}, "tokenizer.json", "pre_tokenizer, split 0"); });
  };
  EXPECT_THAT(error("a(b"),
              HasSubstr("tokenizer.json: pre_tokenizer, split 0: regex, at offset 3"));
  EXPECT_THAT(error(""), HasSubstr("empty pattern"));
  EXPECT_THAT(error(std::string(70'000, 'a')), HasSubstr("pattern of 70000 bytes"));
  EXPECT_THAT(error(R"(a\Cb)"), HasSubstr("regex, at offset"));
}

// Exponential backtracking ends in an error, not in a hang.
TEST(Splitter, RunawayMatchesAreStopped) {
  const SplitRule rule{"(a|aa|b)+$|(a+)+x"};
  EXPECT_THAT(error_of([&] { split(rule, std::string(60, 'a') + "!"); }),
              HasSubstr("split: splitting text, at byte 0 of 61: match limit exceeded"));
}

TEST(Splitter, LongStretchesAreFine) {
  for (const std::string_view pattern : {kGpt2, kLlama3}) {
    for (const std::string_view unit : {"a", " ", "!", "\n", "\u4f60", " \t"}) {
      std::string text;
      for (int i = 0; i < 300'000; ++i)
        text += unit;
      std::size_t total = 0;
      for (const std::string& piece : split({std::string(pattern)}, text + "x")) {
        total += piece.size();
      }
      EXPECT_EQ(total, text.size() + 1);
    }
  }
}

}  // namespace
}  // namespace engine::model
