// Host memory for rows of many conversations: of each kept tensor one array [rows, row bytes], of
// which a conversation holds the same few ranges in every tensor. So a conversation is copied with
// one transfer a tensor and range, whatever was freed before.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "kernels/host_memory.h"

namespace engine::runtime {

class HeldRows;

class RowArena : public std::enable_shared_from_this<RowArena> {
 public:
  // Throws BackendError if the machine has no such memory.
  RowArena(std::string_view backend, std::vector<std::size_t> row_bytes, std::size_t rows);

  std::size_t capacity() const { return capacity_; }  // rows
  std::size_t free_rows() const;
  const std::vector<std::size_t>& row_bytes() const { return row_bytes_; }

  // Null if fewer are free. Any thread may take and free rows.
  std::unique_ptr<HeldRows> take(std::size_t rows);

 private:
  friend class HeldRows;
  struct Range {
    std::size_t begin, rows;
  };
  void give_back(const std::vector<Range>& ranges);
  std::byte* row(std::size_t tensor, std::size_t index) const;

  std::vector<std::size_t> row_bytes_;
  std::vector<std::size_t> bases_;  // bytes before each tensor's array
  std::size_t capacity_;
  kernels::HostMemory memory_;
  mutable std::mutex mutex_;
  std::vector<Range> free_;  // ascending, none adjacent
};

// Rows of one conversation; they are free again when this is gone.
class HeldRows {
 public:
  ~HeldRows() { arena_->give_back(ranges_); }
  HeldRows(const HeldRows&) = delete;
  HeldRows& operator=(const HeldRows&) = delete;

  std::size_t rows() const { return rows_; }
  bool is_of(const RowArena& arena) const { return arena_.get() == &arena; }
  const std::vector<std::size_t>& row_bytes() const { return arena_->row_bytes(); }

  // Calls visit(position, memory, rows) for each stretch of rows [begin, end) of a tensor that lies
  // in one piece.
  void for_each_piece(std::size_t tensor, std::size_t begin, std::size_t end,
                      const std::function<void(std::size_t position, std::byte* memory,
                                               std::size_t rows)>& visit) const;

 private:
  friend class RowArena;
  HeldRows(std::shared_ptr<RowArena> arena, std::vector<RowArena::Range> ranges, std::size_t rows)
      : arena_(std::move(arena)), ranges_(std::move(ranges)), rows_(rows) {}

  std::shared_ptr<RowArena> arena_;
  std::vector<RowArena::Range> ranges_;
  std::size_t rows_;
};

}  // namespace engine::runtime
