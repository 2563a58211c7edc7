#include "runtime/parked_file.h"

#include <gmock/gmock.h>

#include "parking/fallible_disk.h"
#include "parking/parked_rows.h"
#include "temp_folder.h"

namespace engine::runtime::testing {
namespace {

class ParkedFiles : public ::testing::Test {
 protected:
  void write(std::size_t rows, std::uint64_t seed = 1) {
    write_parked_file(disk, path, kind,
                      parked_rows(counted_tokens(rows), memory_for(rows, kind), seed));
  }
  ParkedRows read() {
    const ParkedHeader header = read_parked_header(disk, path);
    return read_parked_file(disk, path, header, memory_for(header.tokens.size(), header.kind));
  }
  // Whether what is there is refused, or is known to be of something else.
  bool is_refused() {
    try {
      if (!(read_parked_header(disk, path).kind == kind)) return true;
      read();
    } catch (const DiskError&) {
      return true;
    }
    return false;
  }

  TempFolder folder;
  FallibleDisk disk;
  ParkedKind kind = kind_of_test();
  std::filesystem::path path = folder / "1.parked";
};

TEST_F(ParkedFiles, GiveBackWhatWasWritten) {
  write(8, 5);
  const ParkedRows rows = read();
  const auto expected = memory_for(8, kind);
  fill(*expected, 5);
  EXPECT_EQ(bytes_of(*rows.rows), bytes_of(*expected));
  EXPECT_EQ(rows.tokens, counted_tokens(8));
  EXPECT_EQ(rows.tail, std::vector<std::byte>(13, std::byte{7}));
  EXPECT_EQ(std::filesystem::file_size(path), parked_file_bytes(kind, 8, 13));
  EXPECT_EQ(read_parked_header(disk, path).kind, kind);
}

TEST_F(ParkedFiles, AFlippedBitOfAnyByteIsRefused) {
  write(8);
  const std::vector<char> whole = file_bytes(path);
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::vector<char> flipped = whole;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte * 5 % 8));
    write_file(path, flipped);
    ASSERT_TRUE(is_refused()) << "byte " << byte;
  }
}

TEST_F(ParkedFiles, AnyOtherLengthIsRefused) {
  write(8);
  std::vector<char> whole = file_bytes(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write_file(path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
    ASSERT_TRUE(is_refused()) << length << " bytes";
  }
  whole.push_back(0);
  write_file(path, whole);
  EXPECT_TRUE(is_refused());
}

// Each block is whole and has its own checksum: only its place is wrong.
TEST_F(ParkedFiles, BlocksThatChangedPlacesAreRefused) {
  kind.row_bytes = {std::size_t{1} << 20};
  write(12);
  std::vector<char> whole = file_bytes(path);
  const std::size_t block = (std::size_t{4} << 20) + 8, header = whole.size() - 3 * block - 21;
  const auto first = whole.begin() + static_cast<std::ptrdiff_t>(header);
  std::swap_ranges(first, first + static_cast<std::ptrdiff_t>(block),
                   first + static_cast<std::ptrdiff_t>(block));
  write_file(path, whole);
  EXPECT_TRUE(is_refused());
  std::swap_ranges(first, first + static_cast<std::ptrdiff_t>(block),
                   first + static_cast<std::ptrdiff_t>(block));
  write_file(path, whole);
  EXPECT_FALSE(is_refused());
}

TEST_F(ParkedFiles, ABlockOfAnotherFileIsRefused) {
  write(8, 1);
  const std::vector<char> one = file_bytes(path);
  kind.weights = std::string(32, 'c');
  write(8, 2);
  std::vector<char> other = file_bytes(path);
  const std::size_t content = 8 * 16 + 13 + 8;
  std::copy(one.end() - static_cast<std::ptrdiff_t>(content), one.end(),
            other.end() - static_cast<std::ptrdiff_t>(content));
  write_file(path, other);
  EXPECT_TRUE(is_refused());
}

TEST_F(ParkedFiles, AnotherVersionIsTold) {
  write(8);
  std::vector<char> whole = file_bytes(path);
  whole[8] = 2;
  write_file(path, whole);
  EXPECT_THROW(read_parked_header(disk, path), OtherVersion);
}

// Wherever a write ends, the name has what it had before or all of the new.
TEST_F(ParkedFiles, AFailureLeavesTheOldFile) {
  write(8, 1);
  const std::vector<char> old = file_bytes(path);
  for (const DiskFault fault : {DiskFault::kFull, DiskFault::kReadOnly, DiskFault::kKilled}) {
    std::size_t failed = 0;
    for (std::size_t calls = 0; calls < 12; ++calls) {
      write_file(path, old);
      disk.arm(fault, calls);
      try {
        write(8, 2);
      } catch (const DiskError&) {
        ++failed;
        EXPECT_EQ(file_bytes(path), old);
      }
      disk.arm(DiskFault::kNone);
      EXPECT_FALSE(is_refused());
    }
    EXPECT_GT(failed, 0u);
  }
}

TEST_F(ParkedFiles, ShortWritesAndReadsAreContinued) {
  disk.arm(DiskFault::kShort);
  write(400, 3);
  EXPECT_FALSE(is_refused());
}

TEST_F(ParkedFiles, WhatIsNoFileIsRefused) {
  EXPECT_THROW(read_parked_header(disk, path), DiskError);
  std::filesystem::create_directory(path);
  EXPECT_THROW(read_parked_header(disk, path), DiskError);
}

TEST(RowArena, TakesFreedRowsInPieces) {
  const auto arena = std::make_shared<RowArena>("cpu", kRowBytes, 12);
  auto a = arena->take(4), b = arena->take(4), c = arena->take(4);
  EXPECT_EQ(arena->take(1), nullptr);
  fill(*b, 9);
  const std::vector<std::byte> kept = bytes_of(*b);
  a.reset();
  c.reset();
  const auto pieces = arena->take(7);
  ASSERT_NE(pieces, nullptr);
  fill(*pieces, 3);
  EXPECT_EQ(bytes_of(*b), kept);
  std::vector<std::size_t> begins;
  pieces->for_each_piece(0, 2, 7, [&](std::size_t at, std::byte*, std::size_t rows) {
    begins.push_back(at);
    begins.push_back(rows);
  });
  EXPECT_THAT(begins, ::testing::ElementsAre(2, 2, 4, 3));
  EXPECT_EQ(arena->free_rows(), 1u);
}

TEST(RowArena, MoreThanTheMachineHasIsRefused) {
  EXPECT_THROW(RowArena("cpu", {std::size_t{1} << 30}, std::size_t{1} << 30),
               kernels::BackendError);
}

}  // namespace
}  // namespace engine::runtime::testing
