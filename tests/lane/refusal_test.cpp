// What the server does not take, and what it says then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lane/live_lane.h"
#include "numerics/philox.h"

namespace engine::lane {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Refusal, CountsAndLogsWhatIsRefusedAtTheDoor) {
  LiveLane::Options options;
  options.server.api_key = "opensesame";
  options.server.body_bytes = 100;
  const LiveLane lane(options);
  const httplib::Headers key{{"Authorization", "Bearer opensesame"}};
  (void)lane.post(kChat, "{}");
  (void)lane.post("/v1/completions", std::string(200, ' '), key);
  (void)lane.post("/tokenize", "{", key);
  (void)lane.get("/nowhere", key);
  const std::string text = lane.get("/metrics", key).body;
  std::vector<std::string> logged;
  for (const ordered_json& line : lane.log())
    logged.push_back(line["endpoint"].get<std::string>() + " " + line["status"].dump());
  EXPECT_THAT(logged, ElementsAre("chat 401", "completions 413", "tokenize 400", "other 404"));
  for (const char* label : {"\"chat\",outcome=\"401\"", "\"completions\",outcome=\"413\"",
                            "\"tokenize\",outcome=\"400\"", "\"other\",outcome=\"404\""})
    EXPECT_THAT(text, HasSubstr(std::string("lane_requests_total{endpoint=") + label + "} 1\n"));
}

TEST(Refusal, Says503WhileLoading) {
  LiveLane::Options options;
  options.attached = false;
  LiveLane lane(options);
  EXPECT_EQ(lane.get("/health").status, 503);
  EXPECT_EQ(lane.post_json(kChat, user_says("Hi", 1)).json["error"]["code"], "loading");
  lane.server().attach(lane.service());
  EXPECT_EQ(lane.get("/health").status, 200);
}

TEST(Refusal, AsksForTheKey) {
  LiveLane::Options options;
  options.server.api_key = "opensesame";
  const LiveLane lane(options);
  EXPECT_EQ(lane.get("/health").status, 200);
  EXPECT_EQ(lane.get("/v1/models").status, 401);
  EXPECT_EQ(lane.get("/v1/models", {{"Authorization", "Bearer opensesam"}}).status, 401);
  EXPECT_EQ(lane.get("/v1/models", {{"Authorization", "Bearer opensesame"}}).status, 200);
  EXPECT_EQ(lane.post_json(kChat, user_says("Hi", 1)).json["error"]["type"],
            "authentication_error");
}

TEST(Refusal, LimitsTheBody) {
  LiveLane::Options options;
  options.server.body_bytes = 1000;
  const LiveLane lane(options);
  const std::string text = user_says(std::string(2000, 'x'), 1).dump();
  EXPECT_EQ(lane.post(kChat, text).status, 413);
  const auto in_pieces = [&](std::size_t, httplib::DataSink& sink) {
    sink.write(text.data(), text.size());
    sink.done();
    return true;
  };
  const httplib::Result chunked = lane.client().Post(kChat, in_pieces, "application/json");
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->status, 413) << "a body without a length is limited, too";
  EXPECT_EQ(lane.post_json(kChat, user_says("x", 1)).status, 200);
}

TEST(Refusal, EveryFaultIsAnErrorObject) {
  const LiveLane lane;
  EXPECT_EQ(lane.post_json(kChat, user_says(std::string(1000, 'x'), 1)).json["error"]["code"],
            "context_length_exceeded");
  EXPECT_EQ(lane.get("/nowhere").status, 404);
  EXPECT_EQ(lane.get(kChat).status, 405);
  EXPECT_EQ(lane.post("/nowhere", "{}").status, 404);
  for (const Answer& answer : {lane.get("/nowhere"), lane.get(kChat), lane.post("/tokenize", "{}"),
                               lane.post("/detokenize", R"({"tokens": "x"})")}) {
    ASSERT_TRUE(answer.json["error"].is_object()) << answer.body;
    for (const char* field : {"message", "type", "param", "code"})
      EXPECT_TRUE(answer.json["error"].contains(field)) << answer.body;
  }
}

// A valid body with one to three places changed or cut out.
TEST(Refusal, DamagedBodiesAreAnsweredAndNeverCrash) {
  LiveLane::Options options;
  options.context = 160;  // a reply without a limit is short
  const LiveLane lane(options);
  ordered_json valid = user_says("Hello", 1);
  valid["tools"] = ordered_json::parse("{" + kTools + "}")["tools"];
  valid["stop"] = {"a", "b"};
  const std::string text = valid.dump();
  httplib::Client client = lane.client();
  client.set_keep_alive(true);
  std::size_t refused = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    std::string body = text;
    for (std::uint64_t change = 0; change <= i % 3; ++change) {
      const auto random = numerics::philox(i, change);
      const std::size_t at = random[0] % body.size();
      if (random[2] % 3 == 0) {
        body.erase(at, 1 + random[1] % 20);
      } else {
        body[at] = static_cast<char>(random[1]);
      }
    }
    const httplib::Result result = client.Post(kChat, body, "application/json");
    ASSERT_TRUE(result) << body;
    EXPECT_TRUE(result->status == 200 || result->status == 400 || result->status == 404)
        << result->status;
    refused += result->status != 200;
    if (result->status != 200) {
      EXPECT_THAT(result->body, StartsWith("{\"error\":{\"message\":"));
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_EQ(lane.get("/health").status, 200);
}

}  // namespace
}  // namespace engine::lane
