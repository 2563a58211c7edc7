"""The data generator: session number `index` of a split, always the same for the same seed.

    python generator.py --task fix --index 3            prints one training session
    python generator.py --held-out --task fix --index 3 prints one held-out session
"""

import argparse
import json
import random

from agent_tasks import AGENT_TASKS, draw_agent_session
from instances import Demonstration
from recall_tasks import draw_chat_session, draw_recall_session

TASKS = (*AGENT_TASKS, "recall", "chat")
TRAINING_MIX = {"fix": 24, "rename": 18, "recover": 18, "unfixable": 15, "recall": 20, "chat": 5}


def draw_session(task: str, index: int, held_out: bool, seed: int = 1) -> Demonstration:
    """Session `index` of `task`. Held-out sessions have their own seeds, names and layouts."""
    rng = random.Random(f"{seed}/{'held-out' if held_out else 'training'}/{task}/{index}")
    if task in AGENT_TASKS:
        return draw_agent_session(rng, task, held_out)
    draw = draw_recall_session if task == "recall" else draw_chat_session
    return draw(rng, held_out)


def draw_training_session(index: int, seed: int = 1) -> Demonstration:
    """Session `index` of the training mix."""
    rng = random.Random(f"{seed}/mix/{index}")
    (task,) = rng.choices(list(TRAINING_MIX), list(TRAINING_MIX.values()))
    return draw_session(task, index, held_out=False, seed=seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--task", choices=TASKS, default="fix")
    parser.add_argument("--index", type=int, default=0)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--instance", action="store_true", help="print the instance as JSON")
    options = parser.parse_args()
    session = draw_session(options.task, options.index, options.held_out)
    if options.instance:
        print(json.dumps(session.instance.to_json(), indent=1))
        return
    for message in session.messages:
        print(f"--- {message.role}\n{message.content}")


if __name__ == "__main__":
    main()
