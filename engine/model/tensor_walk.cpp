#include "model/tensor_walk.h"

#include <fmt/format.h>

#include <cstring>

#include "model/family.h"

namespace engine::model {
namespace {

using numerics::NormKind;

class Walk {
 public:
  Walk(const ModelConfig& config, const TensorPrefixes& prefixes, TensorSupply& supply)
      : c_(config), names_(*config.names), prefixes_(prefixes), supply_(supply) {}

  Weights all() {
    Weights weights;
    weights.embedding = table(prefixes_.body + "embed_tokens.weight");
    for (std::size_t i = 0; i < c_.layers; ++i)
      weights.layers.push_back(layer(i));
    if (c_.mtp) weights.mtp = mtp();
    weights.final_norm = norm(prefixes_.body + "norm");
    weights.lm_head =
        c_.tied_embeddings ? weights.embedding : table(prefixes_.head + "lm_head.weight");
    if (weights.mtp) {
      weights.mtp->embedding = own_table("embed_tokens.weight", weights.embedding);
      weights.mtp->lm_head = own_table("shared_head.head.weight", weights.lm_head);
    }
    return weights;
  }

 private:
  const bf16* table(const std::string& name) {
    return supply_.take({name, {c_.vocabulary, c_.hidden}, TensorRole::kTable});
  }

  // The drafter's, which is most often a copy of the model's or not there.
  const bf16* own_table(const std::string& name, const bf16* models) {
    const std::string whole = fmt::format("{}layers.{}.{}", prefixes_.body, c_.layers, name);
    if (!supply_.holds(whole)) return models;
    const bf16* const own = table(whole);
    return std::memcmp(own, models, c_.vocabulary * c_.hidden * sizeof(bf16)) == 0 ? models : own;
  }

  NormWeights norm(const std::string& name) {
    NormWeights weights{supply_.take({name + ".weight", {c_.hidden}, TensorRole::kNorm}), nullptr};
    if (c_.norm == NormKind::kLayer) weights.bias = bias(name, c_.hidden);
    return weights;
  }

  NormWeights layer_norm(std::string_view name) {
    return name.empty() ? NormWeights{} : norm(prefix_ + std::string(name));
  }

  const bf16* bias(const std::string& name, std::size_t outputs) {
    return supply_.take({name + ".bias", {outputs}, TensorRole::kBias});
  }

  const bf16* layer_bias(std::string_view name, std::size_t outputs, bool there) {
    return there ? bias(prefix_ + std::string(name), outputs) : nullptr;
  }

  const bf16* matrix(std::string_view name, std::size_t outputs, std::size_t inner,
                     TensorRole role) {
    return supply_.take({prefix_ + std::string(name) + ".weight", {outputs, inner}, role});
  }

  LayerWeights layer(std::size_t index) {
    prefix_ = fmt::format("{}layers.{}.", prefixes_.body, index);
    supply_.begin_layer(index);
    LayerWeights layer;
    layer.attention_norm = layer_norm(names_.attention_norm);
    if (c_.has_latent()) {
      latent_attention(layer);
    } else {
      attention(layer);
    }
    layer.attention_norm_after = layer_norm(names_.attention_norm_after);
    layer.mlp_norm = layer_norm(names_.mlp_norm);
    if (has_experts(index)) {
      experts(layer);
    } else {
      mlp(layer);
    }
    layer.mlp_norm_after = layer_norm(names_.mlp_norm_after);
    if (layer.latent) indexer(*layer.latent, index);
    supply_.end_layer(index);
    return layer;
  }

  void attention(LayerWeights& layer) {
    const std::size_t queries = c_.query_width(), keys = c_.kv_width();
    if (names_.qkv.empty()) {
      layer.q = matrix(names_.q, queries, c_.hidden, TensorRole::kQueryKey);
      layer.k = matrix(names_.k, keys, c_.hidden, TensorRole::kQueryKey);
      layer.v = matrix(names_.v, keys, c_.hidden, TensorRole::kValue);
    } else {
      layer.q = matrix(names_.qkv, queries + 2 * keys, c_.hidden, TensorRole::kQueryKey);
      layer.k = layer.q + queries * c_.hidden;
      layer.v = layer.k + keys * c_.hidden;
    }
    layer.o = matrix(names_.o, c_.hidden, queries, TensorRole::kAttentionOutput);
    layer.q_bias = layer_bias(names_.q, queries, c_.qkv_bias);
    layer.k_bias = layer_bias(names_.k, keys, c_.qkv_bias);
    layer.v_bias = layer_bias(names_.v, keys, c_.qkv_bias);
    layer.o_bias = layer_bias(names_.o, c_.hidden, c_.output_bias);
    layer.q_norm = head_norm(names_.q_norm, queries);
    layer.k_norm = head_norm(names_.k_norm, keys);
  }

  const bf16* vector(std::string_view name, std::size_t size, TensorRole role) {
    return supply_.take({prefix_ + std::string(name), {size}, role});
  }

  void latent_attention(LayerWeights& layer) {
    const LatentConfig& l = c_.latent;
    const std::size_t queries = c_.query_heads * (l.unrotated + l.rotated);
    LatentWeights& own = layer.latent.emplace();
    if (l.rank > 0) {
      own.query_down = matrix("self_attn.q_a_proj", l.rank, c_.hidden, TensorRole::kValue);
      own.query_norm = vector("self_attn.q_a_layernorm.weight", l.rank, TensorRole::kNorm);
      own.queries = matrix("self_attn.q_b_proj", queries, l.rank, TensorRole::kLatentQuery);
    } else {
      own.queries = matrix("self_attn.q_proj", queries, c_.hidden, TensorRole::kLatentQuery);
    }
    own.key_down =
        matrix("self_attn.kv_a_proj_with_mqa", l.size + l.rotated, c_.hidden, TensorRole::kValue);
    own.key_norm = vector("self_attn.kv_a_layernorm.weight", l.size, TensorRole::kNorm);
    own.expand = matrix("self_attn.kv_b_proj", c_.query_heads * (l.unrotated + l.values), l.size,
                        TensorRole::kValue);
    layer.o = matrix(names_.o, c_.hidden, c_.attended_width(), TensorRole::kAttentionOutput);
  }

  // The drafter's layer and those that share a choice may have one in the file for nothing.
  void indexer(LatentWeights& own, std::size_t index) {
    const LatentConfig& l = c_.latent;
    if (l.choice == 0) return;
    if (index >= c_.layers || !c_.layer_kinds[index].indexer) {
      return supply_.skip(prefix_ + "self_attn.indexer.");
    }
    own.index_queries =
        matrix("self_attn.indexer.wq_b", l.index_heads * l.index_size, l.rank, TensorRole::kValue);
    own.index_key = matrix("self_attn.indexer.wk", l.index_size, c_.hidden, TensorRole::kValue);
    own.index_norm = vector("self_attn.indexer.k_norm.weight", l.index_size, TensorRole::kNorm);
    own.index_bias = vector("self_attn.indexer.k_norm.bias", l.index_size, TensorRole::kBias);
    own.index_weights =
        matrix("self_attn.indexer.weights_proj", l.index_heads, c_.hidden, TensorRole::kValue);
  }

  const bf16* head_norm(std::string_view name, std::size_t width) {
    if (c_.qk_norm == QkNorm::kNone) return nullptr;
    const std::size_t size = c_.qk_norm == QkNorm::kHead ? c_.head_size : width;
    return supply_.take({prefix_ + std::string(name) + ".weight", {size}, TensorRole::kHeadNorm});
  }

  void mlp(LayerWeights& layer) {
    const std::size_t inner = c_.intermediate;
    if (!c_.gated()) {
      layer.up = matrix(names_.gate_up, inner, c_.hidden, TensorRole::kMlpInput);
      layer.up_bias = layer_bias(names_.gate_up, inner, c_.mlp_bias);
    } else if (!names_.gate_up.empty()) {
      layer.gate = matrix(names_.gate_up, 2 * inner, c_.hidden, TensorRole::kMlpInput);
      layer.up = layer.gate + inner * c_.hidden;
    } else {
      layer.gate = matrix(names_.gate, inner, c_.hidden, TensorRole::kMlpInput);
      layer.up = matrix(names_.up, inner, c_.hidden, TensorRole::kMlpInput);
      layer.gate_bias = layer_bias(names_.gate, inner, c_.mlp_bias);
      layer.up_bias = layer_bias(names_.up, inner, c_.mlp_bias);
    }
    layer.down = matrix(names_.down, c_.hidden, inner, TensorRole::kMlpOutput);
    layer.down_bias = layer_bias(names_.down, c_.hidden, c_.mlp_bias);
  }

  bool has_experts(std::size_t index) const {
    return index < c_.layers ? c_.layer_kinds[index].experts : c_.has_experts();
  }

  void experts(LayerWeights& layer) {
    // Transformers 5 holds all experts of a layer in two tensors, and may save them so.
    const std::string gate_up = prefix_ + "mlp.experts.gate_up_proj";
    const bool whole = supply_.holds(gate_up);
    const std::size_t count = c_.experts.router.experts, inner = c_.experts.intermediate;
    const std::string router(whole ? "mlp.gate" : names_.router);
    layer.router = matrix(router, count, c_.hidden, TensorRole::kRouter);
    if (c_.experts.bias) {
      layer.router_bias = supply_.take_floats(
          {prefix_ + router + ".e_score_correction_bias", {count}, TensorRole::kRouterBias});
    }
    if (whole) {
      const bf16* first =
          supply_.take({gate_up, {count, 2 * inner, c_.hidden}, TensorRole::kMlpInput});
      const bf16* down = supply_.take(
          {prefix_ + "mlp.experts.down_proj", {count, c_.hidden, inner}, TensorRole::kMlpOutput});
      const std::size_t size = inner * c_.hidden;
      for (std::size_t e = 0; e < count; ++e)
        layer.experts.push_back(
            {first + 2 * e * size, first + (2 * e + 1) * size, down + e * size});
    } else {
      for (std::size_t e = 0; e < count; ++e)
        layer.experts.push_back(expert(e, inner));
    }
    shared_expert(layer);
  }

  ExpertWeights expert(std::size_t index, std::size_t inner) {
    const std::string own = fmt::format("{}.{}.", names_.experts, index);
    const auto name = [&](std::string_view part) { return own + std::string(part); };
    ExpertWeights expert;
    expert.gate = matrix(name(names_.expert_gate), inner, c_.hidden, TensorRole::kMlpInput);
    expert.up = matrix(name(names_.expert_up), inner, c_.hidden, TensorRole::kMlpInput);
    expert.down = matrix(name(names_.expert_down), c_.hidden, inner, TensorRole::kMlpOutput);
    return expert;
  }

  void shared_expert(LayerWeights& layer) {
    const std::size_t inner = c_.experts.shared_intermediate;
    if (inner == 0) return;
    const std::string own = std::string(names_.shared) + ".";
    layer.gate = matrix(own + "gate_proj", inner, c_.hidden, TensorRole::kMlpInput);
    layer.up = matrix(own + "up_proj", inner, c_.hidden, TensorRole::kMlpInput);
    layer.down = matrix(own + "down_proj", c_.hidden, inner, TensorRole::kMlpOutput);
  }

  MtpWeights mtp() {
    MtpWeights mtp;
    mtp.layer = layer(c_.layers);
    mtp.enorm = layer_norm("enorm");
    mtp.hnorm = layer_norm("hnorm");
    mtp.eh_proj = matrix("eh_proj", c_.hidden, 2 * c_.hidden, TensorRole::kCombine);
    mtp.head_norm = layer_norm("shared_head.norm");
    return mtp;
  }

  const ModelConfig& c_;
  const LayerNames& names_;
  const TensorPrefixes& prefixes_;
  TensorSupply& supply_;
  std::string prefix_;  // of the current layer
};

}  // namespace

Weights walk_tensors(const ModelConfig& config, const TensorPrefixes& prefixes,
                     TensorSupply& supply) {
  return Walk(config, prefixes, supply).all();
}

}  // namespace engine::model
