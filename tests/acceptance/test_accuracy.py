"""Held-out tasks answered by four engines: the cache may change no answer and no score.

Unpatched, patched with the cache off, patched with it on, all with strict acceptance: every reply of every
session must be the same text. With top2 acceptance, which takes near-ties, only the score stands beside.
"""

import argparse
import os
import sys
from contextlib import contextmanager
from pathlib import Path

from lane import REFERENCE, SKIP, TRAINING, finish, print_table

sys.path.insert(0, str(TRAINING))
from generator import TASKS, draw_session  # noqa: E402
from marks import Engine, play_session  # noqa: E402


@contextmanager
def environment(**variables: str):
    """Environment variables for what is started inside."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def start(program: str, options: argparse.Namespace, cache: str, acceptance: str) -> Engine:
    settings = ["-m", str(options.model), "--backend", "cpu", "--threads", "1", "--prompt-rows", str(options.prompt_rows)]
    with environment(TF_GLM53_PREFIX_CACHE=cache):
        return Engine(Path(program), ["--max-tokens", "400", "--acceptance", acceptance, *settings])


def play_all(engine: Engine, options: argparse.Namespace) -> tuple[list[list[str]], int]:
    """The assistant's messages of every session, and how many sessions passed."""
    said, passed = [], 0
    with engine:
        for task in options.tasks:
            for index in range(options.instances):
                play = play_session(engine, draw_session(task, index, held_out=True).instance)
                said.append([m.content for m in play.messages if m.role == "assistant"])
                passed += not play.violations
    return said, passed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--unpatched", required=True, help="engine program before the series")
    parser.add_argument("--engine", required=True, help="engine program after it")
    parser.add_argument("--model", type=Path, default=REFERENCE, help="model folder")
    parser.add_argument("--instances", type=int, default=10, help="sessions of each task")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--prompt-rows", type=int, default=64, help="grid")
    options = parser.parse_args()
    if not (options.model / "config.json").exists():
        print(f"SKIPPED: no model at {options.model}")
        sys.exit(SKIP)
    engines = {
        "unpatched": start(options.unpatched, options, "0", "strict"),
        "patched, cache off": start(options.engine, options, "0", "strict"),
        "patched, cache on": start(options.engine, options, "1", "strict"),
        "patched, cache on, top2": start(options.engine, options, "1", "top2"),
    }
    rows, failures, reference = [], [], None
    for name, engine in engines.items():
        said, passed = play_all(engine, options)
        reference = reference or said
        same = sum(a == b for a, b in zip(said, reference))
        rows.append([name, f"{passed} of {len(said)}", f"{same} of {len(said)}", engine.counts["cached"]])
        if same != len(said) and "top2" not in name:
            failures.append(f"{name}: {len(said) - same} sessions are answered otherwise than by the unpatched engine")
    print_table(["engine", "passed", "same answers", "rows kept"], rows)
    kept = [row[-1] for row in rows]
    if kept[1] != 0 or kept[2] == 0:
        failures.append(f"rows kept with the cache off: {kept[1]}, on: {kept[2]}")
    finish(failures)


if __name__ == "__main__":
    main()
