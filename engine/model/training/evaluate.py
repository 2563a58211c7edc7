"""Marks on held-out sessions, under PyTorch: passes by task, and how many drafts are accepted.

    python evaluate.py MODEL_DIR

adds the marks to MODEL_DIR/report.json and writes the model card, MODEL_DIR/README.md.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor

from agent_tasks import AGENT_TASKS
from export import load_model
from generator import TASKS, draw_session
from masks import make_masks
from model import Decoder
from model_card import model_card
from speak import Speaker, play_all

DRAFTS = 2  # tokens drafted in one step
DRAFTED_SESSIONS = 400  # of the agent sessions, how many are counted


def evaluate_folder(folder: Path, device: torch.device, count: int) -> None:
    """Evaluates the exported model; completes its report and writes its card."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    marks = evaluate(load_model(folder, device), tokenizer, count, batch=2000)
    report = json.loads((folder / "report.json").read_text()) | marks
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    (folder / "README.md").write_text(model_card(report))


def evaluate(model: Decoder, tokenizer: Tokenizer, count: int, batch: int) -> dict:
    """Plays `count` held-out sessions of each task, so many at once."""
    tasks = {task: [draw_session(task, i, held_out=True).instance for i in range(count)] for task in TASKS}
    instances = [instance for drawn in tasks.values() for instance in drawn]
    speakers: list[Speaker] = []
    for start in range(0, len(instances), batch):
        speakers += play_all(model, tokenizer, instances[start : start + batch])
    return {
        "marks": {task: _marks([s for s in speakers if s.play.instance.task == task]) for task in TASKS},
        "drafting": _drafting(model, [s for s in speakers if s.play.instance.task in AGENT_TASKS]),
        "failures": _failures(speakers),
    }


def _marks(speakers: list[Speaker]) -> dict:
    passed = [s for s in speakers if not s.play.violations]
    return {
        "sessions": len(speakers),
        "passed": len(passed),
        "turns": sum(len(s.play.instance.turns) for s in speakers),
        "mean tokens": round(sum(len(s.tokens) for s in speakers) / len(speakers)),
        "longest": max(len(s.tokens) for s in speakers),
    }


def _failures(speakers: list[Speaker]) -> list[dict]:
    """Each failed session's first violation and the last messages it led to."""
    return [
        {
            "task": s.play.instance.task,
            "violations": s.play.violations,
            "end": [f"{m.role}: {m.content}" for m in s.play.messages[-8:]],
        }
        for s in speakers
        if s.play.violations
    ]


@torch.inference_mode()
def _drafting(model: Decoder, speakers: list[Speaker]) -> dict:
    """Drafts as the engine makes them, DRAFTS a step, counted over all replies."""
    counts: Counter = Counter()
    for speaker in speakers[:: max(1, len(speakers) // DRAFTED_SESSIONS)]:
        device = model.embed_tokens.weight.device
        right = _right_drafts(model, torch.tensor(speaker.tokens, device=device)[None])
        for begin, end in speaker.written:
            _count_drafts(right, begin, end, counts)
    drafted, accepted = counts["drafted"], sum(counts[f"right {i}"] for i in range(DRAFTS))
    return {
        "drafted": drafted,
        "accepted": accepted,
        "acceptance": round(accepted / max(1, drafted), 4),
        "right if those before were": [
            round(counts[f"right {i}"] / max(1, counts[f"tried {i}"]), 4) for i in range(DRAFTS)
        ],
        "tokens a step": round(counts["tokens"] / max(1, counts["steps"]), 3),
    }


def _right_drafts(model: Decoder, tokens: Tensor) -> list[list[bool]]:
    """[draft 1 or 2][i]: would token i have been drafted rightly? tokens is [1, T]."""
    length = tokens.shape[1]
    sessions = torch.ones_like(tokens)
    mask, draft_masks = make_masks(sessions, model.shape.mtp_window, dense=True)
    rotary = model.rotary(torch.arange(length, device=tokens.device)[None])
    hidden = model.hidden(model.embed(tokens), rotary, mask)
    right = []
    for x in model.draft(tokens, hidden, rotary, draft_masks):
        guess = model.logits(x, model.mtp.shared_head["norm"]).argmax(-1)[0, :-2]
        right.append([False, False, *(guess == tokens[0, 2:]).tolist()])
    return right


def _count_drafts(right: list[list[bool]], begin: int, end: int, counts: Counter) -> None:
    """One reply, tokens [begin, end): its first token comes from the prompt, then steps of drafts."""
    known = begin
    while known < end - 1:
        drafts = min(DRAFTS, end - 1 - known)
        accepted = 0
        while accepted < drafts:
            counts[f"tried {accepted}"] += 1
            if not right[accepted][known + 1 + accepted]:
                break
            counts[f"right {accepted}"] += 1
            accepted += 1
        counts["drafted"] += drafts
        counts["steps"] += 1
        counts["tokens"] += min(accepted + 1, end - 1 - known)
        known += accepted + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=200, help="sessions of each task")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    evaluate_folder(options.folder, torch.device(options.device), options.count)
    report = json.loads((options.folder / "report.json").read_text())
    print(json.dumps({"marks": report["marks"], "drafting": report["drafting"]}, indent=1))


if __name__ == "__main__":
    main()
