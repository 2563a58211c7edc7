"""Weights that Python and C++ draw alike: what a fixture names, tests/crosscheck/folder.cpp makes
again, and no weight needs to be kept.

Tensor i of a fixture's list has its elements from Philox4x32-10 with the key (seed, 0): element e is
word e % 4 of the counter (e / 4, 0, i, 0). A word as a signed number over 2^31 is a draw in [-1, 1);
the element is centre + sqrt(3) * deviation * draw in double precision, rounded to float32 and then
to bf16, to the nearest and ties to even.
"""

import re
from dataclasses import dataclass

import numpy as np

ROOT_OF_THREE = 1.7320508075688772


@dataclass
class Tensor:
    name: str
    shape: list[int]
    centre: float
    deviation: float


def philox(blocks: int, stream: int, seed: int) -> np.ndarray:
    """The words of counters (0 ... blocks - 1, 0, stream, 0), uint32 [blocks, 4]."""
    c = [np.arange(blocks, dtype=np.uint64), *(np.full(blocks, v, np.uint64) for v in (0, stream, 0))]
    key, low = [seed, 0], np.uint64(0xFFFFFFFF)
    for _ in range(10):
        p0, p1 = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (p1 >> np.uint64(32)) ^ c[1] ^ np.uint64(key[0]),
            p1 & low,
            (p0 >> np.uint64(32)) ^ c[3] ^ np.uint64(key[1]),
            p0 & low,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(c, -1).astype(np.uint32)


def draw(tensor: Tensor, index: int, seed: int) -> np.ndarray:
    """bf16 bits, uint16 of the tensor's shape."""
    count = int(np.prod(tensor.shape))
    words = philox(-(-count // 4), index, seed).reshape(-1)[:count]
    unit = words.view(np.int32).astype(np.float64) * 2.0**-31
    value = unit * (ROOT_OF_THREE * tensor.deviation) + tensor.centre
    bits = value.astype(np.float32).view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (rounded >> np.uint32(16)).astype(np.uint16).reshape(tensor.shape)


# Deviations that keep the numbers of a real model's size: scores well above 1, or attention is an
# average of everything and positions do not matter; logits of a few units; layers that add about as
# much as there is. Times 1 / sqrt(columns) for matrices.
MATRICES = [
    (r"(embed_tokens|lm_head)", 2.0),
    (r"(q_proj|k_proj)", 1.4),
    (r"qkv_proj", 1.3),
    (r"q_b_proj", 1.6),
    (r"(o_proj|down_proj|c_proj|w2)", 0.7),
    (r"", 1.0),
]
VECTORS = 0.15  # norms around their centre, and biases


def describe(name: str, shape: list[int], initial_mean: float) -> Tensor:
    """A norm's centre is what transformers initialises it to: 0 where its code adds 1."""
    if len(shape) == 1:
        return Tensor(name, shape, float(round(initial_mean)), VECTORS)
    scale = next(s for pattern, s in MATRICES if re.search(pattern, name))
    return Tensor(name, shape, 0.0, scale / shape[-1] ** 0.5)
