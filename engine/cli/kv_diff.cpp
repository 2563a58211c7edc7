#include "cli/kv_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace engine::cli {
namespace {

constexpr std::size_t kTickColumns = 16;  // room for any row number

std::size_t columns_of(const KvComparison& comparison, std::size_t width) {
  return std::min(width, comparison.rows);
}

// Row numbers at every kTickColumns-th column: the first row of that column.
std::string axis(const KvComparison& comparison, std::size_t columns) {
  std::string line;
  for (std::size_t column = 0; column < columns; column += kTickColumns) {
    const std::size_t row = (column * comparison.rows + columns - 1) / columns;
    line += fmt::format("{:<{}}", row, kTickColumns);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

// A letter for each column: p prefill, d decode (if any of its rows is), - nobody; a capital where
// a launch begins.
std::string writers(const std::vector<runtime::RowOrigin>& origins, std::size_t columns) {
  std::string line(columns, '-');
  std::vector<bool> begins(columns);
  for (std::size_t row = 0; row < origins.size(); ++row) {
    const std::size_t column = row * columns / origins.size();
    const runtime::Writer writer = origins[row].writer;
    if (writer == runtime::Writer::kNone) continue;
    if (writer == runtime::Writer::kDecode) line[column] = 'd';
    if (line[column] == '-') line[column] = 'p';
    if (origins[row].launch_begin == row) begins[column] = true;
  }
  for (std::size_t column = 0; column < columns; ++column) {
    if (begins[column]) line[column] = line[column] == 'd' ? 'D' : 'P';
  }
  return line;
}

}  // namespace

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
    result.left.push_back(a.origin(position));
    result.right.push_back(b.origin(position));
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
  const std::size_t columns = columns_of(comparison, width);
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

std::string annotated_picture(const KvComparison& comparison, std::size_t width,
                              std::string_view left, std::string_view right) {
  const std::size_t columns = columns_of(comparison, width);
  std::string text = fmt::format("{:9} {}\n", "row", axis(comparison, columns));
  text += fmt::format("{:9} {}\n", left, writers(comparison.left, columns));
  text += fmt::format("{:9} {}\n", right, writers(comparison.right, columns));
  text += picture(comparison, width);
  const std::size_t rows = columns == 0 ? 0 : (comparison.rows + columns - 1) / columns;
  text += fmt::format("{:9} # differs  . equal  p prefill  d decode  PD a launch begins", "");
  text += rows > 1 ? fmt::format("  (up to {} rows a column)\n", rows) : "\n";
  return text;
}

}  // namespace engine::cli
