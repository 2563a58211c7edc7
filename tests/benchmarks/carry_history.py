#!/usr/bin/env python3
"""Carries commits of any C or C++ repository to other versions of the file that they change, beside line tools.

    carry_history.py PATCHER GIT_DIR [--drop-in PROGRAM] [--cases N] [--seed S] [--tools a,b] [--limit SECONDS]
        [--out FILE] [--keep DIR] [--keep-all] [--jobs N]

A case is what one commit C changes in one file, 2 to 80 lines, drawn at random from the first-parent history of HEAD
(every change of every file has the same chance, whether a tool finds it easy or not), and the file as it was 5, 20 or
50 changes away:

  later     onto L without C, L being the file after that many more changes; right is L, which upstream has. C is
            undone by `git merge-file`, if that is clean and doing it again gives L, or else by following lines.
  earlier   onto the file that many changes before C; right is the file with C's lines, by following lines only.

Lines are followed through each change in between (`git diff -U0 --histogram`). There is a right answer only if all
lines that C removes (undoing: adds) are still there and together, and, where one side of a hunk has no lines, both
neighbours too and adjacent. Where merge-file and lines give different answers, or neither gives one, the draw is no
case; how many were so is printed. Later cases that merge-file made favour 3-way merges; and earlier ones hold for
right what names something that did not exist yet.

  correct      exit status 0 and the right answer, byte for byte
  white space  exit status 0 and the same but for white space and blank lines
  refused      any other exit status, and not done in --limit seconds
  wrong        exit status 0 and something else

  far, near, copies: the lines of each hunk with three lines around it are in the target once; not all are; all are,
  some more than once.

Needs the Debian packages git, patch and wiggle.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import sys
import tempfile

from carry_corpus import TIMED_OUT, Git, put, run
from carry_tools import apply_in_index, carry
from history_cases import History, draw

TOOLS = ["patcher carry", "drop_in", "git apply", "git apply -3", "git merge-file", "patch", "wiggle", "wiggle, base"]


def result_of(tool, args, git, case, work):
    """(exit status, bytes, what it says) of a tool on one case."""
    path, name = case["path"], os.path.basename(case["path"])
    texts = {x: put(f"{work}/{x}/{path}", case[x]) for x in ("before", "after", "target")}
    diff = put(f"{work}/s/p.diff", case["diff"])
    if tool == "patcher carry":
        series = put(f"{work}/s/series", b"p.diff\n")
        status, says, _ = carry(args.patcher, f"{work}/before", f"{work}/target", series, f"{work}/out", args.limit)
        return status, read(texts["target"]), says
    if tool.startswith("git apply"):
        index = f"{work}/index"
        blob = git.call("hash-object", "-w", "--no-filters", texts["target"]).stdout.decode().strip()
        git.call("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
        status, tree = apply_in_index(git, tool, case["diff"], "", work, args.limit)
        return status, git.blob(tree, path) if status == 0 else b"", ""
    if tool == "patch":
        done = run(["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-r", "-", "-i", diff], args.limit,
                   cwd=f"{work}/target")
        return done.returncode, read(texts["target"]), ""
    command = {"drop_in": [args.drop_in, texts["before"], texts["after"], texts["target"]],
               "git merge-file": ["git", "merge-file", "-p", texts["target"], texts["before"], texts["after"]],
               "wiggle": ["wiggle", texts["target"], diff],
               "wiggle, base": ["wiggle", texts["target"], texts["before"], texts["after"]]}[tool]
    done = run(command, args.limit)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip() if tool == "drop_in" else ""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def packed(text):
    return [b" ".join(x.split()) for x in text.split(b"\n") if x.strip()]


def judge(args, case):
    row = {key: case[key] for key in ("number", "kind", "path", "commit", "near")}
    row["tools"] = {}
    with tempfile.TemporaryDirectory(prefix="case-") as scratch, Git(args.git_dir, scratch + "/git") as git:
        for tool in args.tools:
            with tempfile.TemporaryDirectory(dir=scratch) as work:
                status, got, says = result_of(tool, args, git, case, work)
            score = "refused" if status != 0 else "correct" if got == case["right"] else \
                "white space" if packed(got) == packed(case["right"]) else "wrong"
            row["tools"][tool] = dict(score=score, says="time" if status == TIMED_OUT else says)
            if args.keep and (score == "wrong" or args.keep_all):
                folder = f"{args.keep}/{case['number']:03}-{case['commit'][:9]}"
                name = os.path.basename(case["path"])
                for what in ("before", "after", "target", "right", "diff"):
                    put(f"{folder}/{what}/{name}", case[what])
                put(f"{folder}/{tool.replace(' ', '-')}-{score.replace(' ', '-')}/{name}", got)
    return row


def table(rows, tools):
    print("| tool | correct | but for white space | refused | wrong |\n|---|---:|---:|---:|---:|")
    for tool in tools:
        n = collections.Counter(r["tools"][tool]["score"] for r in rows)
        print(f"| {tool} | {n['correct']} | {n['white space']} | {n['refused']} | {n['wrong']} |")
        late = sum(r["tools"][tool]["says"] == "time" for r in rows)
        if late:
            print(f"{tool}: {late} of the refused ran out of time", file=sys.stderr)
    print("\ncorrect or but for white space / refused / wrong\n")
    groups = {row["kind"]: [] for row in rows} | {near: [] for near in ("far", "near", "copies")}
    for row in rows:
        groups[row["kind"]].append(row)
        groups[row["near"]].append(row)
    print("| cases | n | " + " | ".join(tools) + " |\n|---|---:|" + "---:|" * len(tools))
    for name, group in groups.items():
        cells = []
        for tool in tools:
            n = collections.Counter(r["tools"][tool]["score"] for r in group)
            cells.append(f"{n['correct'] + n['white space']} / {n['refused']} / {n['wrong']}")
        print(f"| {name} | {len(group)} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patcher")
    parser.add_argument("git_dir", help="a bare git directory")
    parser.add_argument("--drop-in", help="the program drop_in of the tests, as another tool")
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", default=",".join(t.replace(",", "") for t in TOOLS))
    parser.add_argument("--limit", type=float, default=60, help="seconds for one command")
    parser.add_argument("--out", help="all results as JSON")
    parser.add_argument("--keep", help="write cases that a tool gets wrong there, a folder each")
    parser.add_argument("--keep-all", action="store_true", help="and all others")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.patcher = os.path.abspath(args.patcher)
    args.tools = [t for t in TOOLS if t.replace(",", "") in args.tools.split(",")]
    if args.drop_in:
        args.drop_in = os.path.abspath(args.drop_in)
    elif "drop_in" in args.tools:
        args.tools.remove("drop_in")

    def tell(text):
        print(text, file=sys.stderr, flush=True)
    rows = []
    with tempfile.TemporaryDirectory() as scratch, History(args.git_dir, scratch + "/git") as git:
        cases = draw(git, args.cases, args.seed, tell)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda c: judge(args, c), cases):
            rows.append(row)
            if len(rows) % 20 == 0:
                tell(f"{len(rows)} of {len(cases)} cases")
    if args.out:
        with open(args.out, "w", encoding="utf-8") as out:
            json.dump(rows, out, indent=1)
    table(rows, args.tools)


if __name__ == "__main__":
    main()
