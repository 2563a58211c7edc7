// Clients that go, are slow, or are too many, and the server's own end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "lane/live_lane.h"
#include "lane/socket.h"

namespace engine::lane {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A reply that goes on until it is cut: no stop token is known, and the context
// is large.
ordered_json endless(bool stream) {
  ordered_json body = user_says("Count", 1 << 20);
  body["stream"] = stream;
  return body;
}

struct EndlessLane : LiveLane {
  static Options options(std::chrono::milliseconds request, std::size_t waiting) {
    Options result;
    result.context = 4096;
    result.limits.request = request;
    result.limits.queue.waiting = waiting;
    return result;
  }
  explicit EndlessLane(std::chrono::milliseconds request = 1h, std::size_t waiting = 8)
      : LiveLane(options(request, waiting)) {}

  void until_logged(std::size_t lines) const {
    while (log().size() < lines)
      std::this_thread::yield();
  }
};

TEST(Disconnect, CancelsAStreamAndTheNextRequestIsAnswered) {
  const EndlessLane lane;
  Socket socket(lane.port());
  socket.post(endless(true));
  EXPECT_THAT(socket.read_until("\"content\":\"\""), StartsWith("HTTP/1.1 200"));
  socket.cut();
  lane.until_logged(1);
  EXPECT_EQ(lane.log()[0]["outcome"], "cancelled");
  EXPECT_LT(lane.log()[0]["stats"]["generated_tokens"], 4000);
  EXPECT_EQ(lane.post_json(kChat, user_says("Hi", 2)).status, 200);
}

TEST(Disconnect, AClientThatOnlySendsNoMoreGetsItsReply) {
  const LiveLane lane;
  const Socket socket(lane.port());
  socket.post(user_says("Hi", 60));
  socket.send_no_more();
  const std::string reply = socket.read_until("never");
  EXPECT_THAT(reply, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(reply, ::testing::EndsWith("}"));
}

TEST(Disconnect, TheNextRequestKeepsTheChunksThatWereComplete) {
  const EndlessLane lane;
  const std::string text(300, 'x');
  ordered_json body = endless(true);
  body["messages"][0]["content"] = text;
  {
    const Socket socket(lane.port());
    socket.post(body);
    (void)socket.read_until("\"content\":\"\"");
    (void)socket.read_until("\"content\":");
  }
  lane.until_logged(1);
  ASSERT_EQ(lane.log()[0]["outcome"], "cancelled");
  const ordered_json usage = lane.post_json(kChat, user_says(text, 1)).json["usage"];
  const std::size_t prompt = usage["prompt_tokens"];
  EXPECT_EQ(usage["prompt_tokens_details"]["cached_tokens"],
            ENGINE_HAS_CACHE ? (prompt - 1) / 64 * 64 : 0);
}

TEST(Disconnect, CancelsAWholeReply) {
  const EndlessLane lane;
  Socket socket(lane.port());
  socket.post(endless(false));
  while (lane.get("/metrics").body.find("lane_requests_running 1") == std::string::npos)
    std::this_thread::yield();
  socket.cut();
  lane.until_logged(1);
  EXPECT_EQ(lane.log()[0]["outcome"], "client_gone");
  EXPECT_EQ(lane.post_json(kChat, user_says("Hi", 2)).status, 200);
}

TEST(Disconnect, ALongRequestIsCutWithAnError) {
  const EndlessLane lane(1ms);
  EXPECT_EQ(lane.post_json(kChat, endless(false)).status, 408);
  const std::vector<ordered_json> events = events_of(lane.post_json(kChat, endless(true)).body);
  EXPECT_EQ(events.back()["error"]["code"], "timeout");
}

TEST(Disconnect, OneRequestTooManyIsRefused) {
  const EndlessLane lane(1h, 0);
  Socket socket(lane.port());
  socket.post(endless(true));
  (void)socket.read_until("\"content\":\"\"");
  const Answer refused = lane.post_json(kChat, user_says("Hi", 2));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.json["error"]["type"], "rate_limit_error");
}

TEST(Disconnect, TheQueueIsSeenAndLeftInTime) {
  LiveLane::Options options;
  options.context = 4096;
  options.limits.queue.wait = 1ms;
  const LiveLane lane(options);
  Socket socket(lane.port());
  socket.post(endless(true));
  (void)socket.read_until("\"content\":\"\"");
  EXPECT_THAT(lane.get("/metrics").body, HasSubstr("lane_requests_running 1\n"));
  const httplib::Result late =
      lane.client().Post(kChat, user_says("Hi", 2).dump(), "application/json");
  ASSERT_TRUE(late);
  EXPECT_EQ(late->status, 503);
  EXPECT_EQ(late->get_header_value("Retry-After"), "1");
  EXPECT_THAT(late->body, HasSubstr("\"code\":\"queue_timeout\""));
  EXPECT_THAT(lane.get("/metrics").body, HasSubstr("lane_queue_length 0\n"));
}

TEST(Disconnect, ASlowRequestIsRefused) {
  LiveLane::Options options;
  options.server.read = 200ms;
  const LiveLane lane(options);
  const Socket headers(lane.port()), body(lane.port());
  headers.send("POST " + kChat + " HTTP/1.1\r\nHost: lane\r\n");
  body.send("POST " + kChat + " HTTP/1.1\r\nHost: lane\r\nContent-Length: 10\r\n\r\n{");
  for (const Socket* socket : {&headers, &body})
    EXPECT_THAT(socket->read_until("}}"), StartsWith("HTTP/1.1 408"));
}

TEST(Disconnect, WhatIsNotHttpIsRefused) {
  const LiveLane lane;
  for (const char* text :
       {"GET\r\n\r\n", "\r\n\r\n", "FLY / HTTP/1.1\r\n\r\n", "GET / HTTP/9\r\n\r\n"}) {
    const Socket socket(lane.port());
    socket.send(text);
    EXPECT_THAT(socket.read_until("}}"), StartsWith("HTTP/1.1 400")) << text;
  }
  const Socket without_length(lane.port());
  without_length.send("POST " + kChat + " HTTP/1.1\r\nHost: lane\r\n\r\n");
  EXPECT_THAT(without_length.read_until("}}"), StartsWith("HTTP/1.1 411"));
  const Socket form(lane.port());
  form.send("POST " + kChat +
            " HTTP/1.1\r\nContent-Type: multipart/form-data; "
            "boundary=x\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_THAT(form.read_until("}}"), StartsWith("HTTP/1.1 415"));
  EXPECT_EQ(lane.get("/health").status, 200);
}

TEST(Stop, CancelsWhatDoesNotFinishInTime) {
  EndlessLane lane;
  const Socket socket(lane.port());
  socket.post(endless(true));
  (void)socket.read_until("\"content\":\"\"");
  lane.server().stop(1ms);
  EXPECT_THAT(socket.read_until("\r\n0\r\n"), HasSubstr("\"code\":\"shutting_down\""));
}

TEST(Stop, RefusesNewRequestsMeanwhile) {
  EndlessLane lane(1h, 0);
  Socket socket(lane.port());
  socket.post(endless(true));
  (void)socket.read_until("\"content\":\"\"");
  std::thread stopping([&] { lane.server().stop(1h); });
  Answer answer;
  do
    answer = lane.post_json(kChat, user_says("Hi", 2));  // 429: the stop has not begun
  while (answer.status == 429);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.json["error"]["code"], "shutting_down");
  socket.cut();
  stopping.join();
}

TEST(Stop, DoesNotWaitForASlowClient) {
  LiveLane::Options options;
  options.server.read = 1h;
  LiveLane lane(options);
  const Socket slow(lane.port());
  slow.send("POST " + kChat + " HTTP/1.1\r\n");
  while (lane.get("/health").status != 200)
    std::this_thread::yield();
  lane.server().stop(1h);  // or this test never ends
  EXPECT_EQ(slow.read_until("}}").find("HTTP/1.1 200"), std::string::npos);
}

TEST(Stop, DoesNotWaitForAClientThatTakesNothing) {
  LiveLane::Options options = EndlessLane::options(1h, 8);
  options.server.write = 1h;
  LiveLane lane(options);
  const Socket socket(lane.port(), 4096);
  ordered_json body = endless(true);
  body["logprobs"] = true;
  body["top_logprobs"] = 20;
  socket.post(body);
  const auto tokens = [&] {
    const std::string text = lane.get("/metrics").body;
    const std::size_t at = text.find("lane_inter_token_seconds_count ");
    return text.substr(at, text.find('\n', at) - at);
  };
  // Until both ends' buffers are full, and nothing more is generated.
  std::string before;
  for (int same = 0; same < 5;) {
    std::this_thread::sleep_for(50ms);
    const std::string now = tokens();
    same = now == before && !now.ends_with(" 0") ? same + 1 : 0;
    before = now;
  }
  lane.server().stop(1ms);  // or this test never ends
}

TEST(Stop, LetsTheRunningRequestFinish) {
  EndlessLane lane;
  const Socket socket(lane.port());
  ordered_json body = user_says("Hi", 200);
  body["stream"] = true;
  socket.post(body);
  (void)socket.read_until("\"content\":\"\"");
  lane.server().stop(1h);
  EXPECT_THAT(socket.read_until("[DONE]"), HasSubstr("[DONE]"));
}

}  // namespace
}  // namespace engine::lane
