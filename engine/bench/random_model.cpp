#include "bench/random_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "model/init_model.h"

namespace engine::bench {
namespace {

using kernels::bf16;
using kernels::MatrixPart;
using nlohmann::ordered_json;

constexpr std::size_t kBlock = std::size_t{1} << 24;  // random values, then they repeat
constexpr std::size_t kLargestNorm = 65536;

// Uniform in +-0.035 (deviation 0.02), by a counter and a multiplicative hash.
std::vector<bf16> random_block() {
  std::vector<bf16> values(kBlock);
  for (std::size_t i = 0; i < kBlock; ++i) {
    std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 29) * 0xBF58476D1CE4E5B9u;
    const float uniform = static_cast<float>(x >> 40) * 0x1p-23f - 1.0f;
    values[i] = numerics::from_float(uniform * 0.035f);
  }
  return values;
}

struct Shape {
  std::size_t hidden, layers, query_heads, kv_heads, head_size, intermediate, vocabulary;
};

Shape model_shape(std::size_t layers, bool small) {
  if (small) return {256, layers, 4, 1, 64, 896, 8016};
  return {4096, layers, 32, 8, 128, 14336, 128256};
}

void write_config(const std::filesystem::path& file, const Shape& s) {
  const ordered_json config{{"model_type", "llama"},
                            {"hidden_size", s.hidden},
                            {"num_hidden_layers", s.layers},
                            {"num_attention_heads", s.query_heads},
                            {"num_key_value_heads", s.kv_heads},
                            {"head_dim", s.head_size},
                            {"intermediate_size", s.intermediate},
                            {"hidden_act", "silu"},
                            {"vocab_size", s.vocabulary},
                            {"max_position_embeddings", 32768},
                            {"rms_norm_eps", 1e-5},
                            {"rope_theta", 500000.0},
                            {"tie_word_embeddings", false},
                            {"attention_bias", false},
                            {"eos_token_id", 0},
                            {"torch_dtype", "bfloat16"}};
  std::ofstream(file) << config.dump(2) << "\n";
}

// The header of a safetensors file and a hole in place of its data.
void write_hole(const std::filesystem::path& file, const Shape& s) {
  ordered_json header;
  std::size_t offset = 0;
  const auto add = [&](const std::string& name, const std::vector<std::size_t>& shape) {
    std::size_t bytes = sizeof(bf16);
    for (const std::size_t n : shape)
      bytes *= n;
    header[name] = {
        {"dtype", "BF16"}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  };
  const std::size_t queries = s.query_heads * s.head_size, keys = s.kv_heads * s.head_size;
  add("model.embed_tokens.weight", {s.vocabulary, s.hidden});
  for (std::size_t i = 0; i < s.layers; ++i) {
    const std::string layer = fmt::format("model.layers.{}.", i);
    add(layer + "input_layernorm.weight", {s.hidden});
    add(layer + "self_attn.q_proj.weight", {queries, s.hidden});
    add(layer + "self_attn.k_proj.weight", {keys, s.hidden});
    add(layer + "self_attn.v_proj.weight", {keys, s.hidden});
    add(layer + "self_attn.o_proj.weight", {s.hidden, queries});
    add(layer + "post_attention_layernorm.weight", {s.hidden});
    add(layer + "mlp.gate_proj.weight", {s.intermediate, s.hidden});
    add(layer + "mlp.up_proj.weight", {s.intermediate, s.hidden});
    add(layer + "mlp.down_proj.weight", {s.hidden, s.intermediate});
  }
  add("model.norm.weight", {s.hidden});
  add("lm_head.weight", {s.vocabulary, s.hidden});
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const std::uint64_t length = text.size();
  static_assert(std::endian::native == std::endian::little);
  std::ofstream out(file, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof length);
  out << text;
  out.close();
  std::filesystem::resize_file(file, sizeof length + length + offset);
}

}  // namespace

RandomWeights::RandomWeights(kernels::Backend& backend)
    : backend_(backend), block_(random_block()) {}

std::vector<MatrixPart> RandomWeights::random_parts(std::span<const MatrixPart> parts,
                                                    std::size_t inner) const {
  const std::size_t rows = kBlock / inner;
  std::vector<MatrixPart> random;
  for (const MatrixPart& part : parts) {
    for (std::size_t n = 0; n < part.n; n += rows)
      random.push_back({block_.data(), std::min(rows, part.n - n)});
  }
  return random;
}

std::unique_ptr<kernels::Matrix> RandomWeights::prepare(std::span<const MatrixPart> parts,
                                                        std::size_t inner) {
  return backend_.prepare(random_parts(parts, inner), inner);
}

std::unique_ptr<kernels::ExpertMatrices> RandomWeights::prepare_experts(
    std::span<const MatrixPart> parts, std::size_t inner, std::size_t experts) {
  return backend_.prepare_experts(random_parts(parts, inner), inner, experts);
}

const bf16* RandomWeights::place(const bf16*, std::size_t count) {
  std::vector<bf16>& values = placed_.emplace_back(count, numerics::from_float(1.0f));
  for (std::size_t i = 0; count > kLargestNorm && i < count; i += kBlock) {
    std::copy_n(block_.begin(), std::min(kBlock, count - i),
                values.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return backend_.place(values.data(), count);
}

RandomModelFolder::RandomModelFolder(std::size_t layers, bool small)
    : path_(std::filesystem::temp_directory_path() /
            fmt::format("engine-bench-{}", static_cast<long>(getpid()))) {
  const Shape shape = model_shape(layers, small);
  model::init_model("micro", path_, {.seed = 0, .force = true});  // for the tokenizer
  write_config(path_ / "config.json", shape);
  write_hole(path_ / "model.safetensors", shape);
}

RandomModelFolder::~RandomModelFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace engine::bench
