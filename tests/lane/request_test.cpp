#include "lane/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "lane/logit_rules.h"
#include "lane/served_model.h"

namespace engine::lane {
namespace {

using testing::chat_request;
using testing::completion_request;
using testing::fault_of;
using testing::kTools;
using testing::served_micro;
using ::testing::StartsWith;

// A chat request with further fields.
std::string chat(const std::string& fields) {
  return R"({"messages": [{"role": "user", "content": "hi"}])" +
         (fields.empty() ? "" : ", " + fields) + "}";
}

TEST(ReadChat, HasOpenAisDefaults) {
  const Served served = served_micro();
  const GenerationRequest request = chat_request(chat(""), served);
  EXPECT_EQ(request.engine.params.sampling.temperature, 1);
  EXPECT_EQ(request.engine.params.sampling.top_p, 1);
  EXPECT_EQ(request.engine.params.max_tokens, served.context);
  EXPECT_EQ(request.engine.params.stop_tokens, served.model.config().stop_tokens);
  EXPECT_FALSE(request.stream || request.tools || request.top_logprobs || request.begun_call);
}

TEST(ReadChat, TakesEveryField) {
  const Served served = served_micro();
  const GenerationRequest request = chat_request(
      chat(
          R"("model": "micro", "max_tokens": 5, "max_completion_tokens": 7, "temperature": 0.5, "top_p": 0.25,
              "top_k": 40, "seed": -1, "stop": ["a", "bc"], "stream": true, "n": 1,
              "stream_options": {"include_usage": true}, "logprobs": true, "top_logprobs": 3,
              "presence_penalty": 0, "response_format": {"type": "text"}, "user": "me", "made_up": null,
              "min_p": 0.125, "ignore_eos": true, "stop_token_ids": [3])"),
      served);
  EXPECT_EQ(request.engine.params.max_tokens, 7u);
  EXPECT_EQ(request.engine.params.sampling.temperature, 0.5f);
  EXPECT_EQ(request.engine.params.sampling.top_p, 0.25f);
  EXPECT_EQ(request.engine.params.sampling.top_k, 40u);
  EXPECT_EQ(request.engine.params.sampling.seed, UINT64_MAX);
  EXPECT_EQ(request.engine.params.sampling.min_p, 0.125f);
  EXPECT_EQ(request.engine.params.stop_tokens.back(), 3);
  EXPECT_THAT(request.stop, ::testing::ElementsAre("a", "bc"));
  EXPECT_TRUE(request.stream && request.include_usage);
  EXPECT_EQ(request.top_logprobs, 3u);
}

TEST(ReadChat, RefusesImpossibleValues) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {R"("temperature": -1)", "400 temperature"},
      {R"("temperature": "hot")", "400 temperature"},
      {R"("top_p": 0)", "400 top_p"},
      {R"("top_p": 1.5)", "400 top_p"},
      {R"("top_k": -2)", "400 top_k"},
      {R"("seed": 1e40)", "400 seed"},
      {R"("max_tokens": 0)", "400 max_tokens"},
      {R"("max_tokens": 1.5)", "400 max_tokens"},
      {R"("max_completion_tokens": 99999999999999999999)", "400 max_completion_tokens"},
      {R"("n": 0)", "400 n"},
      {R"("best_of": 2)", "400 best_of"},
      {R"("made_up": [1])", "400 made_up"},
      {R"("grammar": "x")", "400 grammar"},
      {R"("guided_json": {})", "400 guided_json"},
      {R"("echo": true)", "400 echo"},
      {R"("prompt": "x")", "400 prompt"},
      {R"("stream": true, "stream_options": {"x": 1})", "400 stream_options.x"},
      {R"("min_p": 2)", "400 min_p"},
      {R"("stop_token_ids": [100000])", "400 stop_token_ids[0]"},
      {R"("max_tokens": 2, "min_tokens": 3)", "400 min_tokens"},
      {R"("min_tokens": 1, "stop": "x")", "400 min_tokens"},
      {R"("repetition_penalty": 0)", "400 repetition_penalty"},
      {R"("continue_final_message": true)", "400 continue_final_message"},
      {R"("stop": [""])", "400 stop"},
      {R"("stop": [1])", "400 stop[0]"},
      {R"("stream": "yes")", "400 stream"},
      {R"("stream_options": {})", "400 stream_options"},
      {R"("top_logprobs": 2)", "400 top_logprobs"},
      {R"("logprobs": true, "top_logprobs": 21)", "400 top_logprobs"},
      {R"("logit_bias": {"x": 1})", "400 logit_bias"},
      {R"("logit_bias": {"5": 101})", "400 logit_bias.5"},
      {R"("logit_bias": {"100000": 1})", "400 logit_bias"},
      {R"("frequency_penalty": 2.5)", "400 frequency_penalty"},
      {R"("response_format": {"type": "xml"})", "400 response_format.type"},
      {R"("response_format": {"type": "text", "x": 1})", "400 response_format.x"},
      {R"("response_format": {"type": "json_object", "x": 1})", "400 response_format.x"},
      {R"("response_format": {"type": "json_object", "schema": {"allOf": []}})",
       "400 response_format.schema"},
      {R"("response_format": {"type": "json_schema", "json_schema": {"schema": {}, "x": 1}})",
       "400 response_format.json_schema.x"},
      {R"("modalities": ["text", "audio"])", "400 modalities"},
      {R"("parallel_tool_calls": 0)", "400 parallel_tool_calls"},
      {R"("functions": [])", "400 functions"},
      {R"("model": "gpt-4")", "404 model"},
      {R"("model": 4)", "400 model"},
      {R"("tool_choice": "required")", "400 tool_choice"},
      {R"("tools": {})", "400 tools"},
      {R"("tools": [{"type": "function"}])", "400 tools[0].function"},
      {R"("tools": [{"type": "web"}])", "400 tools[0].type"},
      {R"("tools": [{"type": "function", "function": {"name": "f"}, "x": 1}])", "400 tools[0].x"},
      {R"("tools": [{"type": "function", "function": {"name": "f", "x": 1}}])",
       "400 tools[0].function.x"},
      {kTools + R"(, "tool_choice": "maybe")", "400 tool_choice"},
      {kTools + R"(, "tool_choice": {"type": "custom", "function": {"name": "read_file"}})",
       "400 tool_choice.type"},
      {kTools + R"(, "tool_choice": {"function": {"name": "read_file"}, "x": 1})",
       "400 tool_choice.x"},
      {kTools + R"(, "tool_choice": {"type": "function", "function": {"name": "other"}})",
       "400 tool_choice.function.name"},
  };
  const Served served = served_micro();
  for (const auto& [fields, fault] : cases)
    EXPECT_THAT(fault_of([&] { (void)chat_request(chat(fields), served); }),
                StartsWith(fault + ":"))
        << fields;
  EXPECT_EQ(fault_of([&] { (void)chat_request("[]", served); }),
            "400 : expected an object, found an array");
}

TEST(ReadCompletion, MayEchoItsPromptAndGenerateNothing) {
  const Served served = served_micro();
  const GenerationRequest request = completion_request(
      R"({"prompt": "hi", "echo": true, "max_tokens": 0, "logprobs": 0})", served);
  EXPECT_TRUE(request.echo);
  EXPECT_EQ(request.engine.params.max_tokens, 0u);
  EXPECT_FALSE(completion_request(R"({"prompt": "hi"})", served).echo);
  EXPECT_THAT(fault_of([&] { (void)completion_request(R"({"prompt": "hi", "echo": 1})", served); }),
              StartsWith("400 echo"));
  EXPECT_THAT(fault_of([&] { (void)chat_request(chat(R"("echo": true)"), served); }),
              StartsWith("400 echo"));
}

TEST(ReadChat, AToolsCacheControlIsNotShown) {
  const Served served = served_micro();
  const std::string marked = R"("tools": [{"cache_control": {"type": "ephemeral"}, )" +
                             kTools.substr(std::string(R"("tools": [{)").size());
  EXPECT_EQ(chat_request(chat(marked), served).engine.prompt,
            chat_request(chat(kTools), served).engine.prompt);
}

TEST(ReadChat, AnAliasIsAName) {
  Served served = served_micro();
  served.aliases = {"gpt-4"};
  EXPECT_NO_THROW((void)chat_request(chat(R"("model": "gpt-4")"), served));
}

TEST(ReadChat, AStopMayBeOneText) {
  const Served served = served_micro();
  EXPECT_THAT(chat_request(chat(R"("stop": "ab")"), served).stop, ::testing::ElementsAre("ab"));
  EXPECT_THAT(chat_request(chat(R"("stop": null)"), served).stop, ::testing::IsEmpty());
}

TEST(ReadChat, OneCallAtMostIfTheyMayNotBeParallel) {
  const Served served = served_micro();
  EXPECT_FALSE(chat_request(chat(kTools), served).one_call);
  EXPECT_FALSE(chat_request(chat(kTools + R"(, "parallel_tool_calls": true)"), served).one_call);
  EXPECT_TRUE(chat_request(chat(kTools + R"(, "parallel_tool_calls": false)"), served).one_call);
}

TEST(ReadChat, APromptOverTheContextNamesItsCounts) {
  const Served served = served_micro(8);
  try {
    (void)chat_request(chat(""), served);
    EXPECT_LE(chat_request(chat(""), served).engine.prompt.size(), 8u);
    (void)chat_request(R"({"messages": [{"role": "user", "content": "hello hello"}]})", served);
    FAIL();
  } catch (const ApiError& error) {
    EXPECT_EQ(error.code, "context_length_exceeded");
    EXPECT_THAT(error.what(),
                ::testing::MatchesRegex("the prompt has [0-9]+ tokens, the context holds 8"));
  }
}

TEST(ReadChat, AToolChoiceBeginsTheCall) {
  const Served served = served_micro();
  const auto prompt = [&](const std::string& choice) {
    const GenerationRequest request = chat_request(chat(kTools + choice), served);
    return served.model.tokenizer().decode(request.engine.prompt);
  };
  const std::string plain = prompt("");
  EXPECT_THAT(plain, ::testing::HasSubstr("Tools:\n{\"name\": \"read_file\""));
  EXPECT_EQ(prompt(R"(, "tool_choice": "auto")"), plain);
  EXPECT_EQ(prompt(R"(, "tool_choice": "required")"), plain + "<tool_call>\n{\"name\": \"");
  EXPECT_EQ(prompt(R"(, "tool_choice": {"type": "function", "function": {"name": "read_file"}})"),
            plain + "<tool_call>\n{\"name\": \"read_file\", \"arguments\": ");
  EXPECT_THAT(prompt(R"(, "tool_choice": "none")"), ::testing::Not(::testing::HasSubstr("Tools:")));
}

TEST(ReadChat, GoesOnWithTheAssistantsLastMessage) {
  const Served served = served_micro();
  const auto prompt = [&](const std::string& messages, const std::string& fields) {
    const GenerationRequest request = chat_request(
        R"({"messages": [{"role": "user", "content": "hi"})" + messages + "]" + fields + "}",
        served);
    return served.model.tokenizer().decode(request.engine.prompt);
  };
  const std::string begun = R"(, {"role": "assistant", "content": "Well <|end|>"})";
  EXPECT_EQ(prompt(begun, R"(, "continue_final_message": true, "add_generation_prompt": false)"),
            prompt("", "") + "Well <|end|>");
  EXPECT_TRUE(prompt("", "").starts_with(prompt("", R"(, "add_generation_prompt": false)")));
  EXPECT_NE(prompt("", ""), prompt("", R"(, "add_generation_prompt": false)"));
}

TEST(ReadChat, IgnoringTheEndBansIt) {
  const Served served = served_micro();
  const GenerationRequest request = chat_request(chat(R"("ignore_eos": true)"), served);
  std::vector<float> logits(served.model.config().vocabulary);
  request.engine.params.sampling.rule({}, logits);
  for (std::size_t i = 0; i < logits.size(); ++i)
    EXPECT_EQ(logits[i]<0, std::ranges::count(served.model.config().stop_tokens,
                                              static_cast<model::Token>(i))> 0);
}

TEST(LogitRules, PenaltiesBiasAndBans) {
  runtime::Request request;
  request.prompt = {0, 1};
  request.params.stop_tokens = {4};
  EXPECT_FALSE(rule_of({}, request));
  const auto after = [&](const LogitChanges& changes, const std::vector<model::Token>& reply) {
    std::vector<float> logits{2, -2, 4, 0, 1};
    rule_of(changes, request)(reply, logits);
    return logits;
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(after({.repetition = 2}, {2}), ElementsAre(1, -4, 2, 0, 1));
  EXPECT_THAT(after({.presence = 1, .frequency = 0.5f}, {2, 3, 2}),
              ElementsAre(2, -2, 2, -1.5f, 1));
  EXPECT_THAT(after({.bias = {{1, 100.0f}}}, {}), ElementsAre(2, 98, 4, 0, 1));
  EXPECT_THAT(after({.min_tokens = 2}, {0}), ElementsAre(2, -2, 4, 0, -INFINITY));
  EXPECT_THAT(after({.min_tokens = 2}, {0, 0}), ElementsAre(2, -2, 4, 0, 1));
}

TEST(ReadCompletion, TakesTextOrTokens) {
  const Served served = served_micro();
  const auto prompt = [&](const std::string& json) {
    return completion_request("{\"prompt\": " + json + "}", served).engine.prompt;
  };
  EXPECT_EQ(prompt("\"Hello\"").size(), 5u);
  EXPECT_EQ(prompt("[\"Hello\"]").size(), 5u);
  EXPECT_THAT(prompt("[1, 2, 3]"), ::testing::ElementsAre(1, 2, 3));
  for (const char* wrong :
       {"\"\"", "[]", "[-1]", "[100000]", "[1.5]", "[\"a\", \"b\"]", "7", "[[1]]", "null"}) {
    if (std::string(wrong) == "[[1]]") continue;  // one prompt of tokens in a list is a prompt
    EXPECT_THAT(fault_of([&] { (void)prompt(wrong); }), StartsWith("400 prompt")) << wrong;
  }
}

}  // namespace
}  // namespace engine::lane
