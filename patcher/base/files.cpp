#include "patcher/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "patcher/base/error.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const std::string& path, const char* why) {
  throw BrokenEnvironment(fmt::format("{}: cannot be read: {}", path, why));
}

[[noreturn]] void broken(const std::string& path, const std::string& reason) {
  throw BrokenEnvironment(fmt::format("{}: cannot be written: {}", path, reason));
}

// Gives errno, or 0.
int write_to(const fs::path& path, std::string_view text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  return file ? 0 : errno != 0 ? errno : EIO;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string read_rest(const Descriptor& file, const std::string& name) {
  struct stat info {};
  const bool known = ::fstat(file.get(), &info) == 0 && S_ISREG(info.st_mode);
  std::string bytes(known ? static_cast<size_t>(info.st_size) : 0, '\0');
  for (size_t size = 0;;) {
    if (size == bytes.size()) bytes.resize(size + 4096);
    const ssize_t n = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) cannot_read(name, std::strerror(errno));
    size += static_cast<size_t>(n);
    if (n > 0) continue;
    bytes.resize(size);
    return bytes;
  }
}

std::optional<std::string> read_whole(const std::string& path) {
  // A pipe in its place is not waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0) cannot_read(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) cannot_read(path, "it is not a regular file");
  return read_rest(file, path);
}

void write_whole(const std::string& path, std::string_view text) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none) broken(path, error.message());
  const bool exists = status.type() != fs::file_type::not_found;
  if (exists && !fs::is_regular_file(status)) {
    if (const int failed = write_to(path, text); failed != 0) broken(path, std::strerror(failed));
    return;
  }
  const fs::path target = exists ? fs::canonical(path, error) : fs::path(path);
  if (error && exists) broken(path, error.message());
  const fs::path temporary = target.parent_path() / (".patcher-new-" + target.filename().string());
  int failed = write_to(temporary, text);
  if (failed == 0 && exists) {
    fs::permissions(temporary, status.permissions(), error);
    failed = error.value();
  }
  if (failed == 0 && std::rename(temporary.c_str(), target.c_str()) != 0) failed = errno;
  if (failed == 0) return;
  std::remove(temporary.c_str());
  broken(path, std::strerror(failed));
}

}  // namespace patcher
