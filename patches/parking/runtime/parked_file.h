// Files of parked conversations.
//
//   header    magic "KVPARKED", u32 version, u32 prompt_rows, weights [32], numerics [32],
//             u64 rows, u64 tail bytes, u64 tensors, u64 row bytes [tensors], i32 tokens [rows]
//   u64       checksum of the header
//   blocks    of 4 MiB, the last one shorter, each followed by the u64 checksum of its bytes
//
// The blocks hold each kept tensor's rows [rows, row bytes], one tensor after another, then the
// drafter's tail. Checksums are XXH3; a block's is seeded with the header's and the block's number,
// so that no block passes for another one's. Little endian.
//
// Goals: a file that anything has happened to is never taken; a file of another model, grid or
// arithmetic is told from a damaged one. Not a goal: files that somebody forges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops.h"
#include "runtime/disk.h"
#include "runtime/row_arena.h"

namespace engine::runtime {

// What rows are bits of: only a file that says the same is resumed.
struct ParkedKind {
  std::string weights;   // digest of the weights, 32 hex digits
  std::string numerics;  // digest of what the arithmetic makes of them
  std::size_t prompt_rows = 0;
  std::vector<std::size_t> row_bytes;  // of each kept tensor

  bool operator==(const ParkedKind&) const = default;
};

// A conversation's rows in host memory. Never changed once it is made.
struct ParkedRows {
  std::vector<kernels::Token> tokens;  // a multiple of prompt_rows
  std::unique_ptr<const HeldRows> rows;
  std::vector<std::byte> tail;  // what the drafter needs to go on after them; see parking.h

  std::size_t bytes() const;
};

struct ParkedHeader {
  ParkedKind kind;
  std::vector<kernels::Token> tokens;
  std::size_t tail_bytes = 0;
  std::size_t file_bytes = 0;
  std::uint64_t checksum = 0;
};

// Damaged, or no parked file at all. What is wrong with it follows its name.
struct DamagedFile : DiskError {
  using DiskError::DiskError;
};
// Whole, but of another version of the format.
struct OtherVersion : DiskError {
  using DiskError::DiskError;
};

// Bytes that write_parked_file() takes.
std::size_t parked_file_bytes(const ParkedKind& kind, std::size_t rows, std::size_t tail_bytes);

// Replaces `path` when it is whole. Throws DiskError; then `path` is as it was.
void write_parked_file(Disk& disk, const std::filesystem::path& path, const ParkedKind& kind,
                       const ParkedRows& parked);

// Throws DamagedFile, OtherVersion, or DiskError where it cannot be read.
ParkedHeader read_parked_header(Disk& disk, const std::filesystem::path& path);

// The whole file, each of its bytes verified; the rows go to `into`. Throws as above, and
// DamagedFile if its header is not `header` any more. REQUIRES: `into` holds header.tokens.size()
// rows of header.kind.row_bytes.
ParkedRows read_parked_file(Disk& disk, const std::filesystem::path& path,
                            const ParkedHeader& header, std::unique_ptr<HeldRows> into);

}  // namespace engine::runtime
