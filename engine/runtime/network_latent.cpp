// The placing of latent attention's weights: products that read the same input are stacked, and
// what a head's keys and values are made of becomes two matrices of its own.
#include "runtime/network.h"

namespace engine::runtime {
namespace {

using kernels::bf16;
using kernels::MatrixPart;

// Of the norms within latent attention and of the indexer, whatever the model's other norms have:
// the value that transformers' classes are made with.
constexpr float kPartEpsilon = 1e-6f;

}  // namespace

LatentAttention Network::place_latent(const model::LatentWeights& weights, bool sparse) {
  const model::LatentConfig& l = config_.latent;
  const std::size_t heads = config_.query_heads;
  const bool chooses = weights.index_key != nullptr;
  std::vector<MatrixPart> down, queries{{weights.queries, heads * (l.unrotated + l.rotated)}};
  if (l.rank > 0) down.push_back({weights.query_down, l.rank});
  down.push_back({weights.key_down, l.size + l.rotated});
  if (chooses) {
    down.push_back({weights.index_key, l.index_size});
    down.push_back({weights.index_weights, l.index_heads});
    queries.push_back({weights.index_queries, l.index_heads * l.index_size});
  }
  std::vector<MatrixPart> expand;
  for (std::size_t h = 0; h < heads; ++h) {
    const std::size_t row = h * (l.unrotated + l.values) + l.unrotated;
    expand.push_back({weights.expand + row * l.size, l.values});
  }
  const kernels::IndexShape index{l.index_heads, l.index_size, l.choice};
  return {.index = chooses ? index : kernels::IndexShape{},
          .sparse = sparse,
          .down = backend_.prepare(down, config_.hidden),
          .query_norm = place_part_norm(weights.query_norm, nullptr, l.rank),
          .latent_norm = place_part_norm(weights.key_norm, nullptr, l.size),
          .index_norm = place_part_norm(weights.index_norm, weights.index_bias, l.index_size),
          .queries = backend_.prepare(queries, l.rank > 0 ? l.rank : config_.hidden),
          .absorb = place_absorb(weights.expand),
          .expand = backend_.prepare_experts(expand, l.size, heads)};
}

// A head's keys are W rows of C inputs; absorbed, its queries' W inputs give C outputs.
std::unique_ptr<kernels::ExpertMatrices> Network::place_absorb(const bf16* expand) {
  const model::LatentConfig& l = config_.latent;
  const std::size_t W = l.unrotated, C = l.size;
  std::vector<bf16> transposed(config_.query_heads * C * W);
  std::vector<MatrixPart> parts;
  for (std::size_t h = 0; h < config_.query_heads; ++h) {
    const bf16* from = expand + h * (W + l.values) * C;
    bf16* to = &transposed[h * C * W];
    for (std::size_t w = 0; w < W; ++w) {
      for (std::size_t c = 0; c < C; ++c)
        to[c * W + w] = from[w * C + c];
    }
    parts.push_back({to, C});
  }
  return backend_.prepare_experts(parts, W, config_.query_heads);
}

kernels::Norm Network::place_part_norm(const bf16* weight, const bf16* bias, std::size_t size) {
  if (weight == nullptr) return kernels::kNoNorm;
  const bool layer = bias != nullptr;
  return {backend_.place(weight, size), layer ? backend_.place(bias, size) : nullptr,
          layer ? numerics::NormKind::kLayer : numerics::NormKind::kRms, kPartEpsilon};
}

}  // namespace engine::runtime
