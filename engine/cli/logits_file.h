// Logits as a NumPy array on disk.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>

namespace engine::cli {

// Writes float32 [rows, columns] row by row in NumPy's .npy format, version 1.0, little endian:
// numpy.load(FILE)[p, t]. The file appears under its name with the last row; until then the rows
// are in FILE.tmp, which goes away with this object.
class LogitsFile {
 public:
  // Throws std::runtime_error naming the file: one that cannot be written, or that exists and is no
  // regular file.
  LogitsFile(std::filesystem::path path, std::size_t rows, std::size_t columns);
  LogitsFile(const LogitsFile&) = delete;
  LogitsFile& operator=(const LogitsFile&) = delete;
  ~LogitsFile();

  // REQUIRES: row.size() == columns.
  void add(std::span<const float> row);
  // After the last row. Throws std::runtime_error naming the file if a write has failed.
  void finish();

 private:
  [[noreturn]] void fail(std::string_view reason) const;

  std::filesystem::path path_, temporary_;
  std::ofstream out_;
};

}  // namespace engine::cli
