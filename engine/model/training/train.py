"""The training loop: next-token loss and, jointly, both steps of the drafter."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask

from batches import Rows
from model import Decoder, DraftMasks, product, rms_norm


@dataclass(frozen=True)
class Recipe:
    """What training does; together with the seed it decides the result."""

    steps: int
    batch_rows: int = 16
    row_length: int = 4096
    learning_rate: float = 3e-3
    warm_up: int = 150
    weight_decay: float = 0.05
    clip: float = 1.0
    other_weight: float = 0.1  # loss weight of what the assistant does not write
    draft_weight: float = 0.3  # loss weight of each of the drafter's two steps
    seed: int = 1


def set_deterministic(seed: int) -> None:
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.set_float32_matmul_precision("high")


def make_masks(sessions: Tensor, window: int, dense: bool) -> tuple[BlockMask | Tensor, DraftMasks]:
    """sessions [B, T] to the decoder's mask and the drafter's: no session sees another."""
    rows, length = sessions.shape

    def causal(b, h, q, kv):
        return (sessions[b, q] == sessions[b, kv]) & (kv <= q)

    def first(b, h, q, kv):
        return (sessions[b, q] == sessions[b, kv]) & (kv <= q) & (q - kv < window)

    def second(b, h, q, kv):
        row = torch.where(kv < length, kv, kv - length)
        earlier = (sessions[b, q] == sessions[b, row]) & (row < q) & (q - row < window)
        return torch.where(kv < length, earlier, row == q)

    def build(rule, keys: int):
        if not dense:
            return create_block_mask(rule, rows, None, length, keys, device=sessions.device)
        index = [torch.arange(n, device=sessions.device) for n in (rows, 1, length, keys)]
        return rule(*torch.meshgrid(*index, indexing="ij"))

    return build(causal, length), DraftMasks(build(first, length), build(second, 2 * length))


def token_losses(x: Tensor, norm: Tensor, table: Tensor, targets: Tensor, epsilon: float) -> Tensor:
    """Cross entropy [B, T] of logits(x [B, T, H]) against targets [B, T]."""
    logits = product(rms_norm(x, norm, epsilon), table).float()
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none").view_as(targets)


def target_weights(sessions: Tensor, spoken: Tensor, back: int, ahead: int, other: float) -> Tensor:
    """[B, T]: what predicting position p + ahead counts at p, given state from p - back on."""
    target = sessions.roll(-ahead, 1)
    valid = (target == sessions.roll(back, 1)) & (target != 0)
    valid[:, -ahead:] = False
    valid[:, :back] = False
    return torch.where(spoken.roll(-ahead, 1), 1.0, other) * valid


class Trainer:
    def __init__(self, model: Decoder, recipe: Recipe, device: torch.device):
        self.model = model.to(device)
        self.recipe = recipe
        self.device = device
        self.losses = token_losses
        self.compiled = device.type == "cuda"
        matrices = [p for p in model.parameters() if p.dim() == 2]
        vectors = [p for p in model.parameters() if p.dim() != 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": recipe.weight_decay}, {"params": vectors, "weight_decay": 0.0}],
            lr=recipe.learning_rate,
            betas=(0.9, 0.95),
            fused=self.compiled,
        )
        if self.compiled:
            for layer in model.layers:
                layer.compile()
            self.losses = torch.compile(token_losses)

    def run(self, batches: Iterator[Rows]) -> list[dict]:
        """Trains for the recipe's steps; returns the log."""
        log, started = [], time.monotonic()
        for step in range(self.recipe.steps):
            terms = self._step(step, next(batches))
            if step % 50 == 0 or step == self.recipe.steps - 1:
                entry = {"step": step, "seconds": round(time.monotonic() - started, 1)}
                entry |= {name: round(value.item(), 4) for name, value in terms.items()}
                log.append(entry)
                print(entry, flush=True)
        return log

    def _step(self, step: int, rows: Rows) -> dict[str, Tensor]:
        recipe = self.recipe
        for group in self.optimizer.param_groups:
            group["lr"] = recipe.learning_rate * self._schedule(step)
        tensors = [torch.from_numpy(a).to(self.device, non_blocking=True) for a in rows.arrays()]
        terms = self._terms(*tensors)
        loss = terms["main"] + recipe.draft_weight * (terms["draft 1"] + terms["draft 2"])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return {name: value.detach() for name, value in terms.items()}

    def _schedule(self, step: int) -> float:
        """Linear warm-up, then half a cosine to zero."""
        if step < self.recipe.warm_up:
            return (step + 1) / self.recipe.warm_up
        done = (step - self.recipe.warm_up) / max(1, self.recipe.steps - self.recipe.warm_up)
        return 0.5 * (1 + math.cos(math.pi * done))

    def _terms(self, tokens: Tensor, sessions: Tensor, positions: Tensor, spoken: Tensor) -> dict[str, Tensor]:
        """The three losses, each a weighted mean, on tensors [B, T]."""
        model = self.model
        tokens = tokens.long()
        mask, draft_masks = make_masks(sessions, model.shape.mtp_window, dense=not self.compiled)
        rotary = model.rotary(positions.long())
        hidden = model.hidden(model.embed(tokens), rotary, mask)
        first, second = model.draft(tokens, hidden, rotary, draft_masks)

        def mean_loss(x: Tensor, norm: torch.nn.RMSNorm, back: int, ahead: int) -> Tensor:
            weights = target_weights(sessions, spoken, back, ahead, self.recipe.other_weight)
            table, epsilon = model.embed_tokens.weight, model.shape.norm_epsilon
            losses = self.losses(x, norm.weight, table, tokens.roll(-ahead, 1), epsilon)
            return (losses * weights).sum() / weights.sum().clamp(min=1)

        head = model.mtp.shared_head["norm"]
        return {
            "main": mean_loss(hidden, model.norm, 0, 1),
            "draft 1": mean_loss(first, head, 0, 2),
            "draft 2": mean_loss(second, head, 1, 2),
        }
