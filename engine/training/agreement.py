"""Held-out demonstrations read by the trained decoder: does it predict all that the assistant says?

One forward pass a batch instead of one a token, so that hundreds of sessions take a second. A
session counts as right if the likeliest token is the demonstrated one at every position that the
assistant writes; then, and only then, playing it gives the same session.
"""

from collections.abc import Iterator

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from batches import Rows, pack
from chat_format import render
from generator import TASKS, draw_session
from masks import make_masks
from model import Decoder

KEPT_MISSES = 12  # of each task


def measure_agreement(
    model: Decoder, tokenizer: Tokenizer, count: int, batch_rows: int = 16, length: int = 4096
) -> tuple[dict[str, float], list[dict]]:
    """The share of `count` held-out sessions of each task that are right, and some first misses."""
    shares, misses = {}, []
    for task in TASKS:
        texts = [render(draw_session(task, i, held_out=True).messages) for i in range(count)]
        sequences = [np.array(e.ids, np.int32) for e in tokenizer.encode_batch(texts)]
        rows = pack([s for s in sequences if len(s) <= length], tokenizer, length)
        wrong = [
            _miss(tokenizer, task, *found)
            for start in range(0, len(rows.tokens), batch_rows)
            for found in first_misses(model, rows.take(slice(start, start + batch_rows)))
        ]
        shares[task] = round(1 - len(wrong) / count, 4)
        misses += wrong[:KEPT_MISSES]
    return shares, misses


def first_misses(model: Decoder, rows: Rows) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    """(tokens, guesses, index of the first wrong one) of each packed session that has a wrong one."""
    guess = likeliest(model, rows)
    for row in range(len(rows.tokens)):
        for session in range(1, rows.sessions[row].max() + 1):
            span = np.flatnonzero(rows.sessions[row] == session)
            wanted, got = rows.tokens[row, span], np.roll(guess[row, span], 1)
            wrong = np.flatnonzero((wanted != got) & rows.spoken[row, span])
            if len(wrong):
                yield wanted, got, int(wrong[0])


@torch.inference_mode()
def likeliest(model: Decoder, rows: Rows) -> np.ndarray:
    """[rows, T]: the token that the decoder thinks most likely to follow each position."""
    device = model.embed_tokens.weight.device

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(device)

    mask, _ = make_masks(tensor(rows.sessions), model.shape.mtp_window, dense=True)
    rotary = model.rotary(tensor(rows.positions).long())
    hidden = model.hidden(model.embed(tensor(rows.tokens).long()), rotary, mask)
    return model.logits(hidden, model.norm).argmax(-1).cpu().numpy()


def _miss(tokenizer: Tokenizer, task: str, wanted: np.ndarray, got: np.ndarray, at: int) -> dict:
    parts = {"before": wanted[max(0, at - 100) : at], "wanted": wanted[at : at + 24], "got": got[at : at + 1]}
    texts = {k: tokenizer.decode(v.tolist(), skip_special_tokens=False) for k, v in parts.items()}
    return {"task": task} | texts
