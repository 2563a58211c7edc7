#include "model/rotary_config.h"

#include <fmt/format.h>

namespace engine::model {
namespace {

using numerics::RotaryScaling;
using numerics::RotarySpec;

constexpr double kMaxFactor = 1e6;
constexpr std::size_t kMaxOriginal = 1U << 24U;

// A key of the parameters, or else of the configuration.
std::optional<JsonNode> find_either(const std::optional<JsonNode>& parameters, const JsonNode& root,
                                    std::string_view key) {
  if (parameters) {
    if (auto found = parameters->find(key)) return found;
  }
  return root.find(key);
}

double number_from(const JsonNode& node, double min, double max) {
  const double value = node.number();
  if (!(value >= min && value <= max)) {
    node.fail_expected(fmt::format("a number from {:g} to {:g}", min, max));
  }
  return value;
}

double number_or(const JsonNode& node, std::string_view key, double fallback) {
  const auto found = node.find(key);
  return found ? number_from(*found, 1e-6, kMaxFactor) : fallback;
}

std::size_t read_size(const std::optional<JsonNode>& factor, std::size_t head_size) {
  const double size = (factor ? factor->number() : 1.0) * static_cast<double>(head_size);
  const bool sane = size >= 2 && size <= static_cast<double>(head_size);
  const std::size_t whole = sane ? static_cast<std::size_t>(size) : 0;
  if (!sane || static_cast<double>(whole) != size || whole % 2 != 0) {
    factor->fail_expected(
        fmt::format("a factor from 0 to 1 that makes an even number of head_dim {}", head_size));
  }
  return whole;
}

RotaryScaling read_scaling(const JsonNode& parameters) {
  auto node = parameters.find("rope_type");
  if (!node) node = parameters.find("type");
  if (!node) return RotaryScaling::kNone;
  const std::string name = node->string();
  if (name == "default") return RotaryScaling::kNone;
  if (name == "linear") return RotaryScaling::kLinear;
  if (name == "llama3") return RotaryScaling::kLlama3;
  if (name == "yarn") return RotaryScaling::kYarn;
  if (name == "dynamic" || name == "longrope" || name == "su") {
    node->fail(
        fmt::format("\"{}\" changes every row's angles with the length of the text, so that rows "
                    "kept from a shorter one would be wrong; it is not supported",
                    name));
  }
  node->fail_expected("one of default, linear, llama3, yarn");
}

// The context before it was made longer. Phi-3 and others write it beside the parameters, and that
// comes first.
double read_original(const JsonNode& root, const JsonNode& parameters, std::size_t max_positions) {
  auto node = root.find("original_max_position_embeddings");
  if (!node) node = parameters.find("original_max_position_embeddings");
  return static_cast<double>(node ? node->integer(1, kMaxOriginal) : max_positions);
}

void read_llama3(RotarySpec& spec, const JsonNode& parameters) {
  spec.low = number_from(parameters.at("low_freq_factor"), 1e-6, kMaxFactor);
  spec.high = number_from(parameters.at("high_freq_factor"), 1e-6, kMaxFactor);
  if (spec.high <= spec.low) {
    parameters.at("high_freq_factor").fail_expected("a number above low_freq_factor");
  }
}

void read_yarn(RotarySpec& spec, const JsonNode& parameters) {
  spec.fast = number_or(parameters, "beta_fast", spec.fast);
  spec.slow = number_or(parameters, "beta_slow", spec.slow);
  if (const auto truncate = parameters.find("truncate")) {
    spec.whole_dimensions = truncate->boolean();
  }
  const double mscale = number_or(parameters, "mscale", 0);
  const double all = number_or(parameters, "mscale_all_dim", 0);
  spec.attention_factor = mscale != 0 && all != 0
                              ? numerics::yarn_attention_factor(spec.factor, mscale) /
                                    numerics::yarn_attention_factor(spec.factor, all)
                              : numerics::yarn_attention_factor(spec.factor);
  spec.attention_factor = number_or(parameters, "attention_factor", spec.attention_factor);
}

}  // namespace

std::optional<JsonNode> find_rope_parameters(const JsonNode& root, std::string_view layer_type) {
  for (const auto* key : {"rope_scaling", "rope_parameters"}) {
    const auto parameters = root.find(key);
    if (!parameters) continue;
    parameters->require_object();
    if (parameters->value().empty()) continue;
    for (const auto* type : {"full_attention", "sliding_attention"}) {
      if (parameters->find(type)) return parameters->find(layer_type);
    }
    return parameters;
  }
  return std::nullopt;
}

RotarySpec read_rotary_spec(const JsonNode& root, const std::optional<JsonNode>& parameters,
                            std::string_view theta_key, std::size_t head_size,
                            std::size_t max_positions) {
  RotarySpec spec;
  auto theta = parameters ? parameters->find("rope_theta") : std::nullopt;
  if (!theta) theta = root.find(theta_key);
  if (theta) spec.theta = number_from(*theta, 1, 1e12);
  spec.size = read_size(find_either(parameters, root, "partial_rotary_factor"), head_size);
  if (!parameters) return spec;
  spec.scaling = read_scaling(*parameters);
  if (spec.scaling == RotaryScaling::kNone) return spec;
  spec.original_positions = read_original(root, *parameters, max_positions);
  const auto factor = parameters->find("factor");
  if (!factor && spec.scaling == RotaryScaling::kYarn) {
    spec.factor = static_cast<double>(max_positions) / spec.original_positions;
  } else {
    spec.factor = number_from(parameters->at("factor"), 1, kMaxFactor);
  }
  if (spec.scaling == RotaryScaling::kLlama3) read_llama3(spec, *parameters);
  if (spec.scaling == RotaryScaling::kYarn) read_yarn(spec, *parameters);
  return spec;
}

}  // namespace engine::model
