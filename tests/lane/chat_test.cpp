#include "lane/chat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using testing::fault_of;
using ::testing::HasSubstr;
using testing::served_micro;
using ::testing::StartsWith;

std::vector<model::Message> read(const std::string& messages) {
  const ordered_json json = parse_body("{\"messages\": " + messages + "}");
  return read_conversation(JsonField(json)).messages;
}

const std::string kCalls =
    R"({"role": "assistant", "content": "Let me see. ", "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": "read_file", "arguments": "{\"path\":  \"a.py\"}"}}]})";
const std::string kAnswer = R"({"role": "tool", "tool_call_id": "call_1", "content": "x = 1"})";

// A conversation that ends with a call of "f".
std::string with_arguments(const std::string& arguments) {
  return R"([{"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": )" +
         ordered_json(arguments).dump() + "}}]}]";
}

TEST(ReadMessages, JoinsPartsAndKnowsEveryRole) {
  const auto messages = read(
      R"([{"role": "developer", "content": "d"},
          {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},)" +
      kCalls + "," + kAnswer + "]");
  ASSERT_EQ(messages.size(), 4u);
  EXPECT_EQ(messages[0].role, "system");
  EXPECT_EQ(messages[1].content, "ab");
  EXPECT_EQ(messages[2].content, "Let me see. ");
  EXPECT_THAT(messages[2].calls, ::testing::ElementsAre(model::ToolCall{"call_1", "read_file",
                                                                        "{\"path\": \"a.py\"}"}));
  EXPECT_EQ(messages[3].role, "tool");
  EXPECT_EQ(messages[3].answered_call, "call_1");
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
      {R"([{"role": "user", "content": "x", "made_up": 1}])", "400 messages[0].made_up"},
      {R"([{"role": "user", "content": "x", "tool_calls": []}])", "400 messages[0].tool_calls"},
      {R"([{"role": "user", "content": [{"type": "text", "text": "x", "made_up": 1}]}])",
       "400 messages[0].content[0].made_up"},
      {R"([{"role": "assistant", "content": "x", "prefix": true}])", "400 messages[0].prefix"},
      {R"([{"role": "assistant", "tool_calls": [{"id": "a", "made_up": 1, "function": {}}]}])",
       "400 messages[0].tool_calls[0].made_up"},
      {with_arguments("{"), "400 messages[0].tool_calls[0].function.arguments"},
      {with_arguments("[1]"), "400 messages[0].tool_calls[0].function.arguments"},
  };
  for (const auto& [text, fault] : cases)
    EXPECT_THAT(fault_of([&] { (void)read(text); }), StartsWith(fault)) << text;
}

TEST(ReadMessages, TakesWhatSaysNothing) {
  EXPECT_NO_THROW((void)read(
      R"([{"role": "system", "content": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}]},
          {"role": "user", "content": "x", "name": "Ann", "made_up": null, "cache_control": {}},
          {"role": "assistant", "content": "y", "refusal": null, "annotations": [], "audio": null}])"));
}

TEST(EncodeConversation, OneMoreTurnOnlyExtendsThePrompt) {
  const Served served = served_micro();
  const std::string turn1 =
      R"([{"role": "system", "content": "s"}, {"role": "user", "content": "look"})";
  const std::string turn2 = turn1 + "," + kCalls + "," + kAnswer;
  const std::string turn3 =
      turn2 + R"(, {"role": "assistant", "content": "one"}, {"role": "user", "content": "and?"})";
  std::vector<model::Token> before;
  for (const std::string& turn : {turn1, turn2, turn3}) {
    const std::vector<model::Token> prompt =
        encode_conversation(served.model, {.messages = read(turn + "]")});
    ASSERT_GT(prompt.size(), before.size());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), prompt.begin()));
    before = prompt;
  }
}

// Whatever blanks a client sends; and "" is {}.
TEST(ReadMessages, OneMeaningHasOneSpelling) {
  const auto arguments = [](const std::string& text) {
    return read(with_arguments(text))[0].calls[0].arguments;
  };
  EXPECT_EQ(arguments(R"({"a":[1,{"b":"x:,y"}],"c":"é"})"),
            R"({"a": [1, {"b": "x:,y"}], "c": "é"})");
  EXPECT_EQ(arguments(R"({"\u00e9":"\u00e9\/\ud83d\ude00\u000a\"\\","n":1E5,"":""})"),
            R"({"é": "é/😀\n\"\\", "n": 1E5, "": ""})");
  EXPECT_EQ(arguments("{ \n}"), "{}");
  EXPECT_EQ(arguments(""), "{}");
}

TEST(ReadMessages, TakesReasoningAndNames) {
  const auto messages = read(
      R"([{"role": "user", "name": "Ann", "content": "x"},
          {"role": "assistant", "content": "y", "reasoning_content": "r"},
          {"role": "assistant", "content": "y", "reasoning": "s"}])");
  EXPECT_EQ(messages[0].name, "Ann");
  EXPECT_EQ(messages[1].reasoning, "r");
  EXPECT_EQ(messages[2].reasoning, "s");
}

TEST(ReadConversation, KeepsWhatOnlyTheTemplateReads) {
  const ordered_json json = parse_body(
      R"({"messages": [{"role": "user", "content": "x"}], "tools": [], "documents": [{"title": "t"}],
          "chat_template_kwargs": {"enable_thinking": false}})");
  const model::Conversation conversation = read_conversation(JsonField(json));
  EXPECT_EQ(conversation.tools, "");
  EXPECT_EQ(conversation.documents, R"([{"title":"t"}])");
  EXPECT_EQ(conversation.variables, R"({"enable_thinking":false})");
  const ordered_json wrong =
      parse_body(R"({"messages": [{"role": "user", "content": "x"}], "chat_template_kwargs": 1})");
  EXPECT_THAT(fault_of([&] { (void)read_conversation(JsonField(wrong)); }),
              StartsWith("400 chat_template_kwargs"));
}

TEST(EncodeConversation, DoesNotTellWhereTheTemplateLies) {
  const TempFolder folder;
  model::init_model("micro", folder / "m", {.seed = 1});
  std::filesystem::remove(folder / "m/chat_format.json");
  std::ofstream(folder / "m/chat_template.jinja") << "{{ raise_exception('never') }}";
  const model::Model model = model::Model::load(folder / "m");
  const std::string fault = fault_of([&] { (void)encode_conversation(model, {}); });
  EXPECT_THAT(fault, StartsWith("400 messages: the chat template refuses"));
  EXPECT_THAT(fault, ::testing::EndsWith("never"));
}

}  // namespace
}  // namespace engine::lane
