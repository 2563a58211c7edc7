"""Who sees whom: attention masks for packed sessions, dense or as blocks for FlexAttention.

The block masks are worked out from each block's first and last session rather than by evaluating
the rule on every pair of positions, which would cost as much as the attention itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask

BLOCK = 128  # positions
PADDING = 2**30  # stands for session 0 where sessions must ascend

Mask = BlockMask | Tensor
Rule = Callable[..., Tensor]


@dataclass(frozen=True)
class DraftMasks:
    first: Mask  # T keys
    second: Mask  # 2T keys: the first output's, then the second's own


@dataclass(frozen=True)
class Blocks:
    """[B, query blocks, key blocks] bool: blocks that hold a visible pair, and wholly visible ones."""

    some: Tensor
    all: Tensor


def make_masks(sessions: Tensor, window: int, dense: bool) -> tuple[Mask, DraftMasks]:
    """sessions [B, T] to the decoder's mask and the drafter's: no session sees another.

    REQUIRES: sessions ascend along a row, padding (0) after them; T is a multiple of BLOCK unless dense.
    """
    length = sessions.shape[1]

    def causal(b, h, q, kv):
        return (sessions[b, q] == sessions[b, kv]) & (kv <= q)

    def first(b, h, q, kv):
        return (sessions[b, q] == sessions[b, kv]) & (kv <= q) & (q - kv < window)

    def second(b, h, q, kv):
        row = torch.where(kv < length, kv, kv - length)
        earlier = (sessions[b, q] == sessions[b, row]) & (row < q) & (q - row < window)
        return torch.where(kv < length, earlier, row == q)

    if dense:
        decoder, *drafter = (
            _dense(rule, sessions, keys)
            for rule, keys in ((causal, length), (first, length), (second, 2 * length))
        )
        return decoder, DraftMasks(*drafter)
    in_session = _session_blocks(sessions)
    in_window = _window_blocks(in_session, window)
    own = torch.eye(length // BLOCK, dtype=torch.bool, device=sessions.device).expand_as(in_window.some)
    twice = Blocks(torch.cat((in_window.some, own), 2), torch.cat((in_window.all, own & False), 2))
    return _block_mask(causal, in_session), DraftMasks(
        _block_mask(first, in_window), _block_mask(second, twice)
    )


def _dense(rule: Rule, sessions: Tensor, keys: int) -> Tensor:
    """The rule on every pair, [B, 1, T, keys]."""
    sizes = (sessions.shape[0], 1, sessions.shape[1], keys)
    index = [torch.arange(n, device=sessions.device) for n in sizes]
    return rule(*torch.meshgrid(*index, indexing="ij"))


def _session_blocks(sessions: Tensor) -> Blocks:
    """Causal within a session."""
    ascending = torch.where(sessions == 0, PADDING, sessions)
    lowest, highest = ascending[:, ::BLOCK], ascending[:, BLOCK - 1 :: BLOCK]
    n = lowest.shape[1]
    earlier = torch.ones(n, n, dtype=torch.bool, device=sessions.device).tril(-1)
    same = torch.eye(n, dtype=torch.bool, device=sessions.device)
    some = (earlier & (highest[:, None, :] >= lowest[:, :, None])) | same
    whole = earlier & (lowest[:, None, :] == highest[:, :, None])
    return Blocks(some, whole)


def _window_blocks(blocks: Blocks, window: int) -> Blocks:
    """Those of `blocks` that a window of so many positions lets through."""
    index = torch.arange(blocks.some.shape[1], device=blocks.some.device) * BLOCK
    apart = index[:, None] - index  # between the blocks' first positions
    return Blocks(blocks.some & (apart - (BLOCK - 1) < window), blocks.all & (apart + BLOCK - 1 < window))


def _block_mask(rule: Rule, blocks: Blocks) -> BlockMask:
    partial = blocks.some & ~blocks.all
    queries, keys = (n * BLOCK for n in partial.shape[1:])
    return BlockMask.from_kv_blocks(
        *_listed(partial), *_listed(blocks.all), BLOCK_SIZE=BLOCK, mask_mod=rule, seq_lengths=(queries, keys)
    )


def _listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Each row's number of blocks [B, 1, n] and their indices, first in order [B, 1, n, m]."""
    order = blocks.int().argsort(dim=-1, descending=True, stable=True)
    return blocks.sum(-1, dtype=torch.int32)[:, None], order.int()[:, None]
