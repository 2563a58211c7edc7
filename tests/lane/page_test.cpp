// The page at /, and the state that it shows. tests/acceptance/test_page.py opens it in a browser.
#include "lane/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lane/live_lane.h"

namespace engine::lane {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Page, NeedsNothingElse) {
  const LiveLane lane;
  const httplib::Result page = lane.client().Get("/");
  ASSERT_EQ(page->status, 200);
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(", "//fonts"})
    EXPECT_THAT(page->body, Not(HasSubstr(outside)));
  EXPECT_THAT(page->body, HasSubstr("name=\"viewport\""));
  EXPECT_THAT(page->body, HasSubstr("prefers-color-scheme: dark"));
}

TEST(Page, AsksForNoKeyButItsStateDoes) {
  LiveLane::Options options;
  options.server.api_key = "opensesame";
  const LiveLane lane(options);
  EXPECT_EQ(lane.client().Get("/")->status, 200);
  EXPECT_EQ(lane.get("/state").status, 401);
  EXPECT_EQ(lane.get("/state", {{"Authorization", "Bearer opensesame"}}).status, 200);
}

TEST(Page, IsThereWhileTheModelIsBeingLoaded) {
  LiveLane::Options options;
  options.attached = false;
  LiveLane lane(options);
  EXPECT_EQ(lane.client().Get("/")->status, 200);
  EXPECT_EQ(lane.get("/state").status, 503);
  lane.server().attach(lane.service());
}

TEST(State, TellsConversationsFromEachOther) {
  const LiveLane lane;
  EXPECT_EQ(lane.get("/state").json["conversations"], ordered_json::array());
  ordered_json chat = user_says("Please read a.py and tell me what it says about x and y.", 4);
  const auto say = [&](const std::string& text) {
    const Answer answer = lane.post_json(kChat, chat);
    chat["messages"].push_back(answer.json["choices"][0]["message"]);
    chat["messages"].push_back({{"role", "user"}, {"content", text}});
    return answer.json["usage"]["prompt_tokens"].get<std::size_t>();
  };
  (void)say("And z?");
  const std::size_t prompt = say("Thanks.");
  ordered_json state = lane.get("/state").json;
  ASSERT_EQ(state["conversations"].size(), 1u) << state;
  EXPECT_EQ(state["conversations"][0]["turns"], 2);
  EXPECT_EQ(state["conversations"][0]["tokens"], prompt + 4);
  EXPECT_EQ(state["conversations"][0]["kept"], ENGINE_HAS_CACHE ? prompt : 0u);
  EXPECT_EQ(state["cache"], ENGINE_HAS_CACHE == 1);
  EXPECT_EQ(state["grid"], 64);
  EXPECT_TRUE(state["running"].is_null());
  (void)lane.post_json(kChat, user_says("Something else", 2));
  state = lane.get("/state").json;
  ASSERT_EQ(state["conversations"].size(), 2u) << state;
  EXPECT_EQ(state["conversations"][0]["number"], 2);
  EXPECT_EQ(state["conversations"][1]["kept"], 0) << "one buffer has one conversation";
  EXPECT_EQ(state["totals"]["requests"], 3);
  EXPECT_EQ(state["totals"]["generated"], 10);
}

TEST(State, HasTheLastRequestsWithoutTheirTexts) {
  const LiveLane lane;
  (void)lane.post_json(kChat, user_says("Secret", 3));
  (void)lane.post(kChat, R"({"messages": []})");
  const Answer answer = lane.get("/state");
  const ordered_json requests = answer.json["requests"];
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0]["status"], 400);
  EXPECT_EQ(requests[1]["outcome"], "length");
  EXPECT_EQ(requests[1]["stats"]["generated_tokens"], 3);
  EXPECT_EQ(requests[1].contains("rounded_off"), true);
  EXPECT_THAT(answer.body, Not(HasSubstr("Secret")));
}

}  // namespace
}  // namespace engine::lane
