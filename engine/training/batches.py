"""Training batches: sessions rendered, tokenised and packed into rows of equal length.

Sessions of one shard are drawn, encoded and packed in worker processes; shards come back in order,
so the stream of batches depends on the seed alone.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from chat_format import END, render
from generator import draw_training_session

SHARD_SESSIONS = 256


@dataclass
class Rows:
    """Packed sessions, all arrays [rows, T]. Padding has session 0."""

    tokens: np.ndarray  # int32
    sessions: np.ndarray  # int32: which session of the row a position belongs to, from 1
    positions: np.ndarray  # int32, from 0 in each session
    spoken: np.ndarray  # bool: a token that the assistant writes, its end token included

    def take(self, index) -> "Rows":
        return Rows(*(array[index] for array in self.arrays()))

    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.tokens, self.sessions, self.positions, self.spoken


def spoken_by_assistant(tokens: np.ndarray, assistant: int, end: int) -> np.ndarray:
    """Marks what follows an assistant token up to and with the next end token."""
    opens, closes = tokens == assistant, tokens == end
    spans = np.zeros(len(tokens), dtype=bool)
    for start in np.flatnonzero(opens):
        stop = start + int(np.argmax(closes[start:]))
        spans[start + 1 : stop + 1] = True
    return spans


def pack(sequences: list[np.ndarray], tokenizer: Tokenizer, length: int) -> Rows:
    """First fit, longest first. REQUIRES: no sequence is longer than `length`."""
    free: list[int] = []
    contents: list[list[np.ndarray]] = []
    for sequence in sorted(sequences, key=len, reverse=True):
        row = next((r for r, room in enumerate(free) if room >= len(sequence)), None)
        if row is None:
            row = len(free)
            free.append(length)
            contents.append([])
        free[row] -= len(sequence)
        contents[row].append(sequence)
    shape = (len(free), length)
    rows = Rows(*(np.zeros(shape, np.int32) for _ in range(3)), np.zeros(shape, bool))
    assistant, end = tokenizer.token_to_id("<|assistant|>"), tokenizer.token_to_id(END)
    for row, sequences_of_row in enumerate(contents):
        start = 0
        for number, sequence in enumerate(sequences_of_row, 1):
            span = slice(start, start + len(sequence))
            rows.tokens[row, span] = sequence
            rows.sessions[row, span] = number
            rows.positions[row, span] = np.arange(len(sequence))
            rows.spoken[row, span] = spoken_by_assistant(sequence, assistant, end)
            start = span.stop
    return rows


def make_shard(job: tuple[int, int, int, str]) -> Rows:
    """Shard number `index`: job is (index, seed, row length, tokenizer file)."""
    index, seed, length, file = job
    tokenizer = Tokenizer.from_file(file)
    numbers = range(index * SHARD_SESSIONS, (index + 1) * SHARD_SESSIONS)
    texts = [render(draw_training_session(n, seed).messages) for n in numbers]
    sequences = [np.array(e.ids, np.int32) for e in tokenizer.encode_batch(texts)]
    rows = pack([s for s in sequences if len(s) <= length], tokenizer, length)
    order = random.Random(f"{seed}/rows/{index}").sample(range(len(rows.tokens)), len(rows.tokens))
    return rows.take(order)


def stream_batches(
    seed: int, batch_rows: int, length: int, tokenizer_file: Path, workers: int
) -> Iterator[Rows]:
    """Endless batches of `batch_rows` rows."""
    jobs = ((index, seed, length, str(tokenizer_file)) for index in range(1_000_000))
    with get_context("spawn").Pool(workers) as pool:
        waiting: list[Rows] = []
        for shard in bounded_map(pool, make_shard, jobs, 4 * workers):
            waiting.append(shard)
            if sum(len(s.tokens) for s in waiting) < batch_rows:
                continue
            rows = Rows(*(np.concatenate(parts) for parts in zip(*(s.arrays() for s in waiting))))
            whole = len(rows.tokens) // batch_rows * batch_rows
            for start in range(0, whole, batch_rows):
                yield rows.take(slice(start, start + batch_rows))
            waiting = [rows.take(slice(whole, None))]


def bounded_map(pool, function, jobs: Iterator, ahead: int) -> Iterator:
    """Results in the order of `jobs`, with at most `ahead` of them under way."""
    pending = []
    for job in jobs:
        pending.append(pool.apply_async(function, (job,)))
        if len(pending) == ahead:
            yield pending.pop(0).get()
