#include "runtime/parking.h"

#include <fmt/format.h>

#include <algorithm>

#include "numerics/split_k.h"
#include "runtime/digest.h"
#include "runtime/error.h"
#include "runtime/forward.h"
#include "runtime/stopwatch.h"

namespace engine::runtime {
namespace {

using kernels::Token;

template <typename... Args>
void demand(bool holds, fmt::format_string<Args...> message, Args&&... args) {
  if (!holds) throw RequestError(fmt::format(message, std::forward<Args>(args)...));
}

std::vector<KeptTensor> kept_tensors(const Lane& lane) {
  std::vector<KeptTensor> all;
  for (std::size_t layer = 0; layer < lane.network.layers.size(); ++layer) {
    const std::vector<KeptTensor> of_layer = lane.state.kept(layer);
    all.insert(all.end(), of_layer.begin(), of_layer.end());
  }
  return all;
}

std::vector<std::size_t> row_bytes_of(const std::vector<KeptTensor>& tensors) {
  std::vector<std::size_t> bytes;
  for (const KeptTensor& tensor : tensors)
    bytes.push_back(tensor.row_bytes);
  return bytes;
}

// Of the bits that this backend makes of a few rows, and of how it would cut all sizes of products:
// what differs there, differs in rows.
std::string numerics_digest(Lane& lane) {
  constexpr std::size_t kProbeRows = 32;
  std::vector<Token> tokens(std::min(kProbeRows, lane.state.shape().prompt_rows));
  for (std::size_t i = 0; i < tokens.size(); ++i)
    tokens[i] = static_cast<Token>((7 * i + 1) % lane.network.config().vocabulary);
  forward(lane.network, lane.state, tokens, 0, kernels::Phase::kPrefill);
  Digest digest;
  for (const KeptTensor& tensor : kept_tensors(lane)) {
    std::vector<std::byte> rows(tokens.size() * tensor.row_bytes);
    lane.network.backend().download(rows.data(), tensor.data, rows.size());
    digest.add(rows);
  }
  for (std::size_t outputs = 64; outputs <= 1 << 18; outputs *= 2)
    for (std::size_t inner = 64; inner <= 1 << 15; inner *= 2)
      digest.add(numerics::split_k(lane.state.shape().prompt_rows, outputs, inner));
  return digest.hex();
}

ParkedKind kind_of(Lane& lane, const ParkingOptions& options) {
  return {.weights = options.weights,
          .numerics = options.dir.empty() ? std::string() : numerics_digest(lane),
          .prompt_rows = lane.state.shape().prompt_rows,
          .row_bytes = row_bytes_of(kept_tensors(lane))};
}

const ParkingOptions& checked(const ParkingOptions& options, const Lane& lane,
                              const PrefixCache& cache) {
  demand(cache.enabled(),
         "parking needs the prefix cache, which TF_GLM53_PREFIX_CACHE=0 turns off");
  demand(options.dir.empty() == (options.disk_bytes == 0),
         "parking on disk needs a folder and a size");
  std::size_t cell = 0;
  for (const KeptTensor& tensor : kept_tensors(lane))
    cell += tensor.row_bytes * lane.state.shape().prompt_rows;
  demand(options.ram_bytes == 0 || options.ram_bytes >= cell,
         "{} bytes of memory hold no {} rows, which take {}", options.ram_bytes,
         lane.state.shape().prompt_rows, cell);
  return options;
}

void check_name(const std::string& name) {
  const bool plain = !name.empty() && name.size() <= 200 && name.front() != '.' &&
                     std::all_of(name.begin(), name.end(), [](unsigned char c) {
                       return c > 0x20 && c != '/' && c != '\\' && c != 0x7f;
                     });
  demand(plain, "\"{}\" is no name of a saved conversation: it must be a plain file name", name);
}

// Calls visit(tensor, ring, slot, rows, offset) for the one or two stretches of each ring tensor
// that hold rows [begin, end); `offset`: bytes from the first of them on, all tensors together.
template <typename Visit>
std::size_t for_each_ring_stretch(const std::vector<KeptTensor>& ring, std::size_t begin,
                                  std::size_t end, Visit visit) {
  std::size_t offset = 0;
  for (const KeptTensor& tensor : ring) {
    for (std::size_t position = begin; position < end;) {
      const std::size_t slot = position % tensor.slots;
      const std::size_t rows = std::min(end - position, tensor.slots - slot);
      visit(tensor.data + slot * tensor.row_bytes, offset, rows * tensor.row_bytes);
      offset += rows * tensor.row_bytes;
      position += rows;
    }
  }
  return offset;
}

}  // namespace

Parking::Parking(Lane& lane, PrefixCache& cache, const ParkingOptions& options,
                 ParkedStore::Log log)
    : lane_(lane),
      cache_(cache),
      grid_(lane.state.shape().prompt_rows),
      least_rows_(options.least_rows == 0 ? 2 * grid_ : options.least_rows),
      has_folder_(!options.dir.empty()),
      store_(kind_of(lane, checked(options, lane, cache)), lane.network.backend().name(), options,
             std::move(log)) {}

ParkingStats Parking::prepare(std::span<const Token> prompt, bool computes_all) {
  ParkingStats stats;
  const std::size_t kept = computes_all ? 0 : cache_.plan(prompt, grid_).offset;
  ParkedStore::Match match;
  ParkedStore::Found found;
  const Stopwatch fetching;
  while (!computes_all && !found.rows) {
    match = store_.find(prompt);
    // What is not in memory is read as a whole, which must be worth it.
    if (match.rows < kept + (match.in_ram ? 1 : least_rows_)) break;
    found = store_.fetch(match.id);
  }
  stats.unpark_seconds = fetching.seconds();
  const Stopwatch leaving;
  leave(kept, stats);
  stats.park_seconds = leaving.seconds();
  if (!found.rows) return stats;
  const Stopwatch bringing;
  bring(*found.rows, kept, match.rows);
  stats.unpark_seconds += bringing.seconds();
  stats.unparked = match.rows - kept;
  stats.unparked_bytes = found.rows->bytes() / found.rows->tokens.size() * stats.unparked;
  stats.unparked_from = found.from_disk ? "disk" : "ram";
  return stats;
}

void Parking::leave(std::size_t kept, ParkingStats& stats) {
  const std::size_t rows = canonical_rows();
  if (rows < kept + least_rows_) return;
  if (store_.holds(cache_.record().first(rows))) return;
  std::unique_ptr<HeldRows> room = store_.make_room(rows);
  if (!room) return;
  ParkedRows parked = take_rows(rows, std::move(room));
  stats.parked = rows;
  stats.parked_bytes = parked.bytes();
  store_.add(std::move(parked));
}

ParkedRows Parking::take_rows(std::size_t rows, std::unique_ptr<HeldRows> into) const {
  const std::span<const Token> tokens = cache_.record().first(rows);
  const std::vector<KeptTensor> tensors = kept_tensors(lane_);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    into->for_each_piece(i, 0, rows, [&](std::size_t at, std::byte* memory, std::size_t count) {
      lane_.network.backend().download(memory, tensors[i].data + at * tensors[i].row_bytes,
                                       count * tensors[i].row_bytes);
    });
  return {{tokens.begin(), tokens.end()}, std::move(into), take_tail(rows)};
}

// The rows of the drafter's ring that it keeps when it resumes at `rows`, and the hidden state
// there; empty if it would start anew.
std::vector<std::byte> Parking::take_tail(std::size_t rows) const {
  if (!lane_.drafter) return {};
  const std::optional<std::size_t> oldest = lane_.drafter->resumes_from(rows);
  if (!oldest) return {};
  kernels::Backend& backend = lane_.network.backend();
  std::vector<std::byte> tail;
  for_each_ring_stretch(lane_.state.kept_ring(), *oldest, rows - 1,
                        [&](std::byte* ring, std::size_t offset, std::size_t bytes) {
                          tail.resize(offset + bytes);
                          backend.download(tail.data() + offset, ring, bytes);
                        });
  const std::size_t ring_bytes = tail.size();
  const std::size_t hidden_bytes = lane_.network.config().hidden * sizeof(float);
  tail.resize(ring_bytes + hidden_bytes);
  backend.download(tail.data() + ring_bytes,
                   lane_.state.checkpoint(lane_.state.checkpoint_slot(rows)), hidden_bytes);
  return tail;
}

void Parking::bring(const ParkedRows& parked, std::size_t kept, std::size_t rows) {
  cache_.keep(kept);
  if (lane_.drafter) lane_.drafter->forget();
  const std::vector<KeptTensor> tensors = kept_tensors(lane_);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    parked.rows->for_each_piece(
        i, kept, rows, [&](std::size_t at, std::byte* memory, std::size_t count) {
          lane_.network.backend().upload(tensors[i].data + at * tensors[i].row_bytes, memory,
                                         count * tensors[i].row_bytes);
        });
  for (std::size_t begin = kept; begin < rows; begin += grid_)
    lane_.state.note_rows(begin, grid_, Writer::kPrefill);
  if (lane_.drafter && rows == parked.tokens.size()) bring_tail(parked);
  cache_.extend_prefilled(parked.tokens, rows);
}

void Parking::bring_tail(const ParkedRows& parked) {
  const std::size_t rows = parked.tokens.size();
  const std::size_t oldest = lane_.drafter->oldest_needed(rows);
  const std::size_t hidden_bytes = lane_.network.config().hidden * sizeof(float);
  const std::vector<KeptTensor> ring = lane_.state.kept_ring();
  const auto nothing = [](std::byte*, std::size_t, std::size_t) {};
  const std::size_t ring_bytes = for_each_ring_stretch(ring, oldest, rows - 1, nothing);
  if (parked.tail.size() != ring_bytes + hidden_bytes) return;  // none was there
  kernels::Backend& backend = lane_.network.backend();
  for_each_ring_stretch(ring, oldest, rows - 1,
                        [&](std::byte* to, std::size_t offset, std::size_t bytes) {
                          backend.upload(to, parked.tail.data() + offset, bytes);
                        });
  backend.upload(lane_.state.checkpoint(lane_.state.checkpoint_slot(rows)),
                 parked.tail.data() + ring_bytes, hidden_bytes);
  lane_.drafter->adopt(rows);
}

SlotReport Parking::save(std::size_t id, const std::string& name) {
  demand(has_folder_, "nothing can be saved without --park-dir");
  check_name(name);
  const Stopwatch saving;
  std::shared_ptr<const ParkedRows> rows;
  if (id == 0) {
    demand(canonical_rows() > 0, "slot 0 holds no whole cell of {} rows", grid_);
    rows = std::make_shared<const ParkedRows>(
        take_rows(canonical_rows(), store_.own_memory(canonical_rows())));
  } else {
    rows = store_.fetch(id).rows;
    demand(rows != nullptr, "there is no slot {}", id);
  }
  const std::size_t bytes = store_.save(*rows, name);
  return {rows->tokens.size(), bytes, saving.seconds()};
}

SlotReport Parking::restore(const std::string& name) {
  demand(has_folder_, "nothing can be restored without --park-dir");
  check_name(name);
  const Stopwatch restoring;
  const std::shared_ptr<const ParkedRows> rows = store_.load(name);
  const std::size_t common = longest_common_prefix(cache_.record(), rows->tokens);
  const std::size_t kept = std::min(common, canonical_rows()) / grid_ * grid_;
  demand(rows->tokens.size() <= lane_.state.shape().context, "{} has {} rows, the context holds {}",
         name, rows->tokens.size(), lane_.state.shape().context);
  ParkingStats unused;
  leave(kept, unused);
  bring(*rows, kept, rows->tokens.size());
  return {rows->tokens.size(), rows->bytes(), restoring.seconds()};
}

SlotReport Parking::erase(std::size_t id) {
  const Stopwatch erasing;
  if (id == 0) {
    const std::size_t rows = cache_.record().size();
    cache_.keep(0);
    return {rows, 0, erasing.seconds()};
  }
  for (const ParkedStore::Info& slot : store_.list()) {
    if (slot.id == id && store_.erase(id)) return {slot.rows, 0, erasing.seconds()};
  }
  throw RequestError(fmt::format("there is no slot {}", id));
}

}  // namespace engine::runtime
