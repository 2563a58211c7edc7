#include "model/latent_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/rotary_config.h"
#include "numerics/attention.h"

namespace engine::model {
namespace {

constexpr std::size_t kStep = 16;  // of a matrix product's inner length
constexpr std::size_t kMaxHeads = 4096;
constexpr std::size_t kMaxPart = 1024;  // of a key: latent and rotated part together
constexpr std::size_t kMaxRank = 1U << 20U;
constexpr std::size_t kMaxIndexHeads = 256;
constexpr std::size_t kMaxChoice = 1U << 20U;
constexpr std::size_t kMaxLayers = 4096;

std::size_t size_of(const JsonNode& root, std::string_view key, std::size_t max) {
  const JsonNode node = root.at(key);
  const std::size_t size = node.integer(kStep, max);
  if (size % kStep != 0) node.fail_expected(fmt::format("a multiple of {}", kStep));
  return size;
}

void refuse_flag(const JsonNode& root, std::string_view key) {
  if (root.flag(key)) root.at(key).fail_expected("false, in a model with latent attention");
}

// Of a query by a key, times what yarn makes of longer contexts: mscale squared.
float score_scale(const LatentConfig& latent, const JsonNode& root) {
  const std::size_t size = latent.unrotated + latent.rotated;
  const auto parameters = find_rope_parameters(root, "full_attention");
  const auto all = parameters ? parameters->find("mscale_all_dim") : std::nullopt;
  auto type = parameters ? parameters->find("rope_type") : std::nullopt;
  if (parameters && !type) type = parameters->find("type");
  const bool scaled = type && type->string() != "default";
  if (!all || !scaled || all->number() == 0) return numerics::score_scale(size);
  const double value = all->number();
  if (!(value > 0 && value <= 100)) all->fail_expected("a number from 0 to 100");
  const double mscale = numerics::yarn_attention_factor(parameters->at("factor").number(), value);
  return numerics::score_scale_of(
      static_cast<float>(mscale * mscale / std::sqrt(static_cast<double>(size))));
}

// One letter or word for each layer.
std::vector<bool> listed(const ModelConfig& config, const JsonNode& list) {
  std::vector<bool> own;
  const bool letters = list.value().is_string();
  const std::string text = letters ? list.string() : std::string();
  const std::size_t count = letters ? text.size() : list.require_array();
  if (count != config.layers) {
    list.fail_expected(fmt::format("one of each of the {} layers", config.layers));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::string type = letters ? std::string(1, text[i]) : list.element(i).string();
    const bool full = type == (letters ? "F" : "full");
    if (!full && type != (letters ? "S" : "shared")) {
      list.fail_expected(letters ? "letters F and S" : "\"full\" or \"shared\" for each layer");
    }
    own.push_back(full);
  }
  return own;
}

// Every `freq`-th layer, counted from the one before `offset`, and all before it.
std::vector<bool> scheduled(const ModelConfig& config, const JsonNode& root) {
  const auto freq = root.find("index_topk_freq"), offset = root.find("index_skip_topk_offset");
  const std::size_t step = freq ? std::max<std::size_t>(1, freq->integer(0, kMaxLayers)) : 1;
  const std::size_t first = offset ? offset->integer(0, kMaxLayers) : 2;
  std::vector<bool> own;
  for (std::size_t i = 0; i < config.layers; ++i)
    own.push_back(i + 1 <= first || (i + 1 - first) % step == 0);
  return own;
}

}  // namespace

void read_latent_sizes(ModelConfig& config, const JsonNode& root) {
  LatentConfig& latent = config.latent;
  config.query_heads = root.at("num_attention_heads").integer(1, kMaxHeads);
  const auto kv_heads = root.find("num_key_value_heads");
  if (kv_heads && kv_heads->integer(1, kMaxHeads) != config.query_heads) {
    kv_heads->fail_expected(
        fmt::format("num_attention_heads ({}): every head has its key of the "
                    "one latent",
                    config.query_heads));
  }
  config.kv_heads = 1;
  latent.rotated = size_of(root, "qk_rope_head_dim", kMaxPart / 2);
  latent.size = size_of(root, "kv_lora_rank", kMaxPart - latent.rotated);
  latent.unrotated = size_of(root, "qk_nope_head_dim", kMaxPart);
  latent.values = size_of(root, "v_head_dim", kMaxPart);
  if (root.find("q_lora_rank")) latent.rank = size_of(root, "q_lora_rank", kMaxRank);
  config.head_size = latent.rotated;
}

void read_latent_attention(ModelConfig& config, const JsonNode& root) {
  for (const auto* key : {"attention_bias", "mlp_bias"})
    refuse_flag(root, key);
  const auto types = root.find("layer_types");
  for (std::size_t i = 0; types && i < types->require_array(); ++i) {
    const std::string type = types->element(i).string();
    if (type != "full_attention" && type != "indexed_attention") {
      types->element(i).fail_expected("\"full_attention\" or \"indexed_attention\"");
    }
  }
  numerics::RotarySpec& rotary = config.rotaries[0];
  rotary.interleaved = root.flag("rope_interleave", true);
  if (rotary.size != config.latent.rotated) {
    root.fail(
        fmt::format("partial_rotary_factor leaves {} of qk_rope_head_dim {}: all of it is "
                    "rotated",
                    rotary.size, config.latent.rotated));
  }
  config.score_scale = score_scale(config.latent, root);
}

void read_indexer(ModelConfig& config, const JsonNode& root) {
  LatentConfig& latent = config.latent;
  if (latent.rank == 0) {
    root.fail("q_lora_rank is null: the indexer's queries are made of the low-rank ones");
  }
  latent.index_heads = root.at("index_n_heads").integer(1, kMaxIndexHeads);
  latent.index_size = size_of(root, "index_head_dim", kMaxPart);
  if (latent.index_size < latent.rotated) {
    root.at("index_head_dim")
        .fail_expected(fmt::format("at least qk_rope_head_dim ({})", latent.rotated));
  }
  latent.choice = root.at("index_topk").integer(1, kMaxChoice);
  for (LayerKind& kind : config.layer_kinds)
    kind.indexer = true;
  // The drafter's layer has no indexer's keys: it must not need a choice.
  const auto window = root.find("mtp_sliding_window");
  if (config.mtp && window && config.mtp_window > latent.choice) {
    window->fail_expected(fmt::format("at most index_topk ({})", latent.choice));
  }
  config.mtp_window = std::min(config.mtp_window, latent.choice);
}

void read_indexer_layers(ModelConfig& config, const JsonNode& root) {
  auto list = root.find("indexer_types");
  if (!list) list = root.find("index_topk_pattern");
  const std::vector<bool> own = list ? listed(config, *list) : scheduled(config, root);
  if (!own[0]) (list ? *list : root).fail("the first layer has no other's choice to share");
  for (std::size_t i = 0; i < config.layers; ++i)
    config.layer_kinds[i].indexer = own[i];
  config.latent.index_interleaved = true;
}

}  // namespace engine::model
