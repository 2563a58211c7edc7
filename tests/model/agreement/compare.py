#!/usr/bin/env python3
"""Compares the engine's tokens with those of Hugging Face's library, or with numbers that it gave.

  compare.py ENGINE numbers FOLDER              the kept files and numbers; needs Python alone
  compare.py ENGINE library FILE... [-n TEXTS]  tokenizer.json files, on texts made here; needs the library
  compare.py ENGINE kinds   [-n TEXTS]          the same for small tokenizers of each family
  compare.py ENGINE keep FOLDER                 writes their numbers anew; a tokenizer that is missing is trained

For each text: ids with special tokens found, ids of the text as mere text, ids as a whole prompt, the
text that ids stand for with and without special tokens, and that what is streamed adds up to it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from texts import make_texts

KEPT_TEXTS = 100
KEPT_CHARACTERS = 80


def ask(engine: str, file: Path, requests: list[dict]) -> list[dict]:
    lines = "\n".join(json.dumps(request) for request in requests) + "\n"
    done = subprocess.run([engine, "tokenize", "-m", str(file)], input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{file}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


def encodings(engine: str, file: Path, texts: list[str]) -> list[list[list[int]]]:
    """By text: ids as written, as mere text, as a prompt."""
    requests = [{"text": t, **more} for t in texts for more in ({}, {"special": False}, {"prompt": True})]
    ids = [answer["ids"] for answer in ask(engine, file, requests)]
    return [ids[i : i + 3] for i in range(0, len(ids), 3)]


def decodings(engine: str, file: Path, ids: list[list[int]]) -> list[list[str]]:
    """By list of ids: the text with and without special tokens' text."""
    requests = [{"ids": i, "special": special, "stream": True} for i in ids for special in (True, False)]
    answers = ask(engine, file, requests)
    for request, answer in zip(requests, answers, strict=True):
        if "".join(answer["parts"]) != answer["text"]:
            sys.exit(f"{file}: streamed {answer['parts']} is not {answer['text']!r}: {request}")
    texts = [answer["text"] for answer in answers]
    return [texts[i : i + 2] for i in range(0, len(texts), 2)]


def mere_ids(tokenizer: "Tokenizer", file: Path, texts: list[str]) -> list:
    """Of texts in which no special token is meant. None where a token would count that looks like one and is
    none to the library: to the engine it may be one too, for what a user writes."""
    content = json.loads(file.read_text())
    for token in content["added_tokens"]:
        token["special"] |= token["content"][0] + token["content"][-1] in ("<>", "[]")
    strict = type(tokenizer).from_str(json.dumps(content))
    ids = []
    for each in (tokenizer, strict):
        each.encode_special_tokens = True
        ids.append([e.ids for e in each.encode_batch(texts, add_special_tokens=False)])
    return [a if a == b else None for a, b in zip(*ids, strict=True)]


def library_answers(file: Path, texts: list[str]) -> tuple[list, list]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    plain = [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]
    prompts = [e.ids for e in tokenizer.encode_batch(texts)]
    mere = mere_ids(tokenizer, file, texts)
    # A special token that is found in normalised text is shown by the library even where it is asked not to.
    added = tokenizer.get_added_tokens_decoder()
    shown = {i for i, token in added.items() if token.special and token.normalized}
    decoded = [
        None if shown & set(ids) else [tokenizer.decode(ids, skip_special_tokens=skip) for skip in (False, True)]
        for ids in prompts
    ]
    return [list(t) for t in zip(plain, mere, prompts, strict=True)], decoded


def differs(wanted: list, found: list) -> bool:
    return any(w is not None and w != f for w, f in zip(wanted, found, strict=True))


def report(name: str, what: str, inputs: list, wanted: list, found: list) -> int:
    misses = [i for i, (w, f) in enumerate(zip(wanted, found, strict=True)) if w and differs(w, f)]
    for i in misses[:5]:
        print(f"{name}: {what} of {inputs[i]!r}:\n  library {wanted[i]}\n  engine  {found[i]}")
    return len(misses)


def check(engine: str, file: Path, texts: list[str], wanted: tuple[list, list]) -> bool:
    name = file.stem
    misses = report(name, "ids", texts, wanted[0], encodings(engine, file, texts))
    prompts = [ids[2] for ids in wanted[0]]
    texts_missed = report(name, "text", prompts, wanted[1], decodings(engine, file, prompts))
    print(f"{name}: {len(texts)} texts, {misses} with other ids, {texts_missed} decoded otherwise", flush=True)
    return misses + texts_missed == 0


def marks_of(file: Path) -> list[str]:
    return [token["content"] for token in json.loads(file.read_text())["added_tokens"]][:40]


def check_library(engine: str, files: list[Path], count: int, seed: int) -> bool:
    good = True
    for file in files:
        texts = list(make_texts(count, seed, marks_of(file)))
        for begin in range(0, count, 20000):
            part = texts[begin : begin + 20000]
            good = check(engine, file, part, library_answers(file, part)) and good
    return good


def make_kinds(folder: Path) -> list[Path]:
    from kinds import KINDS

    for name, make in KINDS.items():
        if not (folder / f"{name}.json").exists():
            make().save(str(folder / f"{name}.json"), pretty=False)
    return [folder / f"{name}.json" for name in KINDS]


def keep(folder: Path, seed: int) -> None:
    """A line a text: [text, ids, mere ids, prompt ids, decoded]; null: not compared; 0: the ids."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in make_kinds(folder):
        texts = [t[:KEPT_CHARACTERS] for t in make_texts(KEPT_TEXTS, seed, marks_of(file))]
        lines = []
        for text, (ids, mere, prompt), decoded in zip(texts, *library_answers(file, texts), strict=True):
            row = [text, ids, 0 if mere == ids else mere, prompt, decoded]
            lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
        file.with_suffix(".jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


def check_numbers(engine: str, folder: Path) -> bool:
    good, files = True, sorted(folder.glob("*.jsonl"))
    for file in files:
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").split("\n")[:-1]]
        ids = [[ids, ids if mere == 0 else mere, prompt] for _, ids, mere, prompt, _ in rows]
        wanted = ids, [row[4] for row in rows]
        good = check(engine, file.with_suffix(".json"), [row[0] for row in rows], wanted) and good
    return good and bool(files)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine")
    parser.add_argument("what", choices=["numbers", "library", "kinds", "keep"])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("-n", "--texts", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.what == "numbers":
        return 0 if check_numbers(options.engine, options.paths[0]) else 1
    if options.what == "keep":
        keep(options.paths[0], options.seed)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        files = make_kinds(Path(folder)) if options.what == "kinds" else options.paths
        return 0 if check_library(options.engine, files, options.texts, options.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
