#include "runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/test_network.h"

namespace engine::runtime {
namespace {

using ::testing::HasSubstr;
using testing::loaded;
using testing::random_tokens;
using testing::request_of;
using testing::SmallEngine;
using ::testing::ThrowsMessage;

template <typename Run>
void expect_refused(Run run, const std::string& reason) {
  EXPECT_THAT(run, ThrowsMessage<RequestError>(HasSubstr(reason)));
}

TEST(Engine, RefusesOptionsThatCannotWork) {
  const auto make = [](EngineOptions options) {
    return [options] { Engine(loaded().network, options); };
  };
  expect_refused(make({.context = 0, .log = {}}),
                 "a context of 0 tokens is outside the model's 1 to 4096");
  expect_refused(make({.context = 4097, .log = {}}), "a context of 4097 tokens");
  expect_refused(make({.context = 64, .prompt_rows = 65, .log = {}}),
                 "prompt_rows 65 is outside 1 to 64");
  expect_refused(make({.context = 64, .prompt_rows = 0, .log = {}}), "prompt_rows 0");
  expect_refused(make({.context = 64, .prompt_rows = 16, .ring_rows = 10, .log = {}}),
                 "ring of 10 rows is too small");
}

TEST(Engine, RefusesARequestBeforeAnythingIsTouched) {
  Engine engine = SmallEngine{.prompt_rows = 16, .context = 96}.make();
  (void)engine.run(request_of(random_tokens(60, 1), 8));
  const auto rows = testing::row_bits(engine, 0, 96);
  const auto refuse = [&](Request request, const std::string& reason) {
    expect_refused([&] { (void)engine.run(request); }, reason);
  };
  refuse(request_of({}, 8), "the prompt is empty");
  refuse(request_of(random_tokens(97, 1), 8), "the prompt has 97 tokens, the context holds 96");
  refuse(request_of({1, 2, 320}, 8), "prompt token 2 is 320, outside the vocabulary of 320");
  refuse(request_of({1, -1}, 8), "prompt token 1 is -1");
  refuse(request_of({1}, 8, 8), "draft_tokens 8 is above 7");
  for (const float temperature : {-1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    Request request = request_of({1}, 8);
    request.params.sampling.temperature = temperature;
    refuse(request, "temperature");
  }
  Request request = request_of({1}, 8);
  request.params.sampling.top_p = 0;
  refuse(request, "top_p 0 is outside");
  EXPECT_EQ(testing::row_bits(engine, 0, 96), rows);
}

TEST(Engine, AReplyDoesNotDependOnEarlierRequests) {
  Engine used = SmallEngine{}.make();
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    (void)used.run(request_of(random_tokens(30 + 40 * seed, seed + 100), 20));
    const Request request = request_of(random_tokens(90, seed), 20);
    const Reply expected = SmallEngine{}.make().run(request), reply = used.run(request);
    EXPECT_EQ(reply.tokens, expected.tokens);
    EXPECT_EQ(reply.logits, expected.logits);
  }
}

TEST(Engine, SerialisesConcurrentRequests) {
  Engine engine = SmallEngine{}.make();
  std::vector<Reply> replies(6);
  std::vector<std::thread> clients;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    clients.emplace_back([&, i] { replies[i] = engine.run(request_of(random_tokens(50, i), 16)); });
  }
  for (std::thread& client : clients)
    client.join();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].tokens,
              SmallEngine{}.make().run(request_of(random_tokens(50, i), 16)).tokens);
  }
}

TEST(Engine, StaysUsableAfterACallbackThrows) {
  struct Disconnected {};
  Engine engine = SmallEngine{}.make();
  for (const bool in_prefill : {true, false}) {
    Callbacks callbacks;
    if (in_prefill) {
      callbacks.on_prefill = [](std::size_t, std::size_t) { throw Disconnected(); };
    } else {
      callbacks.on_token = [](kernels::Token) { throw Disconnected(); };
    }
    EXPECT_THROW((void)engine.run(request_of(random_tokens(150, 1), 16), callbacks), Disconnected);
    const Request next = request_of(random_tokens(170, 1), 16);
    EXPECT_EQ(engine.run(next).tokens, SmallEngine{}.make().run(next).tokens);
  }
}

TEST(Engine, SaysWhatALaneTakes) {
  std::string line;
  const Engine engine(loaded().network,
                      {.context = 128,
                       .prompt_rows = 64,
                       .log = [&](Severity, std::string_view text) { line = text; }});
  EXPECT_THAT(line, HasSubstr("a lane of 128 rows takes"));
}

}  // namespace
}  // namespace engine::runtime
