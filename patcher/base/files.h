#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace patcher {

// A file descriptor that closes itself; -1 is none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_;
};

// What is left to read of a file. Throws BrokenEnvironment with `name` and the reason.
std::string read_rest(const Descriptor& file, const std::string& name);

// Files that lie outside of any tree. Both throw BrokenEnvironment with the path and the reason.
//
// The bytes of a file; nothing where there is none. What is no regular file cannot be read.
std::optional<std::string> read_whole(const std::string& path);
// Writes a file as it was or with all of the text, never a part of it, with the mode that it had. A
// link stays, and what it leads to is written; what is no regular file (a pipe, /dev/stdout) takes
// the text as it comes.
void write_whole(const std::string& path, std::string_view text);

}  // namespace patcher
