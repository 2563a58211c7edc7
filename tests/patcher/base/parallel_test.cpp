#include "patcher/base/parallel.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace patcher {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (const size_t count : {0, 1, 2, 3, 1000}) {
    std::vector<int> calls(count);
    parallel_for(count, [&](size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(count, 1));
  }
}

TEST(ParallelFor, StaysOnItsThreadInsideOfItself) {
  std::mutex mutex;
  std::set<std::thread::id> nested;
  std::set<std::thread::id> outer;
  parallel_for(8, [&](size_t) {
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::thread::id own = std::this_thread::get_id();
      parallel_for(8, [&](size_t) {
        EXPECT_EQ(std::this_thread::get_id(), own);
        const std::lock_guard lock(mutex);
        nested.insert(std::this_thread::get_id());
      });
      const std::lock_guard lock(mutex);
      outer.insert(own);
    }
  });
  EXPECT_EQ(nested, outer);
}

TEST(ParallelFor, ThrowsWhatACallThrew) {
  const auto fail_at = [](size_t bad) {
    parallel_for(64, [&](size_t i) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (i == bad) throw std::runtime_error(std::to_string(i));
    });
  };
  for (const size_t bad : {0, 1, 63}) {
    try {
      fail_at(bad);
      ADD_FAILURE() << "nothing thrown for " << bad;
    } catch (const std::runtime_error& e) {
      EXPECT_EQ(e.what(), std::to_string(bad));
    }
  }
}

// Threads are moved between cores to make them begin; none is to stay bound by that.
TEST(ParallelFor, LeavesEveryThreadFreeToRunOnAllItsCores) {
  cpu_set_t mine;
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  std::mutex mutex;
  std::map<std::thread::id, bool> free;  // as of a thread's last call
  parallel_for(64, [&](size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    cpu_set_t here;
    const int failed = sched_getaffinity(0, sizeof here, &here);
    const std::lock_guard lock(mutex);
    free[std::this_thread::get_id()] = failed == 0 && CPU_EQUAL(&here, &mine);
  });
  for (const auto& [thread, is_free] : free)
    EXPECT_TRUE(is_free);
}

}  // namespace
}  // namespace patcher
