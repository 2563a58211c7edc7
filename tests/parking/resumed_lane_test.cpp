// An engine that parks: what comes back, when, and what it costs.
#include <gmock/gmock.h>

#include "parking/fallible_disk.h"
#include "runtime/poison.h"
#include "runtime/test_network.h"
#include "series/series_environment.h"
#include "temp_folder.h"

namespace engine::runtime::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ParkingEngine : public ::testing::Test {
 protected:
  std::unique_ptr<Engine> make(ParkingOptions parking, const std::string& preset = "micro") {
    parking.writes_behind = false;
    parking.weights = std::string(32, 'w');
    return std::make_unique<Engine>(
        loaded(preset).network,
        EngineOptions{.context = 640,
                      .prompt_rows = kGrid,
                      .ring_rows = 0,
                      .parking = parking,
                      .log = [this](Severity severity, std::string_view line) {
                        if (severity == Severity::kWarning) log.emplace_back(line);
                      }});
  }
  static ParkingOptions ram() { return {.ram_bytes = 64 << 20}; }
  ParkingOptions disk() const { return {.dir = folder / "parked", .disk_bytes = 64 << 20}; }
  static void expect_cold(const Engine& engine, const Request& request, const Reply& reply) {
    Engine cold = SmallEngine{}.make();
    const Reply expected = cold.run(request);
    EXPECT_EQ(reply.tokens, expected.tokens);
    EXPECT_EQ(reply.logits, expected.logits);
    EXPECT_EQ(reply.stats.drafted, expected.stats.drafted);
    EXPECT_EQ(reply.stats.accepted, expected.stats.accepted);
    EXPECT_EQ(row_bits(engine, 0, request.prompt.size()), row_bits(cold, 0, request.prompt.size()));
  }
  template <typename Action>
  static std::string fault_of(Action&& action) {
    try {
      action();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  }

  const Environment defaults{nullptr, nullptr};
  TempFolder folder;
  std::vector<std::string> log;
  const std::vector<Token> a = random_tokens(300, 1), b = random_tokens(280, 2);
};

TEST_F(ParkingEngine, SwitchingBackIsAColdRun) {
  for (const ParkingOptions& options : {ram(), disk()}) {
    const auto engine = make(options);
    engine->run(request_of(a, 4));
    const Reply other = engine->run(request_of(b, 4));
    EXPECT_EQ(other.stats.parking.parked, 256u);
    EXPECT_EQ(other.stats.cached, 0u);
    const Request back = request_of(joined(a, random_tokens(50, 3)), 12);
    const Reply reply = engine->run(back);
    EXPECT_EQ(reply.stats.cached, 256u);
    EXPECT_EQ(reply.stats.parking.unparked, 256u);
    EXPECT_EQ(reply.stats.parking.unparked_from, options.dir.empty() ? "ram" : "disk");
    EXPECT_GT(reply.stats.parking.unparked_bytes, 0u);
    expect_cold(*engine, back, reply);
  }
}

// What the buffer already has is not copied, and the drafter goes on as it would have.
TEST_F(ParkingEngine, OnlyRowsBehindTheCommonOnesComeBack) {
  const auto engine = make(ram());
  engine->run(request_of(a, 4));
  std::vector<Token> branch = a;
  branch[130] ^= 1;
  const Reply branched = engine->run(request_of(branch, 4));
  EXPECT_EQ(branched.stats.cached, 128u);
  poison_ring(*engine);
  const Request back = request_of(joined(a, random_tokens(20, 3)), 12);
  const Reply reply = engine->run(back);
  EXPECT_EQ(reply.stats.parking.unparked, 128u);
  expect_cold(*engine, back, reply);
}

TEST_F(ParkingEngine, AShorterMatchStartsTheDrafterAnew) {
  const auto engine = make(ram());
  engine->run(request_of(a, 4));
  engine->run(request_of(b, 4));
  poison_ring(*engine);
  std::vector<Token> prompt = a;
  prompt[200] ^= 1;
  const Reply reply = engine->run(request_of(prompt, 12));
  EXPECT_EQ(reply.stats.cached, 192u);
  Engine cold = SmallEngine{}.make();
  EXPECT_EQ(reply.logits, cold.run(request_of(prompt, 12)).logits);
}

// The rows of a reply, and of the prompt's last cell, which is not whole, are nobody's.
TEST_F(ParkingEngine, RowsPastTheCanonicalEndAreNotParked) {
  const auto engine = make(ram());
  const Reply first = engine->run(request_of(random_tokens(120, 1), 60));
  const std::vector<Token> text = joined(random_tokens(120, 1), first.tokens);
  poison_rows(*engine, 64, 640);
  engine->run(request_of(b, 4));
  const Request back = request_of(text, 4);
  const Reply reply = engine->run(back);
  EXPECT_EQ(reply.stats.cached, 0u);  // one cell is less than the least length
  expect_cold(*engine, back, reply);
}

TEST_F(ParkingEngine, OneShotCallersPushNothingOut) {
  const auto engine = make({.ram_bytes = ParkingOptions().ram_bytes + 300 * 4096});
  engine->run(request_of(a, 4));
  for (std::uint64_t i = 0; i < 20; ++i)
    engine->run(request_of(random_tokens(100, 10 + i), 4));
  EXPECT_EQ(engine->run(request_of(a, 4)).stats.cached, 256u);
}

TEST_F(ParkingEngine, PromptLogitsComputeAllAndLoseNothing) {
  const auto engine = make(ram());
  engine->run(request_of(a, 4));
  Callbacks shown;
  shown.on_prompt_logits = [](std::size_t, std::span<const float>) {};
  EXPECT_EQ(engine->run(request_of(b, 4), shown).stats.cached, 0u);
  EXPECT_EQ(engine->run(request_of(a, 4)).stats.cached, 256u);
}

TEST_F(ParkingEngine, ComesBackAfterARestart) {
  auto engine = make(disk());
  engine->run(request_of(a, 4));
  engine->run(request_of(b, 4));
  engine = nullptr;
  engine = make(disk());
  const Request back = request_of(a, 8);
  expect_cold(*engine, back, engine->run(back));
  EXPECT_EQ(engine->run(request_of(a, 4)).stats.cached, 256u);
  engine = nullptr;
  engine = make(disk(), "glm4moe-mini");  // other weights by what they make of a few rows
  EXPECT_THAT(engine->parking()->list(), IsEmpty());
}

TEST_F(ParkingEngine, SlotsAreSavedRestoredAndErased) {
  auto engine = make(disk());
  Parking& parking = *engine->parking();
  EXPECT_THAT(fault_of([&] { parking.save(0, "x"); }), HasSubstr("holds no whole cell"));
  engine->run(request_of(a, 4));
  EXPECT_EQ(parking.save(0, "mine").rows, 256u);
  parking.erase(0);
  engine->run(request_of(b, 4));
  EXPECT_EQ(parking.restore("mine").rows, 256u);
  const auto parked = parking.list();
  ASSERT_EQ(parked.size(), 1u);  // b, which the restored one pushed out
  EXPECT_EQ(parked[0].rows, 256u);
  const Request back = request_of(joined(a, b), 8);
  const Reply reply = engine->run(back);
  EXPECT_EQ(reply.stats.cached, 256u);
  EXPECT_EQ(reply.stats.parking.unparked, 0u);
  expect_cold(*engine, back, reply);
  EXPECT_EQ(parking.erase(parked[0].id).rows, 256u);
  EXPECT_THAT(fault_of([&] { parking.erase(parked[0].id); }), HasSubstr("there is no slot"));
  EXPECT_THAT(fault_of([&] { parking.save(99, "x"); }), HasSubstr("there is no slot 99"));
  EXPECT_THAT(fault_of([&] { parking.restore("yours"); }), HasSubstr("cannot be opened"));
  for (const char* name : {"", ".", "../x", "a/b", "a\nb"})
    EXPECT_THAT(fault_of([&] { parking.save(0, name); }), HasSubstr("is no name"));
}

// The bytes of a row are the same on every backend, and so are the bits.
TEST_F(ParkingEngine, AFileOfOneBackendIsResumedByTheOther) {
  std::unique_ptr<kernels::Backend> card;
  try {
    card = kernels::make_backend("cuda", {});
  } catch (const kernels::BackendError& error) {
    GTEST_SKIP() << error.what();
  }
  const Network on_card(loaded().model, *card);
  const auto take_turns = [&](const Network& writer, const Network& reader) {
    const auto engine_on = [&](const Network& network) {
      ParkingOptions parking = disk();
      parking.writes_behind = false;
      parking.weights = std::string(32, 'w');
      return std::make_unique<Engine>(
          network,
          EngineOptions{.context = 640, .prompt_rows = kGrid, .parking = parking, .log = {}});
    };
    auto engine = engine_on(writer);
    engine->run(request_of(a, 4));
    engine->run(request_of(b, 4));
    engine = nullptr;
    engine = engine_on(reader);
    const Request back = request_of(joined(a, random_tokens(50, 3)), 12);
    const Reply reply = engine->run(back);
    EXPECT_EQ(reply.stats.parking.unparked, 256u);
    expect_cold(*engine, back, reply);
    engine = nullptr;
    std::filesystem::remove_all(disk().dir);
  };
  take_turns(on_card, loaded().network);
  take_turns(loaded().network, on_card);
}

TEST_F(ParkingEngine, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(fault_of([&] { make({.dir = folder.path()}); }), HasSubstr("a folder and a size"));
  EXPECT_THAT(fault_of([&] { make({.ram_bytes = std::size_t{1} << 60}); }),
              HasSubstr("more than this machine's"));
  EXPECT_THAT(fault_of([&] { make({.ram_bytes = 1000}); }), HasSubstr("hold no 64 rows"));
  EXPECT_THAT(fault_of([&] { make({.dir = "/proc/parked", .disk_bytes = 1}); }),
              HasSubstr("/proc/parked: cannot be written"));
  const Environment off("0", nullptr);
  EXPECT_THAT(fault_of([&] { make(ram()); }), HasSubstr("TF_GLM53_PREFIX_CACHE=0"));
}

}  // namespace
}  // namespace engine::runtime::testing
