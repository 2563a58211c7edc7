// Embedding, norm, rotary, activation and selection against the obvious loops.
#include <algorithm>
#include <limits>
#include <numeric>

#include "backends.h"
#include "numerics/exp.h"
#include "numerics/reduce.h"
#include "numerics/rotary.h"

namespace engine::kernels {
namespace {

using numerics::from_float;
using numerics::to_float;

class RowOps : public EachBackend {};

TEST_P(RowOps, EmbedCopiesRows) {
  const auto table = normal_bf16s(10 * 24, 1.0f, 1);
  const std::vector<Token> tokens{3, 0, 9, 3};
  Device<float> out(*backend, tokens.size() * 24);
  backend->embed(out.data(), backend->place(table.data(), table.size()), tokens, 24);
  std::vector<float> expected;
  for (const Token token : tokens) {
    for (std::size_t i = 0; i < 24; ++i)
      expected.push_back(to_float(table[token * 24 + i]));
  }
  EXPECT_TRUE(same_bits(out.host(), expected, 24));
}

// The order of numerics/reduce.h, written out.
std::vector<bf16> normalised(const float* x, const std::vector<bf16>& w, float epsilon) {
  std::vector<float> lanes(32, 0.0f);
  for (std::size_t i = 0; i < w.size(); ++i)
    lanes[i % 32] = std::fma(x[i], x[i], lanes[i % 32]);
  for (const std::size_t step : {16, 8, 4, 2, 1}) {
    const std::vector<float> before = lanes;
    for (std::size_t l = 0; l < 32; ++l)
      lanes[l] = before[l] + before[l ^ step];
  }
  const float mean = lanes[0] / static_cast<float>(w.size());
  const float scale = 1.0f / std::sqrt(mean + epsilon);
  std::vector<bf16> out;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const float scaled = x[i] * scale;
    out.push_back(from_float(scaled * to_float(w[i])));
  }
  return out;
}

TEST_P(RowOps, RmsNormSumsInTheWrittenOrder) {
  for (const std::size_t hidden : {16, 32, 100, 512}) {
    const std::size_t rows = 5, stride = hidden + 8;
    const auto x = normal_floats(rows * hidden, 3.0f, 2);
    const auto w = normal_bf16s(hidden, 1.0f, 3);
    std::vector<bf16> expected(rows * stride, bf16{0});
    for (std::size_t r = 0; r < rows; ++r) {
      std::ranges::copy(normalised(&x[r * hidden], w, 1e-5f), &expected[r * stride]);
    }
    Device<float> input(*backend, x);
    Device<bf16> out(*backend, rows * stride);
    backend->rms_norm(out.data(), stride, input.data(), backend->place(w.data(), hidden), rows,
                      hidden, 1e-5f);
    EXPECT_TRUE(same_bits(out.host(), expected, stride));
  }
}

TEST_P(RowOps, SiluMul) {
  const std::size_t rows = 3, intermediate = 77;
  auto x = normal_floats(rows * 2 * intermediate, 4.0f, 4);
  const float odd[] = {
      0.0f, -0.0f, 87.5f, -87.5f, 1e30f, -1e30f, std::numeric_limits<float>::infinity()};
  std::ranges::copy(odd, x.begin());
  std::vector<bf16> expected;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* gate = &x[r * 2 * intermediate];
    for (std::size_t i = 0; i < intermediate; ++i) {
      const float silu = gate[i] / (1.0f + numerics::exp(-gate[i]));
      expected.push_back(from_float(silu * gate[intermediate + i]));
    }
  }
  Device<float> input(*backend, x);
  Device<bf16> out(*backend, rows * intermediate);
  backend->silu_mul(out.data(), input.data(), rows, intermediate);
  EXPECT_TRUE(same_bits(out.host(), expected, intermediate));
}

TEST_P(RowOps, Top2TakesTheLowestOfEqualTokens) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> rows{{1, 2, 3, 4, 5},
                                             {5, 4, 3, 2, 1},
                                             {7, 7, 7, 7, 7},
                                             {0, 3, 1, 3, 3},
                                             {3, 9, 9, 3, 3},
                                             {0, -0.f, 0, 1, 1},
                                             {-inf, -inf, -inf, -inf, -inf},
                                             {9, 1, 1, 9, 1}};
  const std::vector<std::pair<Token, Token>> expected{{4, 3}, {0, 1}, {0, 1}, {1, 3},
                                                      {1, 2}, {3, 4}, {0, 1}, {0, 3}};
  std::vector<float> logits;
  for (const auto& row : rows)
    logits.insert(logits.end(), row.begin(), row.end());
  Device<float> input(*backend, logits);
  std::vector<Top2> out(rows.size());
  backend->top2(out, input.data(), 5);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    EXPECT_EQ(std::pair(out[r].best, out[r].second), expected[r]) << "row " << r;
  }
}

TEST_P(RowOps, Top2OfALargeVocabulary) {
  auto logits = normal_floats(2 * 40000, 1.0f, 5);
  logits[31234] = 100.0f;
  logits[7] = 99.0f;
  logits[40000 + 39999] = 50.0f;
  logits[40000 + 39998] = 50.0f;
  Device<float> input(*backend, logits);
  std::vector<Top2> out(2);
  backend->top2(out, input.data(), 40000);
  EXPECT_EQ(std::pair(out[0].best, out[0].second), std::pair(31234, 7));
  EXPECT_EQ(std::pair(out[1].best, out[1].second), std::pair(39998, 39999));
}

struct QkvProblem {
  HeadShape heads{4, 2, 48};
  std::size_t rows = 5, position = 9, slots = 11, rotary_size = 32;
  bool norms = true;

  std::size_t width() const { return (heads.query_heads + 2 * heads.kv_heads) * heads.head_size; }
};

std::vector<bf16> head(const float* x, const std::vector<bf16>* norm, std::size_t position,
                       const QkvProblem& p, const numerics::RotaryAngles& angles) {
  std::vector<float> y(x, x + p.heads.head_size);
  if (norm != nullptr) {
    const std::size_t n = y.size();
    const float scale = numerics::rms_scale(numerics::square_sum(x, n), n, 1e-6f);
    for (std::size_t i = 0; i < n; ++i)
      y[i] = (x[i] * scale) * to_float((*norm)[i]);
  }
  const std::size_t half = p.rotary_size / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const float cosine = angles.cosine[position * half + i];
    const float sine = angles.sine[position * half + i];
    const float a = y[i], b = y[i + half];
    y[i] = std::fma(a, cosine, -(b * sine));
    y[i + half] = std::fma(b, cosine, a * sine);
  }
  std::vector<bf16> out;
  for (const float value : y)
    out.push_back(from_float(value));
  return out;
}

void expect_qkv(Backend& backend, const QkvProblem& p) {
  const std::size_t Q = p.heads.query_heads, G = p.heads.kv_heads, D = p.heads.head_size;
  const auto qkv = normal_floats(p.rows * p.width(), 1.0f, 6);
  const auto q_norm = normal_bf16s(D, 1.0f, 7), k_norm = normal_bf16s(D, 1.0f, 8);
  const auto angles = numerics::rotary_angles(p.position + p.rows, p.rotary_size, 10000.0);
  std::vector<bf16> query(p.rows * Q * D), k(p.slots * G * D), v(p.slots * G * D);
  for (std::size_t r = 0; r < p.rows; ++r) {
    const std::size_t position = p.position + r, slot = position % p.slots;
    const float* x = &qkv[r * p.width()];
    for (std::size_t h = 0; h < Q + G; ++h) {
      const auto* norm = !p.norms ? nullptr : h < Q ? &q_norm : &k_norm;
      bf16* to = h < Q ? &query[(r * Q + h) * D] : &k[(slot * G + h - Q) * D];
      std::ranges::copy(head(x + h * D, norm, position, p, angles), to);
    }
    std::transform(x + (Q + G) * D, x + (Q + 2 * G) * D, &v[slot * G * D], from_float);
  }

  Device<float> input(backend, qkv), cosine(backend, angles.cosine), sine(backend, angles.sine);
  Device<bf16> query_out(backend, query.size()), k_out(backend, k.size()), v_out(backend, v.size());
  backend.write_qkv(query_out.data(), {k_out.data(), v_out.data(), p.slots}, p.heads,
                    {.qkv = input.data(),
                     .q_norm = p.norms ? backend.place(q_norm.data(), D) : nullptr,
                     .k_norm = p.norms ? backend.place(k_norm.data(), D) : nullptr,
                     .epsilon = 1e-6f,
                     .rotary = {cosine.data(), sine.data(), p.rotary_size},
                     .position = p.position},
                    p.rows);
  EXPECT_TRUE(same_bits(query_out.host(), query, Q * D));
  EXPECT_TRUE(same_bits(k_out.host(), k, G * D));
  EXPECT_TRUE(same_bits(v_out.host(), v, G * D));
}

TEST_P(RowOps, WriteQkv) {
  expect_qkv(*backend, {});
  expect_qkv(*backend, {.norms = false});
  expect_qkv(*backend,
             {.heads = {8, 1, 64}, .rows = 1, .position = 0, .slots = 1, .rotary_size = 64});
}

INSTANTIATE_FOR_EACH_BACKEND(RowOps);

}  // namespace
}  // namespace engine::kernels
