#include "patcher/series/series.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <set>

#include "patcher/base/error.h"
#include "patcher/base/files.h"
#include "patcher/foreign/unified.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

std::string_view without_comment(std::string_view line) {
  for (size_t i = line.find('#'); i != std::string_view::npos; i = line.find('#', i + 1)) {
    if (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t') return line.substr(0, i);
  }
  return line;
}

// Takes what quilt writes behind a name off it: " -p0".
std::string take_options(std::string_view& name) {
  const std::string_view line = name;
  for (;;) {
    const size_t blank = name.find_last_of(" \t");
    if (blank == std::string_view::npos || !name.substr(blank + 1).starts_with('-')) break;
    name = trim(name.substr(0, blank));
  }
  return std::string(trim(line.substr(name.size())));
}

// How many components -p takes off a diff's names; "ab" is one, "a/" or "b/". Nothing for any other
// option.
std::optional<size_t> strip_of(std::string_view options) {
  if (options == "-p0") return 0;
  if (options == "-p1" || options == "-pab") return 1;
  return std::nullopt;
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
    const std::string path = fmt::format("{}/{}{}", directory, inner, op.beside);
    auto content = read_whole(path);
    if (content) {
      op.content = std::move(*content);
      op.executable = is_executable(path);
      continue;
    }
    patch.errors.push_back(Finding::of(Verdict::kMalformed, at_line(patch.name, op.line),
                                       fmt::format("`{}` is not beside the patch", op.beside)));
  }
}

Patch patch_at(const SeriesLine& line, const std::string& text) {
  const std::optional<size_t> strip = strip_of(line.options);
  if (is_unified(text)) {
    Patch patch = patch_of(line.name, parse_unified(line.name, text, strip));
    patch.strip = strip;
    return patch;
  }
  Patch patch = parse_patch(line.name, text);
  if (strip) {
    patch.errors.push_back(
        Finding::of(Verdict::kMalformed, at_line(line.name),
                    fmt::format("`{}` is for a diff, and this is none: its paths are as they stand",
                                line.options)));
  }
  return patch;
}

}  // namespace

std::vector<SeriesLine> parse_series(std::string_view text) {
  std::vector<SeriesLine> out;
  int number = 0;
  for (const std::string_view line : text_lines(without_bom(text))) {
    std::string_view name = trim(without_comment(line), " \t\r");
    const std::string options = take_options(name);
    ++number;
    if (!name.empty()) out.push_back({std::string(name), number, options});
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
  const auto text = read_whole(file);
  if (!text) throw BrokenEnvironment(fmt::format("{}: there is no such series file", file));
  Series series{.file = file};
  const auto fail = [&](int line, Verdict verdict, std::string message) {
    series.errors.push_back(Finding::of(verdict, at_line(file, line), std::move(message)));
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
    } else if (!line.options.empty() && !strip_of(line.options)) {
      fail(line.line, Verdict::kMalformed,
           fmt::format("`{}`: known behind a name are -p0, -p1 and -pab", line.options));
    } else if (const auto content = read_whole(directory + "/" + line.name)) {
      series.patches.push_back(patch_at(line, *content));
      read_beside(directory, series.patches.back());
    } else {
      fail(line.line, Verdict::kMalformed, fmt::format("there is no patch file `{}`", line.name));
    }
  }
  return series;
}

}  // namespace patcher
