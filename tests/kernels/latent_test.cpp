// Latent attention's operations: rows and queries against their definitions in plain loops, the
// heads' products against one chain, attention against the scalar reference of both orders.
#include "numerics/latent.h"

#include <algorithm>
#include <cmath>

#include "backends.h"
#include "numerics/fused16.h"
#include "numerics/index.h"
#include "numerics/rotary.h"

namespace engine::kernels {
namespace {

constexpr bf16 kPoison{0x7fff};
constexpr LatentShape kShape{.heads = 4, .rank = 48, .latent = 64, .rotated = 16, .unrotated = 32};
constexpr IndexShape kIndex{.heads = 3, .size = 32, .most = 70};

// What a layer's first product and its norms give.
struct Inputs {
  Inputs(Backend& backend, std::size_t rows, const LatentShape& shape, const IndexShape& index)
      : width(shape.rank + shape.key() + index.size + index.heads),
        host(normal_floats(rows * width, 1.0f, 3)),
        query_norm(normal_bf16s(std::max<std::size_t>(1, shape.rank), 1.0f, 4)),
        latent_norm(normal_bf16s(shape.latent, 1.0f, 5)),
        index_norm(normal_bf16s(std::max<std::size_t>(1, index.size), 1.0f, 6)),
        index_bias(normal_bf16s(std::max<std::size_t>(1, index.size), 1.0f, 7)),
        projected(backend, host),
        device_query_norm(backend, query_norm),
        device_latent_norm(backend, latent_norm),
        device_index_norm(backend, index_norm),
        device_index_bias(backend, index_bias) {}

  WriteLatentArgs args(const LatentRotary& rotary) {
    return {.projected = projected.data(),
            .query_norm = {device_query_norm.data(), nullptr, numerics::NormKind::kRms, 1e-5f},
            .latent_norm = {device_latent_norm.data(), nullptr, numerics::NormKind::kRms, 1e-5f},
            .index_norm = {device_index_norm.data(), device_index_bias.data(),
                           numerics::NormKind::kLayer, 1e-6f},
            .rotary = rotary};
  }

  std::size_t width;
  std::vector<float> host;
  std::vector<bf16> query_norm, latent_norm, index_norm, index_bias;
  Device<float> projected;
  Device<bf16> device_query_norm, device_latent_norm, device_index_norm, device_index_bias;
};

// Tables of B dimensions for positions [0, 600).
struct Tables {
  explicit Tables(Backend& backend)
      : host(numerics::rotary_angles(600, kShape.rotated, 10000.0)),
        cosine(backend, host.cosine),
        sine(backend, host.sine) {}

  LatentRotary rotary(std::size_t position, bool interleaved, bool index_interleaved) {
    return {{cosine.data(), sine.data(), kShape.rotated, interleaved}, index_interleaved, position};
  }

  numerics::RotaryAngles host;
  Device<float> cosine, sine;
};

std::vector<bf16> rounded(const std::vector<float>& values) {
  std::vector<bf16> all;
  for (const float value : values)
    all.push_back(numerics::from_float(value));
  return all;
}

// The first B dimensions of a part, rotated, and the rest as it is.
std::vector<float> rotated(std::vector<float> part, const numerics::RotaryAngles& angles,
                           std::size_t position, bool interleaved) {
  const std::size_t half = kShape.rotated / 2;
  for (std::size_t i = 0; i < half; ++i) {
    float& first = part[interleaved ? 2 * i : i];
    float& second = part[interleaved ? 2 * i + 1 : i + half];
    const auto pair = numerics::rotate(first, second, angles.cosine[position * half + i],
                                       angles.sine[position * half + i]);
    first = pair.first, second = pair.second;
  }
  return part;
}

template <numerics::NormKind kKind>
std::vector<float> normed(const float* x, std::size_t n, const std::vector<bf16>& weight,
                          const std::vector<bf16>& bias, float epsilon) {
  const auto row = numerics::row_statistics<kKind>(x, n, epsilon);
  std::vector<float> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(numerics::norm_apply<kKind>(x[i], row, weight[i], bias[i]));
  return out;
}

class Latent : public EachBackend {
 protected:
  void check_rows(std::size_t rows, std::size_t position, const LatentShape& shape,
                  const IndexShape& index, bool interleaved) {
    SCOPED_TRACE(testing::Message() << rows << " rows at " << position << ", rank " << shape.rank
                                    << ", index heads " << index.heads);
    constexpr std::size_t kSlots = 90;
    Inputs in(*backend, rows, shape, index);
    Tables tables(*backend);
    const std::vector<bf16> poison(kSlots * std::max(shape.key(), kIndex.size), kPoison);
    Device<bf16> latents(*backend, poison), keys(*backend, poison);
    Device<bf16> low(*backend, std::max<std::size_t>(1, rows * shape.rank));
    Device<float> weights(*backend, std::max<std::size_t>(1, rows * index.heads));
    const bool indexes = index.heads > 0;
    backend->write_latent(
        {shape.rank > 0 ? low.data() : nullptr, indexes ? weights.data() : nullptr},
        {latents.data(), indexes ? keys.data() : nullptr, kSlots}, shape, index,
        in.args(tables.rotary(position, true, interleaved)), rows);
    std::vector<bf16> want_low, want_latents = poison, want_keys = poison;
    std::vector<float> want_weights;
    for (std::size_t r = 0; r < rows; ++r) {
      const float* x = &in.host[r * in.width];
      const auto q = rounded(
          normed<numerics::NormKind::kRms>(x, shape.rank, in.query_norm, in.query_norm, 1e-5f));
      want_low.insert(want_low.end(), q.begin(), q.end());
      x += shape.rank;
      const std::size_t slot = (position + r) % kSlots;
      const auto c = rounded(
          normed<numerics::NormKind::kRms>(x, shape.latent, in.latent_norm, in.latent_norm, 1e-5f));
      std::copy(c.begin(), c.end(), &want_latents[slot * shape.key()]);
      x += shape.latent;
      const auto k = rounded(rotated({x, x + shape.rotated}, tables.host, position + r, true));
      std::copy(k.begin(), k.end(), &want_latents[slot * shape.key() + shape.latent]);
      x += shape.rotated;
      if (!indexes) continue;
      const auto own =
          normed<numerics::NormKind::kLayer>(x, index.size, in.index_norm, in.index_bias, 1e-6f);
      const auto key = rounded(rotated(own, tables.host, position + r, interleaved));
      std::copy(key.begin(), key.end(), &want_keys[slot * index.size]);
      x += index.size;
      for (std::size_t j = 0; j < index.heads; ++j)
        want_weights.push_back(x[j] * numerics::index_scale(index.heads, index.size));
    }
    EXPECT_TRUE(same_bits(latents.host(), want_latents, shape.key()));
    EXPECT_TRUE(same_bits(keys.host(), want_keys, kIndex.size));
    if (shape.rank > 0) {
      EXPECT_TRUE(same_bits(low.host(), want_low, shape.rank));
    }
    if (indexes) {
      EXPECT_TRUE(same_bits(weights.host(), want_weights, index.heads));
    }
  }
};

TEST_P(Latent, RowsAreTheDefinition) {
  LatentShape without_rank = kShape;
  without_rank.rank = 0;
  for (const std::size_t rows : {1u, 8u, 70u}) {
    for (const std::size_t position : {0u, 85u, 500u}) {
      check_rows(rows, position, kShape, kIndex, true);
      check_rows(rows, position, kShape, kIndex, false);
      check_rows(rows, position, kShape, {}, true);
      check_rows(rows, position, without_rank, {}, true);
    }
  }
}

TEST_P(Latent, QueriesAreCutAndRotated) {
  constexpr std::size_t kRows = 9, kPosition = 300, Q = kShape.heads, J = kIndex.heads;
  const std::size_t width = Q * kShape.query() + J * kIndex.size;
  const std::vector<float> host = normal_floats(kRows * width, 1.0f, 8);
  Tables tables(*backend);
  Device<float> projected(*backend, host);
  Device<bf16> unrotated(*backend, kRows * Q * kShape.unrotated);
  const std::vector<bf16> poison(kRows * Q * kShape.key(), kPoison);
  Device<bf16> query(*backend, poison), index(*backend, kRows * J * kIndex.size);
  backend->write_latent_queries({unrotated.data(), query.data(), index.data()}, kShape, kIndex,
                                {projected.data(), tables.rotary(kPosition, true, false)}, kRows);
  std::vector<bf16> want_unrotated, want_query = poison, want_index;
  const auto append = [](std::vector<bf16>& to, const std::vector<bf16>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const float* x = host.data();
  for (std::size_t r = 0; r < kRows; ++r) {
    for (std::size_t h = 0; h < Q; ++h) {
      append(want_unrotated, rounded({x, x + kShape.unrotated}));
      x += kShape.unrotated;
      const auto part = rounded(rotated({x, x + kShape.rotated}, tables.host, kPosition + r, true));
      std::copy(part.begin(), part.end(), &want_query[(r * Q + h) * kShape.key() + kShape.latent]);
      x += kShape.rotated;
    }
    for (std::size_t j = 0; j < J; ++j, x += kIndex.size)
      append(want_index, rounded(rotated({x, x + kIndex.size}, tables.host, kPosition + r, false)));
  }
  EXPECT_TRUE(same_bits(unrotated.host(), want_unrotated, kShape.unrotated));
  EXPECT_TRUE(same_bits(query.host(), want_query, kShape.key()));
  EXPECT_TRUE(same_bits(index.host(), want_index, kIndex.size));
}

// One chain whatever the number of rows, so rows alone give the bits of rows together.
TEST_P(Latent, HeadsProductsAreOneChain) {
  constexpr std::size_t Q = 4, N = 48, kOutStride = 70;
  for (const std::size_t K : {32u, 512u}) {
    const std::size_t x_stride = K + 8;
    std::vector<bf16> weights = normal_bf16s(Q * N * K, 0.1f, 9);
    std::vector<MatrixPart> parts;
    for (std::size_t h = 0; h < Q; ++h)
      parts.push_back({&weights[h * N * K], N});
    const auto w = backend->prepare_experts(parts, K, Q);
    for (const std::size_t rows : {1u, 8u, 130u}) {
      const std::vector<bf16> x = normal_bf16s(rows * Q * x_stride, 1.0f, 10);
      Device<bf16> device_x(*backend, x);
      const std::vector<bf16> poison(rows * Q * kOutStride, kPoison);
      Device<bf16> out(*backend, poison);
      backend->matmul_heads(out.data(), kOutStride, device_x.data(), x_stride, *w, rows);
      std::vector<bf16> want = poison;
      for (std::size_t i = 0; i < rows * Q; ++i) {
        for (std::size_t n = 0; n < N; ++n) {
          want[i * kOutStride + n] = numerics::from_float(
              numerics::fused_chain(0.0f, &x[i * x_stride], &weights[(i % Q * N + n) * K], K));
        }
      }
      EXPECT_TRUE(same_bits(out.host(), want, kOutStride)) << rows << " rows, K " << K;
    }
  }
}

struct Problem {
  std::size_t rows, position;
  Phase phase = Phase::kPrefill;
  std::size_t first = 0;
  std::size_t window = kWholeContext;
  std::size_t slots = 0;  // 0: one for each position and a few more
  std::size_t most = 0;   // 0: no set
  LatentShape shape = kShape;

  std::size_t end() const { return position + rows; }
  std::size_t all_slots() const { return slots != 0 ? slots : end() + 5; }
};

// Row r's set, by scores drawn for its position.
std::vector<std::int32_t> sets(const Problem& p) {
  if (p.most == 0) return {};
  std::vector<std::int32_t> all(p.rows * p.most, -1);
  for (std::size_t r = 0; r < p.rows; ++r) {
    const std::size_t count = p.position + r + 1;
    const std::vector<float> scores = normal_floats(count, 1.0f, static_cast<unsigned>(count));
    numerics::choose_positions(&all[r * p.most], scores.data(), count, p.most);
  }
  return all;
}

std::vector<bf16> queries(const Problem& p) {
  std::vector<bf16> all;
  for (std::size_t r = 0; r < p.rows; ++r) {
    const auto row =
        normal_bf16s(p.shape.heads * p.shape.key(), 1.5f, static_cast<unsigned>(p.position + r));
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

// Poison wherever no row looks.
std::vector<bf16> kept(const Problem& p, const std::vector<std::int32_t>& chosen) {
  std::vector<bf16> rows(p.all_slots() * p.shape.key(), kPoison);
  const std::size_t begin = numerics::visible_begin(p.position, p.first, p.window);
  for (std::size_t position = begin; position < p.end(); ++position) {
    const auto in_set = std::find(chosen.begin(), chosen.end(), static_cast<int>(position));
    if (p.most != 0 && in_set == chosen.end()) continue;
    const auto row = normal_bf16s(p.shape.key(), 1.0f, static_cast<unsigned>(1000 + position));
    std::copy(row.begin(), row.end(), &rows[position % p.all_slots() * p.shape.key()]);
  }
  return rows;
}

numerics::ScoreMap scores(const Problem& p) {
  return {numerics::score_scale(p.shape.query())};
}

std::vector<bf16> expected(const Problem& p) {
  const std::size_t Q = p.shape.heads, C = p.shape.latent;
  const std::vector<std::int32_t> chosen = sets(p);
  const std::vector<bf16> q = queries(p), k = kept(p, chosen);
  std::vector<bf16> out(p.rows * Q * C);
  for (std::size_t i = 0; i < p.rows * Q; ++i) {
    const std::size_t at = p.position + i / Q;
    const numerics::AttentionRow row{
        .query = &q[i * p.shape.key()],
        .k = k.data(),
        .v = k.data(),
        .stride = p.shape.key(),
        .slots = p.all_slots(),
        .head_size = p.shape.key(),
        .begin = p.most != 0 ? 0 : numerics::visible_begin(at, p.first, p.window),
        .end = p.most != 0 ? numerics::chosen_count(at, p.most) : at + 1,
        .scores = scores(p),
        .value_size = C,
        .chosen = p.most != 0 ? &chosen[i / Q * p.most] : nullptr};
    if (p.phase == Phase::kDecode) {
      numerics::attention_decode_order(&out[i * C], row);
    } else {
      numerics::attention_prefill_order(&out[i * C], row);
    }
  }
  return out;
}

std::vector<bf16> computed(Backend& backend, const Problem& p) {
  const std::vector<std::int32_t> chosen = sets(p);
  Device<bf16> q(backend, queries(p)), k(backend, kept(p, chosen));
  Device<std::int32_t> device_chosen(backend, p.most != 0 ? chosen : std::vector<std::int32_t>(1));
  Device<bf16> out(backend, p.rows * p.shape.heads * p.shape.latent);
  backend.latent_attention(out.data(), {k.data(), nullptr, p.all_slots()}, p.shape,
                           {.query = q.data(),
                            .position = p.position,
                            .first = p.first,
                            .window = p.window,
                            .phase = p.phase,
                            .scores = scores(p),
                            .chosen = p.most != 0 ? device_chosen.data() : nullptr,
                            .most = p.most},
                           p.rows);
  return out.host();
}

// More heads than a tile of queries has rows, and the widest keys that there are.
constexpr LatentShape kWide{.heads = 70, .rank = 0, .latent = 512, .rotated = 64, .unrotated = 192};

constexpr Problem kProblems[] = {
    {.rows = 1, .position = 0},
    {.rows = 70, .position = 0},
    {.rows = 64, .position = 333},
    {.rows = 40, .position = 100, .window = 50},
    {.rows = 30, .position = 200, .first = 190, .window = 100, .slots = 131},
    {.rows = 70, .position = 0, .most = 32},
    {.rows = 100, .position = 20, .most = 96},
    {.rows = 9, .position = 700, .most = 150},
    {.rows = 1, .position = 0, .phase = Phase::kDecode},
    {.rows = 8, .position = 250, .phase = Phase::kDecode},
    {.rows = 5, .position = 600, .phase = Phase::kDecode, .window = 300},
    {.rows = 8, .position = 28, .phase = Phase::kDecode, .most = 32},
    {.rows = 8, .position = 900, .phase = Phase::kDecode, .most = 300},
    {.rows = 4, .position = 600, .phase = Phase::kDecode, .most = 512},
    {.rows = 2, .position = 150, .shape = kWide},
    {.rows = 2, .position = 400, .most = 200, .shape = kWide},
    {.rows = 2, .position = 300, .phase = Phase::kDecode, .most = 290, .shape = kWide},
};

TEST_P(Latent, AttentionFollowsTheReference) {
  for (const Problem& p : kProblems) {
    EXPECT_TRUE(same_bits(computed(*backend, p), expected(p), p.shape.latent))
        << p.rows << " rows at " << p.position << ", " << p.most << " chosen";
  }
}

// A set that leaves nothing out gives the bits of attention over everything.
TEST_P(Latent, WholeSetsChangeNothing) {
  for (const Phase phase : {Phase::kPrefill, Phase::kDecode}) {
    const Problem all{.rows = 8, .position = 400, .phase = phase};
    Problem set = all;
    set.most = 450;
    EXPECT_TRUE(same_bits(computed(*backend, all), computed(*backend, set), kShape.latent));
  }
}

TEST_P(Latent, DecodeRowsAreIndependent) {
  const Problem together{.rows = 8, .position = 300, .phase = Phase::kDecode, .most = 303};
  const std::vector<bf16> all = computed(*backend, together);
  const std::size_t width = kShape.heads * kShape.latent;
  for (std::size_t r = 0; r < together.rows; ++r) {
    Problem alone = together;
    alone.rows = 1, alone.position += r;
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * width);
    EXPECT_TRUE(same_bits(computed(*backend, alone),
                          {begin, begin + static_cast<std::ptrdiff_t>(width)}, kShape.latent))
        << "row " << r;
  }
}

INSTANTIATE_FOR_EACH_BACKEND(Latent);

}  // namespace
}  // namespace engine::kernels
