#include "lane/connection.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace engine::lane {
namespace {

using namespace std::chrono_literals;

// Two ends of a connection; the client's does only what a test says.
class Ends {
 public:
  Ends() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends_), 0); }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;
  ~Ends() {
    close(ends_[0]);
    close(ends_[1]);
  }
  int server() const { return ends_[0]; }
  int client() const { return ends_[1]; }

 private:
  int ends_[2] = {-1, -1};
};

TEST(Connection, GivesUpASilentClient) {
  const Ends ends;
  const std::atomic<bool> stopped = false;
  Connection connection(ends.server(), {.read = 1ms, .write = 1h}, stopped);
  EXPECT_FALSE(connection.wait_for_request(1ms));
  ASSERT_EQ(send(ends.client(), "G", 1, 0), 1);
  ASSERT_TRUE(connection.wait_for_request(1h));
  char byte = 0;
  EXPECT_EQ(connection.read(&byte, 1), 1);
  EXPECT_FALSE(connection.timed_out());
  EXPECT_EQ(connection.read(&byte, 1), -1);
  EXPECT_TRUE(connection.timed_out());
}

TEST(Connection, StoppingEndsEveryWait) {
  const Ends ends;
  std::atomic<bool> stopped = false;
  Connection connection(ends.server(), {.read = 1h, .write = 1h}, stopped);
  const std::string block(65536, 'x');
  pollfd room{ends.server(), POLLOUT, 0};
  do
    ASSERT_GT(connection.write(block.data(), block.size()), 0);
  while (poll(&room, 1, 0) > 0);  // the client takes nothing
  std::thread stopping([&] { stopped = true; });
  char byte = 0;
  EXPECT_EQ(connection.write(block.data(), block.size()), -1);
  EXPECT_EQ(connection.read(&byte, 1), -1);
  EXPECT_FALSE(connection.wait_for_request(1h));
  stopping.join();
}

TEST(Connection, WhatIsThereStillGoesThroughAfterTheStop) {
  const Ends ends;
  const std::atomic<bool> stopped = true;
  Connection connection(ends.server(), {.read = 1h, .write = 1h}, stopped);
  ASSERT_EQ(send(ends.client(), "GET", 3, 0), 3);
  ASSERT_TRUE(connection.wait_for_request(1h));
  char text[3] = {};
  EXPECT_EQ(connection.read(text, 3), 3);
  EXPECT_EQ(connection.write("503", 3), 3);
}

TEST(Connection, AClientThatOnlySendsNoMoreIsStillThere) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const std::atomic<bool> stopped = false;
  Connection connection(ends[0], {}, stopped);
  EXPECT_FALSE(connection.peer_left());
  shutdown(ends[1], SHUT_WR);
  EXPECT_FALSE(connection.peer_left());
  EXPECT_FALSE(connection.peer_left());
  EXPECT_EQ(connection.write("HTTP/1.1 200 OK", 15), 15);
  EXPECT_EQ(connection.write("!", 1), 1);
  char text[32] = {};
  EXPECT_EQ(recv(ends[1], text, sizeof text, 0), 16);
  EXPECT_EQ(std::string(text), "HTTP/1.1 200 OK!");
  close(ends[1]);
  EXPECT_TRUE(connection.peer_left());
  close(ends[0]);
}

TEST(Connection, SeesThatTheClientHasGone) {
  const Ends ends;
  const std::atomic<bool> stopped = false;
  const Connection connection(ends.server(), {}, stopped);
  EXPECT_FALSE(connection.peer_gone());
  shutdown(ends.client(), SHUT_WR);
  EXPECT_TRUE(connection.peer_gone());
}

TEST(Connection, GivesWayWhileTheClientSendsNothing) {
  const Ends ends;
  const std::atomic<bool> stopped = false;
  bool wanted = false;
  Connection connection(ends.server(), {.read = 1h, .write = 1h}, stopped, [&] { return wanted; });
  ASSERT_EQ(send(ends.client(), "GET ", 4, 0), 4);
  wanted = true;
  ASSERT_TRUE(connection.wait_for_request(1h)) << "what is there is not left";
  char text[8] = {};
  EXPECT_EQ(connection.read(text, 8), 4);
  EXPECT_EQ(connection.read(text, 8), -1);
  EXPECT_TRUE(connection.timed_out());
  EXPECT_FALSE(connection.wait_for_request(1h)) << "nor is a next request waited for";
}

}  // namespace
}  // namespace engine::lane
