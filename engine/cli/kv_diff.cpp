#include "cli/kv_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace engine::cli {

std::size_t KvComparison::differing() const {
  return static_cast<std::size_t>(std::count(differs.begin(), differs.end(), true));
}

KvComparison compare_rows(const runtime::Engine& left, const runtime::Engine& right,
                          std::size_t rows) {
  const runtime::State& a = left.lane().state;
  const runtime::State& b = right.lane().state;
  KvComparison result{
      .rows = rows, .layers = left.lane().network.layers.size(), .differs = {}, .first = {}};
  result.differs.resize(rows * result.layers);
  for (std::size_t position = 0; position < rows; ++position) {
    for (std::size_t layer = 0; layer < result.layers; ++layer) {
      const std::vector<numerics::bf16> x = a.read_row(layer, position),
                                        y = b.read_row(layer, position);
      if (std::memcmp(x.data(), y.data(), x.size() * sizeof(numerics::bf16)) == 0) continue;
      result.differs[position * result.layers + layer] = true;
      if (!result.first)
        result.first = RowDifference{position, layer, a.origin(position), b.origin(position)};
    }
  }
  return result;
}

std::string describe(const runtime::RowOrigin& origin) {
  if (origin.writer == runtime::Writer::kNone) return "nobody";
  const char* writer = origin.writer == runtime::Writer::kPrefill ? "prefill" : "decode";
  return fmt::format("{}, launch of rows [{}, {})", writer, origin.launch_begin,
                     origin.launch_begin + origin.launch_rows);
}

std::string picture(const KvComparison& comparison, std::size_t width) {
  const std::size_t columns = std::min(width, comparison.rows);
  std::string text;
  for (std::size_t layer = 0; layer < comparison.layers; ++layer) {
    std::string line(columns, '.');
    for (std::size_t row = 0; row < comparison.rows; ++row) {
      if (comparison.differs[row * comparison.layers + layer])
        line[row * columns / comparison.rows] = '#';
    }
    text += fmt::format("layer {:3} {}\n", layer, line);
  }
  return text;
}

}  // namespace engine::cli
