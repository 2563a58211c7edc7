#include "patcher/text/indentation.h"

#include <algorithm>
#include <map>

namespace patcher {
namespace {

// Columns, with a tab as wide as one level.
int columns(std::string_view blanks, const IndentStyle& style) {
  int n = 0;
  for (char c : blanks)
    n += c == '\t' ? style.width : 1;
  return n;
}

std::string blanks(int n, const IndentStyle& style) {
  if (!style.tabs || style.width <= 0) return std::string(static_cast<size_t>(std::max(n, 0)), ' ');
  return std::string(static_cast<size_t>(n / style.width), '\t') +
         std::string(static_cast<size_t>(n % style.width), ' ');
}

// `n` columns of the patch, in columns of the target: whole levels keep their number.
int convert(int n, const IndentStyle& patch, const IndentStyle& target) {
  return patch.width > 0 && n % patch.width == 0 ? n / patch.width * target.width : n;
}

struct Steps {
  std::map<size_t, int> widths;  // of steps by blanks: how often each
  int tabbed = 0;
  int spaced = 0;

  void count(std::string_view step, bool is_level) {
    if (step.empty()) return;
    const bool tab = step.find('\t') != std::string_view::npos;
    ++(tab ? tabbed : spaced);
    if (!tab && is_level && step.size() <= 8) ++widths[step.size()];
  }
};

}  // namespace

std::string_view leading_blanks(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

bool shows_level(std::string_view line) {
  line.remove_prefix(leading_blanks(line).size());
  return !line.empty() && line.front() != '*' && line != "\\";
}

IndentStyle guess_style(const std::vector<std::string_view>& indentations, IndentStyle fallback) {
  Steps deeper;
  Steps shallower;
  for (size_t i = 0; i < indentations.size(); ++i) {
    const std::string_view now = indentations[i];
    // How deep the first line is says whether by tabs, and nothing of one level.
    const std::string_view before = i > 0 ? indentations[i - 1] : std::string_view();
    if (now.size() > before.size() && now.starts_with(before)) {
      deeper.count(now.substr(before.size()), i > 0);
    } else if (before.starts_with(now)) {
      shallower.count(before.substr(now.size()), true);
    }
  }
  if (deeper.tabbed > deeper.spaced) return {.tabs = true, .width = fallback.width};
  const auto& steps = deeper.widths.empty() ? shallower.widths : deeper.widths;
  if (steps.empty()) return fallback;
  const auto most = std::max_element(
      steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {.tabs = false, .width = static_cast<int>(most->first)};
}

bool styles_differ(const std::vector<std::string_view>& patch, const IndentStyle& patch_style,
                   const std::vector<std::string_view>& target, const IndentStyle& target_style) {
  const auto whole = [](std::string_view line, const IndentStyle& style) {
    if (style.tabs) return line.find(' ') == std::string_view::npos;
    const auto width = static_cast<size_t>(std::max(style.width, 1));
    return line.find('\t') == std::string_view::npos && line.size() % width == 0;
  };
  const auto all_whole = [&](const auto& lines, const IndentStyle& style) {
    return std::all_of(lines.begin(), lines.end(), [&](auto l) { return whole(l, style); });
  };
  return patch_style.width <= 8 && all_whole(patch, patch_style) &&
         all_whole(target, target_style) && !all_whole(patch, target_style);
}

std::string Reindent::operator()(std::string_view line) const {
  const std::string_view own = leading_blanks(line);
  if (own.size() == line.size()) return std::string(line);
  if (from == to && !(restyle && from.empty())) return std::string(line);
  const std::string_view rest = line.substr(own.size());
  if (own == from) return to + std::string(rest);
  const int extra = columns(own, patch_style) - columns(from, patch_style);
  const bool same_kind = patch_style.tabs == target_style.tabs;
  if (extra > 0 && same_kind && patch_style.width == target_style.width && own.starts_with(from)) {
    return to + std::string(own.substr(from.size())) + std::string(rest);
  }
  const int moved = convert(extra, patch_style, target_style);
  if (extra > 0) return to + blanks(moved, target_style) + std::string(rest);
  return blanks(std::max(columns(to, target_style) + moved, 0), target_style) + std::string(rest);
}

}  // namespace patcher
