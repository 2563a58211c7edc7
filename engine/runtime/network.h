// The model's weights, placed on a backend in the layouts that its operations take.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/ops.h"
#include "model/model.h"

namespace engine::runtime {

// One decoder layer. Projections that read the same input are stacked into one matrix.
struct Layer {
  const kernels::bf16* input_norm;           // [H]
  std::unique_ptr<kernels::Matrix> qkv;      // [(Q + 2G) D, H]
  const kernels::bf16* qkv_bias;             // [(Q + 2G) D], or null
  const kernels::bf16* q_norm;               // [D], or null
  const kernels::bf16* k_norm;               // [D], or null
  std::unique_ptr<kernels::Matrix> output;   // [H, Q D]
  const kernels::bf16* post_norm;            // [H]
  std::unique_ptr<kernels::Matrix> gate_up;  // [2 I, H]
  std::unique_ptr<kernels::Matrix> down;     // [H, I]
};

// The multi-token-prediction layer: what the drafter runs.
struct MtpLayer {
  const kernels::bf16* token_norm;           // [H]
  const kernels::bf16* hidden_norm;          // [H]
  std::unique_ptr<kernels::Matrix> combine;  // [H, 2 H]
  Layer layer;
  const kernels::bf16* head_norm;  // [H]
};

// Const after construction. Refers to `model` and `backend`, which must outlive it.
class Network {
 public:
  // Throws BackendError if the backend has no room.
  Network(const model::Model& model, kernels::Backend& backend);

  const model::ModelConfig& config() const { return config_; }
  kernels::Backend& backend() const { return backend_; }
  kernels::HeadShape heads() const;
  // Covers positions [0, config().max_positions).
  kernels::RotaryTable rotary() const;

  const kernels::bf16* embedding;            // [V, H]
  const kernels::bf16* final_norm;           // [H]
  std::unique_ptr<kernels::Matrix> lm_head;  // [V, H]
  std::vector<Layer> layers;
  std::optional<MtpLayer> mtp;

 private:
  const model::ModelConfig& config_;
  kernels::Backend& backend_;
  std::unique_ptr<kernels::Buffer> cosine_, sine_;  // [max_positions, rotary_size / 2]
  // Stacked q, k and v biases of each layer; the backend may read them in place.
  std::vector<std::vector<kernels::bf16>> biases_;

  Layer place(const model::LayerWeights& weights);
  const kernels::bf16* place_bias(const model::LayerWeights& weights);
};

}  // namespace engine::runtime
