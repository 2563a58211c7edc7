#include "runtime/forward.h"

namespace engine::runtime {
namespace {

// x += output(attention(rotary(qkv(norm(x)))))
void attention_block(const Network& network, const State& state, const Layer& layer,
                     const kernels::KvRows& kv, float* x, const LaunchRows& launch) {
  kernels::Backend& backend = network.backend();
  const State::Scratch& s = state.scratch();
  const model::ModelConfig& c = network.config();
  backend.rms_norm(s.normed, c.hidden, x, layer.input_norm, launch.rows, c.hidden, c.norm_epsilon);
  backend.matmul(s.qkv, s.normed, *layer.qkv, layer.qkv_bias, launch.rows, false);
  const kernels::QkvArgs qkv{.qkv = s.qkv,
                             .q_norm = layer.q_norm,
                             .k_norm = layer.k_norm,
                             .epsilon = c.norm_epsilon,
                             .rotary = network.rotary(),
                             .position = launch.position};
  backend.write_qkv(s.query, kv, network.heads(), qkv, launch.rows);
  const kernels::AttentionArgs attention{.query = s.query,
                                         .position = launch.position,
                                         .first = launch.first,
                                         .window = launch.window,
                                         .phase = launch.phase};
  backend.attention(s.attended, kv, network.heads(), attention, launch.rows);
  backend.matmul(x, s.attended, *layer.output, nullptr, launch.rows, true);
}

// x += down(silu(gate(norm(x))) * up(norm(x)))
void feed_forward_block(const Network& network, const State& state, const Layer& layer, float* x,
                        std::size_t rows) {
  kernels::Backend& backend = network.backend();
  const State::Scratch& s = state.scratch();
  const model::ModelConfig& c = network.config();
  backend.rms_norm(s.normed, c.hidden, x, layer.post_norm, rows, c.hidden, c.norm_epsilon);
  backend.matmul_silu_mul(s.activated, s.gate_up, s.normed, *layer.gate_up, rows);
  backend.matmul(x, s.activated, *layer.down, nullptr, rows, true);
}

}  // namespace

void decoder_layer(const Network& network, const State& state, const Layer& layer,
                   const kernels::KvRows& kv, float* x, const LaunchRows& launch) {
  attention_block(network, state, layer, kv, x, launch);
  feed_forward_block(network, state, layer, x, launch.rows);
}

void forward(const Network& network, State& state, std::span<const kernels::Token> tokens,
             std::size_t position, kernels::Phase phase) {
  float* x = state.hidden(1);
  network.backend().embed(x, network.embedding, tokens, network.config().hidden);
  const LaunchRows launch{.rows = tokens.size(),
                          .position = position,
                          .first = 0,
                          .window = position + tokens.size(),
                          .phase = phase};
  const auto layers = [&] {
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
      decoder_layer(network, state, network.layers[i], state.kv(i), x, launch);
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
  network.backend().rms_norm(s.normed, c.hidden, state.hidden(row), network.final_norm, count,
                             c.hidden, c.norm_epsilon);
  network.backend().matmul(s.logits, s.normed, *network.lm_head, nullptr, count, false);
}

}  // namespace engine::runtime
