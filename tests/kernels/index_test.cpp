// The indexer's choice against its definition, a plain reference in double precision, and ties made
// by hand.
#include "numerics/index.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "backends.h"

namespace engine::kernels {
namespace {

constexpr bf16 kPoison{0x7fff};

struct Problem {
  std::size_t rows, position;
  IndexShape index{.heads = 4, .size = 32, .most = 40};

  std::size_t end() const { return position + rows; }
  std::size_t slots() const { return end() + 40; }
};

// Keys of which every third is another's copy and every seventh gives no head a positive product.
struct Values {
  explicit Values(const Problem& p)
      : query(normal_bf16s(p.rows * p.index.heads * p.index.size, 1.0f, 1)),
        keys(p.slots() * p.index.size, kPoison),
        weights(normal_floats(p.rows * p.index.heads, 1.0f, 2)) {
    const std::vector<bf16> drawn = normal_bf16s(p.end() * p.index.size, 1.0f, 3);
    for (std::size_t s = 0; s < p.end(); ++s) {
      const std::size_t from = s % 3 == 2 ? s / 2 : s;
      const auto begin = drawn.begin() + static_cast<std::ptrdiff_t>(from * p.index.size);
      std::copy_n(begin, p.index.size, &keys[s * p.index.size]);
      if (s % 7 == 3) std::fill_n(&keys[s * p.index.size], p.index.size, bf16{});
    }
  }

  std::vector<bf16> query, keys;
  std::vector<float> weights;
};

std::vector<std::int32_t> computed(Backend& backend, const Problem& p, const Values& values) {
  Device<bf16> query(backend, values.query), keys(backend, values.keys);
  Device<float> weights(backend, values.weights),
      scores(backend, std::min(p.rows, kIndexRows) * p.slots());
  const std::vector<std::int32_t> nothing(p.rows * p.index.most, -1);
  Device<std::int32_t> chosen(backend, nothing);
  backend.choose(chosen.data(), {nullptr, keys.data(), p.slots()}, p.index,
                 {query.data(), weights.data(), scores.data(), p.position}, p.rows);
  return chosen.host();
}

// Every row's, -1 where its set has no more.
std::vector<std::int32_t> expected(const Problem& p, const Values& values) {
  const std::size_t J = p.index.heads, F = p.index.size;
  std::vector<std::int32_t> chosen(p.rows * p.index.most, -1);
  for (std::size_t r = 0; r < p.rows; ++r) {
    std::vector<float> scores;
    for (std::size_t s = 0; s <= p.position + r; ++s) {
      scores.push_back(numerics::index_score(&values.query[r * J * F], &values.keys[s * F],
                                             &values.weights[r * J], J, F));
    }
    numerics::choose_positions(&chosen[r * p.index.most], scores.data(), scores.size(),
                               p.index.most);
  }
  return chosen;
}

class Index : public EachBackend {};

TEST_P(Index, ChoosesByTheDefinition) {
  const Problem problems[] = {
      {.rows = 1, .position = 0},
      {.rows = 70, .position = 0},
      {.rows = 8, .position = 36},
      {.rows = 8, .position = 300},
      {.rows = 150, .position = 555},
      {.rows = 3, .position = 2500, .index = {.heads = 32, .size = 128, .most = 2048}},
      {.rows = 2, .position = 9000, .index = {.heads = 70, .size = 16, .most = 512}},
      {.rows = 5, .position = 200, .index = {.heads = 1, .size = 16, .most = 1}},
  };
  for (const Problem& p : problems) {
    const Values values(p);
    EXPECT_TRUE(same_bits(computed(*backend, p, values), expected(p, values), p.index.most))
        << p.rows << " rows at " << p.position;
  }
}

// What is chosen is right: no position that was left out scores clearly more, in double precision.
TEST_P(Index, LeavesOutNothingThatScoresMore) {
  const Problem p{.rows = 4, .position = 500};
  const Values values(p);
  const std::vector<std::int32_t> chosen = computed(*backend, p, values);
  const std::size_t J = p.index.heads, F = p.index.size, most = p.index.most;
  for (std::size_t r = 0; r < p.rows; ++r) {
    std::vector<double> scores(p.position + r + 1);
    for (std::size_t s = 0; s < scores.size(); ++s) {
      for (std::size_t j = 0; j < J; ++j) {
        double dot = 0;
        for (std::size_t f = 0; f < F; ++f) {
          dot += static_cast<double>(numerics::to_float(values.query[(r * J + j) * F + f])) *
                 numerics::to_float(values.keys[s * F + f]);
        }
        scores[s] += static_cast<double>(values.weights[r * J + j]) * std::max(dot, 0.0);
      }
    }
    const auto begin = chosen.begin() + static_cast<std::ptrdiff_t>(r * most);
    const std::set<std::int32_t> set(begin, begin + static_cast<std::ptrdiff_t>(most));
    ASSERT_EQ(set.size(), most);
    double worst = std::numeric_limits<double>::infinity(), best_left = -worst;
    for (std::size_t s = 0; s < scores.size(); ++s) {
      if (set.contains(static_cast<std::int32_t>(s))) {
        worst = std::min(worst, scores[s]);
      } else {
        best_left = std::max(best_left, scores[s]);
      }
    }
    // 32 products and 4 heads in float32: far below this.
    EXPECT_GE(worst, best_left - 1e-3) << "row " << r;
  }
}

// Keys of zeros score +0 each, those of one sign below: the lower positions of the plateau stay.
TEST_P(Index, TiesGoToTheLowerPosition) {
  Problem p{.rows = 2, .position = 200};
  Values values(p);
  std::fill(values.keys.begin(), values.keys.end(), bf16{});
  std::fill(values.weights.begin(), values.weights.end(), 1.0f);
  std::fill(values.query.begin(), values.query.end(), numerics::from_float(1.0f));
  const std::size_t F = p.index.size;
  for (const std::size_t better : {150u, 160u, 199u, 201u})
    values.keys[better * F] = numerics::from_float(1.0f);
  for (std::size_t s = 10; s < 20; ++s)
    values.keys[s * F] = numerics::from_float(-1.0f);  // relu: zero too, and tied
  const std::vector<std::int32_t> chosen = computed(*backend, p, values);
  std::vector<std::int32_t> first(40), second(40);
  std::iota(first.begin(), first.end(), 0);
  second = first;
  std::copy_n(std::vector<std::int32_t>{150, 160, 199}.begin(), 3, first.begin() + 37);
  std::copy_n(std::vector<std::int32_t>{150, 160, 199, 201}.begin(), 4, second.begin() + 36);
  first.insert(first.end(), second.begin(), second.end());
  EXPECT_TRUE(same_bits(chosen, first, 40));
}

TEST_P(Index, NegativeWeightsAndInfinitiesHaveTheirPlaces) {
  Problem p{.rows = 1, .position = 120};
  Values values(p);
  const std::size_t F = p.index.size;
  values.keys[7 * F] = bf16{0x7f80};  // an infinite product, or NaN
  values.keys[9 * F] = bf16{0xff80};
  values.keys[100 * F + 3] = kPoison;  // a NaN is the largest
  for (float& weight : values.weights)
    weight = -weight;
  EXPECT_TRUE(same_bits(computed(*backend, p, values), expected(p, values), p.index.most));
  const std::vector<std::int32_t> chosen = computed(*backend, p, values);
  EXPECT_NE(std::find(chosen.begin(), chosen.end(), 100), chosen.end());
}

// The choice does not depend on which launch computes it.
TEST_P(Index, RowsAloneChooseAsTogether) {
  const Problem together{.rows = 100, .position = 20};
  const Values values(together);
  const std::vector<std::int32_t> all = computed(*backend, together, values);
  for (const std::size_t row : {0u, 19u, 20u, 63u, 64u, 99u}) {
    Problem alone = together;
    alone.rows = 1, alone.position += row;
    Values one(alone);
    const std::size_t J = alone.index.heads, F = alone.index.size, most = alone.index.most;
    std::copy_n(&values.query[row * J * F], J * F, one.query.begin());
    std::copy_n(&values.weights[row * J], J, one.weights.begin());
    std::copy_n(values.keys.begin(), alone.end() * F, one.keys.begin());
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(row * most);
    EXPECT_TRUE(same_bits(computed(*backend, alone, one),
                          {begin, begin + static_cast<std::ptrdiff_t>(most)}, most))
        << "row " << row;
  }
}

INSTANTIATE_FOR_EACH_BACKEND(Index);

}  // namespace
}  // namespace engine::kernels
