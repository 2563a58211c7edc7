"""A config of transformers 5 in the words of transformers 4, as most published folders have it."""

# Whose attention has no window of its own per layer: transformers 4 wrote no layer_types for them.
WITHOUT_LAYER_TYPES = ("mistral", "phi3", "starcoder2", "glm", "glm4", "olmo2", "granite")


def as_transformers4(config: dict) -> dict:
    old = {k: v for k, v in config.items() if k not in ("rope_parameters", "dtype", "layer_types")}
    old["torch_dtype"] = config["dtype"]
    old["transformers_version"] = "4.51.0"
    rope = config["rope_parameters"]
    if "full_attention" in rope:
        old["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    old["rope_theta"] = rope["rope_theta"]
    if "partial_rotary_factor" in rope:
        old["partial_rotary_factor"] = rope["partial_rotary_factor"]
    kept = ("rope_theta", "partial_rotary_factor")
    if rope["rope_type"] != "default":
        old["rope_scaling"] = {k: v for k, v in rope.items() if k not in kept}
    if "layer_types" in config and config["model_type"] not in WITHOUT_LAYER_TYPES:
        old["layer_types"] = config["layer_types"]
    return old
