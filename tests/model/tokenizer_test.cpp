#include "model/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "case_name.h"
#include "model/byte_tokenizer.h"
#include "test_files.h"
#include "tokenizer_json.h"

namespace engine::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Tokenizer built_in() {
  return Tokenizer::parse(byte_tokenizer_json(), "tokenizer.json");
}

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text,
                                SpecialText special = SpecialText::kIsText) {
  std::vector<std::string> result;
  for (const Token token : tokenizer.encode(text, special)) {
    result.emplace_back(tokenizer.decode(token));
  }
  return result;
}

std::string round_trip(const Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.decode(tokenizer.encode(text, SpecialText::kIsText));
}

TEST(Tokenizer, BytesOfTheBuiltInAreTheirIds) {
  const Tokenizer tokenizer = built_in();
  EXPECT_EQ(tokenizer.size(), byte_tokenizer_size());
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(tokenizer.decode(byte), std::string(1, static_cast<char>(byte)));
    EXPECT_EQ(tokenizer.find(std::string(1, static_cast<char>(byte))), byte);
  }
}

TEST(Tokenizer, FindsTokensByTheirBytes) {
  const Tokenizer tokenizer = built_in();
  EXPECT_EQ(tokenizer.find(" the"), 261);
  EXPECT_EQ(tokenizer.find("<|end|>"), byte_tokenizer_end());
  EXPECT_EQ(tokenizer.find("no such token"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_special(byte_tokenizer_end()));
  EXPECT_FALSE(tokenizer.is_special(261));
  EXPECT_FALSE(tokenizer.is_special(*tokenizer.find("<tool_call>")));
}

TEST(Tokenizer, IdsWithoutATokenDecodeToNothing) {
  const Tokenizer tokenizer = built_in();
  for (const Token token : {-1, 320, 1 << 30}) {
    EXPECT_EQ(tokenizer.decode(token), "");
    EXPECT_FALSE(tokenizer.is_special(token));
  }
}

TEST(Tokenizer, EncodesWords) {
  EXPECT_THAT(pieces(built_in(), "the cat, and 42 in the end"),
              ElementsAre("t", "he", " c", "at", ",", " and", " ", "4", "2", " in", " the", " ",
                          "en", "d"));
  EXPECT_TRUE(built_in().encode("", SpecialText::kIsToken).empty());
}

TEST(Tokenizer, RandomBytesComeBack) {
  const Tokenizer tokenizer = built_in();
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    std::string text(random() % 200, '\0');
    for (char& c : text)
      c = static_cast<char>(random());
    ASSERT_EQ(round_trip(tokenizer, text), text);
  }
}

TEST(Tokenizer, MultiByteCharactersComeBack) {
  const Tokenizer tokenizer = built_in();
  const std::vector<std::string> parts = {"a",          " the",     "\u00e9",  "\u4f60\u597d",
                                          "\U0001f600", "e\u0301",  "\n",      "\u00a0",
                                          "\xff",       "\xe4\xbd", "<|user|>"};
  std::mt19937 random(12);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (unsigned n = random() % 30; n > 0; --n)
      text += parts[random() % parts.size()];
    ASSERT_EQ(round_trip(tokenizer, text), text);
  }
}

TEST(Tokenizer, InvalidBytesArePiecesOfTheirOwn) {
  const json tokenizer = tokenizer_json({{"a", "\xff"}, {"\xff", "\xfe"}, {"a", "b"}});
  EXPECT_THAT(pieces(parse_tokenizer(tokenizer),
                     "a\xff\xfe"
                     "ab"),
              ElementsAre("a", "\xff\xfe", "ab"));
}

TEST(Tokenizer, SpecialTextIsATokenOnlyWhenAskedFor) {
  const Tokenizer tokenizer = built_in();
  const Token end = byte_tokenizer_end();
  EXPECT_THAT(tokenizer.encode("<|end|>", SpecialText::kIsToken), ElementsAre(end));
  EXPECT_THAT(tokenizer.encode("x<|end|><|end|>", SpecialText::kIsToken),
              ElementsAre('x', end, end));
  EXPECT_THAT(tokenizer.encode("<|end|>", SpecialText::kIsText),
              testing::Not(testing::Contains(end)));
  EXPECT_EQ(round_trip(tokenizer, "<|end|>"), "<|end|>");
}

// In brackets they are marks: "<tool_call>".
TEST(Tokenizer, AddedTokensThatAreNotSpecialAreMatchedUnlessTheyAreMarks) {
  const std::string text = "a<tool_call>b";
  EXPECT_THAT(pieces(built_in(), text, SpecialText::kIsToken),
              ElementsAre("a", "<tool_call>", "b"));
  EXPECT_THAT(pieces(built_in(), text), testing::Not(testing::Contains("<tool_call>")));
  json file = tokenizer_json();
  add_token(file, 256, "...", false);
  EXPECT_THAT(pieces(parse_tokenizer(file), "a...b"), ElementsAre("a", "...", "b"));
}

TEST(Tokenizer, AMarkThatTouchesALiteralRangeIsText) {
  const Tokenizer tokenizer = built_in();
  const Token end = byte_tokenizer_end();
  const std::vector<TextRange> literal = {{0, 1}, {8, 9}};
  const auto tokens = tokenizer.encode("<|end|><|end|><|end|>", literal);
  EXPECT_EQ(std::ranges::count(tokens, end), 1);
  EXPECT_EQ(tokens.back(), end);
}

TEST(Tokenizer, TheLongestAddedTokenWins) {
  json file = tokenizer_json();
  add_token(file, 256, "<a", true);
  add_token(file, 257, "<a>", true);
  add_token(file, 258, "a>b", true);
  EXPECT_THAT(pieces(parse_tokenizer(file), "<a>b<a", SpecialText::kIsToken),
              ElementsAre("<a>", "b", "<a"));
}

TEST(Tokenizer, AddedTokensMayStandInTheVocabulary) {
  json file = tokenizer_json();
  file["model"]["vocab"]["<\uff5cend\u2581>"] = 256;  // no byte's stand-ins
  add_token(file, 256, "<\uff5cend\u2581>", true);
  const Tokenizer tokenizer = parse_tokenizer(file);
  EXPECT_EQ(tokenizer.decode(256), "<\uff5cend\u2581>");
  EXPECT_THAT(tokenizer.encode("<\uff5cend\u2581>", SpecialText::kIsToken), ElementsAre(256));
}

TEST(Tokenizer, MergesMayBeStrings) {
  json file = tokenizer_json({{"a", "b"}, {" ", "ab"}});
  file["model"]["merges"] = {"a b", "\u0120 ab"};
  EXPECT_THAT(pieces(parse_tokenizer(file), "ab ab"), ElementsAre("ab", " ab"));
}

TEST(Tokenizer, IgnoreMergesTakesWholePieces) {
  json file = tokenizer_json({{"a", "b"}, {"ab", "c"}});
  file["model"]["merges"].erase(1);  // "abc" cannot be built any more
  file["pre_tokenizer"]["use_regex"] = true;
  EXPECT_THAT(pieces(parse_tokenizer(file), "abc"), ElementsAre("ab", "c"));
  file["model"]["ignore_merges"] = true;
  EXPECT_THAT(pieces(parse_tokenizer(file), "abc!"), ElementsAre("abc", "!"));
}

TEST(Tokenizer, ByteLevelRegexKeepsMergesInsideWords) {
  json file = tokenizer_json({{"a", " "}});
  EXPECT_THAT(pieces(parse_tokenizer(file), "a b"), ElementsAre("a ", "b"));
  file["pre_tokenizer"].erase("use_regex");  // on by default
  EXPECT_THAT(pieces(parse_tokenizer(file), "a b"), ElementsAre("a", " ", "b"));
}

TEST(Tokenizer, SplitsAreAppliedInTurn) {
  json file = tokenizer_json({{"1", "2"}, {"a", "-"}, {"-", "-"}});
  const auto split = [](const char* kind, const char* pattern) {
    return json{{"type", "Split"}, {"pattern", {{kind, pattern}}}, {"behavior", "Isolated"}};
  };
  file["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers", {split("Regex", "\\d"), split("String", "-"), file["pre_tokenizer"]}}};
  EXPECT_THAT(pieces(parse_tokenizer(file), "12a--"), ElementsAre("1", "2", "a", "-", "-"));
}

// What Hugging Face's tokenizers 0.23.3 gives for the same file.
TEST(Tokenizer, AgreesWithHuggingFace) {
  const Tokenizer tokenizer = built_in();
  const auto encode = [&](std::string_view text) {
    return tokenizer.encode(text, SpecialText::kIsToken);
  };
  EXPECT_THAT(encode("The tool reads the file, and then it is in order."),
              ElementsAre(84, 257, 299, 307, 287, 97, 100, 115, 261, 279, 301, 101, 44, 304, 261,
                          110, 32, 272, 297, 302, 260, 114, 100, 262, 46));
  EXPECT_THAT(encode("  two  spaces\n\n\tand tabs \n"),
              ElementsAre(32, 256, 119, 111, 32, 276, 112, 282, 288, 10, 10, 9, 97, 274, 256, 97,
                          98, 115, 32, 10));
  EXPECT_THAT(encode("It's 3.14 (or 22/7)!!\r\nNext"),
              ElementsAre(73, 116, 39, 115, 32, 51, 46, 49, 52, 32, 40, 298, 32, 50, 50, 47, 55, 41,
                          33, 33, 13, 10, 78, 101, 120, 116));
  EXPECT_THAT(encode("<|user|>run the tests<|end|><tool_call>read</tool_call>"),
              ElementsAre(314, 114, 293, 261, 256, 101, 268, 115, 317, 318, 259, 97, 100, 319));
  EXPECT_THAT(encode("<|end|"), ElementsAre(60, 124, 266, 100, 124));
  EXPECT_THAT(encode("a\u00a0b\u2003c\u3000"),
              ElementsAre(97, 194, 160, 98, 226, 128, 131, 99, 227, 128, 128));
}

TEST(Tokenizer, TextIsNormalised) {
  json file = tokenizer_json();
  file["normalizer"] = {{"type", "NFC"}};
  const Tokenizer tokenizer = parse_tokenizer(file);
  EXPECT_EQ(round_trip(tokenizer, "cafe\u0301 \u212b \uac00\u11a8"), "caf\u00e9 \u00c5 \uac01");
  EXPECT_EQ(round_trip(tokenizer, "\u0958 \xff e\u0301"), "\u0915\u093c \xff \u00e9");
  file["normalizer"] = {{"type", "NFD"}};
  EXPECT_EQ(round_trip(parse_tokenizer(file), "\u00e9\u1e69"), "e\u0301s\u0323\u0307");
  file["normalizer"] = {{"type", "NFKC"}};
  EXPECT_EQ(round_trip(parse_tokenizer(file), "\ufb01\u00b2"), "fi2");
}

// What Hugging Face's library makes of characters that are younger than its tables: each is a
// letter of its own to it, and parts what stands on both sides.
TEST(Tokenizer, TextIsNormalisedAsTheLibraryKnowsIt) {
  json file = tokenizer_json();
  file["normalizer"] = {{"type", "NFC"}};
  const Tokenizer composed = parse_tokenizer(file);
  for (const auto* kept : {"\U00011938", "\U00011935\U00011930", "a\u0345\u1df6", "a\u0345\u0898",
                           "a\u08ca\u0301", "a\u08cf\u0301"}) {
    EXPECT_EQ(round_trip(composed, kept), kept);
  }
  EXPECT_EQ(round_trip(composed, "a\u0301\u08cae\u0301"), "\u00e1\u08ca\u00e9");
  file["normalizer"] = {{"type", "NFKD"}};
  const Tokenizer apart = parse_tokenizer(file);
  for (const auto* kept : {"\u32ff", "\ua7f2", "\U00010781", "\U0001fbf0"}) {
    EXPECT_EQ(round_trip(apart, kept), kept);
  }
  EXPECT_EQ(round_trip(apart, "\u32fe\ua7f8"), "\u30f2\u0126");
}

// Sorting marks by insertion would take hours.
TEST(Tokenizer, ManyMarksAreSorted) {
  json file = tokenizer_json();
  file["normalizer"] = {{"type", "NFC"}};
  std::string text = "x", low, high;
  for (int i = 0; i < 300'000; ++i) {
    text += "\u0301\u0323";
    low += "\u0323";
    high += "\u0301";
  }
  EXPECT_EQ(round_trip(parse_tokenizer(file), text), "x" + low + high);
}

TEST(Tokenizer, SurvivesAMove) {
  Tokenizer first = built_in();
  const Tokenizer second = std::move(first);
  EXPECT_EQ(round_trip(second, " the end<|end|>"), " the end<|end|>");
}

struct BadFile {
  const char* pointer;  // what is replaced
  json value;
  const char* message;
};

class TokenizerRefuses : public testing::TestWithParam<BadFile> {};

TEST_P(TokenizerRefuses, NamingThePlace) {
  json file = tokenizer_json({{"a", "b"}});
  file[json::json_pointer(GetParam().pointer)] = GetParam().value;
  const std::string message = error_of([&] { parse_tokenizer(file); });
  EXPECT_THAT(message, StartsWith("tokenizer.json: "));
  EXPECT_THAT(message, HasSubstr(GetParam().message));
}

const json kSplit = {{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Isolated"}};
const json kByteLevel = {{"type", "ByteLevel"}};

json split_with(const char* key, json value) {
  json split = kSplit;
  split[key] = std::move(value);
  return {{"type", "Sequence"}, {"pretokenizers", {split, kByteLevel}}};
}

json steps(json list) {
  return {{"type", "Sequence"}, {"pretokenizers", std::move(list)}};
}

json added(const json& changes) {
  json token = {{"id", 257}, {"content", "<x>"}};
  token.update(changes);
  return json::array({token});
}

json normalizers(json list) {
  return {{"type", "Sequence"}, {"normalizers", std::move(list)}};
}

json decoders(json list) {
  return {{"type", "Sequence"}, {"decoders", std::move(list)}};
}

json replace_with(json pattern) {
  return {{"type", "Replace"}, {"pattern", std::move(pattern)}, {"content", " "}};
}

json strip(int start, int stop) {
  return {{"type", "Strip"}, {"content", " "}, {"start", start}, {"stop", stop}};
}

json metaspace(const char* key, const char* value) {
  json step = {{"type", "Metaspace"}, {"replacement", "\u2581"}};
  step[key] = value;
  return step;
}

const json kFallback = {{"type", "ByteFallback"}};

INSTANTIATE_TEST_SUITE_P(
    Files, TokenizerRefuses,
    testing::Values(
        BadFile{"/model", nullptr, "model: expected an object, found null"},
        BadFile{"/model/type", "Unigram", "model.type: expected \"BPE\", found \"Unigram\""},
        BadFile{"/model/byte_fallback", true, "model.byte_fallback: expected false, since"},
        BadFile{"/model/dropout", 0.1, "model.dropout: expected null"},
        BadFile{"/model/continuing_subword_prefix", "##", "model.continuing_subword_prefix"},
        BadFile{"/model/end_of_word_suffix", "</w>", "model.end_of_word_suffix"},
        BadFile{"/model/vocab", json::object(), "model.vocab: no tokens"},
        BadFile{"/model/vocab", 3, "model.vocab: expected an object"},
        BadFile{"/model/vocab/a", -1, "model.vocab.a: expected an id"},
        BadFile{"/model/vocab/a", 98, "id 98 is taken"},
        BadFile{"/model/vocab/a", 1U << 30U, "expected an id from 0 to"},
        BadFile{"/model/vocab/a", 1.5, "found 1.5"},
        BadFile{"/model/vocab", json{{"a", 0}}, "\"b\" is not in the vocabulary"},
        BadFile{"/model/merges", 3, "model.merges: expected an array"},
        BadFile{"/model/merges/0", "a  b", "model.merges[0]: expected two tokens with one space"},
        BadFile{"/model/merges/0", "ab", "model.merges[0]: expected two tokens"},
        BadFile{"/model/merges/0", {"a"}, "model.merges[0]: expected two tokens"},
        BadFile{"/model/merges/0", {"a", 1}, "model.merges[0][1]: expected a string"},
        BadFile{"/model/merges/0", "a c", "model.merges[0]: \"ac\" is not in the vocabulary"},
        BadFile{"/model/merges/0", "zz b", "model.merges[0]: \"zz\" is not in the vocabulary"},
        BadFile{"/model/merges/1", "a b", "model.merges[1]: this pair has a merge already"},
        BadFile{"/normalizer", {{"type", "Nmt"}}, "normalizer.type: expected \"NFC\""},
        BadFile{"/normalizer", normalizers({{{"type", "NFC"}}, {{"type", "Precompiled"}}}),
                "normalizer.normalizers[1].type: expected \"NFC\""},
        BadFile{"/normalizer", replace_with({{"String", ""}}), "normalizer.pattern.String: empty"},
        BadFile{"/pre_tokenizer/type", "BertPreTokenizer", "expected \"ByteLevel\", \"Metaspace\""},
        BadFile{"/pre_tokenizer/add_prefix_space", 1, "add_prefix_space: expected true or false"},
        BadFile{"/pre_tokenizer", split_with("behavior", "Kept"),
                "pre_tokenizer.pretokenizers[0].behavior: expected \"Isolated\""},
        BadFile{"/pre_tokenizer", split_with("pattern", {{"Glob", "*"}}), "\"String\" is missing"},
        BadFile{"/pre_tokenizer", split_with("pattern", {{"Regex", "a("}}),
                "pre_tokenizer.pretokenizers[0].pattern.Regex: regex, at offset 2"},
        BadFile{"/pre_tokenizer", metaspace("prepend_scheme", "last"), "expected \"always\""},
        BadFile{"/pre_tokenizer", metaspace("replacement", "__"), "expected one character"},
        BadFile{"/pre_tokenizer", steps({kByteLevel, kSplit}),
                "pre_tokenizer.pretokenizers[1]: a step after ByteLevel is not supported"},
        BadFile{"/decoder/type", "WordPiece", "decoder.type: expected \"ByteLevel\""},
        BadFile{"/decoder", decoders({kByteLevel, kFallback}), "decoder.decoders[1]: a step after"},
        BadFile{"/decoder", decoders({kFallback, replace_with({{"String", "a"}})}),
                "decoder.decoders[1]: Replace after ByteFallback"},
        BadFile{"/decoder", decoders({{{"type", "Fuse"}}, replace_with({{"String", "ab"}})}),
                "decoder.decoders[1]: Replace of more than a character"},
        BadFile{"/decoder", strip(1, 0), "decoder: Strip is supported after Fuse only"},
        BadFile{"/decoder", strip(1, 1), "decoder.stop: expected 0"},
        BadFile{"/post_processor", {{"type", "BertProcessing"}}, "post_processor.type: expected"},
        BadFile{"/post_processor",
                {{"type", "TemplateProcessing"}, {"single", json::array()}},
                "post_processor.single: the text itself is not in it"},
        BadFile{"/added_tokens", 3, "added_tokens: expected an array"},
        BadFile{"/added_tokens", added({{"lstrip", 1}}), "added_tokens[0].lstrip: expected true"},
        BadFile{"/added_tokens", added({{"id", 258}}), "added_tokens[0].id: expected 257"},
        BadFile{"/added_tokens/0", {{"id", 257}, {"content", ""}}, "added_tokens[0].content"},
        BadFile{"/added_tokens/0", {{"id", -1}, {"content", "x"}}, "added_tokens[0].id"},
        BadFile{"/added_tokens/0",
                {{"id", 300}, {"content", "ab"}},
                "added_tokens[0].id: expected 256"}),
    [](const auto& test) { return case_name(test.index, test.param.message); });

TEST(Tokenizer, RefusesAddedTokensGivenTwice) {
  json file = tokenizer_json();
  add_token(file, 256, "<x>", true);
  add_token(file, 257, "<x>", true);
  EXPECT_THAT(error_of([&] { parse_tokenizer(file); }), HasSubstr("added_tokens[1]: a second"));
}

// As Hugging Face's library: a byte without a token is no token.
TEST(Tokenizer, BytesMayLackATokenOfTheirOwn) {
  json file = tokenizer_json();
  file["model"]["vocab"].erase("\u0120");
  EXPECT_THAT(pieces(parse_tokenizer(file), "a b"), ElementsAre("a", "b"));
  file["model"]["unk_token"] = "?";
  EXPECT_THAT(pieces(parse_tokenizer(file), "a  b"), ElementsAre("a", "?", "?", "b"));
  file["model"]["fuse_unk"] = true;
  EXPECT_THAT(pieces(parse_tokenizer(file), "a  b"), ElementsAre("a", "?", "b"));
}

TEST(Tokenizer, InvalidBytesWithoutTokensAreReplaced) {
  json file = tokenizer_json();
  file["model"]["vocab"].erase("\u00ff");
  EXPECT_EQ(round_trip(parse_tokenizer(file), "a\xff\xe4z"), "a\ufffd\ufffdz");
}

// Whatever the damage, it parses or throws the one error.
TEST(Tokenizer, DamagedFilesNeverCrash) {
  const std::string whole = byte_tokenizer_json();
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 1000; ++i) {
    std::string damaged = whole;
    if (i % 2 == 0) damaged.resize(random() % damaged.size());
    if (i % 2 == 1) damaged[random() % damaged.size()] = static_cast<char>(random());
    const std::string message = error_of([&] { Tokenizer::parse(damaged, "tokenizer.json"); });
    if (message != "no error") ++refused;
  }
  EXPECT_GT(refused, 600);
}

}  // namespace
}  // namespace engine::model
