"""The model card, written from the figures of the run that made the model and of the engine's marks.

    python3 model_card.py MODEL_DIR

reads MODEL_DIR/report.json (make_model.py) and MODEL_DIR/marks.json (marks.py); writes
MODEL_DIR/README.md.
"""

import json
import sys
from pathlib import Path

TEMPLATE = """\
# The built-in model

A small decoder that really does tool use, made from nothing by `engine/training`: every word
it has seen is this project's own synthetic text. It exists so that the engine can show a real agent
session offline; it knows nothing else.

| | |
| --- | --- |
| parameters | {parameters:,} (bf16), the drafter's layer included |
| shape | width {hidden}, {layers} layers and one multi-token-prediction layer, {query_heads} query and {kv_heads} KV heads of {head_size}, rotary on half of each head, QK-norm, SwiGLU {intermediate}, tied embeddings |
| tokenizer | byte-level BPE, {vocabulary} tokens; roles, turn end and tool call are special tokens |
| context | trained on up to {row_length} tokens |

## Data

Sessions drawn by `generator.py` from seed {seed}: {mix}. An agent session is one project of 3 to 8
source modules with tests and one to seven requests: fix wrong values (some behind an import, some with
tests that name no values), rename a constant everywhere, set or look up a value, recover from a wrong
path or from a file that changed meanwhile, and report a fault that cannot be mended. Names, paths,
values, folder layouts and wordings vary. A name or layout whose CRC-32 is 0 modulo 8 is held out: no
training session has one, and every held-out session is made of such names, layouts and other seeds.

## Training

{steps} steps of {batch_tokens:,} tokens on one {device}: {seconds:.0f} s, data generation included.
Muon on the layers' matrices, peak learning rate {matrix_learning_rate}, AdamW on the rest, {learning_rate}; both
cosine to zero; bf16 products on float32 master weights. Loss:
next token (the assistant's words count 1, all others {other_weight} at first and nothing after {other_until:.0%} of
the steps) plus {draft_weight} of each of the drafter's two steps, those on {draft_rows} of {batch_rows} rows.

| step | next token | draft 1 | draft 2 |
| ---: | ---: | ---: | ---: |
{losses}

Held-out demonstrations in which the likeliest token is right at every position that the assistant
writes, of {agreement_count} a task: {agreement}.

## Marks

Measured by the engine itself, greedily with strict drafting, on held-out sessions. A session passes if
every turn does: schema-valid calls, reads before it writes, no identical call twice, no error ignored, no
claim that tests pass which no run showed, the right files at the end, the facts in the report.

| task | passed | of | turns | drafts accepted | rows kept by the cache |
| --- | ---: | ---: | ---: | ---: | ---: |
{marks}

## Reproduce

    python3 -m pip install --require-hashes -r engine/training/requirements.txt
    cd engine/training
    python3 make_model.py --out ../model/reference --steps {steps}
    python3 marks.py --engine ENGINE --json ../model/reference/marks.json --threads 1 --prompt-rows 64
    python3 model_card.py ../model/reference

The data and its order depend on the seed alone. Weights come out the same to the bit only on the same
GPU and software; elsewhere expect the same marks, not the same bits. `reference_logits.json` holds
float64 logits of a fixed prompt, to which the engine's forward is compared.
"""


def model_card(report: dict, marks: list[dict]) -> str:
    """The card's text from what make_model.py and marks.py report."""
    shape, recipe, agreement = report["shape"], report["recipe"], report["agreement"]
    stride = max(1, len(report["log"]) // 10)
    log = report["log"][::stride]
    if log[-1] != report["log"][-1]:
        log.append(report["log"][-1])
    return TEMPLATE.format(
        **shape,
        **{k: v for k, v in recipe.items() if k not in shape},
        parameters=report["parameters"],
        device=report["device"],
        seconds=report["training seconds"],
        batch_tokens=recipe["batch_rows"] * recipe["row_length"],
        mix=", ".join(f"{share}% {task}" for task, share in report["mix"].items()),
        losses="\n".join(f"| {e['step']} | {e['main']} | {e['draft 1']} | {e['draft 2']} |" for e in log),
        agreement_count=agreement["sessions of each task"],
        agreement=", ".join(f"{t} {v:.1%}" for t, v in agreement["right in every token"].items()),
        marks="\n".join(
            f"| {m['task']} | {m['passed']} | {m['sessions']} | {m['turns']} | {m['drafts accepted']:.1%}"
            f" | {m['rows kept']:.1%} |"
            for m in marks
        ),
    )


def main() -> None:
    folder = Path(sys.argv[1])
    report, marks = (json.loads((folder / name).read_text()) for name in ("report.json", "marks.json"))
    (folder / "README.md").write_text(model_card(report, marks))


if __name__ == "__main__":
    main()
