#include "parking/parked_lane.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace engine::runtime::testing {

ParkingCoverage& ParkingCoverage::operator+=(const ParkingCoverage& other) {
  turns += other.turns, reused += other.reused, unparked += other.unparked;
  from_disk += other.from_disk, parked += other.parked, ring_kept += other.ring_kept;
  broken += other.broken, cancelled += other.cancelled, disconnected += other.disconnected;
  restarts += other.restarts, kills += other.kills, faults += other.faults;
  damaged += other.damaged, saved += other.saved, restored += other.restored;
  erased += other.erased, exact += other.exact;
  return *this;
}

ParkedLane::ParkedLane(ProofModel& model, const LaneShape& shape, const ParkingShape& parking)
    : model_(model), shape_(shape), parking_(parking) {
  open();
}

EngineOptions ParkedLane::options() const {
  return {.context = shape_.longest_prompt + shape_.reply_room,
          .prompt_rows = shape_.grid,
          .ring_rows =
              Drafter::smallest_ring(model_.network.config(), shape_.grid) + shape_.spare_ring_rows,
          .parking = {},
          .log = {}};
}

void ParkedLane::open() {
  EngineOptions parks = options();
  const Engine measured(model_.network, options());
  std::size_t row_bytes = 0;
  for (std::size_t layer = 0; layer < model_.network.layers.size(); ++layer)
    for (const KeptTensor& tensor : measured.lane().state.kept(layer))
      row_bytes += tensor.row_bytes;
  parks.parking.ram_bytes = parking_.ram_rows * row_bytes;
  parks.parking.least_rows = parking_.least_cells * shape_.grid;
  parks.parking.writes_behind = parking_.writes_behind;
  parks.parking.disk = disk_ = std::make_shared<FallibleDisk>();
  if (parking_.disk_bytes > 0) {
    parks.parking.dir = folder_.path();
    parks.parking.disk_bytes = parking_.disk_bytes;
    parks.parking.weights = std::string(32, 'w');
  }
  engine_ = std::make_unique<Engine>(model_.network, parks);
  exact_from_ = 0;
}

std::vector<Token> ParkedLane::live() const {
  const std::span<const Token> record = engine_->cache().record().first(canonical());
  return {record.begin(), record.end()};
}

std::size_t ParkedLane::common(const std::vector<Token>& tokens,
                               const std::vector<Token>& prompt) const {
  const std::size_t shared = longest_common_prefix(tokens, prompt);
  return cells(std::min(shared, prompt.size() - 1));
}

void ParkedLane::note_leaving() {
  if (canonical() > 0) known_.push_back({live(), exact_from_});
}

// What is neither kept nor may be parked: everything from the end of the whole cells on.
void ParkedLane::poison() {
  poison_rows(*engine_, canonical(), shape_.longest_prompt + shape_.reply_room);
}

std::optional<std::string> ParkedLane::take(const Request& request, Ending ending,
                                            std::uint32_t draw) {
  Engine cold(model_.network, options());
  cold_ = run_until(model_, cold, request, {});
  note_leaving();
  live_reuse_ = common(live(), request.prompt);
  best_reuse_ = 0;
  for (const Known& known : known_)
    best_reuse_ = std::max(best_reuse_, common(known.tokens, request.prompt));
  poison();
  latest_ = run_until(model_, *engine_, request, stop_at(ending, draw, cold_));
  note_ring(request);
  count(ending);
  return difference(request, cold);
}

// From where on the drafter's rows are a cold run's: those before the offset as far as whoever left
// them there had them so.
void ParkedLane::note_ring(const Request& request) {
  if (!latest_.reply) {
    exact_from_ = shape_.longest_prompt;  // unknown
    return;
  }
  const std::size_t kept = latest_.reply->stats.cached;
  if (kept == 0) {
    exact_from_ = 0;
    return;
  }
  const Drafter& drafter = *engine_->lane().drafter;
  const bool starts_empty = drafter.begin() >= kept || latest_.reply->stats.prefill_rows == 0;
  std::size_t exact = kept + shape_.grid - 1;
  if (!starts_empty) {
    std::size_t before = 0;
    for (const Known& known : known_)
      if (common(known.tokens, request.prompt) >= kept) before = std::max(before, known.exact_from);
    exact = std::min(exact, std::max(before, std::size_t{0}));
    ++coverage_.ring_kept;
  }
  exact_from_ = exact;
}

void ParkedLane::count(Ending ending) {
  ++coverage_.turns;
  coverage_.broken += !latest_.reply && ending == Ending::kBroken;
  coverage_.disconnected += !latest_.reply && ending == Ending::kDisconnected;
  // A run that broke may have lost what it was about to park.
  if (!latest_.reply && ending == Ending::kBroken) is_exact_ = false;
  if (!latest_.reply) return;
  const Stats& stats = latest_.reply->stats;
  coverage_.cancelled += latest_.reply->finish == FinishReason::kCancelled;
  coverage_.reused += stats.cached > 0;
  coverage_.unparked += stats.parking.unparked > 0;
  coverage_.from_disk += stats.parking.unparked_from == "disk";
  coverage_.parked += stats.parking.parked > 0;
  coverage_.exact += is_exact_ && parking_.disk_bytes == 0;
}

ParkedLane::Difference ParkedLane::difference(const Request& request, const Engine& cold) const {
  if (auto reason = reuse_difference(request)) return reason;
  const std::span<const Token> record = engine_->cache().record();
  std::size_t complete = engine_->cache().canonical_end(), rows = record.size();
  const std::size_t shared = longest_common_prefix(record, request.prompt);
  // It broke before it wrote a row: the buffer may hold what it held before.
  if (!latest_.reply && latest_.prefilled == 0) complete = rows = cells(std::min(shared, complete));
  if (shared < std::min(rows, request.prompt.size())) return "the record is of another prompt";
  if (auto reason = origin_difference(*engine_, cold, complete)) return reason;
  if (auto reason = row_difference(*engine_, cold, rows)) return reason;
  if (auto reason = reply_difference(latest_, cold_)) return reason;
  return latest_.reply ? drafter_difference(request, cold) : std::nullopt;
}

// The longest match of what is known to be there, where nothing can have been lost; else no less
// than the buffer had and no more than was ever complete.
ParkedLane::Difference ParkedLane::reuse_difference(const Request& request) const {
  if (!latest_.reply) return std::nullopt;
  const Stats& stats = latest_.reply->stats;
  if (stats.cached < live_reuse_)
    return fmt::format("cached {}, and the buffer had {}", stats.cached, live_reuse_);
  if (stats.cached > best_reuse_)
    return fmt::format("cached {}, and only {} ever were", stats.cached, best_reuse_);
  const bool never_lost = is_exact_ && parking_.least_cells == 1 && parking_.ram_rows >= 100'000;
  if (never_lost && stats.cached != best_reuse_)
    return fmt::format("cached {}, not {}", stats.cached, best_reuse_);
  if (stats.parking.unparked > stats.cached) return "more came back than was kept";
  if (stats.prompt_tokens != request.prompt.size()) return "prompt_tokens is not the prompt's";
  return std::nullopt;
}

ParkedLane::Difference ParkedLane::drafter_difference(const Request& request,
                                                      const Engine& cold) const {
  const Drafter &here = *engine_->lane().drafter, &there = *cold.lane().drafter;
  if (auto reason = ring_poison(*engine_, {here.begin(), here.end()})) return reason;
  const Rows both{std::max({here.begin(), there.begin(), exact_from_}),
                  std::min(here.end(), there.end())};
  if (auto reason = ring_difference(*engine_, cold, both)) return reason;
  const bool window = exact_from_ + model_.network.config().mtp_window < request.prompt.size();
  if ((exact_from_ > 0 && !window) || latest_.reply->finish == FinishReason::kCancelled)
    return std::nullopt;
  const Stats &a = latest_.reply->stats, &b = cold_.reply->stats;
  if (a.drafted != b.drafted || a.accepted != b.accepted)
    return fmt::format("{} of {} drafts accepted, cold {} of {}", a.accepted, a.drafted, b.accepted,
                       b.drafted);
  return std::nullopt;
}

void ParkedLane::break_disk(DiskFault fault, std::size_t calls) {
  if (parking_.disk_bytes == 0) return;
  disk_->arm(fault, calls);
  ++coverage_.faults;
  coverage_.kills += fault == DiskFault::kKilled;
}

void ParkedLane::restart() {
  note_leaving();
  is_exact_ = false;
  ++coverage_.restarts;
  engine_.reset();
  open();
}

void ParkedLane::damage(std::uint32_t draw) {
  engine_->parking()->settle();
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path()))
    if (file.file_size() > 0) files.push_back(file.path());
  if (files.empty()) return;
  is_exact_ = false;
  ++coverage_.damaged;
  std::sort(files.begin(), files.end());
  const std::filesystem::path& path = files[draw % files.size()];
  const std::size_t size = std::filesystem::file_size(path);
  const std::size_t at = draw / 7 % size;
  if (draw % 3 == 0) return std::filesystem::resize_file(path, at);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(at));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(at));
  file.put(static_cast<char>(byte ^ (1 << draw % 8)));
}

void ParkedLane::save(std::uint32_t draw) {
  const auto parked = engine_->parking()->list();
  note_leaving();
  const std::size_t slot = draw % (parked.size() + 1);
  try {
    engine_->parking()->save(slot == 0 ? 0 : parked[slot - 1].id, fmt::format("s{}", names_));
    ++names_;
    ++coverage_.saved;
  } catch (const DiskError&) {
  } catch (const RequestError&) {
  }
}

void ParkedLane::restore(std::uint32_t draw) {
  if (names_ == 0) return;
  note_leaving();
  poison();
  try {
    engine_->parking()->restore(fmt::format("s{}", draw % names_));
    exact_from_ = shape_.longest_prompt;  // unknown
    ++coverage_.restored;
  } catch (const DiskError&) {
  } catch (const RequestError&) {
  }
}

void ParkedLane::erase(std::uint32_t draw) {
  note_leaving();
  is_exact_ = false;
  const auto parked = engine_->parking()->list();
  const std::size_t slot = draw % (parked.size() + 1);
  engine_->parking()->erase(slot == 0 ? 0 : parked[slot - 1].id);
  ++coverage_.erased;
}

}  // namespace engine::runtime::testing
