// What configurations say of latent and sparse attention, as DeepSeek-V3 and its kin write it.
// Internal.
#pragma once

#include "model/config.h"
#include "model/json_file.h"

namespace engine::model {

// Heads and sizes; config.head_size becomes the part that is rotated.
void read_latent_sizes(ModelConfig& config, const JsonNode& root);

// Rotary pairs, score scale, and what this engine does not compute in such a layer. REQUIRES:
// rotary tables are read.
void read_latent_attention(ModelConfig& config, const JsonNode& root);

// Of types with an indexer: its sizes; one in every layer.
void read_indexer(ModelConfig& config, const JsonNode& root);

// How GLM's differs: rotary pairs lie side by side. Which layers have one, the others taking the
// choice of the last that has: indexer_types, or else index_topk_pattern, or else index_topk_freq
// and index_skip_topk_offset.
void read_indexer_layers(ModelConfig& config, const JsonNode& root);

}  // namespace engine::model
