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

using numerics::Activation;
using numerics::from_float;
using numerics::NormKind;
using numerics::to_float;

class RowOps : public EachBackend {};

TEST_P(RowOps, EmbedCopiesAndScalesRows) {
  const auto table = normal_bf16s(10 * 24, 1.0f, 1);
  const std::vector<Token> tokens{3, 0, 9, 3};
  Device<float> out(*backend, tokens.size() * 24);
  backend->embed(out.data(), backend->place(table.data(), table.size()), tokens, 24, 1.5f);
  std::vector<float> expected;
  for (const Token token : tokens) {
    for (std::size_t i = 0; i < 24; ++i)
      expected.push_back(to_float(table[token * 24 + i]) * 1.5f);
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
  for (const std::size_t hidden : {16, 32, 112, 512}) {
    const std::size_t rows = 5, stride = hidden + 8;
    const auto x = normal_floats(rows * hidden, 3.0f, 2);
    const auto w = normal_bf16s(hidden, 1.0f, 3);
    std::vector<bf16> expected(rows * stride, bf16{0});
    for (std::size_t r = 0; r < rows; ++r) {
      std::ranges::copy(normalised(&x[r * hidden], w, 1e-5f), &expected[r * stride]);
    }
    Device<float> input(*backend, x);
    Device<bf16> out(*backend, rows * stride);
    backend->norm(out.data(), stride, input.data(),
                  {backend->place(w.data(), hidden), nullptr, NormKind::kRms, 1e-5f}, rows, hidden);
    EXPECT_TRUE(same_bits(out.host(), expected, stride));
  }
}

// Sums as `normalised` does, of the row or of its distances from the mean.
std::vector<float> normed(const std::vector<float>& row, const std::vector<bf16>& w,
                          const std::vector<bf16>& b, NormKind kind) {
  const std::size_t n = row.size();
  const auto lane_sum = [&](auto&& take) {
    std::vector<float> lanes(32, 0.0f);
    for (std::size_t i = 0; i < n; ++i)
      lanes[i % 32] = take(row[i], lanes[i % 32]);
    for (const std::size_t step : {16, 8, 4, 2, 1}) {
      const std::vector<float> before = lanes;
      for (std::size_t l = 0; l < 32; ++l)
        lanes[l] = before[l] + before[l ^ step];
    }
    return lanes[0];
  };
  const float count = static_cast<float>(n);
  const bool centred = kind == NormKind::kLayer;
  const float mean = centred ? lane_sum([](float x, float sum) { return sum + x; }) / count : 0.0f;
  const float squares =
      lane_sum([&](float x, float sum) { return std::fma(x - mean, x - mean, sum); });
  const float scale = 1.0f / std::sqrt(squares / count + 1e-5f);
  std::vector<float> out;
  for (std::size_t i = 0; i < n; ++i) {
    const float scaled = (row[i] - mean) * scale, weight = to_float(w[i]);
    if (kind == NormKind::kNone) out.push_back(row[i]);
    if (kind == NormKind::kRms) out.push_back(scaled * weight);
    if (kind == NormKind::kRmsPlusOne) out.push_back(scaled * (1.0f + weight));
    if (kind == NormKind::kLayer) out.push_back(std::fma(scaled, weight, to_float(b[i])));
  }
  return out;
}

// Rows of both launch shapes: few and many.
TEST_P(RowOps, EveryNormByItselfAndAdded) {
  const std::size_t hidden = 112;
  const auto w = normal_bf16s(hidden, 1.0f, 3), b = normal_bf16s(hidden, 1.0f, 4);
  for (const std::size_t rows : {3u, 11u}) {
    const auto x = normal_floats(rows * hidden, 3.0f, 2), y = normal_floats(rows * hidden, 1.0f, 5);
    for (const auto kind :
         {NormKind::kNone, NormKind::kRms, NormKind::kRmsPlusOne, NormKind::kLayer}) {
      const Norm norm{kind == NormKind::kNone ? nullptr : backend->place(w.data(), hidden),
                      kind == NormKind::kLayer ? backend->place(b.data(), hidden) : nullptr, kind,
                      1e-5f};
      std::vector<bf16> rounded;
      std::vector<float> sum;
      for (std::size_t r = 0; r < rows; ++r) {
        const std::vector<float> row(&x[r * hidden], &x[r * hidden] + hidden);
        const std::vector<float> values = normed(row, w, b, kind);
        for (std::size_t i = 0; i < hidden; ++i) {
          rounded.push_back(from_float(values[i]));
          sum.push_back(std::fma(values[i], 0.22f, y[r * hidden + i]));
        }
      }
      Device<float> input(*backend, x), stream(*backend, y);
      Device<bf16> out(*backend, rows * hidden);
      backend->norm(out.data(), hidden, input.data(), norm, rows, hidden);
      EXPECT_TRUE(same_bits(out.host(), rounded, hidden)) << static_cast<int>(kind);
      backend->add(stream.data(), input.data(), norm, 0.22f, rows, hidden);
      EXPECT_TRUE(same_bits(stream.host(), sum, hidden)) << static_cast<int>(kind);
    }
  }
}

TEST_P(RowOps, GeluWithAndWithoutAGate) {
  const std::size_t rows = 3, width = 80;
  const auto x = normal_floats(rows * 2 * width, 3.0f, 4);
  std::vector<bf16> gated, plain;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < width; ++i) {
      const float* row = &x[r * 2 * width];
      gated.push_back(from_float(numerics::gelu(row[i]) * row[width + i]));
    }
  }
  for (std::size_t i = 0; i < rows * width; ++i)
    plain.push_back(from_float(numerics::gelu(x[i])));
  Device<float> input(*backend, x);
  Device<bf16> out(*backend, rows * width);
  backend->activate(out.data(), input.data(), rows, width, Activation::kGeluGated);
  EXPECT_TRUE(same_bits(out.host(), gated, width));
  backend->activate(out.data(), input.data(), rows, width, Activation::kGelu);
  EXPECT_TRUE(same_bits(out.host(), plain, width));
}

TEST_P(RowOps, ScaleLogitsDividesThenCaps) {
  const auto x = normal_floats(40'001, 60.0f, 4);
  std::vector<float> divided, capped;
  for (const float value : x) {
    divided.push_back(value / 6.0f);
    capped.push_back(30.0f * numerics::tanh((value / 6.0f) / 30.0f));
  }
  Device<float> once(*backend, x), both(*backend, x);
  backend->scale_logits(once.data(), x.size(), 6.0f, 0.0f);
  backend->scale_logits(both.data(), x.size(), 6.0f, 30.0f);
  EXPECT_TRUE(same_bits(once.host(), divided, x.size()));
  EXPECT_TRUE(same_bits(both.host(), capped, x.size()));
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
  backend->activate(out.data(), input.data(), rows, intermediate, Activation::kSiluGated);
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
  NormKind norm = NormKind::kRms;
  bool whole_width = false, interleaved = false;

  std::size_t width() const { return (heads.query_heads + 2 * heads.kv_heads) * heads.head_size; }
};

// Head h of the `heads` queries or keys at `all`.
std::vector<bf16> head(const float* all, std::size_t h, std::size_t heads,
                       const std::vector<bf16>& norm, std::size_t position, const QkvProblem& p,
                       const numerics::RotaryAngles& angles) {
  const std::size_t D = p.heads.head_size;
  const float* x = all + h * D;
  std::vector<float> y(x, x + D);
  if (p.norm != NormKind::kNone) {
    const std::size_t n = p.whole_width ? heads * D : D;
    const float* from = p.whole_width ? all : x;
    const bf16* w = p.whole_width ? &norm[h * D] : norm.data();
    const float scale = numerics::rms_scale(numerics::square_sum(from, n), n, 1e-6f);
    for (std::size_t i = 0; i < D; ++i) {
      const float weight = p.norm == NormKind::kRms ? to_float(w[i]) : 1.0f + to_float(w[i]);
      y[i] = (x[i] * scale) * weight;
    }
  }
  const std::size_t half = p.rotary_size / 2;
  for (std::size_t i = 0; i < half; ++i) {
    const float cosine = angles.cosine[position * half + i];
    const float sine = angles.sine[position * half + i];
    const std::size_t first = p.interleaved ? 2 * i : i,
                      second = p.interleaved ? 2 * i + 1 : i + half;
    const float a = y[first], b = y[second];
    y[first] = std::fma(a, cosine, -(b * sine));
    y[second] = std::fma(b, cosine, a * sine);
  }
  std::vector<bf16> out;
  for (const float value : y)
    out.push_back(from_float(value));
  return out;
}

void expect_qkv(Backend& backend, const QkvProblem& p) {
  const std::size_t Q = p.heads.query_heads, G = p.heads.kv_heads, D = p.heads.head_size;
  const auto qkv = normal_floats(p.rows * p.width(), 1.0f, 6);
  const auto q_norm = normal_bf16s(Q * D, 1.0f, 7), k_norm = normal_bf16s(G * D, 1.0f, 8);
  const auto angles = numerics::rotary_angles(p.position + p.rows, p.rotary_size, 10000.0);
  std::vector<bf16> query(p.rows * Q * D), k(p.slots * G * D), v(p.slots * G * D);
  for (std::size_t r = 0; r < p.rows; ++r) {
    const std::size_t position = p.position + r, slot = position % p.slots;
    const float* x = &qkv[r * p.width()];
    for (std::size_t h = 0; h < Q + G; ++h) {
      const bool is_query = h < Q;
      bf16* to = is_query ? &query[(r * Q + h) * D] : &k[(slot * G + h - Q) * D];
      std::ranges::copy(is_query ? head(x, h, Q, q_norm, position, p, angles)
                                 : head(x + Q * D, h - Q, G, k_norm, position, p, angles),
                        to);
    }
    std::transform(x + (Q + G) * D, x + (Q + 2 * G) * D, &v[slot * G * D], from_float);
  }

  Device<float> input(backend, qkv), cosine(backend, angles.cosine), sine(backend, angles.sine);
  const auto norm_of = [&](const std::vector<bf16>& w) {
    const bool there = p.norm != NormKind::kNone;
    return Norm{there ? backend.place(w.data(), w.size()) : nullptr, nullptr, p.norm, 1e-6f};
  };
  Device<bf16> query_out(backend, query.size()), k_out(backend, k.size()), v_out(backend, v.size());
  backend.write_qkv(query_out.data(), {k_out.data(), v_out.data(), p.slots}, p.heads,
                    {.qkv = input.data(),
                     .q_norm = norm_of(q_norm),
                     .k_norm = norm_of(k_norm),
                     .whole_width = p.whole_width,
                     .rotary = {cosine.data(), sine.data(), p.rotary_size, p.interleaved},
                     .position = p.position},
                    p.rows);
  EXPECT_TRUE(same_bits(query_out.host(), query, Q * D));
  EXPECT_TRUE(same_bits(k_out.host(), k, G * D));
  EXPECT_TRUE(same_bits(v_out.host(), v, G * D));
}

TEST_P(RowOps, WriteQkv) {
  expect_qkv(*backend, {});
  expect_qkv(*backend, {.norm = NormKind::kNone});
  expect_qkv(*backend, {.norm = NormKind::kRmsPlusOne});
  expect_qkv(*backend, {.whole_width = true});
  expect_qkv(*backend, {.norm = NormKind::kNone, .interleaved = true});
  expect_qkv(*backend, {.rotary_size = 0});
  expect_qkv(*backend,
             {.heads = {8, 1, 64}, .rows = 1, .position = 0, .slots = 1, .rotary_size = 64});
}

INSTANTIATE_FOR_EACH_BACKEND(RowOps);

}  // namespace
}  // namespace engine::kernels
