#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "cli/commands.h"
#include "cli/session.h"

namespace engine::cli {

int info_command(const InfoSettings& settings, const Streams& streams) {
  const Session session(settings.engine, streams);
  const model::ModelConfig& c = session.model().config();
  const std::unique_ptr<runtime::Engine> engine = session.make_engine();
  const runtime::StateShape& shape = engine->lane().state.shape();
  nlohmann::ordered_json info{
      {"model_type", c.model_type},
      {"weights_id", session.model().weights().id},
      {"hidden", c.hidden},
      {"layers", c.layers},
      {"query_heads", c.query_heads},
      {"kv_heads", c.kv_heads},
      {"head_size", c.head_size},
      {"rotary_size", c.rotaries[0].size},
      {"intermediate", c.intermediate},
      {"vocabulary", c.vocabulary},
      {"max_positions", c.max_positions},
      {"qk_norm", c.qk_norm != model::QkNorm::kNone},
      {"qkv_bias", c.qkv_bias},
      {"tied_embeddings", c.tied_embeddings},
      {"drafter", c.mtp},
      {"backend", session.backend().name()},
      {"device", session.backend().device()},
      {"context", shape.context},
      {"prompt_rows", shape.prompt_rows},
      {"ring_rows", shape.ring_rows},
      {"lane_bytes", runtime::State::bytes(session.network(), shape)},
  };
  if (c.has_latent()) {
    info["latent"] = c.latent.size;
    info["chosen_positions"] = c.latent.choice;
  }
  if (c.has_experts()) {
    info["experts"] = c.experts.router.experts;
    info["experts_per_token"] = c.experts.router.chosen;
    info["expert_intermediate"] = c.experts.intermediate;
  }
  if (settings.json) {
    streams.out << info.dump() << "\n";
    return kOk;
  }
  for (const auto& [key, value] : info.items()) {
    streams.out << fmt::format("{:16} {}\n", key,
                               value.is_string() ? value.get<std::string>() : value.dump());
  }
  return kOk;
}

}  // namespace engine::cli
