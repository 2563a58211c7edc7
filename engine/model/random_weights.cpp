#include "model/random_weights.h"

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
  Drawer(const ModelConfig& config, std::uint64_t seed) : c_(config), seed_(seed) {}

  std::vector<RandomTensor> draw_all() {
    walk_tensors(c_, {}, *this);
    return std::move(tensors_);
  }

  // The drafter's layer takes the first one's draws.
  void begin_layer(std::size_t index) override {
    const std::size_t like = index == c_.layers ? 0 : index;
    stream_ = 1 + static_cast<std::uint32_t>(like) * kStreamsPerLayer;
    mlp_scale_ = like == 0 ? kFirstMlpScale : kMlpScale;
  }
  void end_layer(std::size_t index) override {
    stream_ = 1 + static_cast<std::uint32_t>(index + 1) * kStreamsPerLayer;
  }

  const numerics::bf16* take(const TensorNeed& need) override {
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
    tensors_.push_back({need.name, need.shape, std::move(values)});
    return tensors_.back().values.data();
  }

 private:
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
        return {.deviation = kBiasDeviation};
      case TensorRole::kQueryKey:  // the head norms bring the scale otherwise
        return projection(inner, c_.qk_norm == QkNorm::kNone ? kQueryKeyScale : 1);
      case TensorRole::kAttentionOutput:
        return projection(inner, kAttentionScale);
      case TensorRole::kMlpOutput:
        return projection(inner, mlp_scale_);
      case TensorRole::kCombine:
        return {.deviation = kDrafterNoise * embedding / root(inner), .diagonal = embedding};
      case TensorRole::kValue:
      case TensorRole::kMlpInput:
        break;
    }
    return projection(inner, 1);
  }

  static constexpr std::uint32_t kStreamsPerLayer = 32;  // more than a layer has tensors

  const ModelConfig& c_;
  std::uint64_t seed_;
  std::uint32_t stream_ = 0;  // of the next tensor: its part of the counter
  double mlp_scale_ = kMlpScale;
  std::vector<RandomTensor> tensors_;
};

}  // namespace

std::vector<RandomTensor> random_weights(const ModelConfig& config, std::uint64_t seed) {
  return Drawer(config, seed).draw_all();
}

}  // namespace engine::model
