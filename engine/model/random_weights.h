// Weights drawn for a configuration, the same bits on every machine. Internal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/config.h"
#include "numerics/bf16.h"

namespace engine::model {

struct RandomTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<numerics::bf16> values;
  std::vector<float> floats;  // in place of `values` where the tensor is float32
};

// Every tensor that Weights::bind asks for, in a fixed order. Scaled so that the residual stream
// stays near 1, attention looks at few positions, and logits spread over the vocabulary instead of
// repeating the last token. The multi-token-prediction layer imitates the first layer of its
// kind, which contributes most, so that some of its drafts are accepted. Of a router's rows the
// last two are the same, so that choices tie.
std::vector<RandomTensor> random_weights(const ModelConfig& config, std::uint64_t seed);

}  // namespace engine::model
