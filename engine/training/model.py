"""The decoder in PyTorch, rounded where the engine rounds: bf16 matrix inputs, float32 residual.

Letters in shapes: B batch, T positions, H hidden, Q query heads, G KV heads, D head size, V
vocabulary. Master weights are float32; every use rounds them to bf16, so that the exported bf16
weights compute what training computed.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from masks import DraftMasks, Mask

BF16 = torch.bfloat16


@dataclass(frozen=True)
class Shape:
    """The model's sizes; `config()` is its Hugging Face form."""

    vocabulary: int = 2048
    hidden: int = 256
    layers: int = 8
    query_heads: int = 4
    kv_heads: int = 2
    head_size: int = 64
    intermediate: int = 768
    max_positions: int = 8192
    rotary_size: int = 32
    rope_theta: float = 10000.0
    norm_epsilon: float = 1e-6
    mtp_window: int = 512

    def config(self, stop_token: int) -> dict:
        return {
            "architectures": ["KvpcForCausalLM"],
            "model_type": "kvpc",
            "hidden_size": self.hidden,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.query_heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_size,
            "intermediate_size": self.intermediate,
            "vocab_size": self.vocabulary,
            "max_position_embeddings": self.max_positions,
            "rms_norm_eps": self.norm_epsilon,
            "rope_theta": self.rope_theta,
            "partial_rotary_factor": self.rotary_size / self.head_size,
            "use_qk_norm": True,
            "attention_bias": False,
            "tie_word_embeddings": True,
            "num_nextn_predict_layers": 1,
            "mtp_sliding_window": self.mtp_window,
            "eos_token_id": stop_token,
            "hidden_act": "silu",
            "torch_dtype": "bfloat16",
        }


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """[..., N] float32 to bf16."""
    x = x.float()
    scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + epsilon)
    return (x * scale * weight.to(BF16).float()).to(BF16)


def product(x: Tensor, weight: Tensor) -> Tensor:
    """x [..., K] bf16 times weight [N, K], accumulated in float32, as bf16."""
    return F.linear(x, weight.to(BF16))


class Rotary(nn.Module):
    """cos and sin [P, rotary_size / 2] for every position, in float32."""

    def __init__(self, shape: Shape):
        super().__init__()
        pair = torch.arange(0, shape.rotary_size, 2, dtype=torch.float64)
        angle = torch.arange(shape.max_positions, dtype=torch.float64)[:, None] * (
            shape.rope_theta ** (-pair / shape.rotary_size)
        )
        self.register_buffer("cos", angle.cos().float(), persistent=False)
        self.register_buffer("sin", angle.sin().float(), persistent=False)

    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """positions [B, T] to cos and sin [B, T, 1, rotary_size / 2]."""
        return self.cos[positions][:, :, None], self.sin[positions][:, :, None]


def rotate(x: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
    """x [B, T, heads, D] float32: dimension i of the first half turns with i + half."""
    cos, sin = rotary
    half = cos.shape[-1]
    a, b, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
    return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), -1)


def attend(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
    """q [B, Q, T, D], k and v [B, G, S, D]; a dense mask is [B, 1, T, S], true where seen."""
    if isinstance(mask, BlockMask):
        return flex_attention(q, k, v, block_mask=mask, enable_gqa=True)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)


class Attention(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        heads = (shape.query_heads, shape.kv_heads, shape.kv_heads)
        for name, count in zip("qkv", heads):
            self.add_module(f"{name}_proj", nn.Linear(shape.hidden, count * shape.head_size, bias=False))
        self.o_proj = nn.Linear(shape.query_heads * shape.head_size, shape.hidden, bias=False)
        self.q_norm = nn.RMSNorm(shape.head_size)
        self.k_norm = nn.RMSNorm(shape.head_size)

    def qkv(self, x: Tensor, rotary: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """x [B, T, H] bf16 to q [B, Q, T, D], k and v [B, G, T, D], all bf16."""
        s = self.shape
        split = (*x.shape[:-1], -1, s.head_size)
        q = product(x, self.q_proj.weight).view(split)
        k = product(x, self.k_proj.weight).view(split)
        v = product(x, self.v_proj.weight).view(split)
        q = self._norm_and_rotate(q, self.q_norm.weight, rotary)
        k = self._norm_and_rotate(k, self.k_norm.weight, rotary)
        return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)

    def _norm_and_rotate(self, x: Tensor, weight: Tensor, rotary: tuple[Tensor, Tensor]) -> Tensor:
        x = x.float()
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + self.shape.norm_epsilon)
        return rotate(x * scale * weight.to(BF16).float(), rotary).to(BF16)


class Mlp(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.intermediate, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.intermediate, bias=False)
        self.down_proj = nn.Linear(shape.intermediate, shape.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gate = product(x, self.gate_proj.weight).float()
        up = product(x, self.up_proj.weight).float()
        return product((F.silu(gate) * up).to(BF16), self.down_proj.weight)


KeysValues = tuple[Tensor, Tensor]


class Layer(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.self_attn = Attention(shape)
        self.mlp = Mlp(shape)
        self.input_layernorm = nn.RMSNorm(shape.hidden)
        self.post_attention_layernorm = nn.RMSNorm(shape.hidden)

    def forward(
        self,
        x: Tensor,
        rotary: tuple[Tensor, Tensor],
        mask: Mask,
        earlier: KeysValues | None = None,
    ) -> tuple[Tensor, KeysValues]:
        """x [B, T, H] float32; keys are `earlier`'s followed by x's own, which are returned."""
        q, k, v = self.before_attention(x, rotary)
        keys = k if earlier is None else torch.cat((earlier[0], k), 2)
        values = v if earlier is None else torch.cat((earlier[1], v), 2)
        return self.after_attention(x, attend(q, keys, values, mask)), (k, v)

    def before_attention(self, x: Tensor, rotary: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
        normed = rms_norm(x, self.input_layernorm.weight, self.shape.norm_epsilon)
        return self.self_attn.qkv(normed, rotary)

    def after_attention(self, x: Tensor, heads: Tensor) -> Tensor:
        """heads [B, Q, T, D]."""
        flat = heads.transpose(1, 2).flatten(2).to(BF16)
        x = x + product(flat, self.self_attn.o_proj.weight).float()
        normed = rms_norm(x, self.post_attention_layernorm.weight, self.shape.norm_epsilon)
        return x + self.mlp(normed).float()


class MtpLayer(Layer):
    """The drafter: row p joins the hidden state p with token p+1 and predicts token p+2."""

    def __init__(self, shape: Shape):
        super().__init__(shape)
        self.enorm = nn.RMSNorm(shape.hidden)
        self.hnorm = nn.RMSNorm(shape.hidden)
        self.eh_proj = nn.Linear(2 * shape.hidden, shape.hidden, bias=False)
        self.shared_head = nn.ModuleDict({"norm": nn.RMSNorm(shape.hidden)})

    def join(self, embedding: Tensor, hidden: Tensor) -> Tensor:
        """Embeddings of tokens p+1 and hidden states p, both [B, T, H] float32, to the layer's input."""
        e = rms_norm(embedding, self.enorm.weight, self.shape.norm_epsilon)
        h = rms_norm(hidden, self.hnorm.weight, self.shape.norm_epsilon)
        return product(torch.cat((e, h), -1), self.eh_proj.weight).float()


class Decoder(nn.Module):
    """Parameter names are those of the exported file without their `model.` prefix."""

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        layers = [Layer(shape) for _ in range(shape.layers)]
        self.layers = nn.ModuleList([*layers, MtpLayer(shape)])
        self.norm = nn.RMSNorm(shape.hidden)
        self.rotary = Rotary(shape)
        self._initialise()

    def _initialise(self) -> None:
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                residual = name.endswith(("o_proj.weight", "down_proj.weight"))
                deviation = 0.02 / (2 * self.shape.layers) ** 0.5 if residual else 0.02
                nn.init.normal_(weight, std=deviation)

    @property
    def mtp(self) -> MtpLayer:
        return self.layers[self.shape.layers]

    def embed(self, tokens: Tensor) -> Tensor:
        """[B, T] to [B, T, H] float32."""
        return F.embedding(tokens, self.embed_tokens.weight).to(BF16).float()

    def hidden(self, embedded: Tensor, rotary: tuple[Tensor, Tensor], mask: Mask) -> Tensor:
        """The last layer's output before the final norm, [B, T, H] float32."""
        x = embedded
        for layer in self.layers[: self.shape.layers]:
            x, _ = layer(x, rotary, mask)
        return x

    def logits(self, x: Tensor, norm: nn.RMSNorm) -> Tensor:
        """[..., H] to [..., V], bf16."""
        return product(rms_norm(x, norm.weight, self.shape.norm_epsilon), self.embed_tokens.weight)

    def draft(
        self, tokens: Tensor, hidden: Tensor, rotary: tuple[Tensor, Tensor], masks: DraftMasks
    ) -> tuple[Tensor, Tensor]:
        """The drafter's outputs [B, T, H] where row p predicts token p+2.

        The first output's rows come from the true hidden states. The second's row p has the first
        output's row p-1 for a hidden state, as when the drafter continues its own draft: it sees the
        first output's keys before p and its own at p.
        """
        following = self.embed(tokens.roll(-1, 1))
        first, keys = self.mtp(self.mtp.join(following, hidden), rotary, masks.first)
        again = self.mtp.join(following, first.roll(1, 1))
        second, _ = self.mtp(again, rotary, masks.second, keys)
        return first, second
