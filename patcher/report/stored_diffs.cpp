#include "patcher/report/stored_diffs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "patcher/base/error.h"
#include "patcher/base/files.h"
#include "patcher/report/diff.h"
#include "patcher/text/lines.h"

namespace patcher {
namespace {

namespace fs = std::filesystem;

std::string normalised(std::string_view text, bool blank_context) {
  std::string out;
  for (const std::string_view line : text_lines(text)) {
    if (!(blank_context && line == " ")) out += line;
    out += '\n';
  }
  return out;
}

size_t first_difference(std::string_view a, std::string_view b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(std::count(a.begin(), x, '\n')) + 1;
}

std::string compare(const std::string& name, const std::string& now,
                    const std::optional<std::string>& stored) {
  if (!stored) return fmt::format("{}: there is no stored diff", name);
  if (*stored == now) return {};
  if (normalised(*stored, false) == normalised(now, false)) {
    return fmt::format("{}: line ends differ", name);
  }
  if (normalised(*stored, true) == normalised(now, true)) {
    return fmt::format("{}: context blank lines stripped", name);
  }
  return fmt::format("{}:{}: drift: the patch gives another diff now", name,
                     first_difference(*stored, now));
}

// The names of the stored diffs, sorted.
std::vector<std::string> diffs_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".diff") names.push_back(entry->path().filename().string());
  }
  if (error) throw BrokenEnvironment(fmt::format("{}: {}", directory, error.message()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::string diff_name(const Patch& patch) {
  return fs::path(patch.name).filename().replace_extension(".diff").string();
}

void store_diffs(const Plan& plan, const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw BrokenEnvironment(fmt::format("{}: {}", directory, error.message()));
  for (const PatchPlan& p : plan.patches) {
    const fs::path path = fs::path(directory) / diff_name(*p.patch);
    const std::string text = patch_diff(p);
    if (read_whole(path.string()) == text) continue;
    write_whole(path.string(), text);
  }
}

std::vector<std::string> compare_diffs(const Plan& plan, const std::string& directory) {
  const std::vector<std::string> stored = diffs_in(directory);
  std::vector<std::string> messages;
  std::vector<std::string> known;
  for (const PatchPlan& p : plan.patches) {
    const std::string name = diff_name(*p.patch);
    known.push_back(name);
    std::string message =
        compare(name, patch_diff(p), read_whole((fs::path(directory) / name).string()));
    if (!message.empty()) messages.push_back(std::move(message));
  }
  for (const auto& name : stored) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    messages.push_back(fmt::format("{}: belongs to no patch", name));
  }
  return messages;
}

}  // namespace patcher
