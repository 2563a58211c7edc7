// The model's weights, placed on a backend in the layouts that its operations take.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/ops.h"
#include "model/model.h"

namespace engine::runtime {

// The experts of a layer, E of them; the layer's MLP is then the one that every row goes to.
struct LayerExperts {
  std::unique_ptr<kernels::Matrix> router;           // [E, H]
  std::unique_ptr<kernels::Buffer> bias;             // [E] of float, or null
  std::unique_ptr<kernels::ExpertMatrices> gate_up;  // [2 I, H]
  std::unique_ptr<kernels::ExpertMatrices> down;     // [H, I]

  const float* router_bias() const {
    return bias == nullptr ? nullptr : reinterpret_cast<const float*>(bias->data());
  }
};

// Latent attention (kernels/latent.h has the letters). What belongs to an indexer is there if the
// layer chooses positions itself.
struct LatentAttention {
  kernels::IndexShape index;                          // no heads: no indexer
  bool sparse;                                        // attends to chosen positions only
  std::unique_ptr<kernels::Matrix> down;              // [L + C + B + F + J, H]
  kernels::Norm query_norm, latent_norm, index_norm;  // [L], [C], [F]
  std::unique_ptr<kernels::Matrix> queries;           // [Q (W + B) + J F, L], or of H inputs
  std::unique_ptr<kernels::ExpertMatrices> absorb;    // of each head: [C, W]
  std::unique_ptr<kernels::ExpertMatrices> expand;    // of each head: [U, C]
};

// One decoder layer. Projections that read the same input are stacked into one matrix. A norm that
// the model does not have is kNoNorm, a bias that it does not have is null.
struct Layer {
  std::size_t window;  // positions that a row attends to, its own included, or kWholeContext
  std::size_t rotary;  // index of its table, or LayerKind::kNoRotary
  kernels::Norm attention_norm, attention_norm_after;  // [H]
  std::optional<LatentAttention> latent;               // in place of qkv and its norms
  std::unique_ptr<kernels::Matrix> qkv;                // [(Q + 2G) D, H]
  const kernels::bf16* qkv_bias;                       // [(Q + 2G) D]
  kernels::Norm q_norm, k_norm;                        // [D], or [Q D] and [G D]
  std::unique_ptr<kernels::Matrix> output;             // [H, Q D] or [H, Q U]
  const kernels::bf16* output_bias;                    // [H]
  kernels::Norm mlp_norm, mlp_norm_after;              // [H]
  std::optional<LayerExperts> experts;
  std::unique_ptr<kernels::Matrix> gate_up;  // [2 I, H], or [I, H] without a gate; null
                                             // beside experts if they have none in common
  const kernels::bf16* gate_up_bias;         // [2 I] or [I]
  std::unique_ptr<kernels::Matrix> down;     // [H, I]
  const kernels::bf16* down_bias;            // [H]
};

// The multi-token-prediction layer: what the drafter runs.
struct MtpLayer {
  const kernels::bf16* embedding;            // [V, H]
  kernels::Norm token_norm;                  // [H]
  kernels::Norm hidden_norm;                 // [H]
  std::unique_ptr<kernels::Matrix> combine;  // [H, 2 H]
  Layer layer;
  kernels::Norm head_norm;                   // [H]
  std::unique_ptr<kernels::Matrix> lm_head;  // [V, H]; null: the model's
};

// Const after construction. Refers to `model` and `backend`, which must outlive it.
class Network {
 public:
  // Rotary tables are made for `positions`, the longest context of the engines that will run it;
  // 0, and whatever is more, means the model's own. Throws BackendError if the backend has no room.
  Network(const model::Model& model, kernels::Backend& backend, std::size_t positions = 0);

  const model::ModelConfig& config() const { return config_; }
  kernels::Backend& backend() const { return backend_; }
  kernels::HeadShape heads() const;
  kernels::LatentShape latent() const;
  std::size_t positions() const { return positions_; }
  // Covers positions [0, positions()).
  kernels::RotaryTable rotary(const Layer& layer) const;
  // What attention and MLP add is normed or scaled before it goes into the stream.
  bool adds_branches() const {
    return !layers.empty() && (config_.residual_scale != 1.0f ||
                               layers[0].mlp_norm_after.kind != numerics::NormKind::kNone);
  }

  const kernels::bf16* embedding;            // [V, H]
  kernels::Norm final_norm;                  // [H]
  std::unique_ptr<kernels::Matrix> lm_head;  // [V, H]
  std::vector<Layer> layers;
  std::optional<MtpLayer> mtp;

 private:
  const model::ModelConfig& config_;
  kernels::Backend& backend_;
  std::size_t positions_;
  struct Table {
    std::unique_ptr<kernels::Buffer> cosine, sine;  // [positions, rotary_size / 2]
  };
  std::vector<Table> tables_;  // one for each of config().rotaries
  // Stacked biases of each layer; the backend may read them in place.
  std::vector<std::vector<kernels::bf16>> biases_;

  // `sparse`: the layer attends to chosen positions, its own choice or another's.
  Layer place(const model::LayerWeights& weights, const model::LayerKind& kind, bool sparse);
  kernels::Norm place(const model::NormWeights& norm);
  kernels::Norm place_head_norm(const kernels::bf16* weight, std::size_t heads);
  void place_attention(Layer& layer, const model::LayerWeights& weights);
  LatentAttention place_latent(const model::LatentWeights& weights, bool sparse);
  std::unique_ptr<kernels::ExpertMatrices> place_absorb(const kernels::bf16* expand);
  kernels::Norm place_part_norm(const kernels::bf16* weight, const kernels::bf16* bias,
                                std::size_t size);
  std::unique_ptr<kernels::Matrix> place_mlp_input(const model::LayerWeights& weights,
                                                   std::size_t inner);
  std::optional<LayerExperts> place_experts(const model::LayerWeights& weights);
  // The parts stacked; null where they are.
  struct BiasPart {
    const kernels::bf16* values;
    std::size_t count;
  };
  const kernels::bf16* place_bias(std::initializer_list<BiasPart> parts);
};

}  // namespace engine::runtime
