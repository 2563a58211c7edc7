#include "runtime/parked_file.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <future>
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

// The memory of one block of the file.
struct Block {
  std::vector<std::span<std::byte>> pieces{};
  std::size_t bytes = 0;
};

// All of the rows and the tail, in the file's order.
std::vector<Block> blocks_of(const HeldRows& rows, std::span<std::byte> tail) {
  std::vector<Block> blocks;
  const auto add = [&](std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      if (blocks.empty() || blocks.back().bytes == kBlockBytes) blocks.emplace_back();
      Block& block = blocks.back();
      const std::size_t part = std::min(bytes.size(), kBlockBytes - block.bytes);
      block.pieces.push_back(bytes.first(part));
      block.bytes += part;
      bytes = bytes.subspan(part);
    }
  };
  for (std::size_t tensor = 0; tensor < rows.row_bytes().size(); ++tensor)
    rows.for_each_piece(tensor, 0, rows.rows(),
                        [&](std::size_t, std::byte* memory, std::size_t count) {
                          add({memory, count * rows.row_bytes()[tensor]});
                        });
  add(tail);
  return blocks;
}

std::uint64_t checksum_of(const Block& block, std::uint64_t header, std::size_t number) {
  XXH3_state_t state{};
  XXH3_64bits_reset_withSeed(&state, header + number);
  for (const std::span<std::byte> piece : block.pieces)
    XXH3_64bits_update(&state, piece.data(), piece.size());
  return XXH3_64bits_digest(&state);
}

[[noreturn]] void damaged(const std::filesystem::path& path, const char* what) {
  throw DamagedFile(path.string() + ": " + what);
}

std::uint64_t read_number(const DiskReader& file, std::size_t offset) {
  std::uint64_t number = 0;
  file.read(std::as_writable_bytes(std::span(&number, 1)), offset);
  return number;
}

// Whether the lengths that the header tells, which are not verified yet, can be the file's.
bool fits(const FixedHeader& fixed, std::size_t file_bytes) {
  return fixed.tensors <= file_bytes / sizeof(std::uint64_t) &&
         fixed.rows <= file_bytes / sizeof(Token) && fixed.tail_bytes <= file_bytes &&
         header_bytes(fixed.tensors, fixed.rows) + kChecksumBytes <= file_bytes;
}

ParkedHeader read_header(const DiskReader& file, const std::filesystem::path& path) {
  if (file.size() < sizeof(FixedHeader)) damaged(path, "is too short");
  std::vector<std::byte> bytes(sizeof(FixedHeader));
  file.read(bytes, 0);
  FixedHeader fixed{};
  std::memcpy(&fixed, bytes.data(), sizeof fixed);
  if (fixed.magic != kMagic) damaged(path, "is no parked conversation");
  if (fixed.version != kVersion)
    throw OtherVersion(path.string() + ": is of version " + std::to_string(fixed.version) +
                       ", not " + std::to_string(kVersion));
  if (!fits(fixed, file.size())) damaged(path, "its header is damaged");
  bytes.resize(header_bytes(fixed.tensors, fixed.rows));
  file.read(std::span(bytes).subspan(sizeof(FixedHeader)), sizeof(FixedHeader));
  ParkedHeader header;
  header.checksum = read_number(file, bytes.size());
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

// Reads blocks on several threads, which take the next one each, and verifies them.
void read_blocks(const DiskReader& file, const std::filesystem::path& path,
                 const std::vector<Block>& blocks, std::size_t begin, std::uint64_t header) {
  constexpr std::size_t kThreads = 8;
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t number = next++; number < blocks.size(); number = next++) {
      std::size_t offset = begin + number * (kBlockBytes + kChecksumBytes);
      for (const std::span<std::byte> piece : blocks[number].pieces) {
        file.read(piece, offset);
        offset += piece.size();
      }
      if (read_number(file, offset) != checksum_of(blocks[number], header, number))
        damaged(path, "its rows are damaged");
    }
  };
  std::vector<std::future<void>> others;
  for (std::size_t i = 1; i < std::min(kThreads, blocks.size()); ++i)
    others.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& other : others)
    other.get();
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
  std::vector<std::byte> tail = parked.tail;
  const std::vector<Block> blocks = blocks_of(*parked.rows, tail);
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    for (const std::span<std::byte> piece : blocks[number].pieces)
      file.write(piece);
    write_number(checksum_of(blocks[number], header_sum, number));
  }
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
  const std::size_t begin =
      header_bytes(header.kind.row_bytes.size(), header.tokens.size()) + kChecksumBytes;
  read_blocks(file, path, blocks_of(*into, tail), begin, header.checksum);
  return {header.tokens, std::move(into), std::move(tail)};
}

}  // namespace engine::runtime
