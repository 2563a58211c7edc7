#include "patcher/base/read_whole.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "patcher/base/descriptor.h"
#include "patcher/base/error.h"

namespace patcher {
namespace {

[[noreturn]] void cannot_read(const std::string& path, const char* why) {
  throw BrokenEnvironment(fmt::format("{}: cannot be read: {}", path, why));
}

}  // namespace

std::optional<std::string> read_whole(const std::string& path) {
  // A pipe in its place is not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) cannot_read(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) cannot_read(path, "it is not a regular file");
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t size = 0;
  for (;;) {
    if (size == bytes.size()) bytes.resize(size + 4096);
    const ssize_t n = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (n == 0) break;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_read(path, std::strerror(errno));
    size += static_cast<size_t>(n);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace patcher
