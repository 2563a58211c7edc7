"""The training loop: next-token loss and, jointly, both steps of the drafter."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from batches import Rows
from masks import make_masks
from model import Decoder, product, rms_norm
from muon import Muon


@dataclass(frozen=True)
class Recipe:
    """What training does; together with the seed it decides the result."""

    steps: int
    batch_rows: int = 16
    row_length: int = 4096
    learning_rate: float = 3e-3  # of embeddings and norms, by AdamW
    matrix_learning_rate: float = 0.02  # of the layers' matrices, by Muon
    warm_up: int = 150
    weight_decay: float = 0.01
    clip: float = 1.0
    other_weight: float = 0.1  # loss weight, at first, of what the assistant does not write
    other_until: float = 0.4  # share of the steps after which that weight has fallen to 0
    draft_weight: float = 0.3  # loss weight of each of the drafter's two steps
    draft_rows: int = 4  # rows of a batch on which the drafter trains; it needs fewer
    seed: int = 1


def set_deterministic(seed: int) -> None:
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.set_float32_matmul_precision("high")


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
        inside = list(model.layers.parameters())
        matrices = [p for p in inside if p.dim() == 2]
        others = [model.embed_tokens.weight, model.norm.weight, *(p for p in inside if p.dim() != 2)]
        self.optimizers = (
            Muon(matrices, recipe.matrix_learning_rate, weight_decay=recipe.weight_decay),
            torch.optim.AdamW(
                others, recipe.learning_rate, betas=(0.9, 0.95), weight_decay=0.0, fused=self.compiled
            ),
        )
        for group in (g for optimizer in self.optimizers for g in optimizer.param_groups):
            group["full_lr"] = group["lr"]
        if self.compiled:
            for layer in model.layers:
                layer.compile(dynamic=False)
            self.losses = torch.compile(token_losses, dynamic=False)

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
        for group in (g for optimizer in self.optimizers for g in optimizer.param_groups):
            group["lr"] = group["full_lr"] * self._schedule(step)
        tensors = [torch.from_numpy(a).to(self.device, non_blocking=True) for a in rows.arrays()]
        other = recipe.other_weight * max(0.0, 1 - step / (recipe.steps * recipe.other_until))
        terms = self._terms(*tensors, other)
        loss = terms["main"] + recipe.draft_weight * (terms["draft 1"] + terms["draft 2"])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), recipe.clip)
        for optimizer in self.optimizers:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        return {name: value.detach() for name, value in terms.items()}

    def _schedule(self, step: int) -> float:
        """Linear warm-up, then half a cosine to zero."""
        if step < self.recipe.warm_up:
            return (step + 1) / self.recipe.warm_up
        done = (step - self.recipe.warm_up) / max(1, self.recipe.steps - self.recipe.warm_up)
        return 0.5 * (1 + math.cos(math.pi * done))

    def _terms(
        self, tokens: Tensor, sessions: Tensor, positions: Tensor, spoken: Tensor, other: float
    ) -> dict[str, Tensor]:
        """The three losses, each a weighted mean, on tensors [B, T].

        Most of what the assistant does not write is random and cannot be learnt. Its weight `other`
        helps to find the patterns of text early and is mere noise later.
        """
        model, some = self.model, slice(self.recipe.draft_rows)
        tokens = tokens.long()
        window, dense = model.shape.mtp_window, not self.compiled
        mask, _ = make_masks(sessions, window, dense)
        _, draft_masks = make_masks(sessions[some], window, dense)
        cos, sin = model.rotary(positions.long())
        hidden = model.hidden(model.embed(tokens), (cos, sin), mask)
        first, second = model.draft(tokens[some], hidden[some], (cos[some], sin[some]), draft_masks)

        def mean_loss(x: Tensor, norm: torch.nn.RMSNorm, back: int, ahead: int) -> Tensor:
            rows = slice(len(x))
            weights = target_weights(sessions[rows], spoken[rows], back, ahead, other)
            targets = tokens[rows].roll(-ahead, 1)
            losses = self.losses(x, norm.weight, model.embed_tokens.weight, targets, model.shape.norm_epsilon)
            return (losses * weights).sum() / weights.sum().clamp(min=1)

        head = model.mtp.shared_head["norm"]
        return {
            "main": mean_loss(hidden, model.norm, 0, 1),
            "draft 1": mean_loss(first, head, 0, 2),
            "draft 2": mean_loss(second, head, 1, 2),
        }
