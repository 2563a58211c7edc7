#include "runtime/network.h"

#include <algorithm>
#include <array>

#include "numerics/rotary_scaling.h"

namespace engine::runtime {
namespace {

using kernels::bf16;
using kernels::MatrixPart;

std::unique_ptr<kernels::Buffer> upload(kernels::Backend& backend,
                                        const std::vector<float>& values) {
  // A model with no rotary dimensions has an empty table; one element keeps the pointer valid.
  const std::size_t bytes = values.size() * sizeof(float);
  auto buffer = backend.allocate(bytes == 0 ? sizeof(float) : bytes);
  if (bytes != 0) backend.upload(buffer->data(), values.data(), bytes);
  return buffer;
}

}  // namespace

Network::Network(const model::Model& model, kernels::Backend& backend, std::size_t positions)
    : config_(model.config()),
      backend_(backend),
      positions_(positions == 0 ? config_.max_positions
                                : std::min(positions, config_.max_positions)) {
  const model::Weights& weights = model.weights();
  embedding = backend.place(weights.embedding, config_.vocabulary * config_.hidden);
  final_norm = place(weights.final_norm);
  lm_head =
      backend.prepare(std::array{MatrixPart{weights.lm_head, config_.vocabulary}}, config_.hidden);
  for (std::size_t i = 0; i < config_.layers; ++i)
    layers.push_back(place(weights.layers[i], config_.layer_kinds[i], config_.latent.choice > 0));
  if (weights.mtp) {
    const MatrixPart combine{weights.mtp->eh_proj, config_.hidden};
    const MatrixPart head{weights.mtp->lm_head, config_.vocabulary};
    mtp = MtpLayer{
        .embedding =
            weights.mtp->embedding == weights.embedding
                ? embedding
                : backend.place(weights.mtp->embedding, config_.vocabulary * config_.hidden),
        .token_norm = place(weights.mtp->enorm),
        .hidden_norm = place(weights.mtp->hnorm),
        .combine = backend.prepare(std::array{combine}, 2 * config_.hidden),
        .layer = place(weights.mtp->layer,
                       {.window = config_.mtp_window, .experts = config_.has_experts()}, false),
        .head_norm = place(weights.mtp->head_norm),
        .lm_head = weights.mtp->lm_head == weights.lm_head
                       ? nullptr
                       : backend.prepare(std::array{head}, config_.hidden)};
  }
  for (const numerics::RotarySpec& spec : config_.rotaries) {
    const numerics::RotaryAngles angles = numerics::rotary_angles(positions_, spec);
    tables_.push_back({upload(backend, angles.cosine), upload(backend, angles.sine)});
  }
}

kernels::HeadShape Network::heads() const {
  return {config_.query_heads, config_.kv_heads, config_.head_size};
}

kernels::LatentShape Network::latent() const {
  const model::LatentConfig& l = config_.latent;
  return {config_.query_heads, l.rank, l.size, l.rotated, l.unrotated};
}

kernels::RotaryTable Network::rotary(const Layer& layer) const {
  const bool rotates = layer.rotary != model::LayerKind::kNoRotary;
  const std::size_t index = rotates ? layer.rotary : 0;
  const Table& table = tables_[index];
  return {reinterpret_cast<const float*>(table.cosine->data()),
          reinterpret_cast<const float*>(table.sine->data()),
          rotates ? config_.rotaries[index].size : 0, config_.rotaries[index].interleaved};
}

Layer Network::place(const model::LayerWeights& weights, const model::LayerKind& kind,
                     bool sparse) {
  const std::size_t hidden = config_.hidden;
  const std::size_t inner = config_.mlp_width(kind.experts);
  const BiasPart gate_bias{weights.gate_bias, inner}, up_bias{weights.up_bias, inner};
  Layer layer{
      .window = kind.window,
      .rotary = kind.rotary,
      .attention_norm = place(weights.attention_norm),
      .attention_norm_after = place(weights.attention_norm_after),
      .latent = std::nullopt,
      .qkv = nullptr,
      .qkv_bias = nullptr,
      .q_norm = kernels::kNoNorm,
      .k_norm = kernels::kNoNorm,
      .output =
          backend_.prepare(std::array{MatrixPart{weights.o, hidden}}, config_.attended_width()),
      .output_bias = place_bias({{weights.o_bias, hidden}}),
      .mlp_norm = place(weights.mlp_norm),
      .mlp_norm_after = place(weights.mlp_norm_after),
      .experts = place_experts(weights),
      .gate_up = inner == 0 ? nullptr : place_mlp_input(weights, inner),
      .gate_up_bias = config_.gated() ? place_bias({gate_bias, up_bias}) : place_bias({up_bias}),
      .down = inner == 0 ? nullptr
                         : backend_.prepare(std::array{MatrixPart{weights.down, hidden}}, inner),
      .down_bias = place_bias({{weights.down_bias, hidden}})};
  if (weights.latent) {
    layer.latent = place_latent(*weights.latent, sparse);
  } else {
    place_attention(layer, weights);
  }
  return layer;
}

void Network::place_attention(Layer& layer, const model::LayerWeights& weights) {
  const std::size_t queries = config_.query_width(), keys = config_.kv_width();
  const std::array qkv{MatrixPart{weights.q, queries}, MatrixPart{weights.k, keys},
                       MatrixPart{weights.v, keys}};
  layer.qkv = backend_.prepare(qkv, config_.hidden);
  layer.qkv_bias =
      place_bias({{weights.q_bias, queries}, {weights.k_bias, keys}, {weights.v_bias, keys}});
  layer.q_norm = place_head_norm(weights.q_norm, config_.query_heads);
  layer.k_norm = place_head_norm(weights.k_norm, config_.kv_heads);
}

std::unique_ptr<kernels::Matrix> Network::place_mlp_input(const model::LayerWeights& weights,
                                                          std::size_t inner) {
  const MatrixPart up{weights.up, inner};
  if (!config_.gated()) return backend_.prepare(std::array{up}, config_.hidden);
  return backend_.prepare(std::array{MatrixPart{weights.gate, inner}, up}, config_.hidden);
}

std::optional<LayerExperts> Network::place_experts(const model::LayerWeights& weights) {
  if (weights.experts.empty()) return std::nullopt;
  const std::size_t count = weights.experts.size(), inner = config_.experts.intermediate;
  std::vector<MatrixPart> gate_up, down;
  for (const model::ExpertWeights& expert : weights.experts) {
    gate_up.insert(gate_up.end(), {{expert.gate, inner}, {expert.up, inner}});
    down.push_back({expert.down, config_.hidden});
  }
  std::unique_ptr<kernels::Buffer> bias;
  if (weights.router_bias != nullptr)
    bias = upload(backend_, {weights.router_bias, weights.router_bias + count});
  return LayerExperts{
      .router = backend_.prepare(std::array{MatrixPart{weights.router, count}}, config_.hidden),
      .bias = std::move(bias),
      .gate_up = backend_.prepare_experts(gate_up, config_.hidden, count),
      .down = backend_.prepare_experts(down, inner, count)};
}

kernels::Norm Network::place(const model::NormWeights& norm) {
  if (norm.weight == nullptr) return kernels::kNoNorm;
  const auto placed = [&](const bf16* values) {
    return values == nullptr ? nullptr : backend_.place(values, config_.hidden);
  };
  return {placed(norm.weight), placed(norm.bias), config_.norm, config_.norm_epsilon};
}

kernels::Norm Network::place_head_norm(const bf16* weight, std::size_t heads) {
  if (weight == nullptr) return kernels::kNoNorm;
  const bool wide = config_.qk_norm == model::QkNorm::kWidth;
  return {backend_.place(weight, (wide ? heads : 1) * config_.head_size), nullptr, config_.norm,
          config_.norm_epsilon};
}

const bf16* Network::place_bias(std::initializer_list<BiasPart> parts) {
  if (parts.begin()->values == nullptr) return nullptr;
  std::vector<bf16>& stacked = biases_.emplace_back();
  for (const BiasPart& part : parts)
    stacked.insert(stacked.end(), part.values, part.values + part.count);
  return backend_.place(stacked.data(), stacked.size());
}

}  // namespace engine::runtime
