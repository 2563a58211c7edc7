// The lane that parks, over HTTP: slots, usage, timings and metrics.
#include "lane/slots.h"

#include <gmock/gmock.h>

#include "lane/live_lane.h"
#include "temp_folder.h"

namespace engine::lane::testing {
namespace {

using ::testing::HasSubstr;

class Slots : public ::testing::Test {
 protected:
  explicit Slots(bool parks = true)
      : engine_(runtime::testing::loaded().network, options(parks)),
        service_(served_micro(640), engine_, {}),
        server_(server_options()) {
    server_.attach(service_);
  }
  ~Slots() override { server_.stop(std::chrono::hours(1)); }

  Answer send(const std::string& method, const std::string& path, const std::string& body = {}) {
    httplib::Client client("127.0.0.1", server_.port());
    const httplib::Result result =
        method == "GET" ? client.Get(path) : client.Post(path, body, "application/json");
    if (!result) return {};
    return {result->status, ordered_json::parse(result->body, nullptr, false), result->body};
  }
  ordered_json complete(std::size_t tokens, std::uint64_t seed) {
    const ordered_json body{{"prompt", runtime::testing::random_tokens(tokens, seed)},
                            {"max_tokens", 2},
                            {"temperature", 0}};
    return send("POST", "/v1/completions", body.dump()).json;
  }

  TempFolder folder_;

 private:
  static ServerOptions server_options() {
    ServerOptions options;
    options.port = 0;
    return options;
  }
  runtime::EngineOptions options(bool parks) const {
    runtime::EngineOptions options{
        .context = 640, .prompt_rows = 64, .ring_rows = 0, .parking = {}, .log = {}};
    if (!parks) return options;
    options.parking.ram_bytes = 64 << 20;
    options.parking.dir = folder_.path();
    options.parking.disk_bytes = 64 << 20;
    options.parking.weights = std::string(32, 'w');
    options.parking.writes_behind = false;
    return options;
  }

  runtime::Engine engine_;
  Service service_;
  Server server_;
};

struct NoSlots : Slots {
  NoSlots() : Slots(false) {}
};

TEST_F(Slots, AreListedSavedRestoredAndErased) {
  EXPECT_EQ(send("GET", "/slots").json,
            ordered_json::parse(R"([{"id": 0, "n_ctx": 640, "is_processing": false, "n_tokens": 0,
                                     "n_rows": 0}])"));
  complete(300, 1);
  complete(280, 2);
  const ordered_json slots = send("GET", "/slots").json;
  ASSERT_EQ(slots.size(), 2u);
  EXPECT_EQ(slots[0]["n_tokens"], 282);
  EXPECT_EQ(slots[0]["n_rows"], 280);
  EXPECT_EQ(slots[1]["n_rows"], 256);
  EXPECT_GT(slots[1]["ram_bytes"], 0);
  EXPECT_GT(slots[1]["disk_bytes"], 0);
  const std::string parked = "/slots/" + slots[1]["id"].dump() + "?action=";

  const Answer saved = send("POST", parked + "save", R"({"filename": "one"})");
  EXPECT_EQ(saved.status, 200);
  EXPECT_EQ(saved.json["id_slot"], slots[1]["id"]);
  EXPECT_EQ(saved.json["n_saved"], 256);
  EXPECT_EQ(saved.json["n_written"], std::filesystem::file_size(folder_ / "one.saved"));
  const Answer erased = send("POST", parked + "erase");
  EXPECT_EQ(erased.json["n_erased"], 256);
  EXPECT_EQ(send("POST", parked + "erase").status, 404);

  const Answer restored = send("POST", "/slots/0?action=restore", R"({"filename": "one"})");
  EXPECT_EQ(restored.json["n_restored"], 256);
  EXPECT_EQ(send("GET", "/slots").json[0]["n_rows"], 256);
  const ordered_json reply = complete(300, 1);
  EXPECT_EQ(reply["usage"]["prompt_tokens_details"]["cached_tokens"], 256);
  EXPECT_EQ(reply["usage"]["prompt_tokens_details"]["parked_tokens"], 0);
  EXPECT_EQ(send("POST", "/slots/0?action=erase").json["n_erased"], 301);
  EXPECT_EQ(send("GET", "/slots").json[0]["n_rows"], 0);
}

TEST_F(Slots, WhatParkingDidIsTold) {
  complete(300, 1);
  const ordered_json pushed = complete(280, 2);
  EXPECT_GT(pushed["timings"]["parking_ms"], 0);
  EXPECT_EQ(pushed["timings"]["parked_from"], nullptr);
  const ordered_json back = complete(300, 1);
  EXPECT_EQ(back["timings"]["cache_n"], 256);
  EXPECT_EQ(back["timings"]["parked_n"], 256);
  EXPECT_EQ(back["timings"]["parked_from"], "ram");
  EXPECT_GT(back["timings"]["parked_bytes"], 0);
  EXPECT_GT(back["timings"]["parked_ms"], 0);
  EXPECT_EQ(back["usage"]["prompt_tokens_details"]["parked_tokens"], 256);
  const std::string metrics = send("GET", "/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("lane_parked_hits_total{from=\"ram\"} 1"));
  EXPECT_THAT(metrics, HasSubstr("lane_unparked_tokens_total 256"));
  EXPECT_THAT(metrics, HasSubstr("lane_parked_conversations 2"));
  EXPECT_THAT(metrics, HasSubstr("lane_unpark_seconds_count 1"));
  EXPECT_EQ(send("GET", "/state").json["parked"].size(), 2u);
}

TEST_F(Slots, WhatCannotBeDoneIsSaid) {
  const auto fault = [&](const std::string& path, const std::string& body = {}) {
    const Answer answer = send("POST", path, body);
    const ordered_json error = answer.json.value("error", ordered_json::object());
    return std::to_string(answer.status) + " " + error.value("message", std::string());
  };
  EXPECT_THAT(fault("/slots/0?action=defragment"), HasSubstr("400 action must be save"));
  EXPECT_THAT(fault("/slots/0"), HasSubstr("400 action must be save"));
  EXPECT_THAT(fault("/slots/9?action=erase"), HasSubstr("404 there is no slot 9"));
  EXPECT_THAT(fault("/slots/-1?action=erase"), HasSubstr("404 there is no slot -1"));
  EXPECT_THAT(fault("/slots/0?action=save"), HasSubstr("400 "));
  EXPECT_THAT(fault("/slots/0?action=save", R"({"filename": "x"})"), HasSubstr("400 slot 0 holds"));
  EXPECT_THAT(fault("/slots/0?action=restore", R"({"filename": "../x"})"), HasSubstr("400 "));
  EXPECT_THAT(fault("/slots/0?action=restore", R"({"filename": "none"})"),
              HasSubstr("cannot be opened"));
  EXPECT_THAT(fault("/slots/0?action=erase", R"({"filename": "x"})"), HasSubstr("400 "));
  EXPECT_THAT(fault("/slots/0?action=save", R"({"file": "x"})"), HasSubstr("400 "));
  complete(300, 1);
  complete(300, 2);
  EXPECT_THAT(fault("/slots/1?action=restore", R"({"filename": "x"})"), HasSubstr("only slot 0"));
  EXPECT_EQ(send("GET", "/slots/0").status, 405);
}

TEST_F(NoSlots, NothingIsParkedUnlessAskedFor) {
  complete(300, 1);
  EXPECT_EQ(complete(300, 2)["timings"]["parked_n"], 0);
  EXPECT_EQ(send("GET", "/slots").json.size(), 1u);
  EXPECT_EQ(send("POST", "/slots/0?action=erase").status, 501);
}

}  // namespace
}  // namespace engine::lane::testing
