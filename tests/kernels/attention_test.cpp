// Attention against the scalar reference of both orders, with NaN in every row that must not be
// read.
#include "numerics/attention.h"

#include <algorithm>

#include "backends.h"

namespace engine::kernels {
namespace {

constexpr bf16 kPoison{0x7fff};

struct Problem {
  std::size_t rows, position;
  Phase phase = Phase::kPrefill;
  std::size_t first = 0;
  std::size_t window = std::size_t{1} << 40;
  std::size_t slots = 0;  // 0: one per position and a few more
  HeadShape heads{4, 2, 32};
  float cap = 0;

  numerics::ScoreMap scores() const {
    return numerics::score_map(numerics::score_scale(heads.head_size), cap);
  }
  std::size_t end() const { return position + rows; }
  std::size_t kv_slots() const { return slots != 0 ? slots : end() + 5; }
  std::size_t kv_width() const { return heads.kv_heads * heads.head_size; }
};

// Query row r of head h, and K and V rows of a position: functions of the position alone.
std::vector<bf16> queries(const Problem& p) {
  std::vector<bf16> all;
  for (std::size_t r = 0; r < p.rows; ++r) {
    const auto row = normal_bf16s(p.heads.query_heads * p.heads.head_size, 1.5f, p.position + r);
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

std::vector<bf16> cache(const Problem& p, unsigned seed) {
  std::vector<bf16> rows(p.kv_slots() * p.kv_width(), kPoison);
  const std::size_t begin = numerics::visible_begin(p.position, p.first, p.window);
  for (std::size_t position = begin; position < p.end(); ++position) {
    const auto row = normal_bf16s(p.kv_width(), 1.0f, seed + 2 * position);
    std::copy(row.begin(), row.end(), &rows[position % p.kv_slots() * p.kv_width()]);
  }
  return rows;
}

std::vector<bf16> expected(const Problem& p) {
  const std::size_t D = p.heads.head_size, Q = p.heads.query_heads;
  const auto q = queries(p), k = cache(p, 1000), v = cache(p, 1001);
  std::vector<bf16> out(q.size());
  for (std::size_t i = 0; i < p.rows * Q; ++i) {
    const std::size_t at = p.position + i / Q, kv_head = i % Q * p.heads.kv_heads / Q;
    const numerics::AttentionRow row{.query = &q[i * D],
                                     .k = &k[kv_head * D],
                                     .v = &v[kv_head * D],
                                     .stride = p.kv_width(),
                                     .slots = p.kv_slots(),
                                     .head_size = D,
                                     .begin = numerics::visible_begin(at, p.first, p.window),
                                     .end = at + 1,
                                     .scores = p.scores()};
    if (p.phase == Phase::kDecode) {
      numerics::attention_decode_order(&out[i * D], row);
    } else {
      numerics::attention_prefill_order(&out[i * D], row);
    }
  }
  return out;
}

std::vector<bf16> computed(Backend& backend, const Problem& p) {
  Device<bf16> q(backend, queries(p)), k(backend, cache(p, 1000)), v(backend, cache(p, 1001));
  Device<bf16> out(backend, queries(p).size());
  backend.attention(out.data(), {k.data(), v.data(), p.kv_slots()}, p.heads,
                    {q.data(), p.position, p.first, p.window, p.phase, p.scores()}, p.rows);
  return out.host();
}

std::size_t width(const Problem& p) {
  return p.heads.query_heads * p.heads.head_size;
}

class Attention : public EachBackend {
 protected:
  void expect_reference(const Problem& p) {
    SCOPED_TRACE(testing::Message()
                 << p.rows << " rows from " << p.position << ", first " << p.first << ", window "
                 << p.window << (p.phase == Phase::kDecode ? ", decode" : ", prefill"));
    EXPECT_TRUE(same_bits(computed(*backend, p), expected(p), width(p)));
  }
};

TEST_P(Attention, PrefillEqualsTheReference) {
  for (const std::size_t rows : {1, 2, 63, 64, 65}) {
    for (const std::size_t position : {0, 1, 63, 64, 200})
      expect_reference({rows, position});
  }
}

TEST_P(Attention, DecodeEqualsTheReference) {
  for (const std::size_t rows : {1, 4, 8}) {
    for (const std::size_t position : {0, 60, 250, 255, 256, 700}) {
      expect_reference({rows, position, Phase::kDecode});
    }
  }
}

TEST_P(Attention, HeadShapes) {
  const HeadShape shapes[] = {{1, 1, 16}, {3, 3, 48}, {8, 1, 64}, {2, 1, 128}, {4, 2, 80}};
  for (const HeadShape& heads : shapes) {
    Problem p{5, 130};
    p.heads = heads;
    expect_reference(p);
    p.phase = Phase::kDecode;
    p.position = 300;
    expect_reference(p);
  }
}

TEST_P(Attention, WindowAndRing) {
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    for (const std::size_t position : {10, 100, 257, 1030}) {
      expect_reference({4, position, phase, 0, 40, 64});
      expect_reference({4, position, phase, 0, 1, 4});
      expect_reference({4, position, phase, 0, 400, 403});
    }
    expect_reference({30, 500, phase, 0, 100, 129});
  }
}

// More queries and keys than a block takes at once, where a card's fast kernels run.
TEST_P(Attention, ManyRowsOfCommonHeads) {
  for (const HeadShape& heads : {HeadShape{4, 1, 64}, HeadShape{4, 1, 128}}) {
    const std::size_t whole = std::size_t{1} << 40;
    expect_reference({35, 0, Phase::kPrefill, 0, whole, 0, heads});
    expect_reference({35, 170, Phase::kPrefill, 0, whole, 0, heads});
    expect_reference({40, 500, Phase::kPrefill, 0, 200, 457, heads});
    expect_reference({35, 300, Phase::kPrefill, 290, 64, 0, heads});
  }
}

TEST_P(Attention, CappedScores) {
  for (const HeadShape& heads : {HeadShape{4, 2, 32}, HeadShape{4, 1, 64}, HeadShape{2, 1, 256}}) {
    for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
      expect_reference({5, 300, phase, 0, std::size_t{1} << 40, 0, heads, 2.0f});
      expect_reference({5, 300, phase, 0, 70, 0, heads, 50.0f});
    }
  }
}

TEST_P(Attention, NothingBeforeFirstIsRead) {
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    expect_reference({3, 600, phase, 600});
    expect_reference({3, 600, phase, 300});
    expect_reference({3, 600, phase, 590, 200, 256});
  }
}

TEST_P(Attention, RowsDoNotDependOnTheirLaunch) {
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const Problem together{8, 252, phase};
    const auto all = computed(*backend, together);
    for (std::size_t r = 0; r < together.rows; ++r) {
      const Problem alone{1, together.position + r, phase};
      const std::size_t n = width(alone);
      const std::vector<bf16> row(&all[r * n], &all[r * n] + n);
      EXPECT_TRUE(same_bits(computed(*backend, alone), row, n)) << "row " << r;
    }
  }
}

TEST_P(Attention, TheTwoOrdersDifferInLongContexts) {
  const Problem prefill{1, 900}, decode{1, 900, Phase::kDecode};
  EXPECT_FALSE(same_bits(computed(*backend, prefill), computed(*backend, decode), width(prefill)));
  const auto invariant = make({.threads = 1, .row_invariant = true});
  EXPECT_TRUE(same_bits(computed(*invariant, decode), expected(prefill), width(prefill)));
}

TEST_P(Attention, LargeScoresStayFinite) {
  Problem p{70, 20};
  Device<bf16> k(*backend, normal_bf16s(p.kv_slots() * p.kv_width(), 200.0f, 1));
  Device<bf16> v(*backend, normal_bf16s(p.kv_slots() * p.kv_width(), 1.0f, 2));
  Device<bf16> q(*backend, normal_bf16s(p.rows * width(p), 200.0f, 3)),
      out(*backend, p.rows * width(p));
  backend->attention(out.data(), {k.data(), v.data(), p.kv_slots()}, p.heads,
                     {q.data(), p.position, p.first, p.window, p.phase, p.scores()}, p.rows);
  for (const bf16 x : out.host())
    ASSERT_TRUE(std::isfinite(numerics::to_float(x)));
}

TEST_P(Attention, ThreadsDoNotChangeBits) {
  const auto one = make({.threads = 1});
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const Problem p{8, 1200, phase};
    EXPECT_TRUE(same_bits(computed(*backend, p), computed(*one, p), width(p)));
  }
}

INSTANTIATE_FOR_EACH_BACKEND(Attention);

}  // namespace
}  // namespace engine::kernels
