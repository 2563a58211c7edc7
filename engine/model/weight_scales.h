// The scales that stand beside FP8 weights, found and checked. Internal.
//
//   NAME.weight_scale_inv   one scale a block of `weight_block_size`, or one for all (quant_method
//                           "fp8" of transformers and vLLM)
//   NAME.weight_scale       one for all, or one a row (compressed-tensors)
//
// In spite of its first name a scale multiplies: value = float(fp8) * scale.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "model/safetensors.h"

namespace engine::model {

class TensorStore;

// Rows and columns of a block that shares a scale.
struct BlockSize {
  std::size_t rows, columns;
};

// Of config.json's quantization_config, if there is one: its weight_block_size. Throws ModelError
// for a quantisation that is not read, by its name.
std::optional<BlockSize> read_block_size(const std::filesystem::path& config);

struct WeightScales {
  std::string name;           // the tensor's
  std::vector<float> values;  // [ceil(R / block.rows), ceil(C / block.columns)]; finite, >= 0
  BlockSize block;
};

// Those of an FP8 weight [R, C] of `store`. Throws ModelError if there are none, or if their dtype,
// shape or values are not as above.
WeightScales find_scales(const TensorView& weight, const TensorStore& store);

}  // namespace engine::model
