#include "patcher/tree/nearest_path.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace patcher {
namespace {

constexpr size_t kLettersAMistake = 5;  // of a path without its extension, for each

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// How many letters to insert, delete or change, or more than `most`.
size_t distance(std::string_view a, std::string_view b, size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest_path(const std::vector<std::string>& paths,
                                        const std::string& wrong) {
  const size_t most = std::min(wrong.rfind('.'), wrong.size()) / kLettersAMistake;
  size_t least = most + 1;
  const std::string* near = nullptr;
  const std::string* moved = nullptr;
  bool several = false;
  bool several_moved = false;
  for (const std::string& path : paths) {
    if (name_of(path) == name_of(wrong)) {
      several_moved = several_moved || moved != nullptr;
      moved = &path;
    }
    const size_t d = distance(path, wrong, most);
    if (d > most || d > least) continue;
    several = d == least;
    least = d;
    near = &path;
  }
  if (moved != nullptr && !several_moved) return *moved;
  if (near != nullptr && !several) return *near;
  return std::nullopt;
}

}  // namespace patcher
