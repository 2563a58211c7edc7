// Layers with experts against the definitions of numerics/router.h and the obvious loops.
#include <algorithm>
#include <limits>
#include <numeric>

#include "backends.h"
#include "numerics/fused16.h"
#include "numerics/split_k.h"

namespace engine::kernels {
namespace {

using numerics::RouterRule;
using numerics::RouterScore;

constexpr RouterRule kTwoOfEight{
    .score = RouterScore::kSigmoid, .experts = 8, .chosen = 2, .normalised = true, .scale = 2.5f};

// Routes in backend memory.
struct DeviceRoutes {
  DeviceRoutes(Backend& backend, std::size_t rows, const RouterRule& rule)
      : experts(backend, rows * rule.chosen),
        places(backend, rows * rule.chosen),
        rows_of(backend, rows * rule.chosen),
        begins(backend, rule.experts + 1),
        weights(backend, rows * rule.chosen) {}

  Routes routes() {
    return {experts.data(), weights.data(), places.data(), rows_of.data(), begins.data()};
  }

  Device<std::int32_t> experts, places, rows_of, begins;
  Device<float> weights;
};

// Logits with ties, zeros of both signs and, where `odd`, what no model should give.
std::vector<float> some_logits(std::size_t count, bool odd) {
  std::vector<float> logits = normal_floats(count, 2.0f, 7);
  for (std::size_t i = 0; i < count; ++i) {
    if (i % 3 == 0) logits[i] = std::round(logits[i]);
    if (i % 17 == 0) logits[i] = i % 2 == 0 ? 0.0f : -0.0f;
    if (odd && i % 29 == 0) logits[i] = std::numeric_limits<float>::quiet_NaN();
    if (odd && i % 31 == 0) logits[i] = std::numeric_limits<float>::infinity();
    if (odd && i % 37 == 0) logits[i] = -std::numeric_limits<float>::infinity();
  }
  return logits;
}

class Experts : public EachBackend {
 protected:
  // Checks experts and weights against route_row, and the order of the pairs.
  void check_route(const RouterRule& rule, std::size_t rows, bool with_bias, bool odd) {
    const std::size_t E = rule.experts, T = rule.chosen;
    const std::vector<float> logits = some_logits(rows * E, odd);
    std::vector<float> bias = normal_floats(E, 0.2f, 8);
    bias[E - 1] = bias[E / 2];
    Device<float> device_logits(*backend, logits), device_bias(*backend, bias);
    DeviceRoutes device(*backend, rows, rule);
    backend->route(device.routes(),
                   {device_logits.data(), with_bias ? device_bias.data() : nullptr, rule}, rows);
    std::vector<std::int32_t> experts(rows * T), places(rows * T), begins(E + 1);
    std::vector<float> weights(rows * T);
    for (std::size_t r = 0; r < rows; ++r) {
      numerics::route_row(&experts[r * T], &weights[r * T], &logits[r * E],
                          with_bias ? bias.data() : nullptr, rule);
    }
    EXPECT_TRUE(same_bits(device.experts.host(), experts, T));
    const std::vector<float> found = device.weights.host();
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (std::isnan(weights[i]) && std::isnan(found[i])) continue;
      ASSERT_EQ(numerics::float_bits(found[i]), numerics::float_bits(weights[i])) << i;
    }
    std::vector<std::size_t> order(rows * T);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return experts[a] < experts[b]; });
    const std::vector<std::int32_t> rows_of = device.rows_of.host();
    for (std::size_t place = 0; place < order.size(); ++place) {
      places[order[place]] = static_cast<std::int32_t>(place);
      ASSERT_EQ(rows_of[place], static_cast<std::int32_t>(order[place] / T)) << place;
    }
    for (const std::int32_t expert : experts)
      ++begins[static_cast<std::size_t>(expert) + 1];
    std::partial_sum(begins.begin(), begins.end(), begins.begin());
    EXPECT_TRUE(same_bits(device.places.host(), places, T));
    EXPECT_TRUE(same_bits(device.begins.host(), begins, E + 1));
  }

  // Uploads routes that send row r to `experts`[r].
  RoutedRows routed(DeviceRoutes& device, Routes& routes,
                    const std::vector<std::vector<std::int32_t>>& experts, std::size_t count) {
    std::vector<std::int32_t> flat, places, rows_of, begins{0};
    for (const auto& row : experts)
      flat.insert(flat.end(), row.begin(), row.end());
    const std::size_t T = experts[0].size();
    places.resize(flat.size());
    for (std::size_t e = 0; e < count; ++e) {
      for (std::size_t i = 0; i < flat.size(); ++i) {
        if (flat[i] != static_cast<std::int32_t>(e)) continue;
        places[i] = static_cast<std::int32_t>(rows_of.size());
        rows_of.push_back(static_cast<std::int32_t>(i / T));
      }
      begins.push_back(static_cast<std::int32_t>(rows_of.size()));
    }
    routes = device.routes();
    const auto upload = [&](void* to, const std::vector<std::int32_t>& from) {
      backend->upload(to, from.data(), from.size() * sizeof(std::int32_t));
    };
    upload(routes.experts, flat);
    upload(routes.places, places);
    upload(routes.rows, rows_of);
    upload(routes.begins, begins);
    const std::vector<float> weights = normal_floats(flat.size(), 1.0f, 9);
    backend->upload(routes.weights, weights.data(), weights.size() * sizeof(float));
    return {routes, experts.size(), T};
  }
};

TEST_P(Experts, RouteIsTheDefinition) {
  const RouterRule rules[] = {
      kTwoOfEight,
      {.score = RouterScore::kSoftmax, .experts = 8, .chosen = 2, .normalised = true},
      {.score = RouterScore::kSoftmax, .experts = 60, .chosen = 4, .scale = 1.5f},
      {.score = RouterScore::kSigmoid,
       .experts = 256,
       .chosen = 8,
       .groups = 8,
       .kept_groups = 4,
       .normalised = true,
       .scale = 2.5f},
      {.score = RouterScore::kSigmoid,
       .experts = 64,
       .chosen = 32,
       .groups = 32,
       .kept_groups = 16},
      {.score = RouterScore::kSoftmax, .experts = 512, .chosen = 10, .normalised = true}};
  for (const RouterRule& rule : rules) {
    for (const std::size_t rows : {1u, 8u, 70u}) {
      for (const int options : {0, 1, 2, 3}) {
        SCOPED_TRACE(testing::Message() << rule.chosen << " of " << rule.experts << ", " << rows
                                        << " rows, options " << options);
        check_route(rule, rows, (options & 1) != 0, (options & 2) != 0);
      }
    }
  }
}

// Row r goes to experts r % 3 and 5, and every third one to 7 in place of 5: 1, 2, 4 and 6 have no
// row or few, 5 has most.
std::vector<std::vector<std::int32_t>> uneven(std::size_t rows) {
  std::vector<std::vector<std::int32_t>> experts;
  for (std::size_t r = 0; r < rows; ++r)
    experts.push_back({static_cast<std::int32_t>(r % 3), r % 3 == 2 ? 7 : 5});
  return experts;
}

TEST_P(Experts, ProductsHaveTheSplitOfAllRows) {
  constexpr std::size_t E = 8;
  for (const auto& [rows, N, K] : {std::array<std::size_t, 3>{1, 64, 256},
                                   {8, 48, 512},
                                   {9, 96, 256},
                                   {40, 208, 256},
                                   {70, 128, 144},
                                   {200, 272, 512}}) {
    SCOPED_TRACE(testing::Message() << rows << " x " << N << " x " << K);
    const std::vector<bf16> w = normal_bf16s(E * N * K, 0.1f, 1), x = normal_bf16s(rows * K, 1, 2);
    std::vector<MatrixPart> parts;  // two of each expert
    for (std::size_t e = 0; e < E; ++e) {
      parts.push_back({w.data() + e * N * K, 16});
      parts.push_back({w.data() + (e * N + 16) * K, N - 16});
    }
    const auto matrices = backend->prepare_experts(parts, K, E);
    EXPECT_EQ(matrices->experts(), E);
    EXPECT_EQ(matrices->outputs(), N);
    EXPECT_EQ(matrices->inner(), K);
    const auto experts = uneven(rows);
    DeviceRoutes device(*backend, rows, kTwoOfEight);
    Routes routes;
    const RoutedRows to = routed(device, routes, experts, E);
    Device<bf16> device_x(*backend, x), gathered(*backend, to.pairs() * K);
    Device<float> out(*backend, to.pairs() * N);
    backend->gather(gathered.data(), device_x.data(), to, K);
    backend->matmul_experts(out.data(), gathered.data(), *matrices, to);
    const std::size_t split = numerics::split_k(rows, N, K), slice = K / split;
    const std::vector<std::int32_t> places = device.places.host();
    std::vector<float> expected(to.pairs() * N);
    for (std::size_t i = 0; i < to.pairs(); ++i) {
      const auto e = static_cast<std::size_t>(experts[i / 2][i % 2]);
      for (std::size_t n = 0; n < N; ++n) {
        const bf16* row = &x[i / 2 * K];
        const bf16* weights = &w[(e * N + n) * K];
        float sum = numerics::fused_chain(0.0f, row, weights, slice);
        for (std::size_t s = 1; s < split; ++s)
          sum = sum + numerics::fused_chain(0.0f, row + s * slice, weights + s * slice, slice);
        expected[static_cast<std::size_t>(places[i]) * N + n] = sum;
      }
    }
    EXPECT_TRUE(same_bits(out.host(), expected, N));
  }
}

TEST_P(Experts, AreAddedInAscendingOrder) {
  constexpr std::size_t kHidden = 80, kRows = 70;
  const auto experts = uneven(kRows);
  DeviceRoutes device(*backend, kRows, kTwoOfEight);
  Routes routes;
  const RoutedRows to = routed(device, routes, experts, 8);
  const std::vector<float> x = normal_floats(to.pairs() * kHidden, 1.0f, 3);
  Device<float> device_x(*backend, x), out(*backend, kRows * kHidden);
  backend->mix(out.data(), device_x.data(), to, kHidden);
  const std::vector<std::int32_t> places = device.places.host();
  const std::vector<float> weights = device.weights.host();
  std::vector<float> expected;
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t i = 0; i < kHidden; ++i) {
      const auto at = [&](std::size_t pair) {
        return x[static_cast<std::size_t>(places[pair]) * kHidden + i];
      };
      const float first = numerics::fma(weights[2 * r], at(2 * r), 0.0f);
      expected.push_back(numerics::fma(weights[2 * r + 1], at(2 * r + 1), first));
    }
  }
  EXPECT_TRUE(same_bits(out.host(), expected, kHidden));
}

INSTANTIATE_FOR_EACH_BACKEND(Experts);

}  // namespace
}  // namespace engine::kernels
