#include "runtime/forward.h"

namespace engine::runtime {
namespace {

// What attention or MLP adds to the stream: output(input), with the norm after it and the scale
// where the model has them.
struct Branch {
  const kernels::bf16* input;  // [R, inner]
  const kernels::Matrix& output;
  const kernels::bf16* bias;
  const kernels::Norm& after;
};

void add_branch(const Network& network, const State& state, float* x, const Branch& branch,
                std::size_t rows) {
  kernels::Backend& backend = network.backend();
  if (!network.adds_branches()) {
    return backend.matmul(x, branch.input, branch.output, branch.bias, rows, true);
  }
  float* added = state.scratch().branch;
  const model::ModelConfig& c = network.config();
  backend.matmul(added, branch.input, branch.output, branch.bias, rows, false);
  backend.add(x, added, branch.after, c.residual_scale, rows, c.hidden);
}

// x += output(attention(rotary(qkv(norm(x)))))
void attention_block(const Network& network, const State& state, const Layer& layer,
                     const kernels::KvRows& kv, float* x, const LaunchRows& launch) {
  kernels::Backend& backend = network.backend();
  const State::Scratch& s = state.scratch();
  const model::ModelConfig& c = network.config();
  backend.norm(s.normed, c.hidden, x, layer.attention_norm, launch.rows, c.hidden);
  backend.matmul(s.qkv, s.normed, *layer.qkv, layer.qkv_bias, launch.rows, false);
  const kernels::QkvArgs qkv{.qkv = s.qkv,
                             .q_norm = layer.q_norm,
                             .k_norm = layer.k_norm,
                             .whole_width = c.qk_norm == model::QkNorm::kWidth,
                             .rotary = network.rotary(layer),
                             .position = launch.position};
  backend.write_qkv(s.query, kv, network.heads(), qkv, launch.rows);
  const kernels::AttentionArgs attention{.query = s.query,
                                         .position = launch.position,
                                         .first = launch.first,
                                         .window = layer.window,
                                         .phase = launch.phase,
                                         .scores = numerics::score_map(c.score_scale, c.score_cap)};
  backend.attention(s.attended, kv, network.heads(), attention, launch.rows);
  const Branch branch{s.attended, *layer.output, layer.output_bias, layer.attention_norm_after};
  add_branch(network, state, x, branch, launch.rows);
}

// x += output(expand(attention(absorb(queries(low(norm(x)))))))
void latent_attention_block(const Network& network, const State& state, const Layer& layer,
                            const kernels::LatentRows& kept, float* x, const LaunchRows& launch) {
  kernels::Backend& backend = network.backend();
  const State::Scratch& s = state.scratch();
  const model::ModelConfig& c = network.config();
  const LatentAttention& own = *layer.latent;
  const kernels::LatentShape shape = network.latent();
  const kernels::LatentRotary rotary{network.rotary(layer), c.latent.index_interleaved,
                                     launch.position};
  backend.norm(s.normed, c.hidden, x, layer.attention_norm, launch.rows, c.hidden);
  backend.matmul(s.projected, s.normed, *own.down, nullptr, launch.rows, false);
  backend.write_latent({s.low_query, s.index_weights}, kept, shape, own.index,
                       {s.projected, own.query_norm, own.latent_norm, own.index_norm, rotary},
                       launch.rows);
  backend.matmul(s.queries, shape.rank > 0 ? s.low_query : s.normed, *own.queries, nullptr,
                 launch.rows, false);
  backend.write_latent_queries({s.unrotated, s.query, s.index_query}, shape, own.index,
                               {s.queries, rotary}, launch.rows);
  backend.matmul_heads(s.query, shape.key(), s.unrotated, shape.unrotated, *own.absorb,
                       launch.rows);
  if (own.index.heads > 0) {
    backend.choose(s.chosen, kept, own.index,
                   {s.index_query, s.index_weights, s.index_scores, launch.position}, launch.rows);
  }
  const kernels::LatentAttentionArgs attention{.query = s.query,
                                               .position = launch.position,
                                               .first = launch.first,
                                               .window = layer.window,
                                               .phase = launch.phase,
                                               .scores = {c.score_scale},
                                               .chosen = own.sparse ? s.chosen : nullptr,
                                               .most = c.latent.choice};
  backend.latent_attention(s.latents, kept, shape, attention, launch.rows);
  backend.matmul_heads(s.attended, c.latent.values, s.latents, shape.latent, *own.expand,
                       launch.rows);
  const Branch branch{s.attended, *layer.output, layer.output_bias, layer.attention_norm_after};
  add_branch(network, state, x, branch, launch.rows);
}

// x += sum of weight * expert(norm(x)) over the row's experts + shared(norm(x))
void experts_block(const Network& network, const State& state, const Layer& layer, float* x,
                   std::size_t rows) {
  kernels::Backend& backend = network.backend();
  const State::Scratch& s = state.scratch();
  const model::ModelConfig& c = network.config();
  const LayerExperts& experts = *layer.experts;
  const kernels::RoutedRows routed{s.routes, rows, c.experts.router.chosen};
  backend.norm(s.normed, c.hidden, x, layer.mlp_norm, rows, c.hidden);
  backend.matmul(s.router_logits, s.normed, *experts.router, nullptr, rows, false);
  backend.route(s.routes, {s.router_logits, experts.router_bias(), c.experts.router}, rows);
  backend.gather(s.gathered, s.normed, routed, c.hidden);
  backend.matmul_experts(s.gate_up, s.gathered, *experts.gate_up, routed);
  backend.activate(s.activated, s.gate_up, routed.pairs(), c.experts.intermediate, c.activation);
  backend.matmul_experts(s.expert_outputs, s.activated, *experts.down, routed);
  backend.mix(s.branch, s.expert_outputs, routed, c.hidden);
  if (layer.gate_up != nullptr) {
    backend.matmul_activate(s.activated, s.gate_up, s.normed, *layer.gate_up, nullptr, rows,
                            c.activation);
    backend.matmul(s.branch, s.activated, *layer.down, nullptr, rows, true);
  }
  backend.add(x, s.branch, layer.mlp_norm_after, c.residual_scale, rows, c.hidden);
}

// x += down(silu(gate(norm(x))) * up(norm(x))), or what the model has in place of that.
void feed_forward_block(const Network& network, const State& state, const Layer& layer, float* x,
                        std::size_t rows) {
  kernels::Backend& backend = network.backend();
  const State::Scratch& s = state.scratch();
  const model::ModelConfig& c = network.config();
  backend.norm(s.normed, c.hidden, x, layer.mlp_norm, rows, c.hidden);
  backend.matmul_activate(s.activated, s.gate_up, s.normed, *layer.gate_up, layer.gate_up_bias,
                          rows, c.activation);
  const Branch branch{s.activated, *layer.down, layer.down_bias, layer.mlp_norm_after};
  add_branch(network, state, x, branch, rows);
}

}  // namespace

void decoder_layer(const Network& network, const State& state, const Layer& layer,
                   const LayerRows& kept, float* x, const LaunchRows& launch) {
  if (layer.latent) {
    latent_attention_block(network, state, layer, kept.latents, x, launch);
  } else {
    attention_block(network, state, layer, kept.kv, x, launch);
  }
  if (layer.experts) {
    experts_block(network, state, layer, x, launch.rows);
  } else {
    feed_forward_block(network, state, layer, x, launch.rows);
  }
}

void forward(const Network& network, State& state, std::span<const kernels::Token> tokens,
             std::size_t position, kernels::Phase phase) {
  float* x = state.hidden(1);
  const model::ModelConfig& c = network.config();
  network.backend().embed(x, network.embedding, tokens, c.hidden, c.embedding_scale);
  const LaunchRows launch{.rows = tokens.size(), .position = position, .first = 0, .phase = phase};
  const auto layers = [&] {
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      decoder_layer(network, state, network.layers[i], state.rows(i), x, launch);
    }
  };
  if (phase == kernels::Phase::kDecode) {
    network.backend().repeat(state.recording(), launch.rows, position, layers);
  } else {
    layers();
  }
  state.note_rows(position, tokens.size(),
                  phase == kernels::Phase::kPrefill ? Writer::kPrefill : Writer::kDecode);
}

void compute_logits(const Network& network, const State& state, std::size_t row,
                    std::size_t count) {
  const model::ModelConfig& c = network.config();
  const State::Scratch& s = state.scratch();
  kernels::Backend& backend = network.backend();
  backend.norm(s.normed, c.hidden, state.hidden(row), network.final_norm, count, c.hidden);
  backend.matmul(s.logits, s.normed, *network.lm_head, nullptr, count, false);
  if (c.logit_divisor == 1.0f && c.logit_cap == 0.0f) return;
  backend.scale_logits(s.logits, count * c.vocabulary, c.logit_divisor, c.logit_cap);
}

}  // namespace engine::runtime
