// Rotary tables out of config.json, as transformers 4 (rope_theta, rope_scaling,
// partial_rotary_factor) and 5 (rope_parameters) write them. Internal.
#pragma once

#include <optional>
#include <string_view>

#include "model/json_file.h"
#include "numerics/rotary_scaling.h"

namespace engine::model {

// rope_scaling or else rope_parameters, where it says anything; with a layer type's own part, where
// it has one.
std::optional<JsonNode> find_rope_parameters(const JsonNode& root, std::string_view layer_type);

// A table of heads of `head_size` for `max_positions`. `parameters` comes before the keys of
// `root`. `theta_key` is the one of `root` that holds theta. Throws ModelError, for scalings that
// depend on the text's length with the reason.
numerics::RotarySpec read_rotary_spec(const JsonNode& root,
                                      const std::optional<JsonNode>& parameters,
                                      std::string_view theta_key, std::size_t head_size,
                                      std::size_t max_positions);

}  // namespace engine::model
