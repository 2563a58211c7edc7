"""Makes the built-in model from nothing: data, tokenizer, training, export, report.

    python make_model.py --out DIR

needs one GPU and the packages in requirements.txt. On a CPU it runs, too slowly for more than a
few steps: the tests do that.
"""

import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA starts
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # the worker processes are enough

import argparse
import itertools
import json
import time
from dataclasses import asdict
from pathlib import Path

import torch

from agreement import measure_agreement
from batches import stream_batches
from chat_format import END, render, save_chat_format, train_tokenizer
from export import load_model, save_model
from generator import TRAINING_MIX, draw_training_session
from model import Decoder, Shape
from reference_logits import write_reference_logits
from train import Recipe, Trainer, set_deterministic

TOKENIZER_SESSIONS = 2000
STEPS = 3300


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--batch-rows", type=int, default=Recipe.batch_rows)
    parser.add_argument("--row-length", type=int, default=Recipe.row_length)
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--tokenizer-sessions", type=int, default=TOKENIZER_SESSIONS)
    parser.add_argument("--agreement", type=int, default=200, help="held-out demonstrations of each task to read")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    device = torch.device(options.device)
    recipe = Recipe(options.steps, options.batch_rows, options.row_length, seed=options.seed)
    set_deterministic(recipe.seed)

    numbers = range(options.tokenizer_sessions)
    tokenizer = train_tokenizer(render(draw_training_session(n, recipe.seed).messages) for n in numbers)
    save_chat_format(tokenizer, options.out)

    started = time.monotonic()
    model = Decoder(Shape(vocabulary=tokenizer.get_vocab_size()))
    workers = max(1, (os.cpu_count() or 2) - 3)
    batches = stream_batches(
        recipe.seed, recipe.batch_rows, recipe.row_length, options.out / "tokenizer.json", workers
    )
    log = Trainer(model, recipe, device).run(itertools.islice(batches, recipe.steps))
    save_model(model, options.out, tokenizer.token_to_id(END))

    report = {
        "parameters": sum(p.numel() for p in model.parameters()),
        "shape": asdict(model.shape),
        "recipe": asdict(recipe),
        "mix": TRAINING_MIX,
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "CPU",
        "training seconds": round(time.monotonic() - started, 1),
        "log": log,
    }
    if options.agreement:
        shares, misses = measure_agreement(load_model(options.out, device), tokenizer, options.agreement)
        report["agreement"] = {"sessions of each task": options.agreement, "right in every token": shares}
        for miss in misses:
            print(json.dumps(miss))
    (options.out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    write_reference_logits(options.out)


if __name__ == "__main__":
    main()
