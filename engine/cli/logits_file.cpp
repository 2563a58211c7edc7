#include "cli/logits_file.h"

#include <fmt/format.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <system_error>

namespace engine::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "rows are written as they lie in memory");

// Magic, version, the header's length, and the header: a Python literal padded with blanks so that
// the data begin at a multiple of 64, the last byte a line feed.
std::string npy_header(std::size_t rows, std::size_t columns) {
  constexpr std::size_t kPreamble = 10, kAlignment = 64;
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  header.append(kAlignment - 1 - (kPreamble + header.size()) % kAlignment, ' ');
  header += '\n';
  std::string preamble("\x93NUMPY\x01\x00", 8);
  preamble += static_cast<char>(header.size() & 0xffU);
  preamble += static_cast<char>(header.size() >> 8U);
  return preamble + header;
}

}  // namespace

LogitsFile::LogitsFile(std::filesystem::path path, std::size_t rows, std::size_t columns)
    : path_(std::move(path)), temporary_(path_) {
  temporary_ += ".tmp";
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    fail("it is no regular file");
  out_.open(temporary_, std::ios::binary | std::ios::trunc);
  if (!out_) fail(std::strerror(errno));
  const std::string header = npy_header(rows, columns);
  out_.write(header.data(), static_cast<std::streamsize>(header.size()));
}

LogitsFile::~LogitsFile() {
  std::error_code ignored;
  std::filesystem::remove(temporary_, ignored);
}

void LogitsFile::add(std::span<const float> row) {
  out_.write(reinterpret_cast<const char*>(row.data()),
             static_cast<std::streamsize>(row.size_bytes()));
}

void LogitsFile::finish() {
  out_.close();
  if (!out_) fail("writing failed");
  std::error_code error;
  std::filesystem::rename(temporary_, path_, error);
  if (error) fail(error.message());
}

void LogitsFile::fail(std::string_view reason) const {
  throw std::runtime_error(fmt::format("{}: cannot be written: {}", path_.string(), reason));
}

}  // namespace engine::cli
