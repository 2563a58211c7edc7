#!/usr/bin/env python3
"""What a grid costs and keeps in agents' sessions: rows computed, rows rounded off, time of prefill.

    tests/benchmarks/bench_grid.py --engine PATCHED [--count N] [--grids 64 128 ...] [engine options]

plays N held-out sessions of each of the built-in model's four agent tasks on every grid, and prints the new tokens
that a turn brings (quantiles), and a line a grid. Options that are not its own go to the engine.
"""

import argparse
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "engine/training"))
from agent_tasks import AGENT_TASKS  # noqa: E402
from generator import draw_session  # noqa: E402
from marks import Engine, play_session  # noqa: E402


class Recorder(Engine):
    """Keeps the statistics of every request, and where its session began."""

    def __init__(self, program: Path, options: list[str]):
        super().__init__(program, options)
        self.rows: list[dict] = []

    def reply(self, messages: list) -> dict:
        reply = super().reply(messages)
        self.rows.append(reply["stats"] | {"first": len(messages) <= 2})
        return reply


def new_tokens(rows: list[dict]) -> list[int]:
    """Of requests after a session's first: what the request before did not have, neither asked nor replied."""
    pairs = zip(rows, rows[1:])
    return [b["prompt_tokens"] - a["prompt_tokens"] for a, b in pairs if not b["first"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engine", type=Path, required=True, help="the engine with the series applied")
    parser.add_argument("--count", type=int, default=3, help="sessions of each task")
    parser.add_argument("--grids", type=int, nargs="+", default=[16, 32, 64, 128, 256, 512, 1024])
    options, passed_on = parser.parse_known_args()
    print(f"{'grid':>5} {'requests':>8} {'kept':>7} {'computed':>8} {'prefill s':>9} {'ms a turn':>9} {'cold ms':>8}")
    for grid in options.grids:
        settings = ["--max-tokens", "400", "--prompt-rows", str(grid), *passed_on]
        with Recorder(options.engine, settings) as engine:
            for task in AGENT_TASKS:
                for index in range(options.count):
                    play_session(engine, draw_session(task, index, held_out=True).instance)
        later = [row for row in engine.rows if not row["first"]]
        cold = [row["prefill_seconds"] for row in engine.rows if row["first"]]
        seconds = sum(row["prefill_seconds"] for row in engine.rows)
        print(
            f"{grid:5} {len(engine.rows):8} {engine.counts['cached']:7} {engine.counts['prefill_rows']:8}"
            f" {seconds:9.2f} {1e3 * statistics.mean(row['prefill_seconds'] for row in later):9.1f}"
            f" {1e3 * statistics.mean(cold):8.1f}",
            flush=True,
        )
    new = new_tokens(engine.rows)
    tenths = statistics.quantiles(new, n=10)
    prompts = [row["prompt_tokens"] for row in engine.rows]
    print(f"new tokens of a turn: 10 % below {tenths[0]:.0f}, half below {tenths[4]:.0f}, 90 % below {tenths[8]:.0f}")
    print(f"prompts: {min(prompts)} to {max(prompts)} tokens, half below {statistics.median(prompts):.0f}")


if __name__ == "__main__":
    main()
