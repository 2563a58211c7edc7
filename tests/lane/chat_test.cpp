#include "lane/chat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using testing::fault_of;
using ::testing::HasSubstr;
using testing::served_micro;
using ::testing::StartsWith;

std::vector<model::Message> read(const std::string& text) {
  const ordered_json json = parse_body(text);
  return read_messages(JsonField(json, "messages"), served_micro().format);
}

const std::string kCalls =
    R"({"role": "assistant", "content": "Let me see. ", "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "read_file", "arguments": "{\"path\":  \"a.py\"}"}}]})";
const std::string kAnswer = R"({"role": "tool", "tool_call_id": "call_1", "content": "x = 1"})";

TEST(ReadMessages, JoinsPartsAndKnowsEveryRole) {
  const auto messages = read(
      R"([{"role": "developer", "content": "d"},
          {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},)" +
      kCalls + "," + kAnswer + "]");
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[1].content, "ab");
  // Byte for byte as it was generated, blanks included.
  EXPECT_EQ(
      messages[2].content,
      "Let me see. <tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\":  \"a.py\"}}\n"
      "</tool_call>");
  EXPECT_EQ(messages[3].role, "tool");
}

TEST(ReadMessages, RefusesWhatIsOutOfPlace) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"[]", "400 messages: messages: at least one message"},
      {"{}", "400 messages: messages: expected an array"},
      {R"([{"content": "x"}])", "400 messages[0].role: \"role\" is missing"},
      {R"([{"role": "robot", "content": "x"}])",
       "400 messages[0].role: messages[0].role: role \"robot\""},
      {R"([{"role": "user"}])", "400 messages[0].content: \"content\" is missing"},
      {R"([{"role": "user", "content": 1}])",
       "400 messages[0].content: messages[0].content: expected a string"},
      {R"([{"role": "user", "content": [{"type": "image_url"}]}])",
       "400 messages[0].content[0].type"},
      {"[" + kAnswer + "]", "400 messages[0].tool_call_id"},
      {"[" + kCalls + "," + kAnswer + "," + kAnswer + "]", "400 messages[2].tool_call_id"},
      {"[" + kCalls + R"(,{"role": "user", "content": "x"},)" + kAnswer + "]",
       "400 messages[2].tool_call_id"},
      {R"([{"role": "assistant", "tool_calls": [{"id": "a"}]}])",
       "400 messages[0].tool_calls[0].function"},
  };
  for (const auto& [text, fault] : cases)
    EXPECT_THAT(fault_of([&] { (void)read(text); }), StartsWith(fault)) << text;
}

TEST(EncodeMessages, OneMoreTurnOnlyExtendsThePrompt) {
  const Served served = served_micro();
  const std::string turn1 =
      R"([{"role": "system", "content": "s"}, {"role": "user", "content": "look"})";
  const std::string turn2 = turn1 + "," + kCalls + "," + kAnswer;
  const std::string turn3 =
      turn2 + R"(, {"role": "assistant", "content": "one"}, {"role": "user", "content": "and?"})";
  std::vector<model::Token> before;
  for (const std::string& turn : {turn1, turn2, turn3}) {
    const std::vector<model::Token> prompt = encode_messages(served.model, read(turn + "]"));
    ASSERT_GT(prompt.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), prompt.begin()));
    before = prompt;
  }
}

TEST(AddTools, ListsThemInTheSystemMessage) {
  const ordered_json tools = parse_body(
      R"([{"type": "function", "function": {"name": "replace", "parameters": {"type": "object",
           "properties": {"path": {"type": "string"}, "old": {"type": "string"}}}}},
          {"type": "function", "function": {"name": "run_tests", "description": "Runs all."}},
          {"type": "function", "function": {"name": "count", "parameters": {"properties":
           {"n": {"type": "integer", "minimum": 1}}}}}])");
  std::vector<model::Message> messages{{"system", "Be brief."}, {"user", "x"}};
  add_tools(messages, JsonField(tools, "tools"));
  const std::string lines =
      "Tools:\n"
      "{\"name\": \"replace\", \"arguments\": {\"path\": \"string\", \"old\": \"string\"}}\n"
      "{\"name\": \"run_tests\", \"description\": \"Runs all.\", \"arguments\": {}}\n"
      "{\"name\": \"count\", \"arguments\": {\"n\": {\"type\": \"integer\", \"minimum\": 1}}}";
  EXPECT_EQ(messages[0].content, "Be brief.\n" + lines);
  messages = {{"user", "x"}};
  add_tools(messages, JsonField(tools, "tools"));
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].content, lines);
}

TEST(ToolFormat, ReadsWhatItRenders) {
  const ToolFormat format = *served_micro().format;
  const ToolCall call{"", "f\"g", R"({"a":  [1, {"b": null}]})"};
  const std::string text = format.render(call);
  ASSERT_THAT(text, StartsWith(format.begin_text));
  EXPECT_EQ(ToolFormat::parse(text.substr(11, text.size() - 11 - format.end_text.size())), call);
}

TEST(ToolFormat, KeepsArgumentsOfAnotherNotation) {
  EXPECT_EQ(ToolFormat::parse(R"( {"arguments":{"a":1,"b":[true,"x"]},"name":"f"} )"),
            (ToolCall{"", "f", R"({"a": 1, "b": [true, "x"]})"}));
  for (const char* text : {"", "{}", "[]", "{\"name\": \"f\"}", R"({"name": 1, "arguments": {}})",
                           R"({"name": "f", "arguments": 1})", R"({"name": "f", "arguments": {)"})
    EXPECT_FALSE(ToolFormat::parse(text).has_value()) << text;
}

}  // namespace
}  // namespace engine::lane
