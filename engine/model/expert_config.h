// What configurations say of experts, as the model types write it. Internal.
#pragma once

#include "model/config.h"
#include "model/json_file.h"

namespace engine::model {

// Of DeepSeek-V3's kin (glm4_moe): sigmoid scores with a correction bias, groups, shared experts;
// layers from first_k_dense_replace on, or as mlp_layer_types lists them.
void read_deepseek_experts(ModelConfig& config, const JsonNode& root);

// Of Qwen3: a softmax router; layers by mlp_only_layers and decoder_sparse_step.
void read_qwen_experts(ModelConfig& config, const JsonNode& root);

// Of Mixtral: a softmax router; every layer, and intermediate_size is an expert's.
void read_mixtral_experts(ModelConfig& config, const JsonNode& root);

}  // namespace engine::model
