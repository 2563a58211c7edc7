"""Marks of the built-in model, measured by the engine itself: every session played, every turn judged.

    python3 marks.py --engine ENGINE [--count N] [--tasks fix recall] [--json FILE] [engine options]

plays N held-out sessions of each task through `ENGINE chat --json`, greedily with strict drafting, and
prints a table: sessions that passed all their per-turn assertions, drafts accepted, prompt rows kept
by the prefix cache, tokens a second. Options that are not its own go to the engine, e.g. --threads 1. Exits 1 if a task falls short of its mark. Needs Python alone.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from conversation import Message
from generator import TASKS, draw_session
from instances import Instance
from play import Play

MARKS = {"fix": 0.98, "rename": 0.98, "recover": 0.98, "unfixable": 0.98, "recall": 0.99, "chat": 0.99}
DRAFTS_ACCEPTED = 0.70


class Engine:
    """The engine's `chat --json` as an assistant; `counts` sums the statistics of its replies."""

    def __init__(self, program: Path, options: Sequence[str]):
        command = [str(program), "chat", "--json", *options]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.counts: Counter = Counter()

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_) -> None:
        self._process.stdin.close()
        self._process.wait()

    def reply(self, messages: Sequence[Message]) -> dict:
        """{"text", "tokens", "finish", "stats"} or {"error"}."""
        line = json.dumps([{"role": m.role, "content": m.content} for m in messages])
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit(f"the engine ended with exit code {self._process.wait()}")
        reply = json.loads(answer)
        self.counts.update(reply.get("stats", {}))
        return reply


def play_session(engine: Engine, instance: Instance) -> Play:
    """Plays the instance to its end."""
    play = Play(instance)
    while not play.over:
        reply = engine.reply(play.messages)
        if reply.get("finish") != "stop":
            play.abandon(reply.get("error") or "the reply does not end")
        else:
            play.reply(reply["text"])
    return play


def measure(engine: Engine, task: str, count: int) -> dict:
    """One row of the table, and what went wrong in the sessions that failed."""
    engine.counts.clear()
    started, turns, failures = time.monotonic(), 0, []
    for index in range(count):
        play = play_session(engine, draw_session(task, index, held_out=True).instance)
        turns += len(play.instance.turns)
        if play.violations:
            failures.append({"session": index, "breaks": play.violations[0]})
        if sys.stderr.isatty():
            print(f"\r{task} {index + 1} of {count}, {len(failures)} failed", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    c = engine.counts
    return {
        "task": task,
        "sessions": count,
        "turns": turns,
        "passed": count - len(failures),
        "drafts accepted": round(c["accepted"] / c["drafted"], 3) if c["drafted"] else None,
        "rows kept": round(c["cached"] / max(1, c["prompt_tokens"]), 3),
        "tokens a second": round(c["generated_tokens"] / max(1e-9, c["decode_seconds"])),
        "seconds": round(time.monotonic() - started, 1),
        "failures": failures,
    }


def falls_short(row: dict) -> bool:
    accepted = row["drafts accepted"]
    return row["passed"] < MARKS[row["task"]] * row["sessions"] or accepted is not None and accepted < DRAFTS_ACCEPTED


def print_row(row: dict) -> None:
    accepted = "none" if row["drafts accepted"] is None else f"{row['drafts accepted']:.1%}"
    print(
        f"{row['task']:10} {row['passed']:4} of {row['sessions']:4}  {row['turns']:5} turns"
        f"  drafts {accepted:>6}  cached {row['rows kept']:6.1%}"
        f"  {row['tokens a second']:6} tok/s"
        f"  {row['seconds']:7.1f} s{'  BELOW THE MARK' if falls_short(row) else ''}",
        flush=True,
    )
    for failure in row["failures"]:
        print(f"    session {failure['session']}: {failure['breaks']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engine", type=Path, required=True, help="the engine's program")
    parser.add_argument("--count", type=int, default=200, help="held-out sessions of each task")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=TASKS)
    parser.add_argument("--draft", type=int, default=2, help="drafted tokens a launch")
    parser.add_argument("--json", type=Path, help="write the rows there, too")
    options, passed_on = parser.parse_known_args()
    settings = ["--max-tokens", "400", "--draft", str(options.draft), *passed_on]
    rows = []
    with Engine(options.engine, settings) as engine:
        for task in options.tasks:
            rows.append(measure(engine, task, options.count))
            print_row(rows[-1])
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(falls_short(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
