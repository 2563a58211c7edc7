#include "model/random_weights.h"

#include <algorithm>
#include <cmath>

#include "model/tensor_walk.h"
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
constexpr double kUnseenScale = 0.02;  // before the layer that the drafter's imitates
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

class Drawer final : public TensorSupply {
 public:
  // Streams: more than a layer has tensors.
  Drawer(const ModelConfig& config, std::uint64_t seed)
      : c_(config), seed_(seed), streams_per_layer_(32 + 3 * config.experts.router.experts) {
    while (imitated_ + 1 < c_.layers && c_.layer_kinds[imitated_].experts != c_.has_experts())
      ++imitated_;
  }

  std::vector<RandomTensor> draw_all() {
    walk_tensors(c_, {}, *this);
    return std::move(tensors_);
  }

  // The drafter's layer takes the draws of the first one of its kind.
  void begin_layer(std::size_t index) override {
    const std::size_t like = index == c_.layers ? imitated_ : index;
    stream_ = 1 + static_cast<std::uint32_t>(like) * streams_per_layer_;
    mlp_scale_ = like == imitated_ ? kFirstMlpScale : kMlpScale;
    attention_scale_ = kAttentionScale;
    if (like < imitated_) mlp_scale_ = attention_scale_ = kUnseenScale;
  }
  void end_layer(std::size_t index) override {
    stream_ = 1 + static_cast<std::uint32_t>(index + 1) * streams_per_layer_;
  }

  const numerics::bf16* take(const TensorNeed& need) override {
    tensors_.push_back({need.name, need.shape, draw_values(need), {}});
    return tensors_.back().values.data();
  }

  const float* take_floats(const TensorNeed& need) override {
    std::vector<float> floats;
    for (const numerics::bf16 value : draw_values(need))
      floats.push_back(numerics::to_float(value));
    tensors_.push_back({need.name, need.shape, {}, std::move(floats)});
    return tensors_.back().floats.data();
  }

 private:
  std::vector<numerics::bf16> draw_values(const TensorNeed& need) {
    const Fill fill = fill_of(need);
    const std::size_t columns = need.shape.back();
    const std::size_t rows = need.shape.size() == 2 ? need.shape[0] : 1;
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
    ++stream_;
    const bool router = need.role == TensorRole::kRouter || need.role == TensorRole::kRouterBias;
    if (router && need.shape[0] > 1) {
      const std::size_t row = values.size() / need.shape[0];
      std::copy_n(values.end() - 2 * static_cast<std::ptrdiff_t>(row), row,
                  values.end() - static_cast<std::ptrdiff_t>(row));
    }
    return values;
  }

  // Keeps the deviation of an input of length `inner`, times `scale`.
  static Fill projection(std::size_t inner, double scale) {
    return {.deviation = scale / root(inner)};
  }

  // Some families store a norm's weights as their distance from one.
  Fill norm(double centre) const {
    const double stored = c_.norm == numerics::NormKind::kRmsPlusOne ? centre - 1 : centre;
    return {.deviation = kNormDeviation * centre, .centre = stored};
  }

  Fill fill_of(const TensorNeed& need) const {
    const std::size_t inner = need.shape.back();
    const double embedding = kLogitDeviation / root(c_.hidden);
    switch (need.role) {
      case TensorRole::kTable:
        return {.deviation = embedding};
      case TensorRole::kNorm:
        return norm(1);
      case TensorRole::kHeadNorm:
        return norm(kQueryKeyScale);
      case TensorRole::kBias:
      case TensorRole::kRouterBias:
        return {.deviation = kBiasDeviation};
      case TensorRole::kQueryKey:  // the head norms bring the scale otherwise
        return projection(inner, c_.qk_norm == QkNorm::kNone ? kQueryKeyScale : 1);
      case TensorRole::kLatentQuery:  // which brings both factors of the scores' scale
        return projection(inner, kQueryKeyScale * kQueryKeyScale);
      case TensorRole::kAttentionOutput:
        return projection(inner, attention_scale_);
      case TensorRole::kMlpOutput:
        return projection(inner, mlp_scale_);
      case TensorRole::kCombine:
        return {.deviation = kDrafterNoise * embedding / root(inner), .diagonal = embedding};
      case TensorRole::kValue:
      case TensorRole::kMlpInput:
      case TensorRole::kRouter:
        break;
    }
    return projection(inner, 1);
  }

  const ModelConfig& c_;
  std::uint64_t seed_;
  std::uint32_t streams_per_layer_;
  std::size_t imitated_ = 0;  // by the drafter's layer
  std::uint32_t stream_ = 0;  // of the next tensor: its part of the counter
  double mlp_scale_ = kMlpScale, attention_scale_ = kAttentionScale;
  std::vector<RandomTensor> tensors_;
};

}  // namespace

std::vector<RandomTensor> random_weights(const ModelConfig& config, std::uint64_t seed) {
  return Drawer(config, seed).draw_all();
}

}  // namespace engine::model
