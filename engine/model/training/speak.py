"""Plays many instances at once with the trained decoder, greedily, one token a row and step."""

from dataclasses import dataclass, field

import torch
from tokenizers import Tokenizer
from torch import Tensor

from chat_format import END, TEMPLATE, render
from conversation import Message
from instances import Instance
from model import Decoder
from play import Play

MAX_REPLY = 400  # tokens of one assistant message
CACHE_STEP = 256  # keys are read up to a multiple of this


class Cache:
    """Keys and values of every decoder layer, [layers, B, G, S, D] bf16; rows advance singly."""

    def __init__(self, model: Decoder, rows: int, positions: int):
        s = model.shape
        size = (s.layers, rows, s.kv_heads, positions, s.head_size)
        device = model.embed_tokens.weight.device
        self.keys = torch.zeros(size, dtype=torch.bfloat16, device=device)
        self.values = torch.zeros_like(self.keys)

    def keep(self, rows: list[int]) -> None:
        """Drops all other rows."""
        self.keys, self.values = self.keys[:, rows], self.values[:, rows]


def next_tokens(model: Decoder, cache: Cache, tokens: Tensor, positions: Tensor, reach: int) -> Tensor:
    """Feeds tokens [B] at positions [B], all below `reach`; returns the likeliest followers [B]."""
    s = model.shape
    rotary = model.rotary(positions[:, None])
    rows = torch.arange(len(tokens), device=tokens.device)
    hidden_keys = torch.arange(reach, device=tokens.device)[None] > positions[:, None]
    x = model.embed(tokens[:, None])
    for i, layer in enumerate(model.layers[: s.layers]):
        q, k, v = layer.before_attention(x, rotary)
        cache.keys[i][rows, :, positions] = k[:, :, 0]
        cache.values[i][rows, :, positions] = v[:, :, 0]
        keys, values = cache.keys[i, :, :, :reach], cache.values[i, :, :, :reach]
        grouped = q.view(len(tokens), s.kv_heads, -1, s.head_size)
        scores = (grouped @ keys.transpose(2, 3)).float() * s.head_size**-0.5
        scores = scores.masked_fill(hidden_keys[:, None, None], float("-inf"))
        heads = (scores.softmax(-1).to(values.dtype) @ values).view(len(tokens), s.query_heads, 1, s.head_size)
        x = layer.after_attention(x, heads)
    return model.logits(x[:, 0], model.norm).argmax(-1)


@dataclass
class Speaker:
    """One session's tokens: the context so far, and which of them the model wrote."""

    play: Play
    tokenizer: Tokenizer
    tokens: list[int] = field(default_factory=list)
    written: list[tuple[int, int]] = field(default_factory=list)  # [begin, end) of each reply
    fed: int = 0
    begin: int = 0  # of the reply being written
    shown: int = 0  # messages that are in `tokens`

    def __post_init__(self):
        self._extend(render(self.play.messages))

    def advance(self, following: int, end: int, limit: int) -> None:
        """Notes that one token was fed and that the model would go on with `following`."""
        self.fed += 1
        if len(self.tokens) >= limit:
            return self.play.abandon("the context is full")
        if self.fed < len(self.tokens):
            return
        self.tokens.append(following)
        if following == end:
            self._finish_reply()
        elif len(self.tokens) - self.begin > MAX_REPLY:
            self.play.abandon("the reply does not end")

    def _finish_reply(self) -> None:
        self.written.append((self.begin, len(self.tokens)))
        self.play.reply(self.tokenizer.decode(self.tokens[self.begin : -1], skip_special_tokens=False))
        if not self.play.over:
            new: list[Message] = self.play.messages[self.shown + 1 :]
            self._extend(render(new).removeprefix(TEMPLATE["begin"]))

    def _extend(self, text: str) -> None:
        self.tokens += self.tokenizer.encode(text + TEMPLATE["generation_prompt"]).ids
        self.begin = len(self.tokens)
        self.shown = len(self.play.messages)


@torch.inference_mode()
def play_all(model: Decoder, tokenizer: Tokenizer, instances: list[Instance], limit: int = 4096) -> list[Speaker]:
    """Plays every instance to its end; contexts are at most `limit` tokens."""
    device = model.embed_tokens.weight.device
    speakers = [Speaker(Play(instance), tokenizer) for instance in instances]
    cache = Cache(model, len(speakers), limit)
    end = tokenizer.token_to_id(END)
    rows = speakers
    while active := [i for i, s in enumerate(rows) if not s.play.over]:
        if 2 * len(active) <= len(rows):
            cache.keep(active)
            rows = [rows[i] for i in active]
        feed = [(0, 0) if s.play.over else (s.tokens[s.fed], s.fed) for s in rows]
        reach = min(limit, -(-(max(p for _, p in feed) + 1) // CACHE_STEP) * CACHE_STEP)
        tokens, positions = torch.tensor(feed, device=device).T
        following = next_tokens(model, cache, tokens, positions, reach).tolist()
        for speaker, token in zip(rows, following):
            if not speaker.play.over:
                speaker.advance(token, end, limit)
    return speakers
