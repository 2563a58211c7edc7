#include "runtime/network.h"

#include <array>

#include "numerics/rotary.h"

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

Network::Network(const model::Model& model, kernels::Backend& backend)
    : config_(model.config()), backend_(backend) {
  const model::Weights& weights = model.weights();
  embedding = backend.place(weights.embedding, config_.vocabulary * config_.hidden);
  final_norm = backend.place(weights.final_norm, config_.hidden);
  lm_head =
      backend.prepare(std::array{MatrixPart{weights.lm_head, config_.vocabulary}}, config_.hidden);
  for (const model::LayerWeights& layer : weights.layers)
    layers.push_back(place(layer));
  if (weights.mtp) {
    const MatrixPart combine{weights.mtp->eh_proj, config_.hidden};
    mtp = MtpLayer{.token_norm = backend.place(weights.mtp->enorm, config_.hidden),
                   .hidden_norm = backend.place(weights.mtp->hnorm, config_.hidden),
                   .combine = backend.prepare(std::array{combine}, 2 * config_.hidden),
                   .layer = place(weights.mtp->layer),
                   .head_norm = backend.place(weights.mtp->head_norm, config_.hidden)};
  }
  const numerics::RotaryAngles angles =
      numerics::rotary_angles(config_.max_positions, config_.rotary_size, config_.rope_theta);
  cosine_ = upload(backend, angles.cosine);
  sine_ = upload(backend, angles.sine);
}

kernels::HeadShape Network::heads() const {
  return {config_.query_heads, config_.kv_heads, config_.head_size};
}

kernels::RotaryTable Network::rotary() const {
  return {reinterpret_cast<const float*>(cosine_->data()),
          reinterpret_cast<const float*>(sine_->data()), config_.rotary_size};
}

Layer Network::place(const model::LayerWeights& weights) {
  const std::size_t hidden = config_.hidden;
  const std::size_t queries = config_.query_heads * config_.head_size;
  const std::size_t keys = config_.kv_heads * config_.head_size;
  const std::size_t inner = config_.intermediate;
  const std::array qkv{MatrixPart{weights.q, queries}, MatrixPart{weights.k, keys},
                       MatrixPart{weights.v, keys}};
  const std::array gate_up{MatrixPart{weights.gate, inner}, MatrixPart{weights.up, inner}};
  const auto head_norm = [&](const bf16* norm) {
    return norm == nullptr ? nullptr : backend_.place(norm, config_.head_size);
  };
  return {.input_norm = backend_.place(weights.input_norm, hidden),
          .qkv = backend_.prepare(qkv, hidden),
          .qkv_bias = place_bias(weights),
          .q_norm = head_norm(weights.q_norm),
          .k_norm = head_norm(weights.k_norm),
          .output = backend_.prepare(std::array{MatrixPart{weights.o, hidden}}, queries),
          .post_norm = backend_.place(weights.post_norm, hidden),
          .gate_up = backend_.prepare(gate_up, hidden),
          .down = backend_.prepare(std::array{MatrixPart{weights.down, hidden}}, inner)};
}

const bf16* Network::place_bias(const model::LayerWeights& weights) {
  if (weights.q_bias == nullptr) return nullptr;
  const std::size_t queries = config_.query_heads * config_.head_size;
  const std::size_t keys = config_.kv_heads * config_.head_size;
  std::vector<bf16>& stacked = biases_.emplace_back();
  stacked.insert(stacked.end(), weights.q_bias, weights.q_bias + queries);
  stacked.insert(stacked.end(), weights.k_bias, weights.k_bias + keys);
  stacked.insert(stacked.end(), weights.v_bias, weights.v_bias + keys);
  return backend_.place(stacked.data(), stacked.size());
}

}  // namespace engine::runtime
