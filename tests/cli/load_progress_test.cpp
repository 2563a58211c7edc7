#include "cli/load_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace engine::cli {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMegabyte = 1'000'000;

class LoadProgressTest : public testing::Test {
 protected:
  LoadProgress load(std::size_t total, bool terminal = true) {
    streams_.err_is_terminal = terminal;
    return {streams_, total, [this] { return now_; }};
  }
  // What was written since the last call.
  std::string written() {
    std::string text = err_.str();
    err_.str("");
    return text;
  }

  std::istringstream in_;
  std::ostringstream out_, err_;
  Streams streams_{in_, out_, err_, true};
  LoadProgress::Clock::time_point now_;
};

TEST_F(LoadProgressTest, IsOneLineThatIsWipedAtTheEnd) {
  LoadProgress progress = load(269 * kMegabyte);
  progress.add(10 * kMegabyte);
  now_ += milliseconds(499);
  progress.add(10 * kMegabyte);
  EXPECT_EQ(written(), "");
  now_ += milliseconds(1);
  progress.add(10 * kMegabyte);
  EXPECT_EQ(written(), "\rloading 30 of 269 MB");
  now_ += milliseconds(99);
  progress.add(100 * kMegabyte);
  EXPECT_EQ(written(), "");
  now_ += milliseconds(1);
  progress.add(1 * kMegabyte);
  EXPECT_EQ(written(), "\rloading 131 of 269 MB");
  progress.finish();
  EXPECT_EQ(written(), "\r\x1b[K");
  progress.finish();
  EXPECT_EQ(written(), "");
  EXPECT_EQ(out_.str(), "");
}

TEST_F(LoadProgressTest, NeverShowsMoreThanThereIs) {
  LoadProgress progress = load(5 * kMegabyte);
  now_ += milliseconds(500);
  progress.add(7 * kMegabyte);
  EXPECT_EQ(written(), "\rloading 5 of 5 MB");
}

TEST_F(LoadProgressTest, IsWipedWhereTheLoadFails) {
  {
    LoadProgress progress = load(5 * kMegabyte);
    now_ += milliseconds(500);
    progress.add(kMegabyte);
    written();
  }
  EXPECT_EQ(written(), "\r\x1b[K");
}

TEST_F(LoadProgressTest, ShowsNothingOfAShortLoadOrWhereNobodyLooks) {
  LoadProgress brief = load(5 * kMegabyte);
  now_ += milliseconds(400);
  brief.add(5 * kMegabyte);
  brief.finish();
  LoadProgress piped = load(5 * kMegabyte, false);
  now_ += milliseconds(4000);
  piped.add(5 * kMegabyte);
  piped.finish();
  EXPECT_EQ(written(), "");
}

}  // namespace
}  // namespace engine::cli
