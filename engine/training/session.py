"""One agent session of the built-in model, as it happens: what is said, done, and kept by the cache.

    python3 session.py --engine ENGINE [--task fix] [--index 0] [engine options]

plays a held-out session through `ENGINE chat --json`. Left of each of the assistant's messages: the
prompt's tokens and how many of their rows the prefix cache kept. Options that are not its own go to the
engine. Exits 1 if the session breaks one of its rules. Needs Python alone.
"""

import argparse
import sys
import textwrap
from pathlib import Path

from conversation import TOOL_CALL, Message
from generator import TASKS, draw_session
from marks import Engine, play_session

MARGIN = 24


class Narrator(Engine):
    """An engine that tells what it is asked and what it answers."""

    def __init__(self, program: Path, options: list[str]):
        super().__init__(program, options)
        self._told = 0

    def reply(self, messages: list[Message]) -> dict:
        for message in messages[self._told :]:
            if message.role != "assistant":
                tell(message.role, message.content)
        self._told = len(messages)
        reply = super().reply(messages)
        if stats := reply.get("stats"):
            tell(f"{stats['prompt_tokens']:5} {stats.get('cached', 0):5} cached", reply["text"])
        return reply


def tell(margin: str, text: str) -> None:
    lines = text.replace(TOOL_CALL, "\n-> ").strip("\n").split("\n")
    wrapped = [part for line in lines for part in textwrap.wrap(line, 90) or [""]]
    for first, line in zip([margin] + [""] * len(wrapped), wrapped):
        print(f"{first:>{MARGIN}} | {line}".rstrip(), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engine", type=Path, required=True, help="the engine's program")
    parser.add_argument("--task", choices=TASKS, default="fix")
    parser.add_argument("--index", type=int, default=0, help="which held-out session")
    options, passed_on = parser.parse_known_args()
    instance = draw_session(options.task, options.index, held_out=True).instance
    with Narrator(options.engine, ["--max-tokens", "400", *passed_on]) as engine:
        play = play_session(engine, instance)
    for violation in play.violations:
        print(f"broken rule: {violation}", file=sys.stderr)
    return 1 if play.violations else 0


if __name__ == "__main__":
    sys.exit(main())
