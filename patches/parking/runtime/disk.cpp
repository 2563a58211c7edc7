#include "runtime/disk.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace engine::runtime {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw DiskError(path.string() + ": " + what);
}

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, const char* what) {
  fail(path, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

int Disk::create(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
}
int Disk::open(const std::filesystem::path& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}
ssize_t Disk::write(int file, const std::byte* bytes, std::size_t count) {
  return ::write(file, bytes, count);
}
ssize_t Disk::read(int file, std::byte* bytes, std::size_t count, std::size_t offset) {
  return ::pread(file, bytes, count, static_cast<off_t>(offset));
}
int Disk::sync(int file) {
  return ::fdatasync(file);
}
int Disk::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  return std::rename(from.c_str(), to.c_str());
}
int Disk::remove(const std::filesystem::path& path) {
  return ::unlink(path.c_str());
}

DiskReader::DiskReader(Disk& disk, std::filesystem::path path)
    : disk_(disk), path_(std::move(path)), file_(disk.open(path_)) {
  if (file_ < 0) fail_with_errno(path_, "cannot be opened");
  struct stat info {};
  if (::fstat(file_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(file_);
    fail(path_, "is not a file");
  }
  size_ = static_cast<std::size_t>(info.st_size);
}

DiskReader::~DiskReader() {
  ::close(file_);
}

void DiskReader::read(std::span<std::byte> bytes, std::size_t offset) const {
  while (!bytes.empty()) {
    const ssize_t got = disk_.read(file_, bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_with_errno(path_, "cannot be read");
    if (got == 0) fail(path_, "ends too early");
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::size_t>(got);
  }
}

DiskWriter::DiskWriter(Disk& disk, std::filesystem::path path)
    : disk_(disk),
      path_(std::move(path)),
      beside_(path_.string() + kUnfinished),
      file_(disk.create(beside_)) {
  if (file_ < 0) fail_with_errno(path_, "cannot be made");
}

DiskWriter::~DiskWriter() {
  if (file_ < 0) return;
  ::close(file_);
  disk_.remove(beside_);
}

void DiskWriter::write(std::span<const std::byte> bytes) {
  written_ += bytes.size();
  while (!bytes.empty()) {
    const ssize_t taken = disk_.write(file_, bytes.data(), bytes.size());
    if (taken < 0 && errno == EINTR) continue;
    if (taken < 0) fail_with_errno(path_, "cannot be written");
    if (taken == 0) fail(path_, "cannot be written: the disk takes nothing");
    bytes = bytes.subspan(static_cast<std::size_t>(taken));
  }
}

void DiskWriter::finish() {
  if (disk_.sync(file_) != 0) fail_with_errno(path_, "cannot be written");
  if (disk_.rename(beside_, path_) != 0) fail_with_errno(path_, "cannot be given its name");
  ::close(file_);
  file_ = -1;
}

FolderLock::FolderLock(Disk& disk, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  file_ = ::open((folder / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) fail_with_errno(folder, "cannot be written");
  try {
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0)
      fail(folder, errno == EWOULDBLOCK ? "another engine parks there"
                                        : std::string("cannot be locked: ") + std::strerror(errno));
    const DiskWriter probe(disk, folder / "probe");
  } catch (...) {
    ::close(file_);
    throw;
  }
}

FolderLock::~FolderLock() {
  ::close(file_);
}

}  // namespace engine::runtime
