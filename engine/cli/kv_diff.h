// Compares the KV rows of two lanes: the tool that finds where a cache leaves the cold path.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/engine.h"

namespace engine::cli {

struct RowDifference {
  std::size_t position;
  std::size_t layer;
  runtime::RowOrigin left, right;  // who wrote the row on each side
};

struct KvComparison {
  std::size_t rows = 0;
  std::size_t layers = 0;
  std::vector<bool> differs;                        // [rows, layers]
  std::optional<RowDifference> first;               // lowest position, then lowest layer
  std::vector<runtime::RowOrigin> left{}, right{};  // [rows]: who wrote each row

  std::size_t differing() const;
};

// Rows [0, rows) of every layer, bit for bit.  REQUIRES: both lanes run the same network and hold
// the rows.
KvComparison compare_rows(const runtime::Engine& left, const runtime::Engine& right,
                          std::size_t rows);

// "prefill, launch of rows [0, 346)".
std::string describe(const runtime::RowOrigin& origin);

// Rows across, layers down, at most `width` columns: '.' where all rows of a cell are equal, '#'
// where one differs.
std::string picture(const KvComparison& comparison, std::size_t width);

// The picture under an axis of row numbers and a line for each side that shows who wrote the rows,
// with a legend: where launches begin on one side only is where bits part. Lines of the two sides
// begin with `left` and `right`, at most nine characters each.
std::string annotated_picture(const KvComparison& comparison, std::size_t width,
                              std::string_view left, std::string_view right);

}  // namespace engine::cli
