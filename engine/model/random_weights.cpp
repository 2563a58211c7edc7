#include "model/random_weights.h"

#include <fmt/format.h>

#include <cmath>

#include "numerics/philox.h"

namespace engine::model {
namespace {

// Uniform in centre +- sqrt(3) * deviation, plus `diagonal` where row and column are equal.
struct Fill {
  double deviation = 0;
  double centre = 0;
  double diagonal = 0;
};

constexpr double kNormDeviation = 0.05;
constexpr double kBiasDeviation = 0.1;
constexpr double kLogitDeviation = 2.0;
// Scores deviate by the square of this: well above 1, or attention is an average of everything.
constexpr double kQueryKeyScale = 2.0;
// What a layer's parts add to the residual stream, relative to the scale that keeps the width. The
// attention steers the MLP without drowning it; a drafter with a short window must follow.
constexpr double kAttentionScale = 0.3;
constexpr double kFirstMlpScale = 2.0;
constexpr double kMlpScale = 0.3;
// The drafter's input is the token's embedding and this much of everything else.
constexpr double kDrafterNoise = 0.1;

// Square roots are correctly rounded everywhere (IEEE 754), unlike the rest of libm.
double root(std::size_t n) {
  return std::sqrt(static_cast<double>(n));
}

// Signed 32-bit word to bf16: one exact conversion, then + and * of doubles, then two roundings.
numerics::bf16 draw(std::uint32_t word, const Fill& fill, bool on_diagonal) {
  constexpr double kRootOfThree = 1.7320508075688772;
  const double unit = static_cast<double>(static_cast<std::int32_t>(word)) * 0x1p-31;
  const double spread = unit * (kRootOfThree * fill.deviation);
  const double value = spread + (fill.centre + (on_diagonal ? fill.diagonal : 0));
  return numerics::from_float(static_cast<float>(value));
}

class Drawer {
 public:
  Drawer(const Preset& preset, std::size_t vocabulary, std::uint64_t seed)
      : p_(preset), vocabulary_(vocabulary), seed_(seed) {}

  std::vector<RandomTensor> draw_all() {
    const Fill table{.deviation = kLogitDeviation / root(p_.hidden)};
    add("model.embed_tokens.weight", {vocabulary_, p_.hidden}, table);
    for (std::size_t i = 0; i < p_.layers; ++i) {
      add_layer(i, i, i == 0 ? kFirstMlpScale : kMlpScale);
    }
    if (p_.mtp_window > 0) add_mtp();
    add("model.norm.weight", {p_.hidden}, norm());
    if (!p_.tied_embeddings) add("lm_head.weight", {vocabulary_, p_.hidden}, table);
    return std::move(tensors_);
  }

 private:
  static Fill norm(double centre = 1) {
    return {.deviation = kNormDeviation * centre, .centre = centre};
  }

  // Keeps the deviation of an input of length `inner`, times `scale`.
  static Fill projection(std::size_t inner, double scale = 1) {
    return {.deviation = scale / root(inner)};
  }

  // Layer `index` of the file with the draws that belong to layer `like`.
  void add_layer(std::size_t index, std::size_t like, double mlp_scale) {
    const std::string prefix = fmt::format("model.layers.{}.", index);
    stream_ = 1 + static_cast<std::uint32_t>(like) * kStreamsPerLayer;
    add(prefix + "input_layernorm.weight", {p_.hidden}, norm());
    add_attention(prefix + "self_attn.");
    add(prefix + "post_attention_layernorm.weight", {p_.hidden}, norm());
    add(prefix + "mlp.gate_proj.weight", {p_.intermediate, p_.hidden}, projection(p_.hidden));
    add(prefix + "mlp.up_proj.weight", {p_.intermediate, p_.hidden}, projection(p_.hidden));
    add(prefix + "mlp.down_proj.weight", {p_.hidden, p_.intermediate},
        projection(p_.intermediate, mlp_scale));
    stream_ = 1 + static_cast<std::uint32_t>(index + 1) * kStreamsPerLayer;
  }

  void add_attention(const std::string& prefix) {
    const std::size_t queries = p_.query_heads * p_.head_size;
    const std::size_t keys = p_.kv_heads * p_.head_size;
    const double sharpness = p_.qk_norm ? 1 : kQueryKeyScale;  // the norms bring it otherwise
    add(prefix + "q_proj.weight", {queries, p_.hidden}, projection(p_.hidden, sharpness));
    add(prefix + "k_proj.weight", {keys, p_.hidden}, projection(p_.hidden, sharpness));
    add(prefix + "v_proj.weight", {keys, p_.hidden}, projection(p_.hidden));
    add(prefix + "o_proj.weight", {p_.hidden, queries}, projection(queries, kAttentionScale));
    if (p_.qkv_bias) {
      add(prefix + "q_proj.bias", {queries}, {.deviation = kBiasDeviation});
      add(prefix + "k_proj.bias", {keys}, {.deviation = kBiasDeviation});
      add(prefix + "v_proj.bias", {keys}, {.deviation = kBiasDeviation});
    }
    if (p_.qk_norm) {
      add(prefix + "q_norm.weight", {p_.head_size}, norm(kQueryKeyScale));
      add(prefix + "k_norm.weight", {p_.head_size}, norm(kQueryKeyScale));
    }
  }

  void add_mtp() {
    add_layer(p_.layers, 0, kFirstMlpScale);
    const std::string prefix = fmt::format("model.layers.{}.", p_.layers);
    const double embedding = kLogitDeviation / root(p_.hidden);
    add(prefix + "enorm.weight", {p_.hidden}, norm());
    add(prefix + "hnorm.weight", {p_.hidden}, norm());
    add(prefix + "eh_proj.weight", {p_.hidden, 2 * p_.hidden},
        {.deviation = kDrafterNoise * embedding / root(2 * p_.hidden), .diagonal = embedding});
    add(prefix + "shared_head.norm.weight", {p_.hidden}, norm());
  }

  void add(const std::string& name, std::vector<std::size_t> shape, const Fill& fill) {
    const std::size_t columns = shape.back();
    const std::size_t rows = shape.size() == 2 ? shape[0] : 1;
    const numerics::PhiloxKey key = {static_cast<std::uint32_t>(seed_),
                                     static_cast<std::uint32_t>(seed_ >> 32U)};
    std::vector<numerics::bf16> values(rows * columns);
    numerics::PhiloxBlock words{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 4 == 0) {
        const std::uint64_t block = i / 4;
        words = numerics::philox4x32_10({static_cast<std::uint32_t>(block),
                                         static_cast<std::uint32_t>(block >> 32U), stream_, 0},
                                        key);
      }
      values[i] = draw(words[i % 4], fill, i / columns == i % columns);
    }
    tensors_.push_back({name, std::move(shape), std::move(values)});
    ++stream_;
  }

  static constexpr std::uint32_t kStreamsPerLayer = 32;  // more than a layer has tensors

  const Preset& p_;
  std::size_t vocabulary_;
  std::uint64_t seed_;
  std::uint32_t stream_ = 0;  // of the next tensor: its part of the counter
  std::vector<RandomTensor> tensors_;
};

}  // namespace

std::vector<RandomTensor> random_weights(const Preset& preset, std::size_t vocabulary,
                                         std::uint64_t seed) {
  return Drawer(preset, vocabulary, seed).draw_all();
}

}  // namespace engine::model
