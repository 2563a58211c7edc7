#include "runtime/parked_store.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "runtime/prefix_cache.h"

namespace engine::runtime {
namespace {

using kernels::Token;

constexpr const char* kEnding = ".parked";
constexpr const char* kSavedEnding = ".saved";

std::size_t bytes_of_row(const ParkedKind& kind) {
  return std::accumulate(kind.row_bytes.begin(), kind.row_bytes.end(), std::size_t{0});
}

bool begins_with(std::span<const Token> whole, std::span<const Token> part) {
  return part.size() <= whole.size() && longest_common_prefix(whole, part) == part.size();
}

}  // namespace

ParkedStore::ParkedStore(ParkedKind kind, std::string_view backend, const ParkingOptions& options,
                         Log log)
    : kind_(std::move(kind)),
      options_(options),
      log_(std::move(log)),
      arena_(std::make_shared<RowArena>(backend, kind_.row_bytes,
                                        options.ram_bytes / bytes_of_row(kind_))) {
  if (!options_.disk) options_.disk = std::make_shared<Disk>();
  if (options_.least_rows == 0) options_.least_rows = 2 * kind_.prompt_rows;
  if (options_.dir.empty()) return;
  folder_ = std::make_unique<FolderLock>(disk(), options_.dir);
  find_files();
  if (options_.writes_behind) writer_ = std::thread([this] { write_behind(); });
}

ParkedStore::~ParkedStore() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  if (writer_.joinable()) writer_.join();
}

void ParkedStore::find_files() {
  std::multimap<std::filesystem::file_time_type, std::filesystem::path> by_time;
  std::error_code error;
  const std::filesystem::directory_iterator files(options_.dir, error);
  if (error) throw DiskError(options_.dir.string() + ": cannot be read: " + error.message());
  for (const auto& file : files) {
    const std::filesystem::path& path = file.path();
    if (path.extension() == DiskWriter::kUnfinished) disk().remove(path);
    if (path.extension() == kEnding) by_time.emplace(file.last_write_time(error), path);
  }
  for (const auto& [time, path] : by_time)
    adopt_file(path);
  keep_within_disk(0);
}

void ParkedStore::adopt_file(const std::filesystem::path& path) {
  std::size_t number = 0;
  try {
    number = std::stoull(path.stem().string());
  } catch (const std::exception&) {
    return;  // not a name of ours
  }
  next_id_ = std::max(next_id_, number + 1);
  try {
    ParkedHeader header = read_parked_header(disk(), path);
    if (!(header.kind == kind_) || path != path_of(number)) return;
    std::vector<Token> tokens = header.tokens;
    entries_.push_back({number, std::move(tokens), nullptr, std::move(header)});
  } catch (const OtherVersion&) {
  } catch (const DamagedFile& damage) {
    say(damage.what());
    disk().remove(path);
  } catch (const DiskError& error) {
    say(error.what());
  }
}

std::filesystem::path ParkedStore::path_of(std::size_t id) const {
  return options_.dir / (std::to_string(id) + kEnding);
}

ParkedStore::Entries::iterator ParkedStore::by_id(std::size_t id) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.id == id; });
}

void ParkedStore::touch(std::size_t id) {
  const auto entry = by_id(id);
  if (entry != entries_.end()) std::rotate(entry, entry + 1, entries_.end());
}

void ParkedStore::say(const std::string& line) const {
  if (log_) log_("parking: " + line);
}

ParkedStore::Match ParkedStore::find(std::span<const Token> prompt) const {
  const std::lock_guard lock(mutex_);
  Match best;
  for (const Entry& entry : entries_) {
    const std::size_t common = longest_common_prefix(entry.tokens, prompt);
    const std::size_t rows =
        std::min(common, prompt.size() - 1) / kind_.prompt_rows * kind_.prompt_rows;
    const bool in_ram = entry.ram != nullptr;
    if (rows == 0 || rows < best.rows || (rows == best.rows && best.in_ram && !in_ram)) continue;
    best = {entry.id, rows, in_ram};
  }
  return best;
}

ParkedStore::Found ParkedStore::fetch(std::size_t id) {
  std::optional<ParkedHeader> header;
  {
    const std::lock_guard lock(mutex_);
    touch(id);
    const auto entry = by_id(id);
    if (entry == entries_.end()) return {};
    if (entry->ram) return {entry->ram, false};
    header = entry->file;
  }
  try {
    std::unique_ptr<HeldRows> room = make_room(header->tokens.size());
    auto rows = std::make_shared<const ParkedRows>(
        read_parked_file(disk(), path_of(id), *header, std::move(room)));
    const std::lock_guard lock(mutex_);
    const auto entry = by_id(id);
    if (entry != entries_.end() && rows->rows->is_of(*arena_)) entry->ram = rows;
    return {std::move(rows), true};
  } catch (const DamagedFile& damage) {
    say(damage.what());
    erase(id);
  } catch (
      const std::exception& error) {  // the file may be whole: the next start looks at it again
    say(error.what());
    const std::lock_guard lock(mutex_);
    const auto entry = by_id(id);
    if (entry != entries_.end()) entries_.erase(entry);
  }
  return {};
}

bool ParkedStore::holds(std::span<const Token> tokens) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& e) { return begins_with(e.tokens, tokens); });
  if (found == entries_.end()) return false;
  touch(found->id);
  return true;
}

std::unique_ptr<HeldRows> ParkedStore::make_room(std::size_t rows) {
  if (rows <= arena_->capacity()) {
    const std::lock_guard lock(mutex_);
    do {
      if (auto taken = arena_->take(rows)) return taken;
    } while (evict_one());
  }
  if (!has_disk()) return nullptr;
  // On its way to the disk or from it: what the arena has no room for gets memory of its own, one
  // conversation at a time.
  settle();
  return own_memory(rows);
}

std::unique_ptr<HeldRows> ParkedStore::own_memory(std::size_t rows) const {
  return std::make_shared<RowArena>(std::string_view(), kind_.row_bytes, rows)->take(rows);
}

// The least recently used that nobody reads and the disk has; else the least recently used that
// nobody reads.
bool ParkedStore::evict_one() {
  const auto is_idle = [](const Entry& e) { return e.ram && e.ram.use_count() == 1; };
  auto entry = std::find_if(entries_.begin(), entries_.end(),
                            [&](const Entry& e) { return is_idle(e) && e.file; });
  if (entry == entries_.end()) entry = std::find_if(entries_.begin(), entries_.end(), is_idle);
  if (entry == entries_.end()) return false;
  drop_ram(entry);
  return true;
}

void ParkedStore::drop_ram(Entries::iterator entry) {
  entry->ram = nullptr;
  entry->is_pending = false;
  if (!entry->file) entries_.erase(entry);
}

void ParkedStore::forget(Entries::iterator entry) {
  if (entry->file) disk().remove(path_of(entry->id));
  entries_.erase(entry);
}

// Those on disk only stay until the newer one is there, too.
void ParkedStore::forget_prefixes(const std::vector<Token>& tokens, bool on_disk) {
  for (std::size_t i = entries_.size(); i-- > 0;) {
    const auto entry = entries_.begin() + static_cast<std::ptrdiff_t>(i);
    if (entry->tokens.size() >= tokens.size() || !begins_with(tokens, entry->tokens)) continue;
    if (on_disk) {
      forget(entry);
    } else if (entry->ram) {
      drop_ram(entry);
    }
  }
}

void ParkedStore::add(ParkedRows rows) {
  std::unique_lock lock(mutex_);
  forget_prefixes(rows.tokens, !has_disk());
  std::vector<Token> tokens = rows.tokens;
  entries_.push_back({next_id_++, std::move(tokens),
                      std::make_shared<const ParkedRows>(std::move(rows)), std::nullopt,
                      has_disk()});
  if (options_.writes_behind) {
    changed_.notify_all();
  } else {
    while (write_one(lock)) {
    }
  }
}

// Of parked files; false: `more` bytes cannot be had.
bool ParkedStore::keep_within_disk(std::size_t more) {
  if (more > options_.disk_bytes) return false;
  for (;;) {
    std::size_t used = more;
    for (const Entry& entry : entries_)
      used += entry.file ? entry.file->file_bytes : 0;
    if (used <= options_.disk_bytes) return true;
    const auto oldest = std::find_if(entries_.begin(), entries_.end(),
                                     [](const Entry& e) { return e.file.has_value(); });
    disk().remove(path_of(oldest->id));
    oldest->file.reset();
    if (!oldest->ram) entries_.erase(oldest);
  }
}

// Writes the oldest that waits; false: none does. The lock is open while it writes.
bool ParkedStore::write_one(std::unique_lock<std::mutex>& lock) {
  const auto waiting =
      std::find_if(entries_.begin(), entries_.end(), [](const Entry& e) { return e.is_pending; });
  if (waiting == entries_.end()) return false;
  const std::size_t id = waiting->id;
  const std::shared_ptr<const ParkedRows> rows = waiting->ram;
  const std::size_t bytes = parked_file_bytes(kind_, rows->tokens.size(), rows->tail.size());
  std::optional<ParkedHeader> header;
  if (keep_within_disk(bytes)) {
    lock.unlock();
    try {
      write_parked_file(disk(), path_of(id), kind_, *rows);
      header = read_parked_header(disk(), path_of(id));
    } catch (const std::exception& error) {
      say(error.what());
    }
    lock.lock();
  } else {
    say(std::to_string(bytes) + " bytes are more than the disk may take");
  }
  const auto written = by_id(id);
  if (written == entries_.end()) {  // erased meanwhile
    if (header) disk().remove(path_of(id));
    return true;
  }
  written->is_pending = false;
  written->file = std::move(header);
  const bool is_on_disk = written->file.has_value();
  const std::vector<Token> tokens = written->tokens;
  if (!rows->rows->is_of(*arena_)) drop_ram(written);
  if (is_on_disk) forget_prefixes(tokens, true);
  return true;
}

void ParkedStore::write_behind() {
  std::unique_lock lock(mutex_);
  for (;;) {
    while (write_one(lock)) {
    }
    changed_.notify_all();
    if (is_closing_) return;
    changed_.wait(lock);
  }
}

void ParkedStore::settle() {
  std::unique_lock lock(mutex_);
  if (!writer_.joinable()) return;
  changed_.notify_all();
  changed_.wait(lock, [&] {
    return std::none_of(entries_.begin(), entries_.end(),
                        [](const Entry& e) { return e.is_pending; });
  });
}

std::vector<ParkedStore::Info> ParkedStore::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Info> all;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
    all.push_back({entry->id, entry->tokens.size(), entry->ram ? entry->ram->bytes() : 0,
                   entry->file ? entry->file->file_bytes : 0});
  return all;
}

bool ParkedStore::erase(std::size_t id) {
  const std::lock_guard lock(mutex_);
  const auto entry = by_id(id);
  if (entry == entries_.end()) return false;
  forget(entry);
  return true;
}

std::size_t ParkedStore::save(const ParkedRows& rows, const std::string& name) {
  write_parked_file(disk(), options_.dir / (name + kSavedEnding), kind_, rows);
  return parked_file_bytes(kind_, rows.tokens.size(), rows.tail.size());
}

std::shared_ptr<const ParkedRows> ParkedStore::load(const std::string& name) {
  const std::filesystem::path path = options_.dir / (name + kSavedEnding);
  const ParkedHeader header = read_parked_header(disk(), path);
  if (!(header.kind == kind_))
    throw DiskError(path.string() + ": is of another model, grid or arithmetic");
  return std::make_shared<const ParkedRows>(
      read_parked_file(disk(), path, header, own_memory(header.tokens.size())));
}

}  // namespace engine::runtime
