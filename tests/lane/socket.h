// A client's bare connection, which can be cut at any time.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "lane/live_lane.h"

namespace engine::lane::testing {

class Socket {
 public:
  // `receive_bytes`: how much may wait unread at this end; 0: the system's.
  explicit Socket(int port, int receive_bytes = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_bytes > 0)
      setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() { cut(); }

  void cut() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
  }
  void send_no_more() const { shutdown(socket_, SHUT_WR); }
  void send(const std::string& text) const {
    EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void post(const ordered_json& body) const {
    const std::string text = body.dump();
    send("POST " + kChat + " HTTP/1.1\r\nHost: lane\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text);
  }
  // Until `text` has come or the server closes.
  std::string read_until(const std::string& text) const {
    std::string seen;
    char buffer[4096];
    while (seen.find(text) == std::string::npos) {
      const ssize_t n = recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) break;
      seen.append(buffer, static_cast<std::size_t>(n));
    }
    return seen;
  }

 private:
  int socket_;
};

}  // namespace engine::lane::testing
