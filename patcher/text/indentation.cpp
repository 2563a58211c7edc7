#include "patcher/text/indentation.h"

#include <algorithm>
#include <numeric>

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

}  // namespace

std::string_view leading_blanks(std::string_view line) {
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

bool shows_level(std::string_view line) {
  line.remove_prefix(leading_blanks(line).size());
  return !line.empty() && line.front() != '*' && line != "\\";
}

void IndentSurvey::Steps::count(std::string_view step, bool is_level) {
  if (step.empty()) return;
  const bool tab = step.find('\t') != std::string_view::npos;
  ++(tab ? tabbed : spaced);
  if (!tab && is_level && step.size() <= 8) ++widths[step.size()];
}

void IndentSurvey::add(std::string_view blanks) {
  if (blanks.size() > last_.size() && blanks.starts_with(last_)) {
    // How deep the first line is says whether by tabs, and nothing of one level.
    deeper_.count(blanks.substr(last_.size()), any_);
  } else if (last_.starts_with(blanks)) {
    shallower_.count(last_.substr(blanks.size()), true);
  }
  last_ = blanks;
  any_ = true;
  any_blank_ = any_blank_ || blanks.find(' ') != std::string_view::npos;
  any_tab_ = any_tab_ || blanks.find('\t') != std::string_view::npos;
  widths_ = std::gcd(widths_, blanks.size());
}

IndentStyle IndentSurvey::style(IndentStyle fallback) const {
  if (deeper_.tabbed > deeper_.spaced) return {.tabs = true, .width = fallback.width};
  const auto& steps = deeper_.widths.empty() ? shallower_.widths : deeper_.widths;
  if (steps.empty()) return fallback;
  const auto most = std::max_element(
      steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {.tabs = false, .width = static_cast<int>(most->first)};
}

bool IndentSurvey::whole_levels_of(const IndentStyle& style) const {
  if (style.tabs) return !any_blank_;
  return !any_tab_ && widths_ % static_cast<size_t>(std::max(style.width, 1)) == 0;
}

bool styles_differ(const IndentSurvey& patch, const IndentStyle& patch_style,
                   const IndentSurvey& target, const IndentStyle& target_style) {
  return patch_style.width <= 8 && patch.whole_levels_of(patch_style) &&
         target.whole_levels_of(target_style) && !patch.whole_levels_of(target_style);
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
