// What sets each model type's code apart, read from its configuration: biases, norms, windows and
// rotary tables by layer, multipliers, caps. Sizes, heads and what else all types share are read
// before. Each throws ModelError, with the place, for what this engine does not compute. Internal.
#pragma once

#include "model/config.h"
#include "model/json_file.h"

namespace engine::model {

void read_llama(ModelConfig& config, const JsonNode& root);
void read_mistral(ModelConfig& config, const JsonNode& root);
void read_kvpc(ModelConfig& config, const JsonNode& root);
void read_qwen2(ModelConfig& config, const JsonNode& root);
void read_qwen3(ModelConfig& config, const JsonNode& root);
void read_smollm3(ModelConfig& config, const JsonNode& root);
void read_phi3(ModelConfig& config, const JsonNode& root);
void read_olmo2(ModelConfig& config, const JsonNode& root);
void read_granite(ModelConfig& config, const JsonNode& root);
void read_gemma(ModelConfig& config, const JsonNode& root);
void read_gemma2(ModelConfig& config, const JsonNode& root);
void read_gemma3(ModelConfig& config, const JsonNode& root);
void read_glm(ModelConfig& config, const JsonNode& root);
void read_mixtral(ModelConfig& config, const JsonNode& root);
void read_qwen3_moe(ModelConfig& config, const JsonNode& root);
void read_glm4_moe(ModelConfig& config, const JsonNode& root);
void read_deepseek_v3(ModelConfig& config, const JsonNode& root);
void read_deepseek_v32(ModelConfig& config, const JsonNode& root);
void read_glm_moe_dsa(ModelConfig& config, const JsonNode& root);
void read_starcoder2(ModelConfig& config, const JsonNode& root);

}  // namespace engine::model
