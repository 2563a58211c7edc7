#!/usr/bin/env python3
"""Time and peak memory of loading a model folder.

    bench_load.py ENGINE [ENGINE...] [--dtype BF16|F16|F32] [--repeat N]

makes a random folder of SmolLM2-135M's shape, 269 MB as bf16, in a temporary place and runs `ENGINE info` on it, the
engines in turn, first with the file dropped from the page cache, then N times with it there.
"""

import argparse
import json
import os
import random
import struct
import subprocess
import tempfile
import time
from pathlib import Path

HIDDEN, LAYERS, HEADS, KV_HEADS, INNER, VOCABULARY = 576, 30, 9, 3, 1536, 49152
WIDTHS = {"BF16": 2, "F16": 2, "F32": 4}


def shapes() -> dict[str, list[int]]:
    head = HIDDEN // HEADS
    tensors = {"model.embed_tokens.weight": [VOCABULARY, HIDDEN], "model.norm.weight": [HIDDEN]}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        tensors |= {prefix + "input_layernorm.weight": [HIDDEN],
                    prefix + "post_attention_layernorm.weight": [HIDDEN],
                    prefix + "self_attn.q_proj.weight": [HIDDEN, HIDDEN],
                    prefix + "self_attn.k_proj.weight": [KV_HEADS * head, HIDDEN],
                    prefix + "self_attn.v_proj.weight": [KV_HEADS * head, HIDDEN],
                    prefix + "self_attn.o_proj.weight": [HIDDEN, HIDDEN],
                    prefix + "mlp.gate_proj.weight": [INNER, HIDDEN],
                    prefix + "mlp.up_proj.weight": [INNER, HIDDEN],
                    prefix + "mlp.down_proj.weight": [HIDDEN, INNER]}
    return tensors


def block(dtype: str, count: int) -> bytes:
    """Random values of deviation 0.02."""
    values = [random.gauss(0, 0.02) for _ in range(count)]
    if dtype == "F16":
        return struct.pack(f"<{count}e", *values)
    wide = struct.pack(f"<{count}f", *values)
    return wide if dtype == "F32" else b"".join(wide[i + 2:i + 4] for i in range(0, len(wide), 4))


def write_folder(engine: str, folder: Path, dtype: str) -> Path:
    subprocess.run([engine, "init-model", "--force", folder], check=True, stdout=subprocess.DEVNULL)
    config = {"model_type": "llama", "hidden_size": HIDDEN, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
              "num_key_value_heads": KV_HEADS, "head_dim": HIDDEN // HEADS, "intermediate_size": INNER,
              "hidden_act": "silu", "vocab_size": VOCABULARY, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5,
              "rope_theta": 100000.0, "tie_word_embeddings": True, "attention_bias": False, "eos_token_id": 0,
              "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config))
    header, at = {}, 0
    for name, shape in shapes().items():
        size = WIDTHS[dtype]
        for length in shape:
            size *= length
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    values = block(dtype, 99991)
    file = folder / "model.safetensors"
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        left = at
        while left > 0:
            out.write(values[:left])
            left -= len(values)
        out.flush()
        os.fsync(out.fileno())
    return file


def drop_from_cache(file: Path) -> None:
    with file.open("rb") as opened:
        os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def measure(engine: str, folder: Path) -> str:
    start = time.monotonic()
    process = subprocess.Popen([engine, "info", "-m", folder, "--backend", "cpu"], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{engine} failed")
    wall = time.monotonic() - start
    return (f"{wall:6.2f} s wall {usage.ru_utime:6.2f} s user {usage.ru_stime:6.2f} s system "
            f"{usage.ru_maxrss / 1024:8.1f} MiB peak")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("engines", nargs="+", metavar="ENGINE")
    parser.add_argument("--dtype", choices=WIDTHS, default="BF16")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        file = write_folder(options.engines[0], Path(scratch) / "model", options.dtype)
        print(f"{file.stat().st_size / 1e6:.0f} MB of {options.dtype}")
        for engine in options.engines:
            drop_from_cache(file)
            print(f"{engine}: from disk   {measure(engine, file.parent)}")
        for _ in range(options.repeat):
            for engine in options.engines:
                print(f"{engine}: from memory {measure(engine, file.parent)}")


if __name__ == "__main__":
    main()
