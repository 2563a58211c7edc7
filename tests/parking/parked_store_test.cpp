#include "runtime/parked_store.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "parking/fallible_disk.h"
#include "parking/parked_rows.h"
#include "temp_folder.h"

namespace engine::runtime::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kBytesOfRow = 16;

class ParkedStores : public ::testing::Test {
 protected:
  ParkedStores() { options.writes_behind = false; }

  void open() {
    store.reset();
    options.disk = disk = std::make_shared<FallibleDisk>();
    store = std::make_unique<ParkedStore>(
        kind, "cpu", options, [this](std::string_view line) { log.emplace_back(line); });
  }
  void on_disk(std::size_t bytes = 1 << 20) {
    options.dir = folder / "parked";
    options.disk_bytes = bytes;
  }
  bool park(std::size_t rows, kernels::Token first) {
    auto memory = store->make_room(rows);
    if (!memory) return false;
    store->add(parked_rows(counted_tokens(rows, first), std::move(memory),
                           static_cast<std::uint64_t>(first)));
    return true;
  }
  // How many rows a prompt that goes on from these finds.
  std::size_t found(std::size_t rows, kernels::Token first) {
    return store->find(counted_tokens(rows + 1, first)).rows;
  }
  bool is_whole(std::size_t rows, kernels::Token first) {
    const auto match = store->find(counted_tokens(rows + 1, first));
    const auto fetched = store->fetch(match.id).rows;
    if (!fetched) return false;
    const auto expected = memory_for(fetched->tokens.size(), kind);
    fill(*expected, static_cast<std::uint64_t>(first));
    return bytes_of(*fetched->rows) == bytes_of(*expected);
  }
  std::filesystem::path file(int number) const {
    return folder / ("parked/" + std::to_string(number) + ".parked");
  }

  TempFolder folder;
  ParkedKind kind = kind_of_test();
  ParkingOptions options{.ram_bytes = 24 * kBytesOfRow};
  std::shared_ptr<FallibleDisk> disk;
  std::vector<std::string> log;
  std::unique_ptr<ParkedStore> store;
};

TEST_F(ParkedStores, FindTheLongestInWholeCells) {
  open();
  park(8, 0);
  park(4, 100);
  EXPECT_EQ(store->find(counted_tokens(20)).rows, 8u);
  EXPECT_EQ(store->find(counted_tokens(8)).rows, 4u);  // the last token's row is computed
  EXPECT_EQ(store->find(counted_tokens(7)).rows, 4u);
  EXPECT_EQ(store->find(counted_tokens(20, 50)).rows, 0u);
  EXPECT_TRUE(is_whole(8, 0));
}

TEST_F(ParkedStores, TheLeastRecentlyUsedGoesFirst) {
  open();
  park(8, 0), park(8, 100), park(8, 200);
  EXPECT_TRUE(is_whole(8, 0));  // and is used so
  EXPECT_TRUE(park(8, 300));
  EXPECT_EQ(found(8, 100), 0u);
  EXPECT_TRUE(is_whole(8, 0) && is_whole(8, 200) && is_whole(8, 300));
  EXPECT_FALSE(park(28, 400));
}

TEST_F(ParkedStores, WhatSomebodyReadsStays) {
  open();
  park(12, 0), park(12, 100);
  const auto held = store->fetch(store->find(counted_tokens(13)).id).rows;
  EXPECT_TRUE(park(12, 200));
  EXPECT_FALSE(park(16, 300));
  EXPECT_EQ(found(12, 0), 12u);
}

TEST_F(ParkedStores, APrefixOfANewerOneGoes) {
  open();
  park(4, 0), park(8, 0);
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_TRUE(store->holds(counted_tokens(4)));
  EXPECT_TRUE(store->holds(counted_tokens(8)));
  EXPECT_FALSE(store->holds(counted_tokens(12)));
}

TEST_F(ParkedStores, ComeBackFromDiskWhenMemoryIsFull) {
  on_disk();
  open();
  park(12, 0), park(12, 100), park(12, 200);
  const auto match = store->find(counted_tokens(13));
  EXPECT_FALSE(match.in_ram);
  EXPECT_TRUE(is_whole(12, 0));
  EXPECT_TRUE(store->find(counted_tokens(13)).in_ram);
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(ParkedStores, NeedNoMemoryOfTheirOwn) {
  on_disk();
  options.ram_bytes = 0;
  open();
  park(12, 0), park(12, 100);
  EXPECT_TRUE(is_whole(12, 0) && is_whole(12, 100));
  for (const ParkedStore::Info& info : store->list())
    EXPECT_EQ(info.ram_bytes, 0u);
}

TEST_F(ParkedStores, AreThereAfterARestart) {
  on_disk();
  open();
  park(12, 0), park(8, 100);
  open();
  EXPECT_TRUE(is_whole(12, 0) && is_whole(8, 100));
  park(8, 200);
  open();
  EXPECT_EQ(store->list().size(), 3u);
}

TEST_F(ParkedStores, KeepWithinTheDisk) {
  on_disk(2 * parked_file_bytes(kind, 8, 13) + 10);
  options.ram_bytes = 0;
  open();
  park(8, 0), park(8, 100), park(8, 200);
  EXPECT_EQ(found(8, 0), 0u);
  EXPECT_TRUE(is_whole(8, 100) && is_whole(8, 200));
  park(24, 300);
  EXPECT_EQ(found(24, 300), 0u);
  EXPECT_TRUE(is_whole(8, 200));
  EXPECT_THAT(log.at(0), HasSubstr("more than the disk may take"));
}

TEST_F(ParkedStores, ADamagedFileIsAMissAndALine) {
  on_disk();
  options.ram_bytes = 0;
  open();
  park(8, 0), park(8, 100);
  std::vector<char> bytes = file_bytes(file(1));
  bytes[bytes.size() - 30] ^= 1;
  write_file(file(1), bytes);
  EXPECT_FALSE(is_whole(8, 0));
  ASSERT_EQ(log.size(), 1u);
  EXPECT_THAT(log[0], HasSubstr("1.parked: its rows are damaged"));
  EXPECT_EQ(found(8, 0), 0u);
  EXPECT_FALSE(std::filesystem::exists(file(1)));
  std::filesystem::resize_file(file(2), 50);
  open();
  EXPECT_THAT(log.at(1), HasSubstr("2.parked: is too short"));
  EXPECT_EQ(found(8, 100), 0u);
}

TEST_F(ParkedStores, FilesOfOtherKindsStay) {
  on_disk();
  open();
  park(8, 0);
  kind.weights = std::string(32, 'z');
  open();
  EXPECT_EQ(found(8, 0), 0u);
  park(8, 0);
  EXPECT_TRUE(std::filesystem::exists(file(1)) && std::filesystem::exists(file(2)));
  kind = kind_of_test();
  open();
  EXPECT_TRUE(is_whole(8, 0));
  EXPECT_THAT(log, IsEmpty());
}

TEST_F(ParkedStores, WhatWasNotFinishedIsRemovedAtStart) {
  on_disk();
  open();
  disk->arm(DiskFault::kKilled, 3);
  park(8, 0);
  EXPECT_TRUE(std::filesystem::exists(file(1).string() + ".unfinished"));
  open();
  EXPECT_FALSE(std::filesystem::exists(file(1).string() + ".unfinished"));
  EXPECT_EQ(found(8, 0), 0u);
}

TEST_F(ParkedStores, AFullDiskCostsOnlyTheDisk) {
  on_disk();
  open();
  disk->arm(DiskFault::kFull);
  EXPECT_TRUE(park(8, 0));
  EXPECT_TRUE(is_whole(8, 0));
  ASSERT_EQ(log.size(), 1u);
  EXPECT_THAT(log[0], HasSubstr("No space left on device"));
  EXPECT_FALSE(std::filesystem::exists(file(1).string() + ".unfinished"));
}

// The older one, which is on disk, is not given up for one that is not.
TEST_F(ParkedStores, APrefixStaysUntilTheNewerOneIsOnDisk) {
  on_disk();
  open();
  park(8, 0);
  disk->arm(DiskFault::kFull);
  park(12, 0);
  open();
  EXPECT_TRUE(is_whole(8, 0));
}

TEST_F(ParkedStores, TwoDoNotShareAFolder) {
  on_disk();
  open();
  try {
    const ParkedStore second(kind, "cpu", options, {});
    FAIL();
  } catch (const DiskError& error) {
    EXPECT_THAT(error.what(), HasSubstr("another engine parks there"));
  }
}

TEST_F(ParkedStores, AFolderThatCannotBeWrittenIsRefusedAtStart) {
  options.disk_bytes = 1 << 20;
  options.dir = "/proc/parked";
  EXPECT_THROW(open(), DiskError);
  options.dir = folder / "parked";
  options.disk = disk = std::make_shared<FallibleDisk>();
  disk->arm(DiskFault::kReadOnly);
  EXPECT_THROW(ParkedStore(kind, "cpu", options, {}), DiskError);
  write_file(folder / "a_file", {'x'});
  options.dir = folder / "a_file";
  EXPECT_THROW(open(), DiskError);
}

TEST_F(ParkedStores, SaveUnderANameAndLoad) {
  on_disk();
  open();
  park(8, 0);
  const auto rows = store->fetch(store->find(counted_tokens(9)).id).rows;
  EXPECT_EQ(store->save(*rows, "mine"), parked_file_bytes(kind, 8, 13));
  open();
  EXPECT_EQ(bytes_of(*store->load("mine")->rows).size(), 8 * kBytesOfRow);
  EXPECT_EQ(store->list().size(), 1u);
  EXPECT_THROW(store->load("yours"), DiskError);
  kind.numerics = std::string(32, 'z');
  open();
  EXPECT_THROW(store->load("mine"), DiskError);
}

TEST_F(ParkedStores, WriteBehindTheCaller) {
  on_disk();
  options.writes_behind = true;
  open();
  for (int i = 0; i < 40; ++i) {
    park(4 + 4 * static_cast<std::size_t>(i % 3), 100 * i);
    if (i % 5 == 0) store->erase(static_cast<std::size_t>(i));
  }
  store->settle();
  const std::size_t parked = store->list().size();
  for (const ParkedStore::Info& info : store->list())
    EXPECT_GT(info.disk_bytes, 0u);
  open();
  EXPECT_EQ(store->list().size(), parked);
  for (int i = 0; i < 40; ++i) {
    const std::size_t rows = 4 + 4 * static_cast<std::size_t>(i % 3);
    if (found(rows, 100 * i) > 0) {
      EXPECT_TRUE(is_whole(rows, 100 * i));
    }
  }
  EXPECT_THAT(log, IsEmpty());
}

}  // namespace
}  // namespace engine::runtime::testing
