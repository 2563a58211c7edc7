"""Compares the engine's rendering of chat templates with transformers', on random conversations.

    python3 compare.py [--count N] [--seed S] TEMPLATE...

A TEMPLATE is a file of Jinja, or a model's folder with its own special tokens. Needs `transformers` and `jinja2`; run it where they are installed. Each conversation is rendered by
transformers and by engine/model/jinja/render.py: both must say the same, or both refuse. Arguments of
calls go to transformers as the mapping that its templates expect or, where that fails or shows
Python's own spelling, as the string of OpenAI's messages. Then again with the text of special tokens
in the contents: every mark in the rendering must be one that the template writes, which is found out
by a rendering of the same conversation with harmless words of the same length in the marks' place.
Exits 1 if anything differs.
"""

import argparse
import copy
import json
import re
import subprocess
import sys
from pathlib import Path

from transformers.utils.chat_template_utils import render_jinja_template

from conversations import conversation

RENDER = Path(__file__).parents[3] / "engine/model/jinja/render.py"
VARIABLES = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
MARK = re.compile(r"<\|[\w▁｜ -]+\|>|<｜[\w▁｜ -]+｜>|<[/\w]+>|\[/?[A-Z_]+\]")


class Renderer:
    def __init__(self, source, variables, marks):
        command = ["/usr/bin/python3", "-I", "-X", "utf8", str(RENDER)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask({"templates": {"default": source}, "variables": variables, "marks": marks, "seconds": 20, "bytes": 1 << 30})

    def ask(self, what):
        self.process.stdin.write(json.dumps(what, ensure_ascii=False) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def by_transformers(source, variables, said):
    """The rendering, or None."""
    def render(messages):
        texts, _ = render_jinja_template(
            [messages], tools=said["tools"], chat_template=source, add_generation_prompt=said["add_generation_prompt"], **variables
        )
        return texts[0]

    def with_arguments(convert, content):
        messages = copy.deepcopy(said["messages"])
        for message in messages:
            for call in message.get("tool_calls") or ():
                call["function"]["arguments"] = convert(call["function"]["arguments"])
            if message.get("tool_calls") and message["content"] is None:
                message["content"] = content
        return messages

    for content in (None, ""):
        try:
            mapped = render(with_arguments(lambda a: a, content))
        except Exception:
            mapped = None
        try:
            text = render(with_arguments(lambda a: json.dumps(a, ensure_ascii=False), content))
        except Exception:
            text = None
        if mapped is None and text is None:
            continue
        shown = [str(c["function"]["arguments"]) for m in said["messages"] for c in m.get("tool_calls") or ()]
        python_spelling = mapped is not None and any(s != "{}" and s in mapped for s in shown)
        return text if mapped is None or python_spelling else mapped
    return None


def marks_written(text, literal, marks):
    """The marks in a text outside of the ranges of bytes that are literal."""
    data, found, at = text.encode(), [], 0
    ranges = list(zip(literal[::2], literal[1::2]))
    pattern = re.compile(b"|".join(re.escape(m.encode()) for m in sorted(marks, key=len, reverse=True)))
    while match := pattern.search(data, at):
        thought = b"think" in match[0].lower()
        touches = thought or any(b < match.end() and match.start() < e for b, e in ranges)
        if not touches:
            found.append(match[0].decode())
        at = match.start() + 1 if touches else match.end()
    return found


def harmless(value, marks):
    """Thoughts' marks stay: templates read them in an assistant's text, and write their own."""
    if isinstance(value, str):
        for mark in marks:
            if "think" in mark.lower():
                continue
            value = value.replace(mark, "".join("q" if not c.isspace() else c for c in mark))
        return value
    if isinstance(value, list):
        return [harmless(v, marks) for v in value]
    return {k: harmless(v, marks) for k, v in value.items()} if isinstance(value, dict) else value


def load(path):
    """The template's source, and its special tokens by name."""
    if not path.is_dir():
        return path.read_text(), VARIABLES
    config = json.loads((path / "tokenizer_config.json").read_text())
    tokens = {k: v["content"] if isinstance(v, dict) else v for k, v in config.items() if k.endswith("_token") and v}
    tokens = {k: v for k, v in tokens.items() if isinstance(v, str)}
    file = path / "chat_template.jinja"
    return file.read_text() if file.exists() else config["chat_template"], tokens


def check(path, count, seed):
    source, variables = load(path)
    marks = sorted({m for m in MARK.findall(source)} | set(variables.values()), key=len, reverse=True)
    renderer = Renderer(source, variables, marks)
    result = {"same": 0, "refused": 0, "different": 0, "marks": 0, "escaped": 0, "unfaithful": 0}
    for number in range(seed, seed + count):
        said = conversation(number)
        expected, got = by_transformers(source, variables, said), renderer.ask(said)
        if expected is None or "error" in got:
            same = expected is None and "error" in got
            result["refused" if same else "different"] += 1
        else:
            same = got["text"] == expected
            result["same" if same else "different"] += 1
        if not same and result["different"] <= 1:
            print(path.name, number, json.dumps(said, ensure_ascii=False)[:600], repr(expected)[:1500], json.dumps(got, ensure_ascii=False)[:1500], sep="\n  ")
        attack = conversation(number, marks)
        got, tame = renderer.ask(attack), renderer.ask(harmless(attack, marks))
        if "error" in got or "error" in tame:
            continue
        result["marks"] += 1
        result["unfaithful"] += got["text"] != by_transformers(source, variables, attack)
        written, wanted = (marks_written(a["text"], a["literal"], marks) for a in (got, tame))
        if written != wanted:
            result["escaped"] += 1
            if result["escaped"] <= 1:
                print(path.name, number, json.dumps(attack, ensure_ascii=False)[:900], json.dumps(got, ensure_ascii=False)[:2500], written, wanted, sep="\n  ")
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("templates", nargs="+", type=Path)
    parser.add_argument("--count", type=int, default=100, help="conversations a template")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    total = {}
    for path in options.templates:
        result = check(path, options.count, options.seed)
        print(path.name, *(f"{k}={v}" for k, v in result.items()), flush=True)
        total = {k: total.get(k, 0) + v for k, v in result.items()}
    print("total", *(f"{k}={v}" for k, v in total.items()))
    return 1 if total["different"] or total["escaped"] else 0


if __name__ == "__main__":
    sys.exit(main())
