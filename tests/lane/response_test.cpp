#include "lane/response.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using nlohmann::ordered_json;
using ::testing::ElementsAre;
using testing::served_micro;

ReplyDelta with_calls(std::string text, std::vector<ToolCall> calls) {
  return {.reasoning = {}, .text = std::move(text), .calls = std::move(calls), .logprobs = {}};
}

// The one event that a text is.
ordered_json event(const std::string& text) {
  return ordered_json::parse(text.substr(std::string("data: ").size()));
}

ordered_json whole(ResponseWriter& writer, ReplyDelta reply, Finish finish) {
  Outcome outcome;
  outcome.reply = std::move(reply);
  outcome.finish = finish;
  return writer.whole({&outcome, 1});
}

struct Chat {
  Served served = served_micro();
  GenerationRequest request;
  ResponseWriter writer;

  Chat() : writer(served, chat(request), "id", 5) {}

 private:
  static GenerationRequest& chat(GenerationRequest& request) {
    request.chat = true;
    return request;
  }
};

TEST(ResponseWriter, NumbersTheCallsOfAStream) {
  Chat chat;
  const ordered_json two =
      event(chat.writer.add(with_calls("", {{"a", "f", "{\"x\": 1}"}, {"b", "g", "{}"}})));
  const ordered_json third = event(chat.writer.add(with_calls("", {{"c", "f", "{}"}})));
  const ordered_json& delta = two["choices"][0]["delta"];
  EXPECT_FALSE(delta.contains("content"));
  EXPECT_EQ(delta["tool_calls"][0],
            (ordered_json{{"index", 0},
                          {"id", "a"},
                          {"type", "function"},
                          {"function", {{"name", "f"}, {"arguments", "{\"x\": 1}"}}}}));
  EXPECT_EQ(delta["tool_calls"][1]["index"], 1);
  EXPECT_EQ(third["choices"][0]["delta"]["tool_calls"][0]["index"], 2);
}

TEST(ResponseWriter, AWholeReplyWithCallsAndNoTextHasNullContent) {
  Chat chat;
  const auto message = [&](const std::string& text) {
    const ReplyDelta reply = with_calls(text, {{"a", "f", "{}"}});
    return whole(chat.writer, reply, Finish::kToolCalls)["choices"][0]["message"];
  };
  EXPECT_TRUE(message("")["content"].is_null());
  EXPECT_EQ(message("See.")["content"], "See.");
  EXPECT_FALSE(message("")["tool_calls"][0].contains("index")) << "only in streams";
}

TEST(ResponseWriter, ACompletionsLogprobsCountOffsets) {
  const Served served = served_micro();
  GenerationRequest request;
  request.top_logprobs = 1;
  ResponseWriter writer(served, request, "id", 5);
  const auto token = [&](const char* text) {
    return TokenLogprob{
        served.model.tokenizer().encode(text, model::SpecialText::kIsText).front(), -0.5, {}};
  };
  ReplyDelta delta;
  delta.logprobs = {token("a"), token("b")};
  EXPECT_THAT(event(writer.add(delta))["choices"][0]["logprobs"]["text_offset"], ElementsAre(0, 1));
  EXPECT_THAT(event(writer.add(delta))["choices"][0]["logprobs"]["text_offset"], ElementsAre(2, 3));
}

// In characters; bytes that never become one are U+FFFD in the text.
TEST(ResponseWriter, ACompletionsOffsetsIndexItsText) {
  const Served served = served_micro();
  GenerationRequest request;
  request.top_logprobs = 2;
  request.echo = true;
  request.engine.prompt = {'a', 0xc3, 0xa9, 0xf0};  // a byte of the micro model is its own token
  ResponseWriter writer(served, request, "id", 5);
  ReplyDelta delta;
  for (const model::Token token : {0x61, 0xc3, 0xa9, 0xf0, 0x62, 0xf0, 0x63})
    delta.logprobs.push_back({token, -1, {{0xc3, -1}, {0xa9, -2}}});
  const ordered_json logprobs = event(writer.add(delta))["choices"][0]["logprobs"];
  // "a", "é", U+FFFD of the prompt's end, "b", U+FFFD, "c"
  EXPECT_THAT(logprobs["text_offset"], ElementsAre(0, 1, 1, 2, 3, 4, 5));
  EXPECT_EQ(logprobs["top_logprobs"][0],
            (ordered_json{{"token_id:195", -1.0}, {"token_id:169", -2.0}}));
}

TEST(ResponseWriter, ThoughtsHaveAFieldOfTheirOwn) {
  Chat chat;
  ReplyDelta reply;
  reply.reasoning = "I see.";
  const ordered_json delta = event(chat.writer.add(reply))["choices"][0]["delta"];
  EXPECT_EQ(delta, (ordered_json{{"reasoning_content", "I see."}}));
  reply.text = "Yes";
  const ordered_json message = whole(chat.writer, reply, Finish::kStop)["choices"][0]["message"];
  EXPECT_EQ(message["reasoning_content"], "I see.");
  EXPECT_EQ(message["content"], "Yes");
  EXPECT_EQ(usage_json(
                {.completion = 5, .reasoning = 3})["completion_tokens_details"]["reasoning_tokens"],
            3);
}

TEST(TimingsJson, SaysWhereTheRenderingLeftTheLastOne) {
  EXPECT_TRUE(timings_json({}, 64)["rendering"].is_null());
  EXPECT_EQ(timings_json({.departure = Departure{5, "template"}}, 64)["rendering"],
            (ordered_json{{"left_at", 5}, {"left_by", "template"}}));
}

TEST(TimingsJson, SaysWhatSmallerGridsWouldHaveKept) {
  EXPECT_TRUE(timings_json({}, 512)["rounded_off"].is_null());
  const ordered_json timings = timings_json({.keepable = 300}, 512);
  EXPECT_EQ(timings["rounded_off"], 300);
  EXPECT_EQ(timings["smaller_grids"],
            (ordered_json{{"16", 288}, {"32", 288}, {"64", 256}, {"128", 256}, {"256", 256}}));
}

TEST(TimingsJson, CountsRowsAndTokensPerSecond) {
  Outcome outcome;
  runtime::Stats& stats = outcome.stats;
  stats.prefill_rows = 30;
  stats.prefill_seconds = 0.5;
  stats.generated_tokens = 11;  // the first of which comes from the prompt
  stats.decode_seconds = 2;
  stats.drafted = 7;
  stats.accepted = 4;
  const ordered_json timings = timings_json(outcome, 64);
  EXPECT_EQ(timings["prompt_ms"], 500);
  EXPECT_EQ(timings["prompt_per_second"], 60);
  EXPECT_EQ(timings["predicted_n"], 11);
  EXPECT_EQ(timings["predicted_per_second"], 5);
  EXPECT_EQ(timings["draft_n"], 7);
  EXPECT_EQ(timings["draft_n_accepted"], 4);
  EXPECT_EQ(timings_json({}, 64)["predicted_per_second"], 0) << "nothing is divided by nothing";
}

}  // namespace
}  // namespace engine::lane
