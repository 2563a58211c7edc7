"""A multi-token-prediction layer, as DeepSeek-V3 defines it, around a family's own decoder layer.

transformers leaves the layer out; its parts are here, and its decoder layer, norms and rotary are
transformers' classes. Row p is made from hidden state p and token p + 1 and predicts token p + 2.
"""

import re

import torch
from safetensors.torch import load_file


def names_of(config: dict) -> dict[str, list[int]]:
    """The tensors beside those of a decoder layer."""
    hidden, prefix = config["hidden_size"], f"model.layers.{config['num_hidden_layers']}."
    norms = {prefix + name: [hidden] for name in ("enorm.weight", "hnorm.weight", "shared_head.norm.weight")}
    return norms | {prefix + "eh_proj.weight": [hidden, 2 * hidden]}


def packed(own: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Experts in the two tensors that transformers' classes hold."""
    experts = sum(re.fullmatch(r"mlp\.experts\.\d+\.down_proj\.weight", name) is not None for name in own)
    if not experts:
        return own
    part = lambda i, name: own.pop(f"mlp.experts.{i}.{name}_proj.weight")
    order = range(experts)
    own["mlp.experts.gate_up_proj"] = torch.stack([torch.cat((part(i, "gate"), part(i, "up"))) for i in order])
    own["mlp.experts.down_proj"] = torch.stack([part(i, "down") for i in order])
    return own


class Drafter(torch.nn.Module):
    def __init__(self, model: torch.nn.Module, file: str, window: int):
        super().__init__()
        config = model.config
        norm = lambda: type(model.model.norm)(config.hidden_size, config.rms_norm_eps)
        self.window = window
        self.enorm, self.hnorm, self.shared_head = norm(), norm(), torch.nn.ModuleDict({"norm": norm()})
        self.eh_proj = torch.nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)
        self.layer = type(model.model.layers[0])(config, layer_idx=config.num_hidden_layers - 1)
        prefix = f"model.layers.{config.num_hidden_layers}."
        own = packed({k.removeprefix(prefix): v.float() for k, v in load_file(file).items() if k.startswith(prefix)})
        mine = self.state_dict()
        self.load_state_dict({k: own[k.removeprefix("layer.")] for k in mine})
        assert len(own) == len(mine), "a tensor of the layer is not used"

    def forward(self, model: torch.nn.Module, tokens: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """tokens [T] and the decoder's last hidden states [T, H] to logits [T - 1, V]."""
        embedded = model.model.embed_tokens(tokens[None, 1:])
        x = self.eh_proj(torch.cat((self.enorm(embedded), self.hnorm(hidden[None, :-1])), -1))
        positions = torch.arange(x.shape[1])[None]
        behind = positions.T - positions
        mask = torch.zeros(behind.shape).masked_fill((behind < 0) | (behind >= self.window), -torch.inf)
        rotary = model.model.rotary_emb(x, positions)
        x = self.layer(x, attention_mask=mask[None, None], position_ids=positions, position_embeddings=rotary)
        x = x[0] if isinstance(x, tuple) else x  # beside it sparse attention's choice, of the whole window
        return model.lm_head(self.shared_head["norm"](x))[0]
