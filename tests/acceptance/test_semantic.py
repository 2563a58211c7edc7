"""A reused reply answers the current prompt, not the one before it.

Pairs of questions over one long list of facts: the second question takes over the first one's rows and must
be answered with its own fact and without the first one's; the same question asked cold must get the same
words. Needs a model that can answer: the built-in one.
"""

import random
import re
import sys

from lane import Lane, TRAINING, cached_of, finish, parser, print_table, text_of

sys.path.insert(0, str(TRAINING))
from generator import draw_session  # noqa: E402

FACT = re.compile(r"^The ([a-z ]+) of (`[^`]+`) is (\S+)\.$", re.M)
LEAST_CHARACTERS = 1500  # of the facts, so that several grid cells are shared


def draw_pairs(count: int) -> list[tuple[str, tuple, tuple]]:
    """(system message, a fact, another fact) from held-out sessions."""
    pairs, index = [], 0
    while len(pairs) < count:
        system = draw_session("recall", index, held_out=True).instance.system
        facts = FACT.findall(system)
        index += 1
        if len(system) < LEAST_CHARACTERS or len(facts) < 2:
            continue
        first, second = random.Random(index).sample(facts, 2)
        if first[2] not in second[2] and second[2] not in first[2]:
            pairs.append((system, first, second))
    return pairs


def ask(lane: Lane, system: str, fact: tuple) -> dict:
    attribute, entity, _ = fact
    question = f"What is the {attribute} of {entity}?"
    return lane.chat([{"role": "system", "content": system}, {"role": "user", "content": question}], max_tokens=64)


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--pairs", type=int, default=6)
    options.add_argument("--no-reuse", action="store_true", help="the lane is an engine without the cache")
    options = options.parse_args()
    failures, rows = [], []
    with Lane.open(options) as lane:
        for i, (system, first, second) in enumerate(draw_pairs(options.pairs)):
            lane.forget()
            ask(lane, system, first)
            reused = ask(lane, system, second)
            lane.forget()
            cold = ask(lane, system, second)
            text = text_of(reused)
            stale = first[2] in text
            rows.append([i, reused["usage"]["prompt_tokens"], cached_of(reused), "NO" if stale else "yes", text])
            if stale:
                failures.append(f"pair {i}: answers the question before: {text}")
            if second[2] not in text:
                failures.append(f"pair {i}: {text!r} does not say {second[2]}")
            if text_of(cold) != text:
                failures.append(f"pair {i}: cold it says {text_of(cold)!r}")
            if cached_of(reused) == 0 and not options.no_reuse:
                failures.append(f"pair {i}: nothing was reused")
    print_table(["pair", "prompt", "cached", "current", "reply"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
