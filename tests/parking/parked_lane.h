// One lane that parks, on which many conversations take turns, each turn compared with a cold run:
// a fresh engine with the same settings and nothing parked.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "parking/fallible_disk.h"
#include "proof/stopped_run.h"
#include "temp_folder.h"

namespace engine::runtime::testing {

struct ParkingShape {
  std::size_t ram_rows = 0;
  std::size_t disk_bytes = 0;  // 0: no disk
  std::size_t least_cells = 1;
  bool writes_behind = false;
};

// How often each thing has happened.
struct ParkingCoverage {
  std::size_t turns = 0, reused = 0, unparked = 0, from_disk = 0, parked = 0, ring_kept = 0;
  std::size_t broken = 0, cancelled = 0, disconnected = 0, restarts = 0, kills = 0, faults = 0;
  std::size_t damaged = 0, saved = 0, restored = 0, erased = 0, exact = 0;

  ParkingCoverage& operator+=(const ParkingCoverage& other);
};

class ParkedLane {
 public:
  ParkedLane(ProofModel& model, const LaneShape& shape, const ParkingShape& parking);

  // Runs the request here, ended as the arguments say, and on a fresh engine. Nothing, or how the
  // two differ.
  std::optional<std::string> take(const Request& request, Ending ending, std::uint32_t draw);
  // The tokens that were streamed by the latest.
  const std::vector<Token>& streamed() const { return latest_.streamed; }

  // From here on the disk fails so, after as many further calls.
  void break_disk(DiskFault fault, std::size_t calls);
  // The process ends and another one begins.
  void restart();
  // Whether the process died when it used the disk, and must be restarted.
  bool is_dead() const { return disk_->is_dead(); }
  // Flips a bit of one of the files, or cuts it; what `draw` says.
  void damage(std::uint32_t draw);
  void save(std::uint32_t draw);
  void restore(std::uint32_t draw);
  void erase(std::uint32_t draw);

  const ParkingCoverage& coverage() const { return coverage_; }

 private:
  using Difference = std::optional<std::string>;
  // Tokens whose rows were complete on the grid at some time, and from where on the drafter's rows
  // before their end had a cold run's bits.
  struct Known {
    std::vector<Token> tokens;
    std::size_t exact_from;
  };

  EngineOptions options() const;
  void open();
  std::size_t cells(std::size_t rows) const { return rows / shape_.grid * shape_.grid; }
  std::size_t canonical() const { return cells(engine_->cache().canonical_end()); }
  std::size_t common(const std::vector<Token>& tokens, const std::vector<Token>& prompt) const;
  std::vector<Token> live() const;
  void note_leaving();
  void poison();
  void note_ring(const Request& request);
  void count(Ending ending);
  Difference difference(const Request& request, const Engine& cold) const;
  Difference reuse_difference(const Request& request) const;
  Difference drafter_difference(const Request& request, const Engine& cold) const;

  ProofModel& model_;
  const LaneShape shape_;
  const ParkingShape parking_;
  TempFolder folder_;
  std::shared_ptr<FallibleDisk> disk_;
  std::unique_ptr<Engine> engine_;
  ParkingCoverage coverage_;
  std::vector<Known> known_;
  std::size_t names_ = 0;       // of saved conversations, so far
  bool is_exact_ = true;        // nothing can have been lost yet
  std::size_t exact_from_ = 0;  // the drafter's rows from here on have a cold run's bits
  std::size_t live_reuse_ = 0;  // rows that the buffer alone had for the latest prompt
  std::size_t best_reuse_ = 0;  // and those that anything ever had
  Outcome latest_, cold_;
};

}  // namespace engine::runtime::testing
