// Parks the rows of conversations that leave a lane's buffer, and brings them back.
//
// Only rows that prefill wrote on the grid are parked: those before the canonical end, in whole
// cells. They are what a cold run of any prompt with these tokens would have written, so rows of
// the buffer and of parked conversations go together where their tokens do. With them goes what the
// drafter needs to resume at their end as it would have in the buffer.
#pragma once

#include <string>

#include "runtime/lane.h"
#include "runtime/parked_store.h"
#include "runtime/prefix_cache.h"
#include "runtime/stats.h"

namespace engine::runtime {

// What one action on a slot moved.
struct SlotReport {
  std::size_t rows = 0, bytes = 0;
  double seconds = 0;
};

// One thread at a time calls it, but for list().
class Parking {
 public:
  // `lane` and `cache` must outlive it. Throws RequestError if the cache is off or the options do
  // not go together, and what ParkedStore throws. With a folder it runs a few rows to see what the
  // arithmetic makes of these weights. REQUIRES: nothing has run on the lane.
  Parking(Lane& lane, PrefixCache& cache, const ParkingOptions& options, ParkedStore::Log log);

  // Call before a run of `prompt`: if parked rows go further than the buffer's, brings them there,
  // and the cache's plan then finds them; parks what the run would overwrite. `computes_all`: the
  // run will keep no row. Throws BackendError; the cache's record is then still right.
  ParkingStats prepare(std::span<const kernels::Token> prompt, bool computes_all);

  // Parked conversations; any thread.
  std::vector<ParkedStore::Info> list() const { return store_.list(); }
  void settle() { store_.settle(); }

  // Slot 0 is the buffer; the others are parked conversations. Each throws RequestError if there is
  // no such slot or nothing in it, or the name is not one of a file in the folder, and DiskError.
  SlotReport save(std::size_t id, const std::string& name);
  SlotReport restore(const std::string& name);  // into the buffer
  SlotReport erase(std::size_t id);

 private:
  std::size_t canonical_rows() const { return cache_.canonical_end() / grid_ * grid_; }
  void leave(std::size_t kept, ParkingStats& stats);
  void bring(const ParkedRows& parked, std::size_t kept, std::size_t rows);
  ParkedRows take_rows(std::size_t rows, std::unique_ptr<HeldRows> into) const;
  std::vector<std::byte> take_tail(std::size_t rows) const;
  void bring_tail(const ParkedRows& parked);

  Lane& lane_;
  PrefixCache& cache_;
  const std::size_t grid_;
  const std::size_t least_rows_;
  const bool has_folder_;
  ParkedStore store_;
};

}  // namespace engine::runtime
