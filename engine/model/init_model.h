// Writes a random model, for tests and for trying the engine out before a trained one is there.
//
// The same preset and seed give the same bytes on every machine: weights are drawn from a
// counter-based generator and use only correctly rounded arithmetic.
//
//   preset   H    layers  Q/G x D    rotary  I     mtp window  context  tied  qk_norm  qkv_bias
//   micro    64   4       4/2 x 16   8       512   32          4096     yes   yes      no
//   mini     256  8       4/2 x 64   32      1024  128         16384    yes   yes      no
//   plain    96   3       3/3 x 32   32      256   none        2048     no    no       yes
//
//   glm4moe-mini
//            256  5       4/2 x 64   32      512   32          16384    yes   yes      yes
//
// glm4moe-mini has experts in all layers but the first: 8 of width 128 in two groups, 2 of one
// group for each row, and a shared one. Two experts of each layer always tie.
//
//   glm5-mini
//            128  6       4/4 x 48   16      512   32          16384    yes   no       no
//
// glm5-mini is GLM-5 made small: latents of 64 numbers and a rotated key of 16; indexers of two
// heads that choose 72 positions, in all layers but the fourth, which takes the third's choice;
// experts, from the third layer on, of width 64, otherwise as above but without groups. Scores of
// the indexers tie by their plateaus of zeros.
//
// Further presets have layers of one family each: H 96, 4 layers, 4/2 heads of 32, I 192, context
// 2048. mistral (windows), smollm3 (layers without rotary, biases, llama3 scaling), phi3 (stacked
// matrices), qwen3 (yarn), olmo2 (norms after, over the whole width), granite (multipliers), gemma2
// (capped scores and logits, windows by layer), gemma3 (two thetas), glm4 (interleaved rotary),
// starcoder2 (LayerNorm, no gate), qwen3-moe (experts in every other layer, weights as they are),
// mixtral (experts in each).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "model/error.h"

namespace engine::model {

struct InitOptions {
  std::uint64_t seed = 0;
  bool force = false;  // replace a folder that is not empty
};

// Names of the presets, in the table's order.
std::span<const std::string_view> preset_names();

// Makes `dir` a model folder that Model::load takes, with a byte-level tokenizer and a chat
// template. It appears whole or not at all: it is written beside `dir` and renamed.
// Throws ModelError: unknown preset, `dir` is not empty and not `force`, or the disk failed.
void init_model(std::string_view preset, const std::filesystem::path& dir,
                const InitOptions& options = {});

}  // namespace engine::model
