// Conversations whose rows have left the lane's buffer: in host memory, on disk, or both.
//
// What is added is in memory at once and is written to disk by a thread of the store's own. Of both
// the least recently used goes first; memory prefers what the disk has. A conversation that is a
// prefix of a newer one goes when the newer one is where it was. What cannot be written, read or
// verified is one line of the log and at worst a miss.
//
// Goals: nothing is returned that was not verified; nothing changes after it was added. Not a goal:
// rows that conversations share are kept once for each.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "runtime/parked_file.h"

namespace engine::runtime {

struct ParkingOptions {
  std::size_t ram_bytes = 0;    // of host memory, taken at start
  std::filesystem::path dir{};  // of parked files; empty: none
  std::size_t disk_bytes = 0;   // of parked files
  // Rows that must be about to be lost; fewer are not parked. 0: two cells of the grid.
  std::size_t least_rows = 0;
  std::string weights{};         // digest; see ParkedKind. Needed with `dir`
  bool writes_behind = true;     // false: add() returns when the file is written
  std::shared_ptr<Disk> disk{};  // null: the machine's

  bool enabled() const { return ram_bytes > 0 || !dir.empty(); }
};

class ParkedStore {
 public:
  using Log = std::function<void(std::string_view)>;  // a line for people; may be empty

  // Takes the memory, locks `dir` against other engines, removes files that were not finished, and
  // finds those that are of this kind; others stay as they are. Throws DiskError if `dir` cannot be
  // made, locked or written, BackendError if there is no such memory.
  ParkedStore(ParkedKind kind, std::string_view backend, const ParkingOptions& options, Log log);
  // Waits for what is being written.
  ~ParkedStore();

  struct Match {
    std::size_t id = 0;
    std::size_t rows = 0;  // 0: none
    bool in_ram = false;
  };
  // The one that shares most rows with `prompt`, at most those before its last token, in whole
  // cells of the grid. Of equals the one in memory, then the latest.
  Match find(std::span<const kernels::Token> prompt) const;

  struct Found {
    std::shared_ptr<const ParkedRows> rows;  // null: it was damaged, and is gone
    bool from_disk = false;
  };
  // Brings it into memory and verifies it.
  Found fetch(std::size_t id);

  // Whether a conversation here begins with these tokens, and so need not be added; it counts as
  // used.
  bool holds(std::span<const kernels::Token> tokens);

  // Memory for as many rows; those used longest ago make room. Null if there is none.
  std::unique_ptr<HeldRows> make_room(std::size_t rows);
  // The same beside the store's memory.
  std::unique_ptr<HeldRows> own_memory(std::size_t rows) const;
  void add(ParkedRows rows);

  struct Info {
    std::size_t id, rows, ram_bytes, disk_bytes;
  };
  std::vector<Info> list() const;  // the latest first
  bool erase(std::size_t id);      // false: there is none

  // Files that somebody names, in the same folder; they are never removed, and count for no limit.
  // Throws DiskError; load() also where the file is damaged or of another kind.
  std::size_t save(const ParkedRows& rows, const std::string& name);  // the file's bytes
  std::shared_ptr<const ParkedRows> load(const std::string& name);

  // Until everything is written that will be.
  void settle();

 private:
  struct Entry {
    std::size_t id;
    std::vector<kernels::Token> tokens;
    std::shared_ptr<const ParkedRows> ram;
    std::optional<ParkedHeader> file;
    bool is_pending = false;  // to be written, or being written
  };
  using Entries = std::vector<Entry>;

  bool has_disk() const { return folder_ != nullptr; }
  std::filesystem::path path_of(std::size_t id) const;
  Disk& disk() const { return *options_.disk; }
  Entries::iterator by_id(std::size_t id);
  void touch(std::size_t id);
  void find_files();
  void adopt_file(const std::filesystem::path& path);
  void forget(Entries::iterator entry);
  void drop_ram(Entries::iterator entry);
  bool evict_one();
  bool keep_within_disk(std::size_t more);
  void forget_prefixes(const std::vector<kernels::Token>& tokens, bool on_disk);
  bool write_one(std::unique_lock<std::mutex>& lock);
  void write_behind();
  void say(const std::string& line) const;

  const ParkedKind kind_;
  ParkingOptions options_;
  const Log log_;
  std::shared_ptr<RowArena> arena_;
  std::unique_ptr<FolderLock> folder_;
  mutable std::mutex mutex_;
  Entries entries_;  // the latest last
  std::size_t next_id_ = 1;
  bool is_closing_ = false;
  std::condition_variable changed_;
  std::thread writer_;
};

}  // namespace engine::runtime
