// The tensors that a configuration calls for: the one list of their names and shapes. Loading takes
// them out of files, random_weights makes them. Internal.
#pragma once

#include <string>
#include <vector>

#include "model/weights.h"

namespace engine::model {

// What a tensor does, for whoever makes up its values.
enum class TensorRole {
  kTable,  // embedding or output head
  kNorm,
  kHeadNorm,  // of queries and keys
  kBias,
  kQueryKey,     // also where values are in the same matrix
  kLatentQuery,  // whose keys come of a norm
  kValue,
  kAttentionOutput,
  kMlpInput,
  kMlpOutput,
  kCombine,  // of the drafter's two inputs
  kRouter,
  kRouterBias,
};

struct TensorNeed {
  std::string name;
  std::vector<std::size_t> shape;
  TensorRole role;
};

class TensorSupply {
 public:
  virtual ~TensorSupply() = default;
  // The tensors that follow are of layer `index`; the drafter's comes last.
  virtual void begin_layer(std::size_t /*index*/) {}
  virtual void end_layer(std::size_t /*index*/) {}
  // The values, row-major.
  virtual const bf16* take(const TensorNeed& need) = 0;
  // The same as float32.
  virtual const float* take_floats(const TensorNeed& need) = 0;
  // Whether it has a tensor that may stand in the place of others.
  virtual bool holds(const std::string& /*name*/) const { return false; }
  // Tensors whose names begin so are there for nothing, if they are.
  virtual void skip(const std::string& /*prefix*/) {}
};

// What stands before the decoder's names.
struct TensorPrefixes {
  std::string body = "model.";  // ... + "layers.0.", "embed_tokens.weight", "norm.weight"
  std::string head;             // ... + "lm_head.weight"
};

// Asks for every tensor once, in a fixed order; `id` stays empty, and a tied head is the embedding.
Weights walk_tensors(const ModelConfig& config, const TensorPrefixes& prefixes,
                     TensorSupply& supply);

}  // namespace engine::model
