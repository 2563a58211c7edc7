"""The tiny models: one row for each family and each constant that a family may set otherwise.

Small enough to run in a second, and everything occurs: windows shorter than the text, layers with and
without rotary, both thetas, every scaling, tied and untied heads, biases, widths that are no powers of
two.
"""

WINDOW = 24  # of the text's 96 tokens
SIZES = {
    "vocab_size": 320,
    "hidden_size": 96,
    "intermediate_size": 144,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": None,
}
DEFAULT = {"rope_type": "default", "rope_theta": 10000.0}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 5000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 64,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
GLM4_MOE = {
    "rope_parameters": {**DEFAULT, "partial_rotary_factor": 0.5},
    "attention_bias": True,
    "use_qk_norm": True,
    "first_k_dense_replace": 2,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 2,
    "moe_intermediate_size": 48,
    "n_group": 2,
    "topk_group": 1,
    "routed_scaling_factor": 1.5,
}
LATENT = {
    "head_dim": 16,
    "num_key_value_heads": 4,
    "q_lora_rank": 64,
    "kv_lora_rank": 48,
    "qk_nope_head_dim": 32,
    "qk_rope_head_dim": 16,
    "v_head_dim": 48,
    "first_k_dense_replace": 3,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "n_shared_experts": 1,
    "moe_intermediate_size": 48,
    "n_group": 2,
    "topk_group": 1,
    "routed_scaling_factor": 1.5,
    "rope_parameters": DEFAULT,
}
INDEXER = {"index_n_heads": 4, "index_head_dim": 32, "index_topk": 40}  # of the text's 96 tokens


def by_layers(*kinds: str) -> list[str]:
    return [{"s": "sliding_attention", "f": "full_attention"}[k] for k in kinds]


# These have a multi-token-prediction layer after the decoder's, with a window of its own.
DRAFTER = {"num_nextn_predict_layers": 1, "mtp_sliding_window": WINDOW}
DRAFTERS = {f"{name}_drafter": DRAFTER for name in ("llama", "glm4_moe", "deepseek_v3", "glm_moe_dsa")}

# name: (model_type, what differs from SIZES)
FAMILIES = {
    "llama": ("llama", {"rope_parameters": DEFAULT, "tie_word_embeddings": False}),
    "llama_3": ("llama", {"rope_parameters": LLAMA3, "tie_word_embeddings": True, "rms_norm_eps": 1e-5}),
    "llama_linear": ("llama", {"rope_parameters": LINEAR}),
    "llama_drafter": ("llama", {"rope_parameters": DEFAULT}),
    "mistral": ("mistral", {"sliding_window": WINDOW, "rope_parameters": DEFAULT}),
    "mistral_nemo": ("mistral", {"sliding_window": None, "head_dim": 48, "rope_parameters": {**DEFAULT, "rope_theta": 1e6}}),
    "qwen2": ("qwen2", {"rope_parameters": DEFAULT, "tie_word_embeddings": True}),
    "qwen2_window": (
        "qwen2",
        {"use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 2, "rope_parameters": DEFAULT},
    ),
    "qwen2_yarn": ("qwen2", {"rope_parameters": YARN, "max_position_embeddings": 256}),
    "qwen3": ("qwen3", {"rope_parameters": {**DEFAULT, "rope_theta": 1e6}, "tie_word_embeddings": True}),
    "smollm3": (
        "smollm3",
        {"rope_parameters": {**DEFAULT, "rope_theta": 2e6}, "no_rope_layers": [1, 1, 1, 0], "tie_word_embeddings": True},
    ),
    "phi3": ("phi3", {"rope_parameters": DEFAULT, "sliding_window": WINDOW}),
    "phi4": (
        "phi3",
        {"rope_parameters": {**DEFAULT, "partial_rotary_factor": 0.75}, "sliding_window": None, "tie_word_embeddings": True},
    ),
    "olmo2": ("olmo2", {"rope_parameters": DEFAULT}),
    "granite": (
        "granite",
        {
            "rope_parameters": DEFAULT,
            "embedding_multiplier": 3.0,
            "logits_scaling": 1.5,
            "residual_multiplier": 0.6,
            "attention_multiplier": 0.25,
            "tie_word_embeddings": True,
        },
    ),
    "gemma2": (
        "gemma2",
        {
            "sliding_window": WINDOW,
            "query_pre_attn_scalar": 24,
            "attn_logit_softcapping": 4.0,
            "final_logit_softcapping": 5.0,
            "rope_parameters": DEFAULT,
        },
    ),
    "gemma3": (
        "gemma3_text",
        {
            "sliding_window": WINDOW,
            "query_pre_attn_scalar": 24,
            "layer_types": by_layers(*"ssfs"),
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0},
                "sliding_attention": DEFAULT,
            },
        },
    ),
    "glm": (
        "glm",
        {"rope_parameters": {**DEFAULT, "partial_rotary_factor": 0.5}, "attention_bias": True},
    ),
    "glm4": (
        "glm4",
        {"rope_parameters": {**DEFAULT, "partial_rotary_factor": 0.5}, "attention_bias": True},
    ),
    "glm4_moe": ("glm4_moe", GLM4_MOE),
    "glm4_moe_drafter": ("glm4_moe", GLM4_MOE),
    "qwen3_moe": (
        "qwen3_moe",
        {
            "rope_parameters": {**DEFAULT, "rope_theta": 1e6},
            "num_experts": 6,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 48,
            "norm_topk_prob": False,
            "decoder_sparse_step": 2,
            "mlp_only_layers": [2],
        },
    ),
    "mixtral": (
        "mixtral",
        {
            "rope_parameters": {**DEFAULT, "rope_theta": 1e6},
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
            "sliding_window": WINDOW,
        },
    ),
    "deepseek_v3": ("deepseek_v3", {**LATENT, "rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 0.7}}),
    "deepseek_v3_queries": ("deepseek_v3", {**LATENT, "q_lora_rank": None, "rope_interleave": False}),
    "deepseek_v3_drafter": ("deepseek_v3", LATENT),
    "glm4_moe_lite": ("glm4_moe_lite", LATENT),
    "deepseek_v32": ("deepseek_v32", {**LATENT, **INDEXER}),
    "glm_moe_dsa": (
        "glm_moe_dsa",
        {**LATENT, **INDEXER, "indexer_types": ["full", "shared", "full", "shared"]},
    ),
    "glm_moe_dsa_drafter": ("glm_moe_dsa", {**LATENT, **INDEXER}),
    "glm_moe_dsa_whole": ("glm_moe_dsa", {**LATENT, **INDEXER, "index_topk": 256}),
    "starcoder2": (
        "starcoder2",
        {"sliding_window": WINDOW, "rope_parameters": DEFAULT, "use_bias": True, "tie_word_embeddings": True},
    ),
}
