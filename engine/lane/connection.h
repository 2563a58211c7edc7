// One client's socket as httplib reads and writes it, with what httplib's own lacks: a deadline for
// a whole request, a limit of its head, room for others while the client sends nothing, and the
// question whether the client is still there.
#pragma once

#include <httplib.h>
#include <poll.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>

namespace engine::lane {

class Connection final : public httplib::Stream {
 public:
  struct Limits {
    std::chrono::milliseconds read{30000};   // a whole request, from its first byte
    std::chrono::milliseconds write{30000};  // without any progress
  };
  // In bytes; httplib takes no longer line.
  static constexpr std::size_t kLongestLine = 8190, kLongestHead = 65536;

  // Owns neither. Once `stopped` is true nothing is waited for any more, whatever the limits; what
  // the client sends and takes at once still goes through. `wanted` is asked while the client sends
  // nothing, between two requests, or for a while within one: if it says true, the client is left.
  Connection(int socket, const Limits& limits, const std::atomic<bool>& stopped,
             std::function<bool()> wanted = {})
      : socket_(socket), limits_(limits), stopped_(stopped), wanted_(std::move(wanted)) {}

  // Waits for a request's first byte; false if none comes, or the client goes.
  bool wait_for_request(std::chrono::milliseconds limit);

  // The client has closed its side.
  bool peer_gone() const;
  // The client takes no reply any more. One that has closed its sending side alone (`nc -N`) does,
  // and only sending tells the two apart: the bytes that every reply begins with are sent early.
  bool peer_left();
  // A request came too slowly.
  bool timed_out() const { return timed_out_; }
  // Its head, or a line of it, is longer than the limits.
  bool head_too_long() const { return long_line_ || long_head_; }
  bool has_written() const { return has_written_; }

  bool is_readable() const override { return wait(POLLIN, read_left()); }
  bool is_writable() const override { return wait(POLLOUT, limits_.write); }
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  bool wait(short events, std::chrono::milliseconds limit) const;
  bool wait_for_client(std::chrono::milliseconds limit, std::chrono::milliseconds patience);
  bool fill();
  void look_at_head(std::string_view bytes);
  std::chrono::milliseconds read_left() const;

  int socket_;
  Limits limits_;
  const std::atomic<bool>& stopped_;
  std::function<bool()> wanted_;
  std::chrono::steady_clock::time_point request_began_ = std::chrono::steady_clock::now();
  std::array<char, 16384> buffer_{};
  std::size_t begin_ = 0, end_ = 0;      // what is read but not taken
  std::size_t head_ = 0, line_ = 0;      // bytes so far
  std::chrono::milliseconds waited_{0};  // for the client, within a request
  bool in_head_ = true, in_first_line_ = true, long_line_ = false, long_head_ = false;
  bool timed_out_ = false, has_written_ = false, has_begun_ = false;
};

}  // namespace engine::lane
