// The few calls that parked files need of a file system. Virtual, so that a test can make any of
// them fail.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <stdexcept>

namespace engine::runtime {

struct DiskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// As the system's calls: a negative result and errno.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual int create(const std::filesystem::path& path);  // empty, for writing
  virtual int open(const std::filesystem::path& path);    // for reading
  virtual ssize_t write(int file, const std::byte* bytes, std::size_t count);
  virtual ssize_t read(int file, std::byte* bytes, std::size_t count, std::size_t offset);
  virtual int sync(int file);
  virtual int rename(const std::filesystem::path& from, const std::filesystem::path& to);
  virtual int remove(const std::filesystem::path& path);
};

// A file that is read. Throws DiskError naming it.
class DiskReader {
 public:
  DiskReader(Disk& disk, std::filesystem::path path);
  DiskReader(const DiskReader&) = delete;
  DiskReader& operator=(const DiskReader&) = delete;
  ~DiskReader();

  std::size_t size() const { return size_; }
  // All of `bytes`, from `offset` on; an early end is an error. Any thread.
  void read(std::span<std::byte> bytes, std::size_t offset) const;

 private:
  Disk& disk_;
  std::filesystem::path path_;
  int file_;
  std::size_t size_ = 0;
};

// A file that is written beside its name and takes it when it is whole; without finish() nothing is
// left. Throws DiskError naming it.
class DiskWriter {
 public:
  DiskWriter(Disk& disk, std::filesystem::path path);
  DiskWriter(const DiskWriter&) = delete;
  DiskWriter& operator=(const DiskWriter&) = delete;
  ~DiskWriter();

  static constexpr const char* kUnfinished = ".unfinished";  // ends the name meanwhile

  void write(std::span<const std::byte> bytes);
  void finish();
  std::size_t written() const { return written_; }

 private:
  Disk& disk_;
  std::filesystem::path path_, beside_;
  int file_;
  std::size_t written_ = 0;
};

// A folder of files, made if it is not there, that no other process uses. Throws DiskError if it
// cannot be made, another one uses it, or it cannot be written.
class FolderLock {
 public:
  FolderLock(Disk& disk, const std::filesystem::path& folder);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int file_;
};

}  // namespace engine::runtime
