#include "lane/connection.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace engine::lane {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kSlice{100};  // how often who waits looks whether the server stops

// How long a client may keep a thread waiting that others wait for: for a whole head, which comes
// in one piece, and for the next piece of a body.
constexpr milliseconds kHeadPatience{250}, kBodyPatience{1000};

constexpr std::string_view kBeginning = "HTTP/1.1 ";  // of every reply

using AddressOf = int (*)(int, sockaddr*, socklen_t*);

void numeric_address(int socket, AddressOf address_of, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (address_of(socket, generic, &size) != 0 ||
      getnameinfo(generic, size, host.data(), host.size(), service.data(), service.size(),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return;
  ip = host.data();
  port = std::atoi(service.data());
}

}  // namespace

bool Connection::wait_for_request(milliseconds limit) {
  timed_out_ = has_written_ = has_begun_ = long_line_ = long_head_ = false;
  in_head_ = in_first_line_ = true;
  head_ = line_ = 0;
  if (begin_ == end_ && !wait_for_client(limit, milliseconds(0))) return false;
  waited_ = milliseconds(0);
  request_began_ = steady_clock::now();
  return begin_ != end_ || !peer_gone();
}

bool Connection::peer_gone() const {
  char byte = 0;
  const ssize_t n = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool Connection::peer_left() {
  if (!peer_gone()) return false;
  if (!has_written_ && !std::exchange(has_begun_, true))
    has_begun_ = send(socket_, kBeginning.data(), kBeginning.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
                 static_cast<ssize_t>(kBeginning.size());
  pollfd watched{socket_, 0, 0};
  return poll(&watched, 1, 0) > 0 && (watched.revents & (POLLERR | POLLHUP)) != 0;
}

// What is not read yet of a head that is too long is not waited for: a line end shows httplib what
// there is of it.
ssize_t Connection::read(char* to, std::size_t size) {
  if (long_head_) {
    if (std::exchange(line_, 0) == 0) return -1;
    *to = '\n';
    return 1;
  }
  if (begin_ == end_ && !fill()) return timed_out_ ? -1 : 0;
  const std::size_t n = std::min(size, end_ - begin_);
  std::memcpy(to, buffer_.data() + begin_, n);
  begin_ += n;
  if (in_head_) look_at_head({to, n});
  return static_cast<ssize_t>(n);
}

bool Connection::fill() {
  if (!in_head_) waited_ = milliseconds(0);
  if (!wait_for_client(read_left(), in_head_ ? kHeadPatience : kBodyPatience)) {
    timed_out_ = true;
    return false;
  }
  const ssize_t n = recv(socket_, buffer_.data(), buffer_.size(), 0);
  begin_ = 0;
  end_ = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  return n > 0;
}

// httplib reads a head byte by byte, so that nothing of the body is among these. It limits the
// first line, the address, by itself.
void Connection::look_at_head(std::string_view bytes) {
  for (const char byte : bytes) {
    ++head_;
    if (byte == '\n') {
      in_head_ = line_ > 0;
      in_first_line_ = false;
      line_ = 0;
    } else if (byte != '\r') {
      ++line_;
    }
    long_line_ = long_line_ || (!in_first_line_ && line_ > kLongestLine);
  }
  long_head_ = in_head_ && head_ > kLongestHead;
}

ssize_t Connection::write(const char* from, std::size_t size) {
  const bool begins = !std::exchange(has_written_, true);
  if (!is_writable()) return -1;
  const std::size_t sent = begins && has_begun_ ? std::min(size, kBeginning.size()) : 0;
  const ssize_t n = send(socket_, from + sent, size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
  return n < 0 ? n : n + static_cast<ssize_t>(sent);
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  numeric_address(socket_, getpeername, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  numeric_address(socket_, getsockname, ip, port);
}

bool Connection::wait(short events, milliseconds limit) const {
  pollfd watched{socket_, events, 0};
  const auto deadline = steady_clock::now() + limit;
  for (milliseconds left = limit;;) {
    const milliseconds slice = std::clamp(left, milliseconds(0), kSlice);
    if (poll(&watched, 1, static_cast<int>(slice.count())) > 0) return true;
    left = std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
    if (stopped_ || left <= milliseconds(0)) return false;
  }
}

bool Connection::wait_for_client(milliseconds limit, milliseconds patience) {
  const auto deadline = steady_clock::now() + limit;
  while (true) {
    const auto began = steady_clock::now();
    const auto left = std::chrono::duration_cast<milliseconds>(deadline - began);
    if (wait(POLLIN, std::clamp(left, milliseconds(0), kSlice))) return true;
    if (stopped_ || left <= milliseconds(0)) return false;
    waited_ += std::chrono::duration_cast<milliseconds>(steady_clock::now() - began);
    if (waited_ >= patience && wanted_ && wanted_()) return false;
  }
}

milliseconds Connection::read_left() const {
  const auto spent = steady_clock::now() - request_began_;
  return limits_.read - std::chrono::duration_cast<milliseconds>(spent);
}

}  // namespace engine::lane
