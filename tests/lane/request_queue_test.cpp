#include "lane/request_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>
#include <vector>

#include "lane/served_model.h"

namespace engine::lane {
namespace {

using namespace std::chrono_literals;
using testing::fault_of;
using ::testing::StartsWith;

bool never() {
  return false;
}

void until_waiting(const RequestQueue& queue, std::size_t count) {
  while (queue.waiting() < count)
    std::this_thread::yield();
}

TEST(RequestQueue, GivesTurnsInOrderOfArrival) {
  RequestQueue queue({.waiting = 8, .wait = 1h});
  std::optional<RequestQueue::Turn> first = queue.enter(never);
  std::vector<int> order;  // only who has the turn writes
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      // Whoever waits may ask the queue about itself.
      const RequestQueue::Turn turn = queue.enter([&] { return queue.waiting() > 100; });
      order.push_back(i);
    });
    until_waiting(queue, static_cast<std::size_t>(i) + 1);
  }
  std::this_thread::sleep_for(60ms);  // all have been asked whether they are still there
  first.reset();
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_THAT(order, ::testing::ElementsAre(0, 1, 2, 3));
}

TEST(RequestQueue, RefusesTheOneTooMany) {
  RequestQueue queue({.waiting = 0, .wait = 1h});
  {
    const RequestQueue::Turn turn = queue.enter(never);
    EXPECT_THAT(fault_of([&] { (void)queue.enter(never); }), StartsWith("429"));
  }
  EXPECT_NO_THROW((void)queue.enter(never)) << "free again";
}

TEST(RequestQueue, SendsAwayWhoWaitsTooLongOrHasGone) {
  RequestQueue queue({.waiting = 8, .wait = 1ms});
  const RequestQueue::Turn turn = queue.enter(never);
  EXPECT_THAT(fault_of([&] { (void)queue.enter(never); }), StartsWith("503"));
  EXPECT_THAT(fault_of([&] { (void)queue.enter([] { return true; }); }), StartsWith("499"));
  EXPECT_EQ(queue.waiting(), 0u);
}

TEST(RequestQueue, ClosingSendsEveryoneAway) {
  RequestQueue queue({.waiting = 8, .wait = 1h});
  std::optional<RequestQueue::Turn> turn = queue.enter(never);
  std::string fault;
  std::thread waiting([&] { fault = fault_of([&] { (void)queue.enter(never); }); });
  until_waiting(queue, 1);
  queue.close();
  waiting.join();
  EXPECT_THAT(fault, StartsWith("503"));
  EXPECT_THAT(fault_of([&] { (void)queue.enter(never); }), StartsWith("503"));
  EXPECT_FALSE(queue.wait_idle(1ms));
  turn.reset();
  EXPECT_TRUE(queue.wait_idle(1h));
}

}  // namespace
}  // namespace engine::lane
