#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/family.h"
#include "model/family_readers.h"

namespace engine::model {
namespace {

constexpr LayerNames kSandwich{.attention_norm_after = "post_attention_layernorm",
                               .mlp_norm = "pre_feedforward_layernorm",
                               .mlp_norm_after = "post_feedforward_layernorm"};

// The defaults are those of the configuration classes in Hugging Face's transformers 5.24; where
// version 4 had another it is said.
constexpr std::array kFamilies{
    Family{"kvpc", "{}", {}, read_kvpc},
    Family{"llama",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2,
        "tie_word_embeddings": false})",
           {},
           read_llama},
    Family{"mistral",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-6,
        "eos_token_id": 2, "tie_word_embeddings": false, "sliding_window": 4096})",
           {},
           read_mistral},
    Family{"qwen2",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
        "max_window_layers": 28})",
           {},
           read_qwen2},
    Family{"qwen3",
           R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 32,
        "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6, "tie_word_embeddings": false, "use_sliding_window": false,
        "sliding_window": 4096, "max_window_layers": 28})",
           {},
           read_qwen3},
    Family{"smollm3",
           R"({"vocab_size": 128256, "hidden_size": 2048, "intermediate_size": 11008,
        "num_hidden_layers": 36, "num_attention_heads": 16, "num_key_value_heads": 4,
        "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "eos_token_id": 128001, "rope_theta": 2000000.0, "tie_word_embeddings": true,
        "no_rope_layer_interval": 4})",
           {},
           read_smollm3},
    Family{"phi3",
           R"({"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "eos_token_id": 32000,
        "tie_word_embeddings": false})",
           {.qkv = "self_attn.qkv_proj", .gate_up = "mlp.gate_up_proj"},
           read_phi3},
    Family{"olmo2",
           R"({"vocab_size": 50304, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-5, "eos_token_id": 50279,
        "tie_word_embeddings": false})",
           {.attention_norm = "",
            .attention_norm_after = "post_attention_layernorm",
            .mlp_norm = "",
            .mlp_norm_after = "post_feedforward_layernorm"},
           read_olmo2},
    Family{"granite",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
        "num_hidden_layers": 32, "num_attention_heads": 32, "hidden_act": "silu",
        "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "eos_token_id": 2,
        "tie_word_embeddings": false, "embedding_multiplier": 1.0, "logits_scaling": 1.0,
        "residual_multiplier": 1.0, "attention_multiplier": 1.0})",
           {},
           read_granite},
    Family{"gemma",
           R"({"vocab_size": 256000, "hidden_size": 3072, "intermediate_size": 24576,
        "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
        "head_dim": 256, "hidden_act": "gelu_pytorch_tanh", "max_position_embeddings": 8192,
        "rms_norm_eps": 1e-6, "eos_token_id": 1, "tie_word_embeddings": true})",
           {},
           read_gemma},
    Family{"gemma2", R"({"vocab_size": 256000, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8, "num_key_value_heads": 4,
        "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "eos_token_id": 1,
        "tie_word_embeddings": true, "query_pre_attn_scalar": 256, "sliding_window": 4096,
        "sliding_window_pattern": 2, "final_logit_softcapping": 30.0,
        "attn_logit_softcapping": 50.0})",
           kSandwich, read_gemma2},
    Family{"gemma3_text", R"({"vocab_size": 262208, "hidden_size": 2304,
        "intermediate_size": 9216, "num_hidden_layers": 26, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
        "max_position_embeddings": 131072, "rms_norm_eps": 1e-6, "eos_token_id": 1,
        "tie_word_embeddings": true, "query_pre_attn_scalar": 256, "sliding_window": 4096,
        "sliding_window_pattern": 6, "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0})",
           kSandwich, read_gemma3},
    Family{"glm",
           R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 131072,
        "rms_norm_eps": 1.5625e-7, "eos_token_id": [151329, 151336, 151338],
        "tie_word_embeddings": false, "attention_bias": true, "partial_rotary_factor": 0.5})",
           {.gate_up = "mlp.gate_up_proj"},
           read_glm},
    Family{"glm4",
           R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 13696,
        "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 2,
        "head_dim": 128, "hidden_act": "silu", "max_position_embeddings": 131072,
        "rms_norm_eps": 1.5625e-7, "eos_token_id": [151329, 151336, 151338],
        "tie_word_embeddings": false, "attention_bias": true, "partial_rotary_factor": 0.5})",
           {.attention_norm_after = "post_self_attn_layernorm",
            .mlp_norm_after = "post_mlp_layernorm",
            .gate_up = "mlp.gate_up_proj"},
           read_glm},
    Family{"mixtral",
           R"({"vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 14336,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
        "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
        "eos_token_id": 2, "tie_word_embeddings": false, "rope_theta": 1000000.0,
        "num_local_experts": 8, "num_experts_per_tok": 2})",
           {.router = "block_sparse_moe.gate",
            .experts = "block_sparse_moe.experts",
            .expert_gate = "w1",
            .expert_up = "w3",
            .expert_down = "w2"},
           read_mixtral},
    Family{"qwen3_moe",
           R"({"vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144,
        "num_hidden_layers": 24, "num_attention_heads": 32, "num_key_value_heads": 4,
        "hidden_act": "silu", "max_position_embeddings": 32768, "rms_norm_eps": 1e-6,
        "tie_word_embeddings": false, "use_sliding_window": false, "sliding_window": 4096,
        "decoder_sparse_step": 1, "moe_intermediate_size": 768, "num_experts_per_tok": 8,
        "num_experts": 128, "norm_topk_prob": false})",
           {},
           read_qwen3_moe},
    Family{"glm4_moe",
           R"({"vocab_size": 151552, "hidden_size": 4096, "intermediate_size": 10944,
        "num_hidden_layers": 46, "num_attention_heads": 96, "num_key_value_heads": 8,
        "hidden_act": "silu", "max_position_embeddings": 131072, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": false, "attention_bias": false, "partial_rotary_factor": 0.5,
        "moe_intermediate_size": 1408, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "n_routed_experts": 128, "routed_scaling_factor": 1.0, "n_group": 1, "topk_group": 1,
        "first_k_dense_replace": 1, "norm_topk_prob": true, "use_qk_norm": false})",
           {},
           read_glm4_moe},
    Family{"glm4_moe_lite",
           R"({"vocab_size": 154880, "hidden_size": 2048, "intermediate_size": 10240,
        "num_hidden_layers": 47, "num_attention_heads": 20, "hidden_act": "silu",
        "max_position_embeddings": 202752, "rms_norm_eps": 1e-5, "eos_token_id": 1,
        "tie_word_embeddings": false, "kv_lora_rank": 512, "q_lora_rank": 768,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 192, "v_head_dim": 256,
        "moe_intermediate_size": 1536, "num_experts_per_tok": 4, "n_shared_experts": 1,
        "n_routed_experts": 64, "routed_scaling_factor": 1.8, "n_group": 1, "topk_group": 1,
        "first_k_dense_replace": 1, "norm_topk_prob": true})",
           {},
           read_deepseek_v3,
           true},
    Family{"deepseek_v3",
           R"({"vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432,
        "num_hidden_layers": 61, "num_attention_heads": 128, "hidden_act": "silu",
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "eos_token_id": 1,
        "tie_word_embeddings": false, "kv_lora_rank": 512, "q_lora_rank": 1536,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "moe_intermediate_size": 2048, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "n_routed_experts": 256, "routed_scaling_factor": 2.5, "n_group": 8, "topk_group": 4,
        "first_k_dense_replace": 3, "norm_topk_prob": true, "num_nextn_predict_layers": 1})",
           {},
           read_deepseek_v3,
           true},
    Family{"deepseek_v32",
           R"({"vocab_size": 129280, "hidden_size": 7168, "intermediate_size": 18432,
        "num_hidden_layers": 61, "num_attention_heads": 128, "hidden_act": "silu",
        "max_position_embeddings": 163840, "rms_norm_eps": 1e-6, "eos_token_id": 1,
        "tie_word_embeddings": false, "kv_lora_rank": 512, "q_lora_rank": 1536,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
        "moe_intermediate_size": 2048, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "n_routed_experts": 256, "routed_scaling_factor": 2.5, "n_group": 8, "topk_group": 4,
        "first_k_dense_replace": 3, "norm_topk_prob": true, "index_topk": 2048,
        "index_head_dim": 128, "index_n_heads": 64})",
           {},
           read_deepseek_v32,
           true},
    Family{"glm_moe_dsa",
           R"({"vocab_size": 154880, "hidden_size": 6144, "intermediate_size": 12288,
        "num_hidden_layers": 78, "num_attention_heads": 64, "hidden_act": "silu",
        "max_position_embeddings": 202752, "rms_norm_eps": 1e-5, "eos_token_id": 1,
        "tie_word_embeddings": false, "kv_lora_rank": 512, "q_lora_rank": 2048,
        "qk_rope_head_dim": 64, "qk_nope_head_dim": 192, "v_head_dim": 256,
        "moe_intermediate_size": 2048, "num_experts_per_tok": 8, "n_shared_experts": 1,
        "n_routed_experts": 256, "routed_scaling_factor": 2.5, "n_group": 1, "topk_group": 1,
        "first_k_dense_replace": 3, "norm_topk_prob": true, "index_topk": 2048,
        "index_head_dim": 128, "index_n_heads": 32})",
           {},
           read_glm_moe_dsa,
           true},
    Family{"starcoder2",
           R"({"vocab_size": 49152, "hidden_size": 3072,
        "intermediate_size": 12288, "num_hidden_layers": 30, "num_attention_heads": 24,
        "num_key_value_heads": 2, "hidden_act": "gelu_pytorch_tanh",
        "max_position_embeddings": 4096, "norm_epsilon": 1e-5, "eos_token_id": 50256,
        "tie_word_embeddings": true, "use_bias": true})",
           {.gate_up = "mlp.c_fc", .down = "mlp.c_proj"},
           read_starcoder2},
};

constexpr std::array kNested{
    std::pair{std::string_view("gemma3"), NestedText{"text_config", "gemma3_text"}},
    std::pair{std::string_view("mistral3"), NestedText{"text_config", "mistral"}},
};

struct Outside {
  std::string_view model_type;
  std::string_view needs;
};

constexpr std::string_view kHybrid = "layers of another kind than attention";
constexpr std::string_view kParallel = "attention and MLP that read the same norm";
constexpr std::string_view kLearnt = "learnt positions";

constexpr std::array kOutside{
    Outside{"qwen2_moe", "a gate on the shared expert"},
    Outside{"phimoe", "a router that masks by a margin"},
    Outside{"olmoe", "experts' names and clipping of its own"},
    Outside{"granitemoe", "experts in tensors of its own"},
    Outside{"gpt_oss", "attention sinks"},
    Outside{"ernie4_5_moe", "a router of its own"},
    Outside{"minimax", "linear attention"},
    Outside{"llama4", "chunked attention"},
    Outside{"llama4_text", "chunked attention"},
    Outside{"dbrx", "experts in tensors of its own"},
    Outside{"deepseek_v2", "a softmax router with groups of its own"},
    Outside{"kimi_k2", "a tokenizer of its own"},
    Outside{"kimi_k25", "a tokenizer of its own"},
    Outside{"minicpm3", "latent attention that is scaled in its own way"},
    Outside{"granitemoehybrid", kHybrid},
    Outside{"qwen3_next", kHybrid},
    Outside{"qwen3_5", kHybrid},
    Outside{"lfm2", kHybrid},
    Outside{"jamba", kHybrid},
    Outside{"bamba", kHybrid},
    Outside{"zamba2", kHybrid},
    Outside{"falcon_h1", kHybrid},
    Outside{"nemotron_h", kHybrid},
    Outside{"recurrent_gemma", kHybrid},
    Outside{"mamba", kHybrid},
    Outside{"mamba2", kHybrid},
    Outside{"rwkv", kHybrid},
    Outside{"gemma3n", "embeddings of each layer and shared keys"},
    Outside{"gemma3n_text", "embeddings of each layer and shared keys"},
    Outside{"gemma4", "embeddings of each layer and shared keys"},
    Outside{"phi", kParallel},
    Outside{"gpt_neox", kParallel},
    Outside{"gptj", kParallel},
    Outside{"falcon", kParallel},
    Outside{"cohere", kParallel},
    Outside{"cohere2", kParallel},
    Outside{"stablelm", "norms and rotary of its own"},
    Outside{"gpt2", kLearnt},
    Outside{"gpt_bigcode", kLearnt},
    Outside{"opt", kLearnt},
    Outside{"bloom", "positions as attention biases"},
    Outside{"mpt", "positions as attention biases"},
    Outside{"ministral3", "queries that are scaled by their position"},
    Outside{"qwen2_vl", "rotary of three positions"},
    Outside{"qwen2_5_vl", "rotary of three positions"},
    Outside{"qwen3_vl", "rotary of three positions"},
};

}  // namespace

const Family& find_family(const JsonNode& model_type) {
  const std::string name = model_type.string();
  const auto* const found = std::ranges::find(kFamilies, name, &Family::model_type);
  if (found != kFamilies.end()) return *found;
  const auto* const outside = std::ranges::find(kOutside, name, &Outside::model_type);
  if (outside != kOutside.end()) {
    model_type.fail(
        fmt::format("\"{}\" needs {}, which this engine does not have", name, outside->needs));
  }
  std::vector<std::string_view> names;
  names.reserve(kFamilies.size() + kNested.size());
  for (const Family& family : kFamilies)
    names.push_back(family.model_type);
  for (const auto& [nested, text] : kNested)
    names.push_back(nested);
  model_type.fail_expected(fmt::format("one of {}", fmt::join(names, ", ")));
}

const NestedText* find_nested_text(std::string_view model_type) {
  for (const auto& [type, text] : kNested) {
    if (type == model_type) return &text;
  }
  return nullptr;
}

}  // namespace engine::model
