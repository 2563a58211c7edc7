#include "patcher/series.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "patcher/error.h"
#include "patcher/lines.h"
#include "patcher/unified.h"

namespace patcher {
namespace {

std::string_view without_comment(std::string_view line) {
  for (size_t i = line.find('#'); i != std::string_view::npos; i = line.find('#', i + 1)) {
    if (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t') return line.substr(0, i);
  }
  return line;
}

std::optional<std::string> read_file(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in) return std::nullopt;
  return std::move(out).str();
}

std::string directory_of(const std::string& file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash);
}

bool is_executable(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & S_IXUSR) != 0;
}

void read_beside(const std::string& directory, Patch& patch) {
  const size_t slash = patch.name.rfind('/');
  const std::string inner = slash == std::string::npos ? "" : patch.name.substr(0, slash + 1);
  for (FileOperation& op : patch.operations) {
    if (op.beside.empty() || !is_safe_path(op.beside)) continue;
    const std::string path = directory + "/" + inner + op.beside;
    auto content = read_file(path);
    if (content) {
      op.content = std::move(*content);
      op.executable = is_executable(path);
      continue;
    }
    patch.errors.push_back({.verdict = Verdict::kMalformed,
                            .origin = {.file = patch.name, .line = op.line, .column = 1},
                            .message = fmt::format("`{}` is not beside the patch", op.beside)});
  }
}

}  // namespace

std::vector<SeriesLine> parse_series(std::string_view text) {
  std::vector<SeriesLine> out;
  int number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view name = trim(without_comment(text.substr(0, end)), " \t\r");
    ++number;
    if (!name.empty()) out.push_back({std::string(name), number});
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

std::string size_fault(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  const auto bytes = static_cast<std::uintmax_t>(info.st_size);
  if (bytes <= kMaxPatchBytes) return {};
  return fmt::format("has {} bytes; a patch has at most {} MiB", bytes, kMaxPatchBytes >> 20);
}

Series load_series(const std::string& file, std::optional<size_t> until, bool allow_empty) {
  const auto text = read_file(file);
  if (!text) throw BrokenEnvironment(fmt::format("{}: cannot read the series file", file));
  Series series{.file = file};
  const auto fail = [&](int line, Verdict verdict, std::string message) {
    series.errors.push_back({.verdict = verdict,
                             .origin = {.file = file, .line = line, .column = 1},
                             .message = std::move(message)});
  };
  const std::vector<SeriesLine> lines = parse_series(*text);
  if (lines.empty() && !allow_empty) fail(1, Verdict::kMalformed, "no patches in the series");
  if (until && *until > lines.size()) {
    fail(1, Verdict::kMalformed,
         fmt::format("--until {}: the series has {}", *until, lines.size()));
  }
  std::set<std::string> seen;
  const std::string directory = directory_of(file);
  for (const SeriesLine& line : lines) {
    if (until && series.patches.size() == *until) break;
    if (!is_safe_path(line.name)) {
      fail(line.line, Verdict::kUnsafePath, fmt::format("`{}` is no safe name", line.name));
    } else if (!seen.insert(line.name).second) {
      fail(line.line, Verdict::kMalformed, fmt::format("`{}` is listed twice", line.name));
    } else if (const auto fault = size_fault(directory + "/" + line.name); !fault.empty()) {
      fail(line.line, Verdict::kMalformed, fmt::format("`{}` {}", line.name, fault));
    } else if (const auto content = read_file(directory + "/" + line.name)) {
      series.patches.push_back(is_unified(*content)
                                   ? patch_of(line.name, parse_unified(line.name, *content))
                                   : parse_patch(line.name, *content));
      read_beside(directory, series.patches.back());
    } else {
      fail(line.line, Verdict::kMalformed, fmt::format("there is no patch file `{}`", line.name));
    }
  }
  return series;
}

}  // namespace patcher
