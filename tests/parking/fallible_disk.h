// A disk that fails on command, and stays so: full, read-only, slow to take bytes, unreadable, or
// gone with the process that used it.
#pragma once

#include <algorithm>
#include <cerrno>
#include <mutex>

#include "runtime/disk.h"

namespace engine::runtime::testing {

enum class DiskFault {
  kNone,
  kShort,       // takes and gives few bytes at a time; nothing fails
  kFull,        // takes half of what is written, then nothing
  kReadOnly,    // makes, renames and removes nothing
  kUnreadable,  // EIO
  kKilled,      // the process died: the last write came half through, nothing after it happens
};

class FallibleDisk final : public Disk {
 public:
  // The fault begins with the call after `calls` further ones.
  void arm(DiskFault fault, std::size_t calls = 0) {
    const std::lock_guard lock(mutex_);
    fault_ = fault;
    calls_left_ = calls;
  }
  bool is_dead() const { return is_on(DiskFault::kKilled); }

  int create(const std::filesystem::path& path) override {
    if (fails(DiskFault::kReadOnly, EROFS)) return -1;
    return Disk::create(path);
  }
  int open(const std::filesystem::path& path) override {
    if (fails(DiskFault::kUnreadable, EIO)) return -1;
    return Disk::open(path);
  }
  ssize_t write(int file, const std::byte* bytes, std::size_t count) override {
    const bool was_dead = is_on(DiskFault::kKilled);
    if (fails(DiskFault::kFull, ENOSPC)) {
      if (!was_dead && count > 1 && !std::exchange(half_written_, true))
        return Disk::write(file, bytes, count / 2);
      return -1;
    }
    return Disk::write(file, bytes, is_on(DiskFault::kShort) ? few(count) : count);
  }
  ssize_t read(int file, std::byte* bytes, std::size_t count, std::size_t offset) override {
    if (fails(DiskFault::kUnreadable, EIO)) return -1;
    return Disk::read(file, bytes, is_on(DiskFault::kShort) ? few(count) : count, offset);
  }
  int sync(int file) override { return fails(DiskFault::kFull, ENOSPC) ? -1 : Disk::sync(file); }
  int rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    return fails(DiskFault::kReadOnly, EROFS) ? -1 : Disk::rename(from, to);
  }
  int remove(const std::filesystem::path& path) override {
    return fails(DiskFault::kReadOnly, EROFS) ? -1 : Disk::remove(path);
  }

 private:
  static std::size_t few(std::size_t count) { return std::min<std::size_t>(count, 333); }
  bool is_on(DiskFault fault) const {
    const std::lock_guard lock(mutex_);
    return fault_ == fault && calls_left_ == 0;
  }

  // Counts a call that `fault`, or death, may meet.
  bool fails(DiskFault fault, int error) {
    const std::lock_guard lock(mutex_);
    if (calls_left_ > 0) {
      --calls_left_;
      half_written_ = false;
      return false;
    }
    errno = error;
    return fault_ == fault || fault_ == DiskFault::kKilled;
  }

  mutable std::mutex mutex_;  // the store writes from a thread of its own
  DiskFault fault_ = DiskFault::kNone;
  std::size_t calls_left_ = 0;
  bool half_written_ = false;
};

}  // namespace engine::runtime::testing
