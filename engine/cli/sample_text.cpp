#include "cli/sample_text.h"

namespace engine::cli {

std::string_view sample_text() {
  // Known answers depend on these bytes.
  return R"text(The KV rows of a conversation are written once and read at every later step. A request that repeats an
earlier one and adds a few lines should therefore pay for those lines only. The difficulty is not to skip
the prefix; it is to skip it and still return, bit for bit, what a cold run would have returned.

A launch computes many rows together, and how it is cut into tiles depends on how many rows it has. Few
rows leave most of a large chip idle, so the inner dimension is split and the partial sums are added in a
second pass. That is a different order of additions, and floating-point addition is not associative: the
same row, computed in a launch of forty-eight rows and in one of forty-nine, differs in its last bits.
The difference is far below anything a reader of the reply could notice. It is also enough to turn a near
tie between two tokens, and then the rest of the reply is another text.

So every row that is kept must have been computed in a launch of the same shape as the one that a cold
run would use. A grid of fixed chunks does it: every boundary is a multiple of the same number, whatever
the length of the prompt, and only the last, incomplete chunk depends on where the prompt ends.

Rows that were generated come from another path altogether. They were computed one or a few at a time,
and they end up inside the next prompt, where a cold run would compute them by the hundred. They cannot
be kept. The reuse ends where the previous prompt ended, and not where the previous reply did.

Überprüfung: naïve Zeichen wie é, ß, 日本語 und 🙂 sind Teil des Textes, damit auch Zeichen aus mehreren Bytes
durch den Tokenizer laufen.

| turn | prompt | reused | computed |
|------|--------|--------|----------|
| 1    | 1,020  | 0      | 1,020    |
| 2    | 1,093  | 512    | 581      |
| 3    | 1,420  | 1,024  | 396      |

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
  backend.matmul(s.gate_up, s.normed, *layer.gate_up, nullptr, rows, false);
  backend.silu_mul(s.activated, s.gate_up, rows, c.intermediate);
  backend.matmul(x, s.activated, *layer.down, nullptr, rows, true);
}

)text";
}

}  // namespace engine::cli
