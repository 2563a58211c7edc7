#include "lane/reply_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using testing::served_micro;

struct Seen {
  std::string text, reasoning;
  std::vector<ToolCall> calls;
  std::size_t tokens = 0;
  bool stopped = false;
  std::vector<std::string> pieces;  // text as it came
};

// What a client sees of a reply with this text.
Seen seen(const std::string& text, const GenerationRequest& request,
          const Served& served = served_micro()) {
  std::size_t ids = 0;
  ReplyReader reader(served, request, [&] { return "call_" + std::to_string(ids++); });
  Seen result;
  const auto take = [&](const ReplyDelta& delta) {
    result.reasoning += delta.reasoning;
    result.text += delta.text;
    if (!delta.text.empty()) result.pieces.push_back(delta.text);
    result.calls.insert(result.calls.end(), delta.calls.begin(), delta.calls.end());
  };
  for (const model::Token token :
       served.model.tokenizer().encode(text, model::SpecialText::kIsToken))
    take(reader.push(token, {}));
  take(reader.finish());
  result.tokens = reader.tokens();
  result.stopped = reader.stopped();
  return result;
}

GenerationRequest with_stop(std::vector<std::string> stop) {
  GenerationRequest request;
  request.stop = std::move(stop);
  return request;
}

GenerationRequest with_tools() {
  GenerationRequest request;
  request.tools = true;
  for (const char* name : {"f", "g"})
    request.tool_list.push_back({{"type", "function"}, {"function", {{"name", name}}}});
  return request;
}

TEST(ReplyReader, AStopTextEndsTheReplyBeforeIt) {
  const Seen reply = seen("abcXYZdefXYZ", with_stop({"YZd", "ZZ"}));
  EXPECT_EQ(reply.text, "abcX");
  EXPECT_TRUE(reply.stopped);
  EXPECT_LT(reply.tokens, 12u);
}

TEST(ReplyReader, TheEarliestStopTextCounts) {
  EXPECT_EQ(seen("one two", with_stop({"wo", "two", "e t"})).text, "on");
}

TEST(ReplyReader, HoldsBackWhatMayBeAStopTextAndNoMore) {
  const Seen reply = seen("aXbXYc", with_stop({"XYZ"}));
  EXPECT_EQ(reply.text, "aXbXYc");
  EXPECT_FALSE(reply.stopped);
  EXPECT_THAT(reply.pieces, ::testing::ElementsAre("a", "Xb", "XYc"));
  EXPECT_EQ(seen("abXY", with_stop({"XYZ"})).text, "abXY") << "given out at the end";
}

TEST(ReplyReader, ReadsCallsAmongText) {
  const Seen reply = seen(
      "See: <tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n</tool_call><tool_call>\n"
      "{\"name\": \"g\", \"arguments\": {}}\n</tool_call>",
      with_tools());
  EXPECT_EQ(reply.text, "See: ");
  EXPECT_THAT(reply.calls, ::testing::ElementsAre(ToolCall{"call_0", "f", "{\"a\": 1}"},
                                                  ToolCall{"call_1", "g", "{}"}));
}

TEST(ReplyReader, EndsWithItsFirstCallWhereOnlyOneIsAllowed) {
  GenerationRequest request = with_tools();
  request.one_call = true;
  const std::string call = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n";
  for (const std::string& end : {std::string("</tool_call>"), std::string()}) {
    const Seen reply = seen("Look: " + call + end + call + end + "more", request);
    EXPECT_EQ(reply.text, "Look: ");
    EXPECT_EQ(reply.calls.size(), 1u);
    EXPECT_TRUE(reply.stopped);
  }
}

TEST(ReplyReader, ACallMayEndWithTheMessage) {
  EXPECT_EQ(seen("<tool_call>{\"name\": \"f\", \"arguments\": {}}", with_tools()).calls.size(), 1u);
}

TEST(ReplyReader, TheTokenThatEndsTheMessageIsNoPartOfACall) {
  const Served served = served_micro();
  const auto end = served.model.tokenizer().decode(served.model.config().stop_tokens.front());
  const Seen reply =
      seen(R"(<tool_call>{"name": "f", "arguments": {}})" + std::string(end), with_tools(), served);
  EXPECT_THAT(reply.calls, ::testing::ElementsAre(ToolCall{"call_0", "f", "{}"}));
  EXPECT_EQ(reply.text, "");
}

TEST(ReplyReader, WhatIsNoCallIsText) {
  const Seen reply = seen("<tool_call>\n{\"name\": \"f\", broken\n</tool_call>!", with_tools());
  EXPECT_THAT(reply.calls, ::testing::IsEmpty());
  EXPECT_EQ(reply.text, "<tool_call>\n{\"name\": \"f\", broken\n</tool_call>!");
}

TEST(ReplyReader, ACallOfAToolThatWasNotOfferedIsText) {
  const std::string call = "<tool_call>\n{\"name\": \"rm\", \"arguments\": {}}\n</tool_call>";
  const Seen reply = seen(call, with_tools());
  EXPECT_THAT(reply.calls, ::testing::IsEmpty());
  EXPECT_EQ(reply.text, call);
}

TEST(ReplyReader, ACallOfGlmThatWasCutOffIsText) {
  Served served = served_micro();
  served.format = ToolFormat::named("glm", served.model);
  const std::string cut = "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>";
  EXPECT_THAT(seen(cut, with_tools(), served).calls, ::testing::IsEmpty());
  EXPECT_EQ(seen(cut + "</tool_call>", with_tools(), served).calls.size(), 1u);
}

TEST(ReplyReader, WithoutToolsAMarkIsText) {
  const std::string text = "<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>";
  EXPECT_EQ(seen(text, {}).text, text);
}

TEST(ReplyReader, GoesOnWithTheCallThatThePromptBegan) {
  GenerationRequest request = with_tools();
  request.begun_call = served_micro().format->opening("f");
  EXPECT_THAT(seen("{\"a\": 2}}\n</tool_call>", request).calls,
              ::testing::ElementsAre(ToolCall{"call_0", "f", "{\"a\": 2}"}));
}

// Marks that are no tokens of this tokenizer are texts.
TEST(ReplyReader, ReadsPublishedNotations) {
  const auto calls = [](const char* name, const std::string& text) {
    Served served = served_micro();
    served.format = ToolFormat::named(name, served.model);
    const Seen reply = seen(text, with_tools(), served);
    EXPECT_EQ(reply.text, text.starts_with("Ok") ? "Ok" : "") << name;
    return reply.calls;
  };
  const ToolCall f{"call_0", "f", "{\"a\": 1}"}, g{"call_1", "g", "{}"};
  using ::testing::ElementsAre;
  EXPECT_THAT(calls("llama3", R"({"name": "f", "parameters": {"a": 1}})"), ElementsAre(f));
  EXPECT_THAT(calls("llama3", R"(Ok<|python_tag|>{"name": "f", "parameters": {"a": 1}})"),
              ElementsAre(f));
  EXPECT_THAT(calls("mistral", "Ok\n[TOOL_CALLS]f[ARGS]{\"a\": 1}[TOOL_CALLS]g[ARGS]{}"),
              ElementsAre(f, g));
  EXPECT_THAT(calls("glm",
                    "Ok\n\n<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n"
                    "</tool_call>\n<tool_call>g\n</tool_call>\n"),
              ElementsAre(f, g));
  EXPECT_THAT(calls("deepseek",
                    "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": 1}<｜tool▁call▁end｜>\n"
                    "<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜>"),
              ElementsAre(f, g));
  Served llama = served_micro();
  llama.format = ToolFormat::named("llama3", llama.model);
  EXPECT_EQ(seen("{\"a\": 1} is JSON", with_tools(), llama).text, "{\"a\": 1} is JSON");
}

TEST(ReplyReader, PartsThoughtsFromTheReply) {
  Served served = served_micro();
  served.thoughts = {"<think>", "</think>"};
  GenerationRequest request;
  request.chat = true;
  Seen reply = seen("<think>\nI see.\n\nSo:\n</think>\n\nYes <think> \n", request, served);
  EXPECT_EQ(reply.reasoning, "I see.\n\nSo:");
  EXPECT_EQ(reply.text, "Yes <think> \n");
  request.thinking = true;  // as the prompt began
  request.stop = {"see"};
  reply = seen("I see.</think>Yes", request, served);
  EXPECT_EQ(reply.reasoning, "I see.");
  EXPECT_EQ(reply.text, "Yes");
  EXPECT_EQ(seen("never ends\n", request, served).reasoning, "never ends");
  request.thinking = false;
  EXPECT_EQ(seen("No <think>x</think>", request, served).text, "No <think>x</think>");
}

Served with_notation(const char* name) {
  Served served = served_micro();
  served.format = ToolFormat::named(name, served.model);
  return served;
}

TEST(ReplyReader, BlanksBeforeThoughtsAreNoAnswer) {
  Served served = served_micro();
  served.thoughts = {"<think>", "</think>"};
  GenerationRequest request;
  request.chat = true;
  const Seen reply = seen("\n<think>I see.</think>\nYes", request, served);
  EXPECT_EQ(reply.reasoning, "I see.");
  EXPECT_EQ(reply.text, "Yes");
  EXPECT_EQ(seen(" \n\tNo <think>", request, served).text, " \n\tNo <think>");
  EXPECT_EQ(seen("\n ", request, served).text, "\n ");
}

TEST(ReplyReader, TheMarksAroundAllCallsAreNotText) {
  const Served served = with_notation("deepseek");
  const std::string call = "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>";
  Seen reply = seen("Ok\n\n<｜tool▁calls▁begin｜>\n" + call + "\n" + call + "<｜tool▁calls▁end｜>",
                    with_tools(), served);
  EXPECT_EQ(reply.text, "Ok");
  EXPECT_EQ(reply.calls.size(), 2u);
  const std::string no_call =
      "Ok\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
  EXPECT_EQ(seen(no_call, with_tools(), served).text, no_call);
  EXPECT_EQ(seen("<｜tool▁calls▁begin｜>x", with_tools(), served).text, "<｜tool▁calls▁begin｜>x");
  EXPECT_EQ(seen("x<｜tool▁calls▁begin｜>", with_tools(), served).text, "x<｜tool▁calls▁begin｜>");
}

TEST(ReplyReader, LinesBeforeWhatIsNoCallStay) {
  const std::string text = "So:\n\n<tool_call>\n{\n</tool_call>\n\n!";
  EXPECT_EQ(seen(text, with_tools()).text, text);
}

TEST(ReplyReader, WhatIsNoCallEndsAtAStopText) {
  GenerationRequest request = with_tools();
  request.stop = {"XY"};
  Seen reply = seen("<tool_call>{aXYb</tool_call> c", request);
  EXPECT_EQ(reply.text, "<tool_call>{a");
  EXPECT_TRUE(reply.stopped);
  request.stop = {"call>Z"};
  reply = seen("<tool_call>a</tool_call>Zb", request);
  EXPECT_EQ(reply.text, "<tool_call>a</tool_");
  EXPECT_EQ(seen("<tool_call>a</tool_call>", request).text, "<tool_call>a</tool_call>");
  reply = seen("<tool_call>a</tool_call><tool_call>{\"name\": \"f\", \"arguments\": {}}", request);
  EXPECT_EQ(reply.text, "<tool_call>a</tool_call>");
  EXPECT_EQ(reply.calls.size(), 1u);
}

TEST(ReplyReader, JsonThatIsNoCallOfLlama3Streams) {
  const Served served = with_notation("llama3");
  GenerationRequest request = with_tools();
  Seen reply = seen(R"({"answer": [1, 2, 3]})", request, served);
  EXPECT_EQ(reply.text, R"({"answer": [1, 2, 3]})");
  EXPECT_GT(reply.pieces.size(), 10u);
  EXPECT_GT(seen(R"({"name": "fred"})", request, served).pieces.size(), 3u);
  request.stop = {"2"};
  reply = seen(R"({"answer": [1, 2, 3]})", request, served);
  EXPECT_EQ(reply.text, R"({"answer": [1, )");
  EXPECT_TRUE(reply.stopped);
  request.stop = {"meX"};
  reply = seen(R"({"name": "fred"}, {"nameX)", request, served);
  EXPECT_EQ(reply.text, R"({"name": "fred"}, {"na)");
  reply = seen(R"({"name": "f", "parameters": {"a": "meX"}} so)", request, served);
  EXPECT_EQ(reply.text, R"({"name": "f", "parameters": {"a": ")") << "text, in the end";
}

TEST(ReplyReader, ACallOfLlama3MayBeginWithBlanks) {
  const Served served = with_notation("llama3");
  for (const char* text : {R"( {"name": "f", "parameters": {}})",
                           "\n\n{ \"type\":\"function\",\n\"name\" : \"f\", "
                           "\"parameters\":{}}",
                           R"({"parameters": {}, "name": "f"})"}) {
    const Seen reply = seen(text, with_tools(), served);
    EXPECT_EQ(reply.calls.size(), 1u) << text;
    EXPECT_EQ(reply.text, "");
  }
  EXPECT_EQ(seen(" {\"name\": \"f\"}", with_tools(), served).text, " {\"name\": \"f\"}");
}

TEST(TokenLogprob, IsALogSoftmax) {
  const std::vector<float> logits{1, 3, 2, 3};
  const TokenLogprob result = token_logprob(logits, 2, 3);
  const double sum = std::exp(1) + 2 * std::exp(3) + std::exp(2);
  EXPECT_NEAR(result.logprob, 2 - std::log(sum), 1e-12);
  ASSERT_EQ(result.top.size(), 3u);
  EXPECT_EQ(result.top[0].first, 1) << "of equal ones the lower id";
  EXPECT_EQ(result.top[1].first, 3);
  EXPECT_EQ(result.top[2].first, 2);
  EXPECT_EQ(token_logprob(logits, 0, 99).top.size(), 4u);
}

}  // namespace
}  // namespace engine::lane
