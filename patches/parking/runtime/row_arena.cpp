#include "runtime/row_arena.h"

#include <algorithm>
#include <numeric>

namespace engine::runtime {

RowArena::RowArena(std::string_view backend, std::vector<std::size_t> row_bytes, std::size_t rows)
    : row_bytes_(std::move(row_bytes)),
      capacity_(rows),
      memory_(backend,
              rows * std::accumulate(row_bytes_.begin(), row_bytes_.end(), std::size_t{0})) {
  std::size_t base = 0;
  for (const std::size_t bytes : row_bytes_) {
    bases_.push_back(base);
    base += bytes * rows;
  }
  if (rows > 0) free_.push_back({0, rows});
}

std::size_t RowArena::free_rows() const {
  const std::lock_guard lock(mutex_);
  std::size_t rows = 0;
  for (const Range& range : free_)
    rows += range.rows;
  return rows;
}

std::unique_ptr<HeldRows> RowArena::take(std::size_t rows) {
  if (free_rows() < rows) return nullptr;
  const std::lock_guard lock(mutex_);
  std::vector<Range> ranges;
  for (std::size_t missing = rows; missing > 0;) {
    Range& last = free_.back();
    const std::size_t taken = std::min(missing, last.rows);
    last.rows -= taken;
    ranges.push_back({last.begin + last.rows, taken});
    missing -= taken;
    if (last.rows == 0) free_.pop_back();
  }
  return std::unique_ptr<HeldRows>(new HeldRows(shared_from_this(), std::move(ranges), rows));
}

void RowArena::give_back(const std::vector<Range>& ranges) {
  const std::lock_guard lock(mutex_);
  free_.insert(free_.end(), ranges.begin(), ranges.end());
  std::sort(free_.begin(), free_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::vector<Range> joined;
  for (const Range& range : free_) {
    if (!joined.empty() && joined.back().begin + joined.back().rows == range.begin)
      joined.back().rows += range.rows;
    else
      joined.push_back(range);
  }
  free_ = std::move(joined);
}

std::byte* RowArena::row(std::size_t tensor, std::size_t index) const {
  return memory_.data() + bases_[tensor] + index * row_bytes_[tensor];
}

void HeldRows::for_each_piece(
    std::size_t tensor, std::size_t begin, std::size_t end,
    const std::function<void(std::size_t, std::byte*, std::size_t)>& visit) const {
  std::size_t position = 0;
  for (const RowArena::Range& range : ranges_) {
    const std::size_t from = std::max(begin, position), to = std::min(end, position + range.rows);
    if (from < to) visit(from, arena_->row(tensor, range.begin + from - position), to - from);
    position += range.rows;
  }
}

}  // namespace engine::runtime
