"""A soak of the lane: agent sessions one after the other, every reply against a cold lane, memory watched.

    python3 soak.py --engine PATCHED --requests 600

Not run as a test: it takes several minutes for a few hundred requests. A turn every six seconds, which is more
often than an agent asks that also runs its tools, makes an hour of 600. Both lanes cut at the same grid, so text
and log-probabilities must be the same bit for bit. Memory is the warm lane's resident set, sampled after each
session; from the second quarter on it may grow by 8 MiB.
"""

import sys
import time

from lane import Lane, TRAINING, cached_of, finish, parser, print_table
from test_agentic import as_openai, content_of, tools_of
from test_stress import essence

sys.path.insert(0, str(TRAINING))
from agent_tasks import AGENT_TASKS  # noqa: E402
from generator import draw_session  # noqa: E402
from play import Play  # noqa: E402

ALLOWED_GROWTH = 8 << 20


def resident_bytes(process_id: int, field: str = "VmRSS") -> int:
    """The resident set now; with "VmHWM" the largest so far."""
    with open(f"/proc/{process_id}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field + ":")) * 1024


def print_memory(samples: list[int], peak: int) -> None:
    names = ["first", "a quarter", "half", "three quarters", "last"]
    shown = [samples[(len(samples) - 1) * i // 4] for i in range(5)]
    print_table(["resident MiB", *names, "peak"], [["", *[bytes / 2**20 for bytes in [*shown, peak]]]])


def soak(warm: Lane, cold: Lane, requests: int) -> tuple[dict[str, float], list[int], list[str]]:
    """Sums over all requests, the memory after each session, and what went wrong."""
    sums = {"requests": 0, "sessions": 0, "passed": 0, "differing": 0, "prompt": 0, "cached": 0, "warm s": 0.0, "cold s": 0.0}
    memory, failures = [], []
    while sums["requests"] < requests:
        task = AGENT_TASKS[int(sums["sessions"]) % len(AGENT_TASKS)]
        session = Play(draw_session(task, int(sums["sessions"]) // len(AGENT_TASKS), held_out=True).instance)
        tools = tools_of(session.messages[0].content)
        while not session.over and sums["requests"] < requests:
            fields = {"tools": tools, "max_tokens": 400, "logprobs": True, "top_logprobs": 1}
            replies = []
            for lane, name in ((warm, "warm s"), (cold, "cold s")):
                started = time.monotonic()
                replies.append(lane.chat(as_openai(session.messages), **fields))
                sums[name] += time.monotonic() - started
            if essence(replies[0]) != essence(replies[1]):
                sums["differing"] += 1
                failures.append(f"request {sums['requests']}: the reply differs from the cold one")
            sums["requests"] += 1
            sums["prompt"] += replies[0]["usage"]["prompt_tokens"]
            sums["cached"] += cached_of(replies[0])
            session.reply(content_of(replies[0]))
        sums["sessions"] += 1
        sums["passed"] += session.over and not session.violations
        memory.append(resident_bytes(warm.process.pid))
        if sys.stderr.isatty():
            print(f"\r{sums['requests']} of {requests} requests", end="", file=sys.stderr)
    return sums, memory, failures


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--requests", type=int, default=600)
    options = options.parse_args()
    if options.lane:
        sys.exit("the memory of a lane elsewhere cannot be read; give --engine PROGRAM")
    with Lane.open(options) as warm, Lane.open(options, cache=False) as cold:
        sums, memory, failures = soak(warm, cold, options.requests)
        peak = resident_bytes(warm.process.pid, "VmHWM")
    print_table(list(sums), [list(sums.values())])
    print_memory(memory, peak)
    if memory[-1] > memory[(len(memory) - 1) // 4] + ALLOWED_GROWTH:
        failures.append("memory grows")
    finish(failures)


if __name__ == "__main__":
    main()
