#include "model/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "model/byte_tokenizer.h"
#include "temp_folder.h"
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

TEST(Tokenizer, AddedTokensThatAreNotSpecialAreAlwaysMatched) {
  EXPECT_THAT(pieces(built_in(), "a<tool_call>b"), ElementsAre("a", "<tool_call>", "b"));
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

TEST(Tokenizer, NfcIsRefusedWhereItCouldMatter) {
  json file = tokenizer_json();
  file["normalizer"] = {{"type", "NFC"}};
  const Tokenizer tokenizer = parse_tokenizer(file);
  for (const std::string text : {"caf\u00e9 \u01d5", "\u4f60\u597d", "\ud55c\uae00", "\u041f\u0440",
                                 "\U0001f44d\ufe0f", "\xff"}) {
    EXPECT_EQ(round_trip(tokenizer, text), text);
  }
  // Composes; moves; is a singleton; composes with the syllable before; is excluded.
  for (const std::string text : {"cafe\u0301", "\u05b0", "\u212b", "\uac00\u11a8", "\u0958"}) {
    EXPECT_THAT(error_of([&] { round_trip(tokenizer, text); }),
                HasSubstr("tokenizer.json: normalizer: "));
  }
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

json added(json token) {
  token.update({{"id", 300}, {"content", "<x>"}});
  return json::array({token});
}

INSTANTIATE_TEST_SUITE_P(
    Files, TokenizerRefuses,
    testing::Values(
        BadFile{"/model", nullptr, "model: expected an object, found null"},
        BadFile{"/model/type", "Unigram", "model.type: expected \"BPE\", found \"Unigram\""},
        BadFile{"/model/byte_fallback", true, "model.byte_fallback: expected false"},
        BadFile{"/model/dropout", 0.1, "model.dropout: expected null"},
        BadFile{"/model/continuing_subword_prefix", "##", "model.continuing_subword_prefix"},
        BadFile{"/model/end_of_word_suffix", "</w>", "model.end_of_word_suffix"},
        BadFile{"/model/vocab", json::object(), "model.vocab: no tokens"},
        BadFile{"/model/vocab", 3, "model.vocab: expected an object"},
        BadFile{"/model/vocab/a", -1, "model.vocab.a: expected an id"},
        BadFile{"/model/vocab/a", 98, "id 98 is taken"},
        BadFile{"/model/vocab/a", 1U << 30U, "expected an id from 0 to"},
        BadFile{"/model/vocab/a", 1.5, "found 1.5"},
        BadFile{"/model/vocab/\u4f60", 400, "stands for no byte"},
        BadFile{"/model/vocab", json{{"a", 0}}, "\"b\" is not in the vocabulary"},
        BadFile{"/model/merges", 3, "model.merges: expected an array"},
        BadFile{"/model/merges/0", "a  b", "model.merges[0]: expected two tokens with one space"},
        BadFile{"/model/merges/0", "ab", "model.merges[0]: expected two tokens"},
        BadFile{"/model/merges/0", {"a"}, "model.merges[0]: expected two tokens"},
        BadFile{"/model/merges/0", {"a", 1}, "model.merges[0][1]: expected a string"},
        BadFile{"/model/merges/0", "a c", "model.merges[0]: \"ac\" is not in the vocabulary"},
        BadFile{"/model/merges/0", "zz b", "model.merges[0]: \"zz\" is not in the vocabulary"},
        BadFile{"/model/merges/1", "a b", "model.merges[1]: this pair has a merge already"},
        BadFile{"/normalizer", {{"type", "Lowercase"}}, "normalizer.type: expected \"NFC\""},
        BadFile{"/pre_tokenizer", nullptr, "pre_tokenizer: expected an object"},
        BadFile{"/pre_tokenizer/type", "Metaspace", "expected \"Split\" or \"ByteLevel\""},
        BadFile{"/pre_tokenizer/add_prefix_space", true, "add_prefix_space: expected false"},
        BadFile{"/pre_tokenizer", kSplit, "expected \"ByteLevel\", or a sequence"},
        BadFile{
            "/pre_tokenizer", split_with("behavior", "Removed"),
            "pre_tokenizer.pretokenizers[0].behavior: expected \"Isolated\", found \"Removed\""},
        BadFile{"/pre_tokenizer", split_with("behavior", "MergedWithPrevious"), "\"Isolated\""},
        BadFile{"/pre_tokenizer", split_with("invert", true), "invert: expected false"},
        BadFile{"/pre_tokenizer", split_with("pattern", {{"Glob", "*"}}), "\"String\" is missing"},
        BadFile{"/pre_tokenizer", split_with("pattern", {{"Regex", "a("}}),
                "pre_tokenizer, split 0: regex, at offset 2"},
        BadFile{"/pre_tokenizer", steps(json::array()), "expected 1 to 16 steps"},
        BadFile{"/pre_tokenizer", steps({kSplit}), "ByteLevel as the last step"},
        BadFile{"/pre_tokenizer", steps({kByteLevel, kByteLevel}), "ByteLevel as the last step"},
        BadFile{"/decoder/type", "WordPiece", "decoder.type: expected \"ByteLevel\""},
        BadFile{"/added_tokens", 3, "added_tokens: expected an array"},
        BadFile{"/added_tokens", added({{"lstrip", true}}), "added_tokens[0].lstrip"},
        BadFile{"/added_tokens", added({{"rstrip", true}}), "added_tokens[0].rstrip"},
        BadFile{"/added_tokens", added({{"single_word", true}}), "added_tokens[0].single_word"},
        BadFile{"/added_tokens/0", {{"id", 300}, {"content", ""}}, "added_tokens[0].content"},
        BadFile{"/added_tokens/0", {{"id", -1}, {"content", "x"}}, "added_tokens[0].id"},
        BadFile{"/added_tokens/0",
                {{"id", 300}, {"content", "ab"}},
                "added_tokens[0].id: expected 256"},
        BadFile{
            "/added_tokens/0", {{"id", 256}, {"content", "<x>"}}, "id 256 is an added token's"}));

TEST(Tokenizer, RefusesAddedTokensGivenTwice) {
  json file = tokenizer_json();
  add_token(file, 300, "<x>", true);
  add_token(file, 301, "<x>", true);
  EXPECT_THAT(error_of([&] { parse_tokenizer(file); }), HasSubstr("added_tokens[1]: a second"));
}

TEST(Tokenizer, RefusesAVocabularyWithoutAByte) {
  json file = tokenizer_json();
  file["model"]["vocab"].erase("\u0120");
  EXPECT_THAT(error_of([&] { parse_tokenizer(file); }),
              HasSubstr("tokenizer.json: model.vocab: no token for byte 0x20"));
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
