#include "patcher/tree/tree_root.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "patcher/base/error.h"

namespace patcher {
namespace {

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

// The names in a directory and what they are, links not followed; none when it cannot be listed.
std::vector<std::pair<std::string, mode_t>> entries_of(const Descriptor& directory) {
  const int fresh = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseDirectory> stream(fresh < 0 ? nullptr : ::fdopendir(fresh));
  if (!stream) {
    if (fresh >= 0) ::close(fresh);
    return {};
  }
  std::vector<std::pair<std::string, mode_t>> out;
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    struct stat info {};
    if (name == "." || name == "..") continue;
    if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    out.emplace_back(name, info.st_mode);
  }
  return out;
}

}  // namespace

std::string_view last_component(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

TreeRoot::TreeRoot(const std::string& directory)
    : directory_(directory), root_(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (!root_) throw BrokenEnvironment(fmt::format("{}: {}", directory, std::strerror(errno)));
}

Descriptor TreeRoot::parent(std::string_view path, bool create) const {
  Descriptor here(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 0));
  for (size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    const std::string part(path.substr(0, slash));
    path.remove_prefix(slash + 1);
    constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int next = ::openat(here.get(), part.c_str(), kFlags);
    if (next < 0 && errno == ENOENT && create && ::mkdirat(here.get(), part.c_str(), 0777) == 0) {
      next = ::openat(here.get(), part.c_str(), kFlags);
    }
    const int error = errno;
    here = Descriptor(next);
    errno = error;
    if (!here) return here;
  }
  return here;
}

FileState TreeRoot::read(const std::string& path) const {
  const auto unsafe = [&](std::string_view why) {
    return FileState{.unsafe = fmt::format("{} {}", path, why)};
  };
  const auto broken = [&] { return BrokenEnvironment(path + ": " + std::strerror(errno)); };
  const Descriptor directory = parent(path);
  if (!directory) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP || errno == ENOTDIR) return unsafe("goes through a link or a file");
    throw broken();
  }
  const std::string name(last_component(path));
  struct stat info {};
  if (::fstatat(directory.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    throw broken();
  }
  if (S_ISLNK(info.st_mode)) return unsafe("is a symbolic link");
  if (!S_ISREG(info.st_mode)) return unsafe("is not a regular file");
  const Descriptor file(::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!file) throw broken();
  return {.source = std::make_shared<Source>(path, read_rest(file, path)),
          .mode = info.st_mode & 07777,
          .links = info.st_nlink,
          .identity = {info.st_dev, info.st_ino}};
}

std::optional<std::string> TreeRoot::peek(const std::string& path, size_t most) const {
  const Descriptor directory = parent(path);
  if (!directory) return std::nullopt;
  // A pipe that took the file's place is not waited for.
  constexpr int kFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const std::string name(last_component(path));
  const Descriptor file(::openat(directory.get(), name.c_str(), kFlags));
  struct stat info {};
  if (!file || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (static_cast<uintmax_t>(info.st_size) > most) return std::nullopt;
  try {
    return read_rest(file, path);
  } catch (const BrokenEnvironment&) {
    return std::nullopt;
  }
}

std::vector<std::string> TreeRoot::list() const {
  std::vector<std::string> files;
  std::vector<std::string> directories{""};
  while (!directories.empty()) {
    const std::string prefix = std::move(directories.back());
    directories.pop_back();
    for (const auto& [name, mode] : entries_of(parent(prefix))) {
      if (S_ISREG(mode)) files.push_back(prefix + name);
      if (S_ISDIR(mode) && name != ".git") directories.push_back(prefix + name + "/");
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace patcher
