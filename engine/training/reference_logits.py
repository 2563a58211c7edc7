"""Reference logits of the exported model in float64, and how far bf16 rounding may move them.

    python reference_logits.py MODEL_DIR

writes MODEL_DIR/reference_logits.json, to which the engine's forward is compared.

The engine computes the same function but rounds to bf16 at the places marked `at` below; its other
roundings are 2^-16 times finer. To see what that does to the logits, the forward is repeated with
each of these roundings replaced by an independent relative error, uniform within bf16's unit
roundoff 2^-8. The root mean square of the logits' deviation over all repetitions is `rounding_rms`:
a right forward deviates by about that much, a wrong one by the size of the logits themselves.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from chat_format import render
from generator import draw_session

Array = np.ndarray
Rounding = Callable[[Array], Array]

UNIT_ROUNDOFF = 2.0**-8
PROMPT_TOKENS = 192
KEPT_ROWS = 4  # the last rows, whose logits are written in full
REPETITIONS = 16
DIGITS = 7


class Float64Model:
    """The whole forward in float64. Letters as in model.py, without the batch."""

    def __init__(self, folder: Path):
        self.config = json.loads((folder / "config.json").read_text())
        tensors = load_bf16(folder / "model.safetensors")
        self.weights = {k.removeprefix("model."): v for k, v in tensors.items()}

    def logits(self, tokens: Array, at: Rounding) -> tuple[Array, Array]:
        """tokens [T] to the model's logits [T, V] and the drafter's [T - 1, V]."""
        table, layers = self.weights["embed_tokens.weight"], self.config["num_hidden_layers"]
        x = table[tokens]
        for i in range(layers):
            x = self._layer(x, f"layers.{i}.", len(tokens), at)
        mtp = f"layers.{layers}."
        e = at(self._norm(table[tokens[1:]], mtp + "enorm.weight"))
        h = at(self._norm(x[:-1], mtp + "hnorm.weight"))
        d = np.concatenate((e, h), -1) @ self.weights[mtp + "eh_proj.weight"].T
        d = self._layer(d, mtp, self.config["mtp_sliding_window"], at)
        return (
            at(self._norm(x, "norm.weight")) @ table.T,
            at(self._norm(d, mtp + "shared_head.norm.weight")) @ table.T,
        )

    def _layer(self, x: Array, prefix: str, window: int, at: Rounding) -> Array:
        w = lambda name: self.weights[f"{prefix}{name}.weight"].T
        n = at(self._norm(x, prefix + "input_layernorm.weight"))
        q = at(self._rotate(self._heads(n @ w("self_attn.q_proj"), prefix + "self_attn.q_norm.weight")))
        k = at(self._rotate(self._heads(n @ w("self_attn.k_proj"), prefix + "self_attn.k_norm.weight")))
        v = at(self._split(n @ w("self_attn.v_proj")))
        x = x + at(self._attend(q, k, v, window, at)) @ w("self_attn.o_proj")
        n = at(self._norm(x, prefix + "post_attention_layernorm.weight"))
        gate = n @ w("mlp.gate_proj")
        return x + at(gate / (1 + np.exp(-gate)) * (n @ w("mlp.up_proj"))) @ w("mlp.down_proj")

    def _attend(self, q: Array, k: Array, v: Array, window: int, at: Rounding) -> Array:
        """q [Q, T, D], k and v [G, T, D] to [T, Q D]."""
        heads, rows, size = q.shape
        k, v = (np.repeat(a, heads // len(a), 0) for a in (k, v))
        behind = np.arange(rows)[:, None] - np.arange(rows)
        scores = np.where((behind >= 0) & (behind < window), q @ k.transpose(0, 2, 1) / size**0.5, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        out = at(weights) @ v / weights.sum(-1, keepdims=True)
        return out.transpose(1, 0, 2).reshape(rows, -1)

    def _split(self, x: Array) -> Array:
        """[T, heads D] to [heads, T, D]."""
        return x.reshape(len(x), -1, self.config["head_dim"]).transpose(1, 0, 2)

    def _heads(self, x: Array, norm: str) -> Array:
        return self._norm(self._split(x), norm)

    def _norm(self, x: Array, name: str) -> Array:
        scale = np.sqrt((x * x).mean(-1, keepdims=True) + self.config["rms_norm_eps"])
        return x / scale * self.weights[name]

    def _rotate(self, x: Array) -> Array:
        """x [heads, T, D]."""
        half = int(x.shape[-1] * self.config["partial_rotary_factor"]) // 2
        angle = np.arange(x.shape[1])[:, None] * self.config["rope_theta"] ** (-np.arange(half) / half)
        a, b = x[..., :half], x[..., half : 2 * half]
        cos, sin = np.cos(angle), np.sin(angle)
        return np.concatenate((a * cos - b * sin, b * cos + a * sin, x[..., 2 * half :]), -1)


def load_bf16(file: Path) -> dict[str, Array]:
    """The tensors as float64. NumPy has no bf16: it is the upper half of a float32."""
    raw = file.read_bytes()
    start = 8 + int.from_bytes(raw[:8], "little")
    tensors = {}
    for name, entry in json.loads(raw[8:start]).items():
        if name == "__metadata__":
            continue
        begin, end = (start + offset for offset in entry["data_offsets"])
        upper = np.frombuffer(raw[begin:end], "<u2").astype(np.uint32) << 16
        tensors[name] = upper.view(np.float32).astype(np.float64).reshape(entry["shape"])
    return tensors


def fixed_prompt(folder: Path) -> Array:
    """The first tokens of a held-out session, [PROMPT_TOKENS]."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    text = render(draw_session("fix", 0, held_out=True).messages)
    return np.array(tokenizer.encode(text).ids[:PROMPT_TOKENS])


def write_reference_logits(folder: Path) -> None:
    model, tokens = Float64Model(folder), fixed_prompt(folder)
    exact = model.logits(tokens, at=lambda x: x)
    rng = np.random.default_rng(1)
    disturbed = [
        model.logits(tokens, at=lambda x: x * (1 + UNIT_ROUNDOFF * rng.uniform(-1, 1, x.shape)))
        for _ in range(REPETITIONS)
    ]
    result = {"tokens": tokens.tolist()}
    for part, name in enumerate(("model", "drafter")):
        kept = exact[part][-KEPT_ROWS:]
        deviation = np.array([d[part][-KEPT_ROWS:] - kept for d in disturbed])
        result[name] = {
            "first_row": len(exact[part]) - KEPT_ROWS,
            "best_token_of_each_row": exact[part].argmax(-1).tolist(),
            "rounding_rms": float(np.sqrt((deviation**2).mean())),
            "logits": [[round(v, DIGITS) for v in row] for row in kept.tolist()],
        }
    (folder / "reference_logits.json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    write_reference_logits(Path(sys.argv[1]))
