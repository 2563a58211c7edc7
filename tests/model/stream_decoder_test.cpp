#include "model/stream_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "model/byte_tokenizer.h"
#include "model/utf8.h"
#include "test_files.h"

namespace engine::model {
namespace {

using testing::ElementsAre;

class StreamDecoderTest : public testing::Test {
 protected:
  // What each byte of `bytes`, as a token, gives; then what finish gives.
  std::vector<std::string> stream(std::string_view bytes) {
    StreamDecoder decoder(tokenizer_);
    std::vector<std::string> texts;
    for (const char c : bytes)
      texts.push_back(decoder.push(static_cast<unsigned char>(c)));
    texts.push_back(decoder.finish());
    return texts;
  }
  std::string streamed(std::string_view bytes) {
    std::string text;
    for (const std::string& part : stream(bytes))
      text += part;
    return text;
  }

  Tokenizer tokenizer_ = Tokenizer::parse(byte_tokenizer_json(), "tokenizer.json");
};

TEST_F(StreamDecoderTest, ShowsOfTheSpecialTokensOnlyThoseNamed) {
  const Token end = *tokenizer_.find("<|end|>"), user = *tokenizer_.find("<|user|>");
  StreamDecoder decoder(tokenizer_, {user});
  EXPECT_EQ(decoder.push(0xC3), "");
  EXPECT_EQ(decoder.push(user), "\uFFFD<|user|>");
  EXPECT_EQ(decoder.push(end), "");
  EXPECT_EQ(decoder.finish(), "");
}

TEST_F(StreamDecoderTest, HoldsBackCutCharacters) {
  EXPECT_THAT(stream("a\u00e9z"), ElementsAre("a", "", "\u00e9", "z", ""));
  EXPECT_THAT(stream("\u4f60"), ElementsAre("", "", "\u4f60", ""));
  EXPECT_THAT(stream("\U0001f600"), ElementsAre("", "", "", "\U0001f600", ""));
}

TEST_F(StreamDecoderTest, WhatCanBeNoCharacterIsReplaced) {
  EXPECT_THAT(stream("\xff"), ElementsAre("\ufffd", ""));
  EXPECT_THAT(stream("\xe4\xbd"), ElementsAre("", "", "\ufffd"));
  EXPECT_THAT(stream("\xe4z"), ElementsAre("", "\ufffdz", ""));
  EXPECT_THAT(stream("\xed\xa0\x80"), ElementsAre("", "\ufffd\ufffd", "\ufffd", ""));  // surrogate
  EXPECT_THAT(stream("\xc0\xaf"), ElementsAre("\ufffd", "\ufffd", ""));                // overlong
  EXPECT_THAT(stream("\xf4\x90"), ElementsAre("", "\ufffd\ufffd", ""));  // beyond U+10FFFF
}

TEST_F(StreamDecoderTest, SpecialTokensGiveNoText) {
  StreamDecoder decoder(tokenizer_);
  EXPECT_EQ(decoder.push(byte_tokenizer_end()), "");
  EXPECT_EQ(decoder.push(*tokenizer_.find("<tool_call>")), "<tool_call>");
  EXPECT_EQ(decoder.push(100'000), "");
  EXPECT_EQ(decoder.finish(), "");
}

TEST_F(StreamDecoderTest, StartsAnewAfterFinish) {
  StreamDecoder decoder(tokenizer_);
  decoder.push(0xe4);
  EXPECT_EQ(decoder.finish(), "\ufffd");
  EXPECT_EQ(decoder.push('a'), "a");
}

TEST_F(StreamDecoderTest, ValidTextComesBackWhole) {
  const std::string text = "na\u00efve \u4f60\u597d \U0001f600 end";
  StreamDecoder decoder(tokenizer_);
  std::string out;
  for (const Token token : tokenizer_.encode(text, SpecialText::kIsText))
    out += decoder.push(token);
  EXPECT_EQ(out + decoder.finish(), text);
}

TEST_F(StreamDecoderTest, OutputIsAlwaysValidUtf8) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 12, '\0');
    for (char& c : bytes)
      c = static_cast<char>(0x7e + random() % 0x82);
    for (const std::string& part : stream(bytes)) {
      ASSERT_EQ(utf8_stretch(part, true), part.size());
    }
    if (utf8_stretch(bytes, true) == bytes.size()) {
      ASSERT_EQ(streamed(bytes), bytes);
    }
  }
}

std::string encoded(char32_t point) {
  std::string text;
  const auto tail = [&](unsigned shift) {
    text += static_cast<char>(0x80U | (point >> shift & 0x3fU));
  };
  if (point >= 0x10000) {
    text += static_cast<char>(0xf0U | point >> 18U);
    tail(12);
    tail(6);
  } else if (point >= 0x800) {
    text += static_cast<char>(0xe0U | point >> 12U);
    tail(6);
  } else {
    text += static_cast<char>(0xc0U | point >> 6U);
  }
  tail(0);
  return text;
}

// Code points beyond ASCII: whole, each is one character; cut, none is.
TEST(Utf8, EveryCharacter) {
  for (char32_t point = 0x80; point < 0x110000; point += point < 0x1000 ? 1 : 61) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const std::string text = encoded(point);
    EXPECT_EQ(utf8_step(text).kind, Utf8::kCharacter);
    EXPECT_EQ(utf8_step(text).length, text.size());
    EXPECT_EQ(code_point(text), point);
    EXPECT_EQ(utf8_step(std::string_view(text).substr(0, text.size() - 1)).kind, Utf8::kIncomplete);
  }
}

}  // namespace
}  // namespace engine::model
