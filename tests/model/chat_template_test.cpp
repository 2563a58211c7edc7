#include "model/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/byte_tokenizer.h"
#include "model/json_spacing.h"
#include "test_files.h"

namespace engine::model {
namespace {

using testing::HasSubstr;

const Tokenizer& tokenizer() {
  static const Tokenizer built_in = Tokenizer::parse(byte_tokenizer_json(), "tokenizer.json");
  return built_in;
}

// What the folder's template makes of a user's "x", with a tool or without.
std::string said(const TempFolder& dir, const std::string& tools = "") {
  const auto chat = load_chat_template(dir.path(), tokenizer());
  if (chat == nullptr) return "none";
  return tokenizer().decode(
      chat->encode(tokenizer(), {.messages = {{"user", "x"}}, .tools = tools}));
}

const char* const kTools = R"([{"type": "function", "function": {"name": "f"}}])";

TEST(LoadChatTemplate, TheFirstOfItsFilesCounts) {
  const TempFolder dir;
  EXPECT_EQ(said(dir), "none");
  write_bytes(dir / "chat_template.json", R"({"chat_template": "processor"})");
  EXPECT_EQ(said(dir), "processor");
  write_bytes(dir / "tokenizer_config.json", R"({"chat_template": "configured"})");
  EXPECT_EQ(said(dir), "configured");
  write_bytes(dir / "chat_template.jinja", "a file");
  EXPECT_EQ(said(dir), "a file");
  write_bytes(dir / "chat_format.json", byte_chat_format_json());
  EXPECT_EQ(said(dir), "<|begin|><|user|>x<|end|><|assistant|>");
}

TEST(LoadChatTemplate, ToolsHaveATemplateOfTheirOwnIfThereIsOne) {
  const TempFolder dir;
  write_bytes(dir / "tokenizer_config.json",
              R"({"chat_template": [{"name": "default", "template": "plain"},
                                    {"name": "tool_use", "template": "tools"}]})");
  EXPECT_EQ(said(dir), "plain");
  EXPECT_EQ(said(dir, kTools), "tools");
  write_bytes(dir / "chat_template.jinja", "file");
  EXPECT_EQ(said(dir, kTools), "file");
  std::filesystem::create_directory(dir / "additional_chat_templates");
  write_bytes(dir / "additional_chat_templates/tool_use.jinja", "file for tools");
  EXPECT_EQ(said(dir, kTools), "file for tools");
}

TEST(LoadChatTemplate, SpecialTokensAreVariables) {
  const TempFolder dir;
  write_bytes(dir / "tokenizer_config.json",
              R"({"bos_token": {"content": "<|begin|>"}, "eos_token": null, "chat_template":
                  "{{ bos_token }}{{ eos_token is defined }}{{ pad_token }}"})");
  write_bytes(dir / "special_tokens_map.json",
              R"({"bos_token": "no", "eos_token": "no", "pad_token": "<|pad|>"})");
  EXPECT_EQ(said(dir), "<|begin|>False<|pad|>");
}

TEST(LoadChatTemplate, RefusesWhatIsNoTemplate) {
  const TempFolder dir;
  write_bytes(dir / "chat_template.json", byte_chat_format_json());
  EXPECT_THAT(error_of([&] { (void)said(dir); }),
              HasSubstr("chat_template.json: this is the engine's own form of a chat template, "
                        "whose name is chat_format.json now"));
  write_bytes(dir / "tokenizer_config.json", R"({"chat_template": [{"name": "rag"}]})");
  EXPECT_THAT(error_of([&] { (void)said(dir); }), HasSubstr("[0]: \"template\" is missing"));
  write_bytes(dir / "tokenizer_config.json",
              R"({"chat_template": [{"name": "rag", "template": ""}]})");
  EXPECT_THAT(error_of([&] { (void)said(dir); }), HasSubstr("no template is named \"default\""));
}

TEST(SpacedJson, KeepsStringsAndNumbersAsTheyAre) {
  EXPECT_EQ(
      spaced_json(
          " { \"a\" :[1,2.50 ,{}],\n\t\"b:,\\\"\":\"é ,\\u00e9\",\"c\":12345678901234567890123}"),
      "{\"a\": [1, 2.50, {}], \"b:,\\\"\": \"é ,\\u00e9\", \"c\": 12345678901234567890123}");
}

TEST(Messages, AreParsed) {
  const auto messages = parse_messages(
      R"([{"role": "user", "content": "a\n\u00e9"}, {"role": "tool", "content": ""}])", "messages");
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0].role, "user");
  EXPECT_EQ(messages[0].content, "a\n\u00e9");
  EXPECT_EQ(messages[1].content, "");
}

TEST(Messages, BadOnesAreRefused) {
  const auto error = [](std::string_view text) {
    return error_of([&] { parse_messages(text, "messages.json"); });
  };
  EXPECT_THAT(error("{}"), HasSubstr("messages.json: expected an array, found an object"));
  EXPECT_THAT(error("[]"), HasSubstr("0 messages; expected 1 to"));
  EXPECT_THAT(error("[3]"), HasSubstr("[0]: expected an object, found 3"));
  EXPECT_THAT(error(R"([{"role": "user"}])"), HasSubstr("[0]: \"content\" is missing"));
  EXPECT_THAT(error(R"([{"content": "x"}])"), HasSubstr("[0]: \"role\" is missing"));
  EXPECT_THAT(error(R"([{"role": "user", "content": null}])"),
              HasSubstr("[0].content: expected a string, found null"));
  EXPECT_THAT(error(R"([{"role": "user", "content": "x", "name": "y"}])"),
              HasSubstr("[0]: unknown key \"name\""));
  EXPECT_THAT(error("[{]"), HasSubstr("line 1, column 3"));
  EXPECT_THAT(error("[\"\xff\"]"), HasSubstr("invalid"));
  EXPECT_THAT(error(std::string((64U << 20U) + 1, ' ')), HasSubstr("67108865 bytes; at most"));
}

}  // namespace
}  // namespace engine::model
