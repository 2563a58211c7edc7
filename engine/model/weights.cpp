#include "model/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>

#include "model/tensor_store.h"

namespace engine::model {
namespace {

using Shape = std::vector<std::size_t>;

// Buffers that training code saves with the weights and that carry no information.
bool is_harmless(std::string_view name) {
  return name.ends_with(".rotary_emb.inv_freq");
}

// Takes tensors out of a store, remembering which were asked for.
class Binder {
 public:
  explicit Binder(const TensorStore& store) : store_(store) {}

  const bf16* take(const std::string& name, const Shape& shape) {
    const TensorView* const tensor = store_.find(name);
    if (tensor == nullptr) {
      throw ModelError(store_.path(), fmt::format("no tensor {}; expected BF16 {}", name, shape));
    }
    if (tensor->dtype != "BF16" || tensor->shape != shape) {
      throw ModelError(store_.path(), fmt::format("{}: expected BF16 {}, found {} {}", name, shape,
                                                  tensor->dtype, tensor->shape));
    }
    taken_.insert(tensor->name);
    return reinterpret_cast<const bf16*>(tensor->data.data());
  }

  // Tied models may store the head as well; it must then be the embedding, bit for bit.
  void skip_copy(const std::string& name, const std::string& original) {
    const TensorView* const copy = store_.find(name);
    if (copy == nullptr) return;
    const TensorView* const first = store_.find(original);
    if (copy->dtype != first->dtype || copy->shape != first->shape ||
        !std::ranges::equal(copy->data, first->data)) {
      throw ModelError(store_.path(),
                       fmt::format("{} differs from {}, though they are tied", name, original));
    }
    taken_.insert(copy->name);
  }

  void refuse_rest() const {
    std::vector<std::string_view> rest;
    for (const TensorView* tensor : store_.tensors()) {
      if (!taken_.contains(tensor->name) && !is_harmless(tensor->name))
        rest.push_back(tensor->name);
    }
    if (rest.empty()) return;
    const std::size_t more = rest.size() > kListed ? rest.size() - kListed : 0;
    rest.resize(rest.size() - more);
    throw ModelError(store_.path(), fmt::format("tensors that the config does not call for: {}{}",
                                                fmt::join(rest, ", "),
                                                more ? fmt::format(" and {} more", more) : ""));
  }

 private:
  static constexpr std::size_t kListed = 10;

  const TensorStore& store_;
  std::set<std::string_view> taken_;
};

void bind_attention(LayerWeights& layer, const ModelConfig& c, const std::string& prefix,
                    Binder& binder) {
  const std::string attention = prefix + "self_attn.";
  const std::size_t queries = c.query_heads * c.head_size;
  const std::size_t keys = c.kv_heads * c.head_size;
  layer.q = binder.take(attention + "q_proj.weight", {queries, c.hidden});
  layer.k = binder.take(attention + "k_proj.weight", {keys, c.hidden});
  layer.v = binder.take(attention + "v_proj.weight", {keys, c.hidden});
  layer.o = binder.take(attention + "o_proj.weight", {c.hidden, queries});
  if (c.qkv_bias) {
    layer.q_bias = binder.take(attention + "q_proj.bias", {queries});
    layer.k_bias = binder.take(attention + "k_proj.bias", {keys});
    layer.v_bias = binder.take(attention + "v_proj.bias", {keys});
  }
  if (c.qk_norm) {
    layer.q_norm = binder.take(attention + "q_norm.weight", {c.head_size});
    layer.k_norm = binder.take(attention + "k_norm.weight", {c.head_size});
  }
}

std::string layer_prefix(std::size_t index) {
  return fmt::format("model.layers.{}.", index);
}

LayerWeights bind_layer(const ModelConfig& c, std::size_t index, Binder& binder) {
  const std::string prefix = layer_prefix(index);
  LayerWeights layer;
  layer.input_norm = binder.take(prefix + "input_layernorm.weight", {c.hidden});
  bind_attention(layer, c, prefix, binder);
  layer.post_norm = binder.take(prefix + "post_attention_layernorm.weight", {c.hidden});
  layer.gate = binder.take(prefix + "mlp.gate_proj.weight", {c.intermediate, c.hidden});
  layer.up = binder.take(prefix + "mlp.up_proj.weight", {c.intermediate, c.hidden});
  layer.down = binder.take(prefix + "mlp.down_proj.weight", {c.hidden, c.intermediate});
  return layer;
}

MtpWeights bind_mtp(const ModelConfig& c, Binder& binder) {
  const std::string prefix = layer_prefix(c.layers);
  MtpWeights mtp;
  mtp.layer = bind_layer(c, c.layers, binder);
  mtp.enorm = binder.take(prefix + "enorm.weight", {c.hidden});
  mtp.hnorm = binder.take(prefix + "hnorm.weight", {c.hidden});
  mtp.eh_proj = binder.take(prefix + "eh_proj.weight", {c.hidden, 2 * c.hidden});
  mtp.head_norm = binder.take(prefix + "shared_head.norm.weight", {c.hidden});
  return mtp;
}

// FNV-1a, 64 bits.
class Fingerprint {
 public:
  void add(const void* data, std::size_t bytes) {
    const auto* const from = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i)
      hash_ = (hash_ ^ from[i]) * 0x100000001b3U;
  }
  std::string hex() const { return fmt::format("{:016x}", hash_); }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

// Every header byte, and 64 bytes out of each `kStride` of every tensor.
std::string fingerprint(const TensorStore& store) {
  constexpr std::size_t kSample = 64;
  constexpr std::size_t kStride = 16384;
  Fingerprint print;
  for (const SafetensorsFile& file : store.files()) {
    print.add(file.header().data(), file.header().size());
    for (const TensorView& tensor : file.tensors()) {
      for (std::size_t at = 0; at < tensor.data.size(); at += kStride) {
        print.add(tensor.data.data() + at, std::min(kSample, tensor.data.size() - at));
      }
    }
  }
  return print.hex();
}

}  // namespace

Weights Weights::bind(const ModelConfig& config, const TensorStore& store) {
  const std::string embedding = "model.embed_tokens.weight";
  const Shape table = {config.vocabulary, config.hidden};
  Binder binder(store);
  Weights weights;
  weights.embedding = binder.take(embedding, table);
  for (std::size_t i = 0; i < config.layers; ++i) {
    weights.layers.push_back(bind_layer(config, i, binder));
  }
  if (config.mtp) weights.mtp = bind_mtp(config, binder);
  weights.final_norm = binder.take("model.norm.weight", {config.hidden});
  weights.lm_head = weights.embedding;
  if (config.tied_embeddings) {
    binder.skip_copy("lm_head.weight", embedding);
  } else {
    weights.lm_head = binder.take("lm_head.weight", table);
  }
  binder.refuse_rest();
  weights.id = fingerprint(store);
  return weights;
}

}  // namespace engine::model
