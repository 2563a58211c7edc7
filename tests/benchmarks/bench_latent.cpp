// A layer's latent and sparse attention at a published shape, one operation at a time:
// microseconds, of decode and of prefill, after texts of several lengths.
//
//   build/cuda/tests/benchmarks/bench_latent
//
// GLM-5: 64 heads over latents of 512 and 64 rotated dimensions, queries of rank 2048, an indexer
// with 32 heads of 128 that chooses 2048 positions. Values are random, and so are the sets.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "kernels/ops.h"
#include "numerics/rotary.h"
#include "time_of.h"

namespace {

using namespace engine;
using kernels::bf16;
using kernels::Phase;

constexpr kernels::LatentShape kShape{
    .heads = 64, .rank = 2048, .latent = 512, .rotated = 64, .unrotated = 192};
constexpr kernels::IndexShape kIndex{.heads = 32, .size = 128, .most = 2048};
constexpr std::size_t kValue = 256, kMostRows = 512, kLongest = 1 << 20;
constexpr std::size_t kSlots = kLongest + kMostRows;
constexpr std::size_t kDrawn = 65536;  // kept rows that are random; the others repeat them

std::vector<float> random_floats(std::size_t count, float deviation) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<float> values(count);
  for (float& value : values)
    value = normal(random);
  return values;
}

std::vector<bf16> random_values(std::size_t count, float deviation) {
  std::vector<bf16> values;
  for (const float value : random_floats(count, deviation))
    values.push_back(numerics::from_float(value));
  return values;
}

template <typename T>
class Values {
 public:
  Values(kernels::Backend& backend, const std::vector<T>& host)
      : buffer_(backend.allocate(host.size() * sizeof(T))) {
    backend.upload(buffer_->data(), host.data(), buffer_->size());
  }
  T* data() const { return reinterpret_cast<T*>(buffer_->data()); }

 private:
  std::unique_ptr<kernels::Buffer> buffer_;
};

template <typename T>
T* values(kernels::Buffer& buffer) {
  return reinterpret_cast<T*>(buffer.data());
}

// [kSlots, width]
std::unique_ptr<kernels::Buffer> kept_rows(kernels::Backend& backend, std::size_t width) {
  const std::vector<bf16> drawn = random_values(kDrawn * width, 1.0f);
  const std::size_t row = width * sizeof(bf16);
  auto buffer = backend.allocate(kSlots * row);
  backend.upload(buffer->data(), drawn.data(), kDrawn * row);
  for (std::size_t at = kDrawn; at < kSlots; at += kDrawn)
    backend.copy(buffer->data() + at * row, buffer->data(), std::min(kDrawn, kSlots - at) * row);
  return buffer;
}

std::unique_ptr<kernels::ExpertMatrices> heads_matrices(kernels::Backend& backend, std::size_t n,
                                                        std::size_t k) {
  const std::vector<bf16> weights = random_values(n * k, 0.05f);
  const std::vector<kernels::MatrixPart> parts(kShape.heads, {weights.data(), n});
  return backend.prepare_experts(parts, k, kShape.heads);
}

struct Layer {
  explicit Layer(kernels::Backend& on)
      : backend(on),
        absorb(heads_matrices(on, kShape.latent, kShape.unrotated)),
        expand(heads_matrices(on, kValue, kShape.latent)) {}

  static constexpr std::size_t kWidth = kShape.rank + kShape.key() + kIndex.size + kIndex.heads;
  static constexpr std::size_t kQueries =
      kShape.heads * kShape.query() + kIndex.heads * kIndex.size;
  static constexpr std::size_t kHeads = kMostRows * kShape.heads;

  kernels::Backend& backend;
  std::unique_ptr<kernels::ExpertMatrices> absorb, expand;
  numerics::RotaryAngles angles = numerics::rotary_angles(kSlots, kShape.rotated, 1e6);
  Values<float> cosine{backend, angles.cosine}, sine{backend, angles.sine};
  Values<float> projected{backend, random_floats(kMostRows* kWidth, 1.0f)};
  Values<float> queries{backend, random_floats(kMostRows* kQueries, 1.0f)};
  Values<bf16> norm{backend, random_values(kShape.rank, 1.0f)};
  std::unique_ptr<kernels::Buffer> latents = kept_rows(backend, kShape.key());
  std::unique_ptr<kernels::Buffer> index_keys = kept_rows(backend, kIndex.size);
  Values<bf16> low{backend, random_values(kMostRows* kShape.rank, 1.0f)};
  Values<float> index_weights{backend, random_floats(kMostRows* kIndex.heads, 1.0f)};
  Values<bf16> unrotated{backend, random_values(kHeads* kShape.unrotated, 1.0f)};
  Values<bf16> query{backend, random_values(kHeads* kShape.key(), 1.0f)};
  Values<bf16> index_query{backend, random_values(kMostRows* kIndex.heads* kIndex.size, 1.0f)};
  std::unique_ptr<kernels::Buffer> scores =
      backend.allocate(kernels::kIndexRows * kSlots * sizeof(float));
  Values<std::int32_t> chosen{backend, std::vector<std::int32_t>(kMostRows* kIndex.most)};
  Values<bf16> attended{backend, std::vector<bf16>(kHeads* kShape.latent)};
  Values<bf16> expanded{backend, std::vector<bf16>(kHeads* kValue)};
};

void measure(Layer& layer, std::size_t rows, std::size_t position, Phase phase) {
  kernels::Backend& backend = layer.backend;
  const kernels::LatentRows kept{values<bf16>(*layer.latents), values<bf16>(*layer.index_keys),
                                 kSlots};
  const kernels::LatentRotary rotary{
      {layer.cosine.data(), layer.sine.data(), kShape.rotated, true}, true, position};
  const kernels::Norm rms{layer.norm.data(), nullptr, numerics::NormKind::kRms, 1e-5f};
  const kernels::Norm centred{layer.norm.data(), layer.norm.data(), numerics::NormKind::kLayer,
                              1e-6f};
  const auto write = [&] {
    backend.write_latent({layer.low.data(), layer.index_weights.data()}, kept, kShape, kIndex,
                         {layer.projected.data(), rms, rms, centred, rotary}, rows);
  };
  const auto cut = [&] {
    backend.write_latent_queries(
        {layer.unrotated.data(), layer.query.data(), layer.index_query.data()}, kShape, kIndex,
        {layer.queries.data(), rotary}, rows);
  };
  const auto absorb = [&] {
    backend.matmul_heads(layer.query.data(), kShape.key(), layer.unrotated.data(), kShape.unrotated,
                         *layer.absorb, rows);
  };
  const auto choose = [&] {
    backend.choose(layer.chosen.data(), kept, kIndex,
                   {layer.index_query.data(), layer.index_weights.data(),
                    values<float>(*layer.scores), position},
                   rows);
  };
  const auto attend = [&] {
    backend.latent_attention(layer.attended.data(), kept, kShape,
                             {.query = layer.query.data(),
                              .position = position,
                              .first = 0,
                              .window = kernels::kWholeContext,
                              .phase = phase,
                              .scores = {numerics::score_scale(kShape.query())},
                              .chosen = layer.chosen.data(),
                              .most = kIndex.most},
                             rows);
  };
  const auto expand = [&] {
    backend.matmul_heads(layer.expanded.data(), kValue, layer.attended.data(), kShape.latent,
                         *layer.expand, rows);
  };
  const double whole =
      bench::time_of(backend, [&] { write(), cut(), absorb(), choose(), attend(), expand(); });
  const double attention = bench::time_of(backend, attend);
  const double chosen = bench::time_of(backend, choose);
  const auto count = static_cast<double>(rows);
  const double keys = std::min(static_cast<double>(position) + count / 2, 2048.0);
  const double work = 2 * count * 64 * keys * static_cast<double>(kShape.key() + kShape.latent);
  const double scores = 2 * count * static_cast<double>(position) * 32 * 128;
  std::printf(
      "%4zu rows after %6zu | all %8.1f us | rows %5.1f queries %5.1f absorb %6.1f expand %6.1f | "
      "choose %8.1f us %6.1f TFLOP/s | attention %8.1f us %6.1f TFLOP/s\n",
      rows, position, whole, bench::time_of(backend, write), bench::time_of(backend, cut),
      bench::time_of(backend, absorb), bench::time_of(backend, expand), chosen,
      scores / chosen * 1e-6, attention, work / attention * 1e-6);
}

}  // namespace

int main() {
  const auto backend = kernels::make_backend("cuda", {});
  Layer layer(*backend);
  for (const std::size_t position : {2048u, 16384u, 65536u, 262144u, 1048576u}) {
    for (const std::size_t rows : {1u, 8u})
      measure(layer, rows, position, Phase::kDecode);
    measure(layer, kMostRows, position, Phase::kPrefill);
  }
}
