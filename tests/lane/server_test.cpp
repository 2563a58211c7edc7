// The endpoints as clients see them.
#include "lane/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "lane/live_lane.h"
#include "lane/socket.h"

namespace engine::lane {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Server, AnswersAChat) {
  const LiveLane lane;
  const Answer answer = lane.post_json(kChat, user_says("Hello", 6));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.json["object"], "chat.completion");
  EXPECT_EQ(answer.json["model"], "micro");
  const ordered_json& choice = answer.json["choices"][0];
  EXPECT_EQ(choice["message"]["role"], "assistant");
  EXPECT_TRUE(choice["message"]["content"].is_string());
  EXPECT_EQ(choice["finish_reason"], "length");
  EXPECT_EQ(answer.json["usage"]["completion_tokens"], 6);
  EXPECT_EQ(answer.json["usage"]["prompt_tokens_details"]["cached_tokens"], 0);
  EXPECT_EQ(answer.json["timings"]["predicted_n"], 6);
  EXPECT_EQ(answer.json["timings"]["reuse_bound"].is_null(), !ENGINE_HAS_CACHE);
}

TEST(Server, AStreamIsTheWholeReplyInChunks) {
  const LiveLane lane;
  ordered_json body = user_says("Tell me", 24);
  body["logprobs"] = true;
  const ordered_json whole = lane.post_json(kChat, body).json["choices"][0];
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  const std::vector<ordered_json> events = events_of(lane.post_json(kChat, body).body);
  ASSERT_GT(events.size(), 4u);
  EXPECT_EQ(events.front()["choices"][0]["delta"]["role"], "assistant");
  std::string text;
  ordered_json logprobs = ordered_json::array();
  for (std::size_t i = 0; i + 2 < events.size(); ++i) {
    const ordered_json& choice = events[i]["choices"][0];
    text += choice["delta"].value("content", "");
    if (choice["logprobs"].is_null()) continue;
    for (const ordered_json& token : choice["logprobs"]["content"])
      logprobs.push_back(token);
  }
  EXPECT_EQ(text, whole["message"]["content"]);
  EXPECT_EQ(logprobs, whole["logprobs"]["content"]);
  EXPECT_EQ(events[events.size() - 3]["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(events[events.size() - 2]["usage"]["completion_tokens"], 24);
  EXPECT_EQ(events.back(), "[DONE]");
}

TEST(Server, SeveralChoicesAreThoseOfFollowingSeeds) {
  const LiveLane lane;
  ordered_json body = user_says("Tell me", 8);
  body["temperature"] = 2;
  body["seed"] = 5;
  body["n"] = 3;
  const Answer several = lane.post_json(kChat, body);
  ASSERT_EQ(several.json["choices"].size(), 3u) << several.body;
  EXPECT_EQ(several.json["usage"]["completion_tokens"], 24);
  body["stream"] = true;
  std::vector<std::string> streamed(3);
  for (const ordered_json& event : events_of(lane.post_json(kChat, body).body)) {
    if (event == "[DONE]") continue;
    const ordered_json& choice = event["choices"][0];
    streamed[choice["index"].get<std::size_t>()] += choice["delta"].value("content", "");
  }
  body.erase("stream");
  body["n"] = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    body["seed"] = 5 + i;
    const ordered_json one = lane.post_json(kChat, body).json["choices"][0]["message"]["content"];
    EXPECT_EQ(several.json["choices"][i]["message"]["content"], one);
    EXPECT_EQ(several.json["choices"][i]["index"], i);
    EXPECT_EQ(streamed[i], one);
  }
}

TEST(Server, AStopTokenOfTheRequestEndsTheReplyAndIsNotShown) {
  const LiveLane lane;
  ordered_json body = user_says("Tell me", 8);
  body["logprobs"] = true;
  const ordered_json whole = lane.post_json(kChat, body).json["choices"][0];
  body["stop_token_ids"] = whole["logprobs"]["content"][3]["bytes"];  // a token of one byte
  ASSERT_EQ(body["stop_token_ids"].size(), 1u);
  const ordered_json ended = lane.post_json(kChat, body).json["choices"][0];
  EXPECT_EQ(ended["finish_reason"], "stop");
  EXPECT_LT(ended["message"]["content"].get<std::string>().size(),
            whole["message"]["content"].get<std::string>().size());
}

TEST(Server, RefusesALengthThatIsWrongAtSight) {
  const LiveLane lane;  // waits 30 s for a body
  const auto refused = [&](const std::string& head) {
    const Socket socket(lane.port());
    socket.send("POST " + kChat + " HTTP/1.1\r\nHost: a\r\n" + head + "\r\n\r\n");
    return socket.read_until("}").substr(9, 3);
  };
  EXPECT_EQ(refused("Content-Length: -1"), "400");
  EXPECT_EQ(refused("Content-Length: abc"), "400");
  EXPECT_EQ(refused("Content-Length: 5\r\nContent-Length: 6"), "400");
  EXPECT_EQ(refused("Content-Length: 99999999999"), "413");
  EXPECT_EQ(refused("Content-Length: 99999999999999999999999"), "413");
  EXPECT_EQ(refused("Content-Length: 20000000\r\nExpect: 100-continue"), "413");
}

TEST(Server, TakesTheAbsoluteForm) {
  const LiveLane lane;
  const auto status = [&](const std::string& target) {
    const Socket socket(lane.port());
    socket.send("GET " + target + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return socket.read_until("}").substr(9, 3);
  };
  EXPECT_EQ(status("http://localhost:8080/health"), "200");
  EXPECT_EQ(status("HTTP://a/v1/models?x=1"), "200");
  EXPECT_EQ(status("http://a"), status("/"));
  EXPECT_EQ(status("/nowhere/http://a/health"), "404");
}

TEST(Server, RefusesALongHead) {
  const LiveLane lane;
  const auto status = [&](const std::string& head) {
    const Socket socket(lane.port());
    socket.send("GET /health HTTP/1.1\r\nHost: a\r\n" + head);
    return socket.read_until("}").substr(9, 3);
  };
  EXPECT_EQ(status("A: " + std::string(8100, 'x') + "\r\n\r\n"), "200");
  EXPECT_EQ(status("A: " + std::string(9000, 'x') + "\r\n\r\n"), "431");
  EXPECT_EQ(status("A: " + std::string(70000, 'x')), "431") << "at once, without its end";
  std::string many;
  for (int i = 0; i < 2000; ++i)
    many += "X-Header-" + std::to_string(i) + ": a value of some length\r\n";
  EXPECT_EQ(status(many), "431");
  EXPECT_EQ(lane.get("/health").status, 200);
}

TEST(Server, HalfSentRequestsKeepNoOneWaiting) {
  LiveLane::Options options;
  options.server.connections = 8;
  const LiveLane lane(options);
  std::vector<std::unique_ptr<Socket>> silent;
  for (int i = 0; i < 40; ++i) {
    silent.push_back(std::make_unique<Socket>(lane.port()));
    silent.back()->send(i % 3 == 0 ? "GET /health HT"
                        : i % 3 == 1
                            ? "GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
                            : "POST /tokenize HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{");
  }
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(lane.get("/health").status, 200);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(4));
}

TEST(Server, AStreamIsNotPacked) {
  const LiveLane lane;
  ordered_json body = user_says("Hi", 2);
  body["stream"] = true;
  const Socket socket(lane.port());
  const std::string text = body.dump();
  socket.send("POST " + kChat + " HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip, br\r\n" +
              "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  const std::string reply = socket.read_until("[DONE]");
  EXPECT_THAT(reply, ::testing::Not(HasSubstr("Content-Encoding")));
  EXPECT_THAT(reply, HasSubstr("data: [DONE]"));
}

TEST(Server, AnOldClientsStreamHasNoChunks) {
  const LiveLane lane;
  ordered_json body = user_says("Hi", 2);
  body["stream"] = true;
  const Socket socket(lane.port());
  const std::string text = body.dump();
  socket.send("POST " + kChat + " HTTP/1.0\r\nContent-Length: " + std::to_string(text.size()) +
              "\r\n\r\n" + text);
  const std::string reply = socket.read_until("never");  // the end of the connection ends it
  EXPECT_THAT(reply, ::testing::Not(HasSubstr("chunked")));
  EXPECT_THAT(reply, HasSubstr("text/event-stream; charset=utf-8"));
  EXPECT_THAT(reply, HasSubstr("\r\n\r\ndata: {"));
  EXPECT_THAT(reply, ::testing::EndsWith("data: [DONE]\n\n"));
}

TEST(Server, LetsPagesOfAnotherOriginAskIfItMay) {
  LiveLane::Options options;
  options.server.cors_origin = "https://a.example";
  options.server.api_key = "secret";
  const LiveLane lane(options);
  const auto asked = lane.client().Options(
      kChat, {{"Access-Control-Request-Headers", "authorization,x-stainless-os"}});
  EXPECT_EQ(asked->status, 204);
  EXPECT_EQ(asked->get_header_value("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_EQ(asked->get_header_value("Access-Control-Allow-Headers"),
            "authorization,x-stainless-os");
  const auto refused = lane.client().Get("/v1/models");
  EXPECT_EQ(refused->status, 401);
  EXPECT_EQ(refused->get_header_value("Access-Control-Allow-Origin"), "https://a.example");
  EXPECT_NE(LiveLane().client().Options(kChat)->status, 204);
}

TEST(Server, RefusesEmbeddingsByName) {
  const Answer answer = LiveLane().post_json("/v1/embeddings", {{"input", "x"}});
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("embeddings"));
}

std::vector<std::string> names_of(const ordered_json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items())
    names.push_back(name);
  return names;
}

TEST(Server, RepliesHaveEveryFieldOfOpenAis) {
  const LiveLane lane;
  ordered_json body = user_says("Hello", 3);
  const ordered_json whole = lane.post_json(kChat, body).json;
  EXPECT_THAT(names_of(whole), ElementsAre("id", "object", "created", "model", "system_fingerprint",
                                           "service_tier", "choices", "usage", "timings"));
  EXPECT_THAT(names_of(whole["choices"][0]),
              ElementsAre("index", "message", "logprobs", "finish_reason"));
  EXPECT_THAT(names_of(whole["choices"][0]["message"]),
              ElementsAre("role", "content", "refusal", "annotations"));
  EXPECT_THAT(names_of(whole["usage"]),
              ElementsAre("prompt_tokens", "completion_tokens", "total_tokens",
                          "prompt_tokens_details", "completion_tokens_details"));
  body["stream"] = true;
  EXPECT_THAT(names_of(events_of(lane.post_json(kChat, body).body).front()),
              ElementsAre("id", "object", "created", "model", "system_fingerprint", "service_tier",
                          "choices"));
  body["stream_options"] = {{"include_usage", true}};
  const std::vector<ordered_json> events = events_of(lane.post_json(kChat, body).body);
  EXPECT_EQ(events[0]["choices"][0]["delta"],
            (ordered_json{{"role", "assistant"}, {"content", ""}, {"refusal", nullptr}}));
  for (std::size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i]["id"], events[0]["id"]);
    ASSERT_TRUE(events[i].contains("usage")) << "null in all chunks but the last one";
    EXPECT_EQ(events[i]["usage"].is_null(), i + 2 < events.size());
  }
}

TEST(Server, ACompletionHasItsOwnShape) {
  const LiveLane lane;
  const Answer answer = lane.post(
      "/v1/completions", R"({"prompt": "Once", "max_tokens": 4, "temperature": 0, "logprobs": 2})");
  EXPECT_EQ(answer.json["object"], "text_completion");
  EXPECT_TRUE(answer.json["choices"][0]["text"].is_string());
  EXPECT_EQ(answer.json["choices"][0]["logprobs"]["tokens"].size(), 4u);
  EXPECT_EQ(answer.json["choices"][0]["logprobs"]["top_logprobs"][0].size(), 2u);
}

// What lm-evaluation-harness' local-completions sends for a choice's likelihood.
TEST(Server, AnEchoedPromptHasLogProbabilitiesOfItsOwn) {
  const LiveLane lane;
  const ordered_json body{{"prompt", ordered_json::array({{72, 105, 33, 316, 200, 65}})},
                          {"max_tokens", 1},
                          {"temperature", 0},
                          {"logprobs", 1},
                          {"echo", true}};
  const ordered_json choice = lane.post_json("/v1/completions", body).json["choices"][0];
  const ordered_json& logprobs = choice["logprobs"];
  for (const char* list : {"tokens", "token_logprobs", "top_logprobs", "text_offset"})
    ASSERT_EQ(logprobs[list].size(), 7u) << list;
  EXPECT_TRUE(logprobs["token_logprobs"][0].is_null() && logprobs["top_logprobs"][0].is_null());
  EXPECT_THAT(choice["text"].get<std::string>(), ::testing::StartsWith("Hi!<|"));
  // Each prefix's likeliest next token is what a request of that prefix says.
  for (std::size_t n = 1; n <= 6; ++n) {
    ordered_json shorter = body;
    shorter["prompt"] = ordered_json::array();
    for (std::size_t i = 0; i < n; ++i)
      shorter["prompt"].push_back(body["prompt"][0][i]);
    shorter.erase("echo");
    EXPECT_EQ(lane.post_json("/v1/completions", shorter)
                  .json["choices"][0]["logprobs"]["top_logprobs"][0],
              logprobs["top_logprobs"][n]);
  }
}

TEST(Server, AnEchoMayBeAllThatIsAsked) {
  const LiveLane lane;
  ordered_json body{{"prompt", "Once upon"}, {"max_tokens", 0}, {"echo", true}};
  const ordered_json whole = lane.post_json("/v1/completions", body).json;
  EXPECT_EQ(whole["choices"][0]["text"], "Once upon");
  EXPECT_EQ(whole["choices"][0]["finish_reason"], "length");
  EXPECT_TRUE(whole["choices"][0]["logprobs"].is_null());
  EXPECT_EQ(whole["usage"]["completion_tokens"], 0);
  body["logprobs"] = 3;
  const ordered_json list = lane.post_json("/v1/completions", body).json["choices"][0]["logprobs"];
  body["stream"] = true;
  const std::vector<ordered_json> events = events_of(lane.post_json("/v1/completions", body).body);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0]["choices"][0]["text"], "Once upon");
  EXPECT_EQ(events[0]["choices"][0]["logprobs"], list);
}

TEST(Server, AStopTextEndsTheReplyBeforeIt) {
  const LiveLane lane;
  const std::string text =
      lane.post_json(kChat, user_says("Go", 30)).json["choices"][0]["message"]["content"];
  std::size_t at = text.size() / 2;
  while (at < text.size() && (text[at] & 0x80) != 0)
    ++at;
  ASSERT_LT(at, text.size());
  ordered_json body = user_says("Go", 30);
  const std::string stop = text.substr(at, 1);
  body["stop"] = stop;
  const ordered_json choice = lane.post_json(kChat, body).json["choices"][0];
  EXPECT_EQ(choice["message"]["content"], text.substr(0, text.find(stop)));
  EXPECT_EQ(choice["finish_reason"], "stop");
}

TEST(Server, TheSeedDecidesTheReply) {
  const LiveLane lane;
  ordered_json body = user_says("Go", 30);
  body["temperature"] = 1;
  const auto reply = [&](int seed) {
    body["seed"] = seed;
    return lane.post_json(kChat, body).json;
  };
  const ordered_json first = reply(1), again = reply(1), other = reply(2);
  EXPECT_EQ(first["choices"], again["choices"]);
  EXPECT_NE(first["choices"], other["choices"]);
  EXPECT_NE(first["id"], again["id"]);
}

TEST(Server, PingsDuringALongPrefill) {
  const LiveLane lane;
  ordered_json body = user_says(std::string(300, 'x'), 1);
  body["stream"] = true;
  EXPECT_THAT(lane.post_json(kChat, body).body,
              ::testing::ContainsRegex("\n\n: prefill 6[0-9] of 3[0-9]+\n\n: prefill 12"));
}

TEST(Server, CachedGrowsTurnByTurnWithToolCalls) {
  const LiveLane lane;
  ordered_json body =
      user_says("Please read a.py and tell me what it says about x and about y.", 4);
  body["tools"] = ordered_json::parse("{" + kTools + "}")["tools"];
  std::vector<std::size_t> cached;
  for (int turn = 0; turn < 4; ++turn) {
    const Answer answer = lane.post_json(kChat, body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    cached.push_back(answer.json["usage"]["prompt_tokens_details"]["cached_tokens"]);
    const std::string id = "call_" + std::to_string(turn);
    const ordered_json call{
        {"id", id},
        {"type", "function"},
        {"function", {{"name", "read_file"}, {"arguments", R"({"path": "a.py"})"}}}};
    body["messages"].push_back(
        {{"role", "assistant"}, {"content", nullptr}, {"tool_calls", ordered_json::array({call})}});
    body["messages"].push_back({{"role", "tool"},
                                {"tool_call_id", id},
                                {"content", "x = 1, and y is twice as much as x"}});
  }
  if (ENGINE_HAS_CACHE) {
    EXPECT_EQ(cached.front(), 0u);
    for (std::size_t i = 1; i < cached.size(); ++i)
      EXPECT_GT(cached[i], cached[i - 1]) << "turn " << i;
    const std::size_t sum = std::accumulate(cached.begin(), cached.end(), std::size_t{0});
    const std::string metrics = lane.get("/metrics").body;
    EXPECT_THAT(metrics, HasSubstr("lane_prefix_cache_hits_total 3\n"));
    EXPECT_THAT(metrics, HasSubstr("lane_reused_tokens_total " + std::to_string(sum) + "\n"));
  } else {
    EXPECT_THAT(cached, ::testing::Each(0u));
  }
}

TEST(Server, TimingsSayWhyTheReuseEnded) {
  const LiveLane lane;
  const std::string text(200, 'x');
  (void)lane.post_json(kChat, user_says(text + "a", 1));
  const ordered_json timings = lane.post_json(kChat, user_says(text + "b", 1)).json["timings"];
  if (!ENGINE_HAS_CACHE) {
    EXPECT_EQ(timings["cache_n"], 0);
    EXPECT_TRUE(timings["first_difference"].is_null());
    return;
  }
  EXPECT_EQ(timings["reuse_bound"], "lcp");
  const std::size_t differs = timings["first_difference"], kept = timings["cache_n"];
  EXPECT_GE(differs, text.size());
  EXPECT_EQ(kept, differs / 64 * 64);
  EXPECT_EQ(timings["rounded_off"], differs - kept);
  EXPECT_EQ(timings["smaller_grids"],
            (ordered_json{{"16", differs / 16 * 16}, {"32", differs / 32 * 32}}));
  // A prompt that goes on: what decode wrote is not to be kept on any grid.
  ordered_json longer = user_says(text + "b", 20);
  const Answer before = lane.post_json(kChat, longer);
  longer["messages"].push_back(before.json["choices"][0]["message"]);
  longer["messages"].push_back({{"role", "user"}, {"content", "And?"}});
  const ordered_json next = lane.post_json(kChat, longer).json["timings"];
  EXPECT_EQ(next["cache_n"].get<std::size_t>() + next["rounded_off"].get<std::size_t>(),
            before.json["usage"]["prompt_tokens"]);
}

TEST(Server, OtherEndpoints) {
  const LiveLane lane;
  EXPECT_EQ(lane.get("/health").status, 200);
  const ordered_json models = lane.get("/v1/models").json["data"];
  EXPECT_EQ(models[0]["id"], "micro");
  EXPECT_EQ(lane.get("/v1/models/micro").json, models[0]);
  const Answer other = lane.get("/v1/models/other");
  EXPECT_EQ(other.status, 404);
  EXPECT_EQ(other.json["error"]["code"], "model_not_found");
  const ordered_json tokens = lane.post("/tokenize", R"({"content": "Hello, wörld"})").json;
  EXPECT_EQ(tokens["count"], tokens["tokens"].size());
  EXPECT_EQ(lane.post_json("/detokenize", {{"tokens", tokens["tokens"]}}).json["content"],
            "Hello, wörld");
  const ordered_json said{{"messages", user_says("Hi", 1)["messages"]}};
  const ordered_json chat = lane.post_json("/tokenize", said).json;
  EXPECT_EQ(chat["count"],
            lane.post_json(kChat, user_says("Hi", 1)).json["usage"]["prompt_tokens"]);
  EXPECT_EQ(lane.post("/tokenize", R"({"content": "x", "add_special": false})").status, 400);
  EXPECT_EQ(lane.post("/detokenize", R"({"tokens": [], "model": "other"})").status, 404);
}

TEST(Server, MetricsCountWhatHappened) {
  const LiveLane lane;
  (void)lane.post_json(kChat, user_says("Hello", 3));
  (void)lane.post(kChat, "{");
  const std::string text = lane.get("/metrics").body;
  for (const char* line :
       {"lane_requests_total{endpoint=\"chat\",outcome=\"length\"} 1\n",
        "lane_requests_total{endpoint=\"chat\",outcome=\"400\"} 1\n",
        "lane_generated_tokens_total 3\n", "lane_queue_length 0\n",
        "lane_time_to_first_token_seconds_count 1\n", "lane_inter_token_seconds_count 2\n",
        "lane_request_seconds_count 1\n", "lane_prefix_cache_queries_total 1\n",
        "lane_prefix_cache_hits_total 0\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Server, LogsALineARequestWithoutThePrompt) {
  LiveLane::Options options;
  for (const bool prompts : {false, true}) {
    options.server.log_prompts = prompts;
    const LiveLane lane(options);
    (void)lane.post_json(kChat, user_says("Secret", 3));
    ASSERT_EQ(lane.log().size(), 1u);
    EXPECT_EQ(lane.log()[0]["outcome"], "length");
    EXPECT_EQ(lane.log()[0]["stats"]["generated_tokens"], 3);
    EXPECT_EQ(lane.log()[0].dump().find("Secret") != std::string::npos, prompts);
  }
}

}  // namespace
}  // namespace engine::lane
