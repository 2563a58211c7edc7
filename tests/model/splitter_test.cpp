#include "model/splitter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_files.h"
#include "tokenizer_json.h"

namespace engine::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> split(const Splitter& splitter, std::string_view text) {
  std::vector<std::string> pieces;
  for (const Range piece : splitter.split(text))
    pieces.emplace_back(text.substr(piece.begin, piece.end - piece.begin));
  return pieces;
}

Pattern regex(std::string_view pattern) {
  const json node = {{"Regex", pattern}};
  return Pattern::read(JsonNode(node, "tokenizer.json"));
}

std::vector<std::string> split(std::string_view pattern, std::string_view text) {
  return split(Splitter(regex(pattern), SplitBehavior::kIsolated), text);
}

constexpr std::string_view kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|)"
    R"( ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

TEST(Splitter, Gpt2Words) {
  EXPECT_THAT(
      split(kGpt2, "Hello world's  end, 42 times\n\n x"),
      ElementsAre("Hello", " world", "'s", " ", " end", ",", " 42", " times", "\n\n", " x"));
}

TEST(Splitter, Llama3Words) {
  EXPECT_THAT(split(kLlama3, "It'S 12345 (ok)\r\n  go"),
              ElementsAre("It", "'S", " ", "123", "45", " (", "ok", ")\r\n", " ", " go"));
}

TEST(Splitter, LettersAreUnicode) {
  EXPECT_THAT(
      split(kGpt2, "\u00e9t\u00e9 \u0434\u0430\u00a0\u4f60\u597d!\u0661"),
      ElementsAre("\u00e9t\u00e9", " \u0434\u0430", "\u00a0", "\u4f60\u597d", "!", "\u0661"));
}

// Of version 8 of Unicode, as in Hugging Face's library.
TEST(Splitter, PunctuationIsTheLibrarys) {
  const Splitter splitter(Pattern(is_punctuation), SplitBehavior::kIsolated);
  EXPECT_THAT(
      split(splitter, "a+b\u00bfc\u2e42d\u166de\U000111c9"),
      ElementsAre("a", "+", "b", "\u00bf", "c", "\u2e42", "d", "\u166d", "e", "\U000111c9"));
  EXPECT_THAT(split(splitter, "a\u2e43b\u061dc\u09fdd\U0001e95e"),
              ElementsAre("a\u2e43b\u061dc\u09fdd\U0001e95e"));
}

TEST(Splitter, StretchesBetweenMatchesArePieces) {
  EXPECT_THAT(split("[0-9]", "ab12c"), ElementsAre("ab", "1", "2", "c"));
  EXPECT_THAT(split("[0-9]", ""), ElementsAre());
  EXPECT_THAT(split("[0-9]", "abc"), ElementsAre("abc"));
}

// As Oniguruma's loop in Hugging Face's library does.
TEST(Splitter, EmptyMatchesCut) {
  EXPECT_THAT(split("x*", "a\u00e9xxb"), ElementsAre("a", "\u00e9", "xx", "b"));
  EXPECT_THAT(split("(?=b)", "abab"), ElementsAre("a", "ba", "b"));
  EXPECT_THAT(split("$", "ab"), ElementsAre("ab"));
}

TEST(Splitter, LiteralPatternsHaveNoMetacharacters) {
  EXPECT_THAT(split(Splitter(Pattern(std::string(".*")), SplitBehavior::kIsolated), "a.*b"),
              ElementsAre("a", ".*", "b"));
}

TEST(Splitter, Behaviors) {
  const auto cut = [](SplitBehavior behavior, bool invert = false) {
    return split(Splitter(Pattern(std::string("-")), behavior, invert), "the-final--countdown");
  };
  EXPECT_THAT(cut(SplitBehavior::kRemoved), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::kIsolated),
              ElementsAre("the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::kMergedWithPrevious),
              ElementsAre("the-", "final-", "-", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::kMergedWithNext), ElementsAre("the", "-final", "-", "-countdown"));
  EXPECT_THAT(cut(SplitBehavior::kContiguous), ElementsAre("the", "-", "final", "--", "countdown"));
  EXPECT_THAT(cut(SplitBehavior::kRemoved, true), ElementsAre("-", "-", "-"));
  EXPECT_THAT(cut(SplitBehavior::kMergedWithNext, true),
              ElementsAre("the-", "final-", "-", "countdown"));
}

// What Oniguruma reads otherwise than PCRE2.
TEST(Splitter, PatternsAreOnigurumas) {
  EXPECT_THAT(split(R"(\s+)", "a\u0085b\u180ec"), ElementsAre("a", "\u0085", "b\u180ec"));
  EXPECT_THAT(split(R"([^\s]+)", "\u00a0\u180e "), ElementsAre("\u00a0", "\u180e", " "));
  EXPECT_THAT(split(R"(\w+)", "-e\u0301_\u0661\u00b2-"),
              ElementsAre("-", "e\u0301_\u0661", "\u00b2-"));
  EXPECT_THAT(split(R"(\h+|[\h.]$)", "xfa0g.\n"), ElementsAre("x", "fa0", "g", ".", "\n"));
  EXPECT_THAT(split(R"(a$)", "a\na"), ElementsAre("a", "\n", "a"));
}

TEST(Splitter, RefusesPatternsThatDoNotCompile) {
  const auto error = [](const std::string& pattern) { return error_of([&] { regex(pattern); }); };
  EXPECT_THAT(error("a(b"), HasSubstr("tokenizer.json: Regex: regex, at offset 3"));
  EXPECT_THAT(error(""), HasSubstr("empty pattern"));
  EXPECT_THAT(error(std::string(70'000, 'a')), HasSubstr("pattern of 70000 bytes"));
  EXPECT_THAT(error(R"(a\Cb)"), HasSubstr("regex, at offset"));
}

TEST(Splitter, RefusesWhatOnlyOnigurumaKnows) {
  const auto error = [](const std::string& pattern) { return error_of([&] { regex(pattern); }); };
  EXPECT_THAT(error("[a&&[b]]"), HasSubstr("at offset 2: an intersection of sets is not"));
  EXPECT_THAT(error("[a[b]]"), HasSubstr("at offset 2: a set inside of a set is not"));
  EXPECT_THAT(error("a{1,3}+"), HasSubstr("at offset 5: a repeated count is not supported"));
  EXPECT_THAT(error("(?m:a)"), HasSubstr("at offset 0: the option \"m\" is not supported"));
  EXPECT_THAT(error("[\\W]"), HasSubstr("at offset 1: \\W in a set is not supported"));
  for (const char* pattern : {"(?i:a)", "(?=a)", "(?<!a)b", "[[:alpha:]]", "[]a]", "a{1,3}"})
    EXPECT_EQ(error(pattern), "no error") << pattern;
}

// Exponential backtracking ends in an error, not in a hang.
TEST(Splitter, RunawayMatchesAreStopped) {
  EXPECT_THAT(error_of([] { split("(a|aa|b)+$|(a+)+x", std::string(60, 'a') + "!"); }),
              HasSubstr("Regex: matching text, at byte 0 of 61: match limit exceeded"));
}

TEST(Splitter, LongStretchesAreFine) {
  for (const std::string_view pattern : {kGpt2, kLlama3}) {
    for (const std::string_view unit : {"a", " ", "!", "\n", "\u4f60", " \t"}) {
      std::string text;
      for (int i = 0; i < 300'000; ++i)
        text += unit;
      std::size_t total = 0;
      for (const std::string& piece : split(pattern, text + "x")) {
        total += piece.size();
      }
      EXPECT_EQ(total, text.size() + 1);
    }
  }
}

}  // namespace
}  // namespace engine::model
