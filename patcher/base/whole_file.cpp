#include "patcher/base/whole_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "patcher/base/error.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

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
