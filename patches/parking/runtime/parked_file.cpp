#include "runtime/parked_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

namespace engine::runtime {
namespace {

using kernels::Token;

static_assert(std::endian::native == std::endian::little);

constexpr std::array<char, 8> kMagic{'K', 'V', 'P', 'A', 'R', 'K', 'E', 'D'};
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kBlockBytes = std::size_t{4} << 20;
constexpr std::size_t kChecksumBytes = sizeof(std::uint64_t);

struct FixedHeader {
  std::array<char, 8> magic;
  std::uint32_t version, prompt_rows;
  std::array<char, kDigestBytes> weights, numerics;
  std::uint64_t rows, tail_bytes, tensors;
};
static_assert(sizeof(FixedHeader) == 104);

std::size_t row_bytes_of_all(const ParkedKind& kind) {
  return std::accumulate(kind.row_bytes.begin(), kind.row_bytes.end(), std::size_t{0});
}

std::size_t header_bytes(std::size_t tensors, std::size_t rows) {
  return sizeof(FixedHeader) + tensors * sizeof(std::uint64_t) + rows * sizeof(Token);
}

std::array<char, kDigestBytes> digest_field(const std::string& digest) {
  std::array<char, kDigestBytes> field{};
  std::copy_n(digest.begin(), std::min(digest.size(), field.size()), field.begin());
  return field;
}

template <typename T>
void append(std::vector<std::byte>& bytes, std::span<const T> values) {
  const auto raw = std::as_bytes(values);
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

std::vector<std::byte> header_of(const ParkedKind& kind, const ParkedRows& parked) {
  const FixedHeader fixed{.magic = kMagic,
                          .version = kVersion,
                          .prompt_rows = static_cast<std::uint32_t>(kind.prompt_rows),
                          .weights = digest_field(kind.weights),
                          .numerics = digest_field(kind.numerics),
                          .rows = parked.tokens.size(),
                          .tail_bytes = parked.tail.size(),
                          .tensors = kind.row_bytes.size()};
  std::vector<std::byte> bytes;
  append(bytes, std::span(&fixed, 1));
  const std::vector<std::uint64_t> row_bytes(kind.row_bytes.begin(), kind.row_bytes.end());
  append(bytes, std::span(row_bytes));
  append(bytes, std::span(parked.tokens));
  return bytes;
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

// The checksums of a stream of blocks.
class BlockChecksum {
 public:
  explicit BlockChecksum(std::uint64_t header) : header_(header) { restart(); }

  // How much of what follows belongs to the block.
  std::size_t room() const { return kBlockBytes - filled_; }
  bool empty() const { return filled_ == 0; }

  void add(std::span<const std::byte> bytes) {
    XXH3_64bits_update(&state_, bytes.data(), bytes.size());
    filled_ += bytes.size();
  }
  std::uint64_t finish() {
    const std::uint64_t sum = XXH3_64bits_digest(&state_);
    ++number_;
    restart();
    return sum;
  }

 private:
  void restart() {
    XXH3_64bits_reset_withSeed(&state_, header_ + number_);
    filled_ = 0;
  }

  std::uint64_t header_;
  std::uint64_t number_ = 0;
  std::size_t filled_ = 0;
  XXH3_state_t state_{};
};

// Calls visit(bytes) for all of the rows and the tail, in the file's order, cut at blocks.
void for_each_stretch(const HeldRows& rows, std::span<std::byte> tail, BlockChecksum& block,
                      const std::function<void(std::span<std::byte>)>& visit) {
  const auto cut = [&](std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const std::size_t part = std::min(bytes.size(), block.room());
      visit(bytes.first(part));
      bytes = bytes.subspan(part);
    }
  };
  for (std::size_t tensor = 0; tensor < rows.row_bytes().size(); ++tensor)
    rows.for_each_piece(tensor, 0, rows.rows(),
                        [&](std::size_t, std::byte* memory, std::size_t count) {
                          cut({memory, count * rows.row_bytes()[tensor]});
                        });
  cut(tail);
}

[[noreturn]] void damaged(const std::filesystem::path& path, const char* what) {
  throw DamagedFile(path.string() + ": " + what);
}

std::uint64_t read_number(DiskReader& file) {
  std::uint64_t number = 0;
  file.read(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

// Whether the lengths that the header tells, which are not verified yet, can be the file's.
bool fits(const FixedHeader& fixed, std::size_t file_bytes) {
  return fixed.tensors <= file_bytes / sizeof(std::uint64_t) &&
         fixed.rows <= file_bytes / sizeof(Token) && fixed.tail_bytes <= file_bytes &&
         header_bytes(fixed.tensors, fixed.rows) + kChecksumBytes <= file_bytes;
}

ParkedHeader read_header(DiskReader& file, const std::filesystem::path& path) {
  if (file.size() < sizeof(FixedHeader)) damaged(path, "is too short");
  std::vector<std::byte> bytes(sizeof(FixedHeader));
  file.read(bytes);
  FixedHeader fixed{};
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.magic != kMagic) damaged(path, "is no parked conversation");
  if (fixed.version != kVersion)
    throw OtherVersion(path.string() + ": is of version " + std::to_string(fixed.version) +
                       ", not " + std::to_string(kVersion));
  if (!fits(fixed, file.size())) damaged(path, "its header is damaged");
  bytes.resize(header_bytes(fixed.tensors, fixed.rows));
  file.read(std::span(bytes).subspan(sizeof(FixedHeader)));
  ParkedHeader header;
  header.checksum = read_number(file);
  if (header.checksum != checksum_of(bytes)) damaged(path, "its header is damaged");
  header.kind = {.weights = {fixed.weights.data(), fixed.weights.size()},
                 .numerics = {fixed.numerics.data(), fixed.numerics.size()},
                 .prompt_rows = fixed.prompt_rows,
                 .row_bytes = {}};
  std::vector<std::uint64_t> row_bytes(fixed.tensors);
  std::memcpy(row_bytes.data(), bytes.data() + sizeof fixed, fixed.tensors * sizeof(std::uint64_t));
  header.kind.row_bytes.assign(row_bytes.begin(), row_bytes.end());
  header.tokens.resize(fixed.rows);
  std::memcpy(header.tokens.data(), bytes.data() + header_bytes(fixed.tensors, 0),
              fixed.rows * sizeof(Token));
  header.tail_bytes = fixed.tail_bytes;
  header.file_bytes = file.size();
  if (file.size() != parked_file_bytes(header.kind, fixed.rows, fixed.tail_bytes))
    damaged(path, "its length is not what its header says");
  return header;
}

}  // namespace

std::size_t ParkedRows::bytes() const {
  const std::vector<std::size_t>& row_bytes = rows->row_bytes();
  return tokens.size() * std::accumulate(row_bytes.begin(), row_bytes.end(), std::size_t{0}) +
         tail.size();
}

std::size_t parked_file_bytes(const ParkedKind& kind, std::size_t rows, std::size_t tail_bytes) {
  const std::size_t content = rows * row_bytes_of_all(kind) + tail_bytes;
  const std::size_t blocks = (content + kBlockBytes - 1) / kBlockBytes;
  return header_bytes(kind.row_bytes.size(), rows) + content + (1 + blocks) * kChecksumBytes;
}

void write_parked_file(Disk& disk, const std::filesystem::path& path, const ParkedKind& kind,
                       const ParkedRows& parked) {
  DiskWriter file(disk, path);
  const std::vector<std::byte> header = header_of(kind, parked);
  const std::uint64_t header_sum = checksum_of(header);
  const auto write_number = [&](std::uint64_t number) {
    file.write(std::as_bytes(std::span(&number, 1)));
  };
  file.write(header);
  write_number(header_sum);
  BlockChecksum block(header_sum);
  std::vector<std::byte> tail = parked.tail;
  for_each_stretch(*parked.rows, tail, block, [&](std::span<std::byte> bytes) {
    file.write(bytes);
    block.add(bytes);
    if (block.room() == 0) write_number(block.finish());
  });
  if (!block.empty()) write_number(block.finish());
  file.finish();
}

ParkedHeader read_parked_header(Disk& disk, const std::filesystem::path& path) {
  DiskReader file(disk, path);
  return read_header(file, path);
}

ParkedRows read_parked_file(Disk& disk, const std::filesystem::path& path,
                            const ParkedHeader& header, std::unique_ptr<HeldRows> into) {
  DiskReader file(disk, path);
  if (read_header(file, path).checksum != header.checksum) damaged(path, "is another file now");
  std::vector<std::byte> tail(header.tail_bytes);
  BlockChecksum block(header.checksum);
  const auto verify = [&] {
    const std::uint64_t sum = block.finish();
    if (read_number(file) != sum) damaged(path, "its rows are damaged");
  };
  for_each_stretch(*into, tail, block, [&](std::span<std::byte> bytes) {
    file.read(bytes);
    block.add(bytes);
    if (block.room() == 0) verify();
  });
  if (!block.empty()) verify();
  return {header.tokens, std::move(into), std::move(tail)};
}

}  // namespace engine::runtime
