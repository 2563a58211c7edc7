// Tokenizers made as SentencePiece's are: characters, blanks as U+2581, bytes for what is unknown;
// and what stands around whole prompts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/stream_decoder.h"
#include "test_files.h"
#include "tokenizer_json.h"

namespace engine::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Token kUnknown = 0, kBegin = 1, kEnd = 2, kFirstByte = 3;
constexpr Token kMark = 259, kA = 260, kB = 261, kAb = 262, kMarkA = 263;

json replace(const char* pattern, const char* content) {
  return {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
}

json sequence(const char* name, json list) {
  return {{"type", "Sequence"}, {name, std::move(list)}};
}

json added(Token id, const char* content, const json& flags = json::object()) {
  json token = {{"id", id}, {"content", content}, {"special", true}, {"normalized", false}};
  token.update(flags);
  return token;
}

// As Llama 2's.
json file() {
  json vocabulary = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {"\u2581", kMark},
                     {"a", kA},    {"b", kB},  {"ab", kAb}, {"\u2581a", kMarkA}};
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    const std::string text = {'<',
                              '0',
                              'x',
                              digits[static_cast<std::size_t>(byte) / 16],
                              digits[static_cast<std::size_t>(byte) % 16],
                              '>'};
    vocabulary[text] = kFirstByte + byte;
  }
  const json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  return {
      {"added_tokens", {added(0, "<unk>"), added(1, "<s>"), added(2, "</s>")}},
      {"normalizer", sequence("normalizers", {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                                              replace(" ", "\u2581")})},
      {"pre_tokenizer", nullptr},
      {"post_processor",
       {{"type", "TemplateProcessing"},
        {"single",
         {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
          {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
        {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}}},
      {"decoder",
       sequence("decoders",
                {replace("\u2581", " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}, strip})},
      {"model",
       {{"type", "BPE"},
        {"unk_token", "<unk>"},
        {"fuse_unk", true},
        {"byte_fallback", true},
        {"vocab", vocabulary},
        {"merges", {"\u2581 a", "a b"}}}}};
}

std::vector<Token> encode(const json& tokenizer, std::string_view text,
                          SpecialText special = SpecialText::kIsToken) {
  return parse_tokenizer(tokenizer).encode(text, special);
}

TEST(SentencePiece, BlanksAreMarksAndUnknownCharactersBytes) {
  EXPECT_THAT(encode(file(), "a ab"), ElementsAre(kMarkA, kMarkA, kB));
  EXPECT_THAT(encode(file(), "bab\u00e9"),
              ElementsAre(kMark, kB, kAb, kFirstByte + 0xC3, kFirstByte + 0xA9));
  EXPECT_THAT(encode(file(), ""), ElementsAre());
}

TEST(SentencePiece, BytesThatAreNoTextComeBack) {
  const Tokenizer tokenizer = parse_tokenizer(file());
  const std::string text =
      "a\xff \xe4\xbd"
      "b";
  const std::vector<Token> tokens = tokenizer.encode(text, SpecialText::kIsText);
  EXPECT_EQ(tokenizer.decode(tokens), text);
}

TEST(SentencePiece, UnknownCharactersWithoutBytesAreUnknownTokens) {
  json tokenizer = file();
  tokenizer["model"]["byte_fallback"] = false;
  EXPECT_THAT(encode(tokenizer, "axyb"), ElementsAre(kMarkA, kUnknown, kB));
  tokenizer["model"]["fuse_unk"] = false;
  EXPECT_THAT(encode(tokenizer, "axyb"), ElementsAre(kMarkA, kUnknown, kUnknown, kB));
}

TEST(SentencePiece, MetaspacePrependsWhereItIsAskedTo) {
  json tokenizer = file();
  tokenizer["normalizer"] = nullptr;
  json& step = tokenizer["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"split", false}};
  const auto with = [&](const char* scheme) {
    step["prepend_scheme"] = scheme;
    return encode(tokenizer, "a</s>a");
  };
  EXPECT_THAT(with("always"), ElementsAre(kMarkA, kEnd, kMarkA));
  EXPECT_THAT(with("first"), ElementsAre(kMarkA, kEnd, kA));
  EXPECT_THAT(with("never"), ElementsAre(kA, kEnd, kA));
}

TEST(SentencePiece, SpecialTokensComeOfNoText) {
  json tokenizer = file();
  tokenizer["added_tokens"].push_back(added(kAb, "ab"));
  EXPECT_THAT(encode(tokenizer, "bab", SpecialText::kIsText), ElementsAre(kMark, kB, kA, kB));
  EXPECT_THAT(encode(tokenizer, "bab"), ElementsAre(kMark, kB, kAb));
  EXPECT_THAT(encode(file(), "<s>", SpecialText::kIsText), testing::Not(testing::Contains(kBegin)));
}

TEST(SentencePiece, AddedTokensTakeTheirNeighbours) {
  const auto with = [](const json& flags, std::string_view text) {
    json tokenizer = file();
    tokenizer["normalizer"] = nullptr;
    tokenizer["added_tokens"].push_back(added(264, "<x>", flags));
    return parse_tokenizer(tokenizer).encode(text, SpecialText::kIsToken);
  };
  EXPECT_THAT(with({{"lstrip", true}}, "a \n<x>a"), ElementsAre(kA, 264, kA));
  EXPECT_THAT(with({{"rstrip", true}}, "a<x>\u3000 a"), ElementsAre(kA, 264, kA));
  EXPECT_THAT(with({{"lstrip", true}, {"rstrip", true}}, " <x> <x> a"), ElementsAre(264, 264, kA));
  EXPECT_THAT(with({{"single_word", true}}, "<x>"), ElementsAre(264));
  EXPECT_THAT(with({{"single_word", true}}, "a<x>"), testing::Not(testing::Contains(264)));
  EXPECT_THAT(with({{"single_word", true}}, "<x>\u0301"), testing::Not(testing::Contains(264)));
}

TEST(SentencePiece, NormalizedTokensAreFoundInNormalisedText) {
  json tokenizer = file();
  tokenizer["normalizer"] = {{"type", "Lowercase"}};
  tokenizer["added_tokens"].push_back(added(264, "AB", {{"normalized", true}}));
  EXPECT_THAT(encode(tokenizer, "aAbB"), ElementsAre(kA, 264, kB));
}

TEST(SentencePiece, StreamedTextIsTheWholeTextWithoutItsFirstBlank) {
  const Tokenizer tokenizer = parse_tokenizer(file());
  const std::vector<Token> tokens = tokenizer.encode("a a\u00e9 b", SpecialText::kIsText);
  StreamDecoder decoder(tokenizer);
  std::vector<std::string> parts;
  for (const Token token : tokens)
    parts.push_back(decoder.push(token));
  EXPECT_THAT(parts, ElementsAre("a", " a", "", "\u00e9", " ", "b"));
  EXPECT_EQ(tokenizer.decode(tokens), "a a\u00e9 b");
  EXPECT_EQ(tokenizer.decode(kMarkA), " a");
}

TEST(SentencePiece, MetaspaceDecodersDropTheFirstMarks) {
  json tokenizer = file();
  tokenizer["decoder"] = {{"type", "Metaspace"}, {"replacement", "\u2581"}};
  const std::vector<Token> tokens = {kMarkA, kMarkA, kMark, kB};
  EXPECT_EQ(parse_tokenizer(tokenizer).decode(tokens), "a a b");
  tokenizer["decoder"]["prepend_scheme"] = "never";
  EXPECT_EQ(parse_tokenizer(tokenizer).decode(tokens), " a a b");
}

TEST(PostProcessor, StandsAroundPromptsOnly) {
  json tokenizer = file();
  EXPECT_THAT(parse_tokenizer(tokenizer).encode_prompt("a"), ElementsAre(kBegin, kMarkA));
  EXPECT_THAT(parse_tokenizer(tokenizer).encode_prompt("</s>"), ElementsAre(kBegin, kEnd));
  EXPECT_THAT(encode(tokenizer, "a"), ElementsAre(kMarkA));
  tokenizer["post_processor"] =
      sequence("processors", {{{"type", "ByteLevel"}}, tokenizer["post_processor"]});
  EXPECT_THAT(parse_tokenizer(tokenizer).encode_prompt(""), ElementsAre(kBegin));
  tokenizer["post_processor"] = nullptr;
  EXPECT_THAT(parse_tokenizer(tokenizer).encode_prompt("a"), ElementsAre(kMarkA));
}

TEST(PostProcessor, RefusesIdsWithoutAToken) {
  json tokenizer = file();
  tokenizer["post_processor"]["special_tokens"]["<s>"]["ids"] = {264};
  EXPECT_THAT(error_of([&] { parse_tokenizer(tokenizer); }),
              HasSubstr("post_processor: it adds an id that names no token"));
}

// As transformers reads it.
TEST(TokenizerConfig, SaysMoreThanThePostProcessor) {
  const TempFolder dir;
  write_bytes(dir / "tokenizer.json", file().dump());
  const auto prompt = [&](const json& config) {
    write_bytes(dir / "tokenizer_config.json", config.dump());
    return Tokenizer::load(dir / "tokenizer.json").encode_prompt("a");
  };
  EXPECT_THAT(prompt(json::object()), ElementsAre(kBegin, kMarkA));
  EXPECT_THAT(prompt({{"add_bos_token", false}}), ElementsAre(kMarkA));
  EXPECT_THAT(prompt({{"add_bos_token", true}, {"bos_token", "</s>"}}), ElementsAre(kEnd, kMarkA));
  EXPECT_THAT(prompt({{"add_eos_token", true}, {"eos_token", {{"content", "</s>"}}}}),
              ElementsAre(kBegin, kMarkA, kEnd));
  EXPECT_THAT(error_of([&] {
                prompt({{"add_bos_token", true}});
              }),
              HasSubstr("tokenizer_config.json: \"bos_token\" is missing"));
  EXPECT_THAT(error_of([&] {
                prompt({{"add_bos_token", true}, {"bos_token", "<b>"}});
              }),
              HasSubstr("bos_token: expected an added token of tokenizer.json, found \"<b>\""));
}

}  // namespace
}  // namespace engine::model
