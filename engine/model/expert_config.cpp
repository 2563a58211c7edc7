#include "model/expert_config.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine::model {
namespace {

using numerics::RouterScore;

constexpr std::size_t kMaxWidth = 1U << 20U;
constexpr std::size_t kMaxLayers = 4096;
constexpr std::size_t kMaxShared = 64;

// The first key that is there: transformers 5 writes its own names for some.
JsonNode either(const JsonNode& root, std::string_view key, std::string_view other) {
  return root.find(other) ? root.at(other) : root.at(key);
}

std::uint32_t count_of(const JsonNode& node, std::size_t max) {
  return static_cast<std::uint32_t>(node.integer(1, max));
}

void read_experts(ModelConfig& config, const JsonNode& root, const JsonNode& count,
                  RouterScore score) {
  ExpertsConfig& experts = config.experts;
  experts.router.score = score;
  experts.router.experts = count_of(count, numerics::kMaxExperts);
  experts.router.chosen =
      count_of(root.at("num_experts_per_tok"),
               std::min<std::size_t>(experts.router.experts, numerics::kMaxChosen));
  if (config.activation != numerics::Activation::kSiluGated) {
    root.at("hidden_act").fail_expected("\"silu\", in a model with experts");
  }
}

// DeepSeek's own code has other ways to choose; a configuration that names one is refused.
void require_word(const JsonNode& root, std::string_view key, std::string_view word) {
  const auto node = root.find(key);
  if (node && node->string() != word) node->fail_expected(fmt::format("\"{}\"", word));
}

void read_width(ModelConfig& config, const JsonNode& node) {
  config.experts.intermediate = node.integer(1, kMaxWidth);
  if (config.experts.intermediate % 16 != 0) node.fail_expected("a multiple of 16");
}

void read_groups(numerics::RouterRule& router, const JsonNode& root) {
  const JsonNode groups = root.at("n_group"), kept = root.at("topk_group");
  router.groups = count_of(groups, numerics::kMaxExpertGroups);
  router.kept_groups = count_of(kept, router.groups);
  const std::uint32_t size = router.experts / router.groups;
  if (router.experts % router.groups != 0 || (router.groups > 1 && size < 2)) {
    groups.fail_expected(
        fmt::format("groups of two or more that divide {} experts", router.experts));
  }
  if (router.kept_groups * size < router.chosen) {
    kept.fail_expected(fmt::format("groups that hold {} experts together", router.chosen));
  }
}

// Layers of mlp_layer_types that are "sparse", or else those from `first` on.
void read_sparse_layers(ModelConfig& config, const JsonNode& root, std::size_t first) {
  const auto types = root.find("mlp_layer_types");
  if (types && types->require_array() != config.layers) {
    types->fail_expected(fmt::format("one of each of the {} layers", config.layers));
  }
  for (std::size_t i = 0; i < config.layers; ++i) {
    config.layer_kinds[i].experts = i >= first;
    if (!types) continue;
    const std::string type = types->element(i).string();
    if (type != "sparse" && type != "dense") {
      types->element(i).fail_expected("\"sparse\" or \"dense\"");
    }
    config.layer_kinds[i].experts = type == "sparse";
  }
}

}  // namespace

void read_deepseek_experts(ModelConfig& config, const JsonNode& root) {
  ExpertsConfig& experts = config.experts;
  read_experts(config, root, either(root, "n_routed_experts", "num_local_experts"),
               RouterScore::kSigmoid);
  read_width(config, root.at("moe_intermediate_size"));
  read_groups(experts.router, root);
  experts.router.normalised = root.flag("norm_topk_prob");
  const JsonNode scale = root.at("routed_scaling_factor");
  experts.router.scale = static_cast<float>(scale.number());
  if (!(experts.router.scale > 0 && experts.router.scale <= 1e6F)) {
    scale.fail_expected("a number above 0, at most 1e6");
  }
  experts.bias = true;
  const auto shared = root.find("n_shared_experts");
  if (shared) experts.shared_intermediate = shared->integer(0, kMaxShared) * experts.intermediate;
  require_word(root, "scoring_func", "sigmoid");
  require_word(root, "topk_method", "noaux_tc");
  if (const auto step = root.find("moe_layer_freq")) step->integer(1, 1);
  read_sparse_layers(config, root, root.at("first_k_dense_replace").integer(0, kMaxLayers));
}

void read_qwen_experts(ModelConfig& config, const JsonNode& root) {
  read_experts(config, root, either(root, "num_experts", "num_local_experts"),
               RouterScore::kSoftmax);
  read_width(config, root.at("moe_intermediate_size"));
  config.experts.router.normalised = root.flag("norm_topk_prob");
  const std::size_t step = root.at("decoder_sparse_step").integer(1, kMaxLayers);
  for (std::size_t i = 0; i < config.layers; ++i)
    config.layer_kinds[i].experts = (i + 1) % step == 0;
  const auto dense = root.find("mlp_only_layers");
  for (std::size_t i = 0; dense && i < dense->require_array(); ++i) {
    const std::size_t layer = dense->element(i).integer(0, kMaxLayers);
    if (layer < config.layers) config.layer_kinds[layer].experts = false;
  }
}

void read_mixtral_experts(ModelConfig& config, const JsonNode& root) {
  read_experts(config, root, either(root, "num_local_experts", "num_experts"),
               RouterScore::kSoftmax);
  config.experts.intermediate = config.intermediate;
  config.experts.router.normalised = true;
  for (LayerKind& kind : config.layer_kinds)
    kind.experts = true;
}

}  // namespace engine::model
