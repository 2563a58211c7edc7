#include "runtime/chunker.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace engine::runtime {
namespace {

TEST(LengthSizedChunks, CutsEvenly) {
  EXPECT_EQ(length_sized_chunks(130, 64), (std::vector<Chunk>{{0, 44}, {44, 44}, {88, 42}}));
}

TEST(LengthSizedChunks, OnePromptThatFitsIsOneChunk) {
  EXPECT_EQ(length_sized_chunks(64, 64), (std::vector<Chunk>{{0, 64}}));
  EXPECT_EQ(length_sized_chunks(1, 64), (std::vector<Chunk>{{0, 1}}));
}

TEST(LengthSizedChunks, NothingGivesNoChunk) {
  EXPECT_TRUE(length_sized_chunks(0, 64).empty());
}

TEST(LengthSizedChunks, CoverEveryLengthOnceInTheFewestLaunches) {
  for (std::size_t rows = 1; rows <= 9; ++rows) {
    for (std::size_t tokens = 1; tokens <= 100; ++tokens) {
      const std::vector<Chunk> chunks = length_sized_chunks(tokens, rows);
      std::size_t next = 0;
      for (const Chunk& chunk : chunks) {
        ASSERT_EQ(chunk.begin, next);
        ASSERT_GE(chunk.rows, 1u);
        ASSERT_LE(chunk.rows, rows);
        ASSERT_LE(chunk.rows, chunks.front().rows);
        next = chunk.end();
      }
      ASSERT_EQ(next, tokens);
      ASSERT_LE(chunks.size(), (tokens + rows - 1) / rows);
    }
  }
}

}  // namespace
}  // namespace engine::runtime
