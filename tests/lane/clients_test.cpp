// Many clients at once, each with a text of its own; some hang up in the
// middle.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "lane/live_lane.h"
#include "lane/socket.h"
#include "numerics/philox.h"

namespace engine::lane {
namespace {

using namespace testing;

// Private text of about 100 tokens: more than a grid cell, and no other
// client's.
ordered_json private_request(std::uint64_t client) {
  std::string text = "My marker is " + std::to_string(1000 + client) + ":";
  for (std::uint64_t i = 0; i < 80; ++i)
    text += static_cast<char>('a' + numerics::philox(client, i)[0] % 26);
  ordered_json body = user_says(text, 12);
  body["logprobs"] = true;
  body["top_logprobs"] = 2;
  return body;
}

void hang_up(const LiveLane& lane, ordered_json body) {
  body["stream"] = true;
  body["max_tokens"] = 500;
  const Socket socket(lane.port());
  socket.post(body);
  (void)socket.read_until("\"content\"");
}

TEST(Clients, GetTheRepliesOfAQuietLane) {
  LiveLane::Options options;
  options.limits.queue.wait = std::chrono::hours(1);
  const LiveLane lane(options);
  const auto choices = [&](const ordered_json& body) {
    const Answer answer = lane.post_json(kChat, body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return answer.status == 200 ? answer.json["choices"] : ordered_json();
  };
  std::vector<ordered_json> bodies, quiet;
  for (std::uint64_t client = 0; client < 16; ++client) {
    bodies.push_back(private_request(client));
    // Nothing to keep: or all could go on from the rows of whoever came first, and agree.
    (void)choices(user_says("#", 1));
    quiet.push_back(choices(bodies.back()));
    ASSERT_EQ(quiet.back()[0]["logprobs"]["content"].size(), 12u);
  }
  std::vector<std::thread> threads;
  for (std::size_t client = 0; client < bodies.size(); ++client) {
    threads.emplace_back([&, client] {
      if (client % 4 == 3) return hang_up(lane, bodies[client]);
      for (int turn = 0; turn < 3; ++turn)
        EXPECT_EQ(choices(bodies[client]), quiet[client]) << "client " << client;
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(choices(bodies[0]), quiet[0]) << "afterwards";
}

}  // namespace
}  // namespace engine::lane
