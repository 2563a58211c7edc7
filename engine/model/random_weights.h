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
};

// Every tensor that Weights::bind asks for, in a fixed order. Scaled so that the residual stream
// stays near 1, attention looks at few positions, and logits spread over the vocabulary instead of
// repeating the last token. The multi-token-prediction layer imitates the first layer, which
// contributes most, so that some of its drafts are accepted.
std::vector<RandomTensor> random_weights(const ModelConfig& config, std::uint64_t seed);

}  // namespace engine::model
