// The pure parts for every length up to 3 G + 2 with G = 4: the chunkers, and the record over every
// sequence of three turns that can differ in what it decides.
#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/chunker.h"
#include "runtime/prefix_cache.h"

namespace engine::runtime {
namespace {

using kernels::Token;

constexpr std::size_t kCell = 4, kMost = 3 * kCell + 2;

void expect_tiles(const std::vector<Chunk>& chunks, std::size_t tokens, std::size_t most) {
  std::size_t end = 0;
  for (const Chunk& chunk : chunks) {
    EXPECT_EQ(chunk.begin, end);
    EXPECT_GE(chunk.rows, 1u);
    EXPECT_LE(chunk.rows, most);
    end = chunk.end();
  }
  EXPECT_EQ(end, tokens);
}

TEST(Chunkers, CoverEveryPositionOnceForEveryLengthAndGrid) {
  for (std::size_t grid = 1; grid <= kMost; ++grid) {
    for (std::size_t tokens = 0; tokens <= kMost; ++tokens) {
      expect_tiles(length_sized_chunks(tokens, grid), tokens, grid);
      expect_tiles(grid_chunks(tokens, grid), tokens, grid);
      EXPECT_EQ(length_sized_chunks(tokens, grid).size(), grid_chunks(tokens, grid).size());
    }
  }
}

// What the first invariant says: the chunks of a prefix do not depend on what follows, but for the
// remainder. The old chunker breaks it, or the series would be about nothing.
TEST(Chunkers, OnlyTheGridCutsAPrefixTheSameWayWhateverFollows) {
  std::size_t broken = 0;
  for (std::size_t tokens = 1; tokens <= kMost; ++tokens) {
    for (std::size_t more = tokens + 1; more <= kMost; ++more) {
      const std::vector<Chunk> a = grid_chunks(tokens, kCell), b = grid_chunks(more, kCell);
      for (std::size_t i = 0; i < tokens / kCell; ++i)
        EXPECT_EQ(a[i], b[i]);
      broken +=
          length_sized_chunks(tokens, kCell).front() != length_sized_chunks(more, kCell).front();
    }
  }
  EXPECT_GT(broken, 0u);
}

// Tokens equal to `like` up to `common`, and to nothing else after it.
std::vector<Token> prompt_like(const std::vector<Token>& like, std::size_t common,
                               std::size_t length) {
  static Token fresh = 1000;
  std::vector<Token> prompt(like.begin(), like.begin() + static_cast<std::ptrdiff_t>(common));
  while (prompt.size() < length)
    prompt.push_back(++fresh);
  return prompt;
}

// A buffer in which each row remembers its token and whether prefill wrote it in a whole launch:
// what the record promises is checked against what is there, not against a formula.
struct Buffer {
  struct Row {
    Token token = -1;
    bool prefill = false;
    Chunk launch{};
  };
  std::vector<Row> rows = std::vector<Row>(2 * kMost);

  // A run that completes `chunks` of them and then, if those are all, decodes `reply` tokens.
  void run(PrefixCache& cache, const std::vector<Token>& prompt, std::size_t chunks,
           const std::vector<Token>& reply) {
    const Reuse reuse = cache.plan(prompt, kCell);
    expect_cold(prompt, reuse.offset);
    cache.keep(reuse.offset);
    std::size_t done = reuse.offset;
    for (const Chunk& chunk : grid_chunks(prompt.size(), kCell)) {
      if (chunk.begin < reuse.offset) continue;
      // A launch that does not complete may have written anything.
      for (std::size_t row = chunk.begin; row < chunk.end(); ++row)
        rows[row] = chunks == 0 ? Row{} : Row{prompt[row], true, chunk};
      if (chunks-- == 0) return;
      done = chunk.end();
      cache.extend_prefilled(prompt, done);
    }
    ASSERT_EQ(done, prompt.size());
    for (std::size_t i = 0; i + 1 < reply.size(); ++i)
      rows[done + i] = {reply[i], false, {done + i, 1}};
    cache.extend_decoded(reply);
  }

  void expect_cold(const std::vector<Token>& prompt, std::size_t kept) const {
    ASSERT_LT(kept, prompt.size());
    const std::vector<Chunk> cold = grid_chunks(prompt.size(), kCell);
    for (std::size_t row = 0; row < kept; ++row) {
      ASSERT_EQ(rows[row].token, prompt[row]);
      ASSERT_TRUE(rows[row].prefill) << "row " << row << " was written by decode";
      ASSERT_EQ(rows[row].launch, cold[row / kCell]);
    }
  }
};

std::vector<Token> joined(std::vector<Token> a, const std::vector<Token>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Every third prompt after two turns: whatever it shares with the second text, or the first text
// again.
void expect_plans_cold(const Buffer& buffer, const PrefixCache& cache,
                       const std::vector<Token>& first, const std::vector<Token>& second,
                       std::size_t& kept) {
  for (std::size_t common = 0; common <= second.size(); ++common) {
    const std::vector<Token> third = prompt_like(second, common, common + 2);
    const Reuse reuse = cache.plan(third, kCell);
    buffer.expect_cold(third, reuse.offset);
    kept += reuse.offset > 0;
  }
  buffer.expect_cold(first, cache.plan(first, kCell).offset);
}

// A first prompt and its reply; a second one that shares any part of that text and whose run may
// end after any chunk; a third.
TEST(PrefixCacheSequences, NoPlanKeepsARowThatAColdRunWouldNotWrite) {
  const std::vector<Token> reply{7, 8, 9, 10, 11};
  std::size_t kept = 0;
  for (std::size_t first = 1; first <= kMost; ++first) {
    const std::vector<Token> a = prompt_like({}, 0, first), text = joined(a, reply);
    for (std::size_t common = 0; common <= text.size(); ++common) {
      for (const std::size_t length : {common + 1, common + 5}) {
        for (std::size_t chunks = 0; chunks <= 6; ++chunks) {
          Buffer buffer;
          PrefixCache cache(true);
          buffer.run(cache, a, 9, reply);
          const std::vector<Token> b = prompt_like(text, common, length);
          buffer.run(cache, b, chunks, reply);
          expect_plans_cold(buffer, cache, text, joined(b, reply), kept);
          ASSERT_FALSE(HasFailure()) << first << " " << common << " " << length << " " << chunks;
        }
      }
    }
  }
  EXPECT_GT(kept, 1000u);
}

}  // namespace
}  // namespace engine::runtime
