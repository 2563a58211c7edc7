#!/usr/bin/env python3
"""Carries other people's patches over the moves of the upstream that they patch, beside line tools, in one run.

    bench_carry.py PATCHER --patches OLLAMA_GIT --upstream LLAMA_CPP_GIT [--latest N] [--tools a,b] [--moves 3,7-9]
        [--limit SECONDS] [--out FILE] [--keep DIR] [--jobs N]

ollama keeps patches over llama.cpp and has moved its pin of llama.cpp many times. Each commit that moves it says what
became of each patch: (pin A, patches before) -> (pin B, patches after). Where a patch's added and removed lines are the
same before and after, the right answer is known: on B, with the patches before it applied as its maintainers did, the
tree must become what the maintainers' new patch makes of it. Needs two bare git directories and the Debian
packages git, patch, wiggle and quilt; a tool that is not installed is named and left out.

  correct    exit status 0 and every file as the maintainers have it, byte for byte
  white space  exit status 0 and the same but for white space
  refused    any other exit status, and not done in --limit seconds
  wrong      exit status 0 and something else

Patches that the maintainers had to change have no right answer here; counted is how many are carried without a word,
and how many of these use names that upstream no longer has anywhere.

In the last moves whole series are carried too, each tool as one would use it: `git apply`, `patch` and `wiggle`
patch by patch, `git am -3` and `quilt push -a` on all; the former patched tree's blobs are there for the 3-way ones.
A series is whole if no patch is refused. Counted as well: the patches before the first refusal, and those that are
carried where refused ones are left out, each on the tool's own result of the last. Files are compared at the end
where that is well defined: where all patches of a file, in both series, are those that the maintainers carried
unchanged, and the tool carried all of these. What other files must be is not known; nothing is said about them.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import shutil
import sys
import tempfile

from carry_corpus import (TIMED_OUT, Git, Upstream, applied, cases_of, lost_anywhere, materialise, moves, patches_of,
                          put, touched)
from carry_tools import carry, peer, score, state
from carry_whole import known_files, missing_programs, whole_series

FEWEST_WHOLE = 9  # a series of fewer patches says little about whole ones
TOOLS = ["patcher", "git apply", "git apply -3", "patch", "wiggle"]
WHOLE_ONLY = ["git am -3", "quilt", "quilt fuzz 0"]


def judge_case(git, patcher, tools, case, limit):
    """Outcome and message of each tool on one unchanged or changed patch."""
    row = {}
    for tool in tools:
        with tempfile.TemporaryDirectory(dir=case["scratch"]) as work:
            root = os.path.join(work, "root")
            materialise(git, case["target"], case["paths"], root)
            says, outcome = "", ""
            if tool == "patcher":
                materialise(git, case["before"], case["paths"], os.path.join(work, "base"))
                put(os.path.join(work, "s", case["name"]), case["text"])
                series = put(os.path.join(work, "s/series"), case["name"].encode() + b"\n")
                status, says, patches = carry(patcher, os.path.join(work, "base"), root, series, work + "/out", limit,
                                              (git.env["GIT_DIR"], case["target"]))
                outcome = patches[0]["outcome"] if patches else ""
            else:
                status = peer(git, tool, case, root, work, limit)
            says = "time" if status == TIMED_OUT else says
            row[tool] = dict(score=score(status, state(root, case["paths"]), case["right"]), outcome=outcome, says=says)
    return row


def keep(git, case, folder):
    """What a tool gets and what it should make of it, to look at."""
    for name, tree in (("base", "before"), ("root", "target"), ("right", "truth")):
        materialise(git, case[tree], case["paths"], os.path.join(folder, name))
    put(os.path.join(folder, "s", case["name"]), case["text"])
    put(os.path.join(folder, "s/series"), case["name"].encode() + b"\n")


def tell(text):
    print(text, file=sys.stderr, flush=True)


def one_move(args, move, number):
    scratch = tempfile.mkdtemp(prefix=f"move{number}-", dir=args.scratch)
    with Git(args.patches, None) as ollama, Git(args.upstream, os.path.join(scratch, "git")) as git:
        out = judge_move(args, ollama, git, move, number, scratch)
    shutil.rmtree(scratch)
    return out


def judge_move(args, ollama, git, move, number, scratch):
    commit, pin_before, pin_after = move
    old = applied(git, os.path.join(scratch, "i"), pin_before, patches_of(ollama, commit + "^"))
    new = applied(git, os.path.join(scratch, "i"), pin_after, patches_of(ollama, commit))
    pairs, rows = cases_of(git, old, new), []
    singles = [t for t in args.tools if t not in WHOLE_ONLY]
    for one, other, unchanged in pairs if args.single else []:
        row = dict(move=number, commit=commit[:9], name=one["name"], unchanged=unchanged, gone=other is None)
        if other is not None:
            case = dict(one, target=other["before"], truth=other["after"], scratch=scratch)
            case["paths"] = sorted(set(touched(git, one["before"], one["after"])) |
                                   set(touched(git, other["before"], other["after"])))
            case["right"] = {p: d for p in case["paths"] if (d := git.blob(case["truth"], p)) is not None}
            if args.keep:
                keep(git, case, f"{args.keep}/{number:02}-{'same' if unchanged else 'changed'}-{one['name']}")
            tools = [t for t in singles if unchanged or t == "patcher"]
            row["tools"] = judge_case(git, args.patcher, tools, case, args.limit)
            if not unchanged and row["tools"].get("patcher", {}).get("score", "refused") != "refused":
                row["lost"] = lost_anywhere(git, one, pin_before, pin_after)
        rows.append(row)
    if args.single:
        tell(f"move {number} {commit[:9]}: {len(old)} patches, {sum(p[2] for p in pairs)} unchanged")
    series = {}
    if old and new and number in args.whole:
        job = dict(series=[(n, t) for n, t, _, _ in old], base=old[0][2], pin=pin_after, limit=args.limit,
                   paths=sorted({p for _, _, b, a in old for p in touched(git, b, a)}))
        series = whole_series(git, args.patcher, args.tools, job, known_files(git, pairs, new), scratch,
                              lambda text: tell(f"move {number} whole, {text}"))
    return dict(number=number, commit=commit[:9], patches=len(old), rows=rows, series=series)


def summary(args, done):
    rows = [r for d in done for r in d["rows"]]
    same = [r for r in rows if r["unchanged"]]
    print(f"{len(done)} moves, {len(same)} patches carried unchanged\n")
    print("| tool | correct | but for white space | refused | wrong |\n|---|---:|---:|---:|---:|")
    for tool in (t for t in args.tools if t not in WHOLE_ONLY):
        n = collections.Counter(r["tools"][tool]["score"] for r in same)
        print(f"| {tool} | {n['correct']} | {n['white space']} | {n['refused']} | {n['wrong']} |")
        late = sum(r["tools"][tool]["says"] == "time" for r in same)
        if late:
            print(f"{tool}: {late} of the refused were not done in {args.limit} s", file=sys.stderr)
    if "patcher" not in args.tools:
        return
    changed = [r for r in rows if not r["unchanged"] and not r["gone"]]
    silent = [r for r in changed if r["tools"]["patcher"]["score"] != "refused"]
    alike = sum(r["tools"]["patcher"]["score"] == "correct" for r in silent)
    lost = [r for r in silent if r["lost"] and r["tools"]["patcher"]["outcome"] != "obsolete"]
    print(f"\n{len(changed)} patches that the maintainers changed: {len(changed) - len(silent)} refused, {len(silent)} "
          f"carried ({alike} of them to the same bytes), {len(lost)} of them with names that upstream has no more")


def whole_summary(args, done):
    series = [d["series"] for d in done if d["series"]]
    if not series:
        return
    any_tool = [s[args.tools[0]] for s in series]
    print(f"\n{len(series)} whole series, {sum(s['patches'] for s in any_tool)} patches, "
          f"{sum(sum(s['files'].values()) for s in any_tool)} files whose end is known\n")
    print("| tool | whole | patches before the first refusal | carried, refused ones left out | files right | "
          "but for white space | wrong | not reached | s |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for tool in args.tools:
        results = [s[tool] for s in series]
        files = sum((collections.Counter(r["files"]) for r in results), collections.Counter())
        sums = [sum(r[key] for r in results) for key in ("whole", "until", "carried")]
        ends = [files[key] for key in ("correct", "white space", "wrong", "refused")]
        print(f"| {tool} | {' | '.join(map(str, sums + ends))} | {sum(r['seconds'] for r in results):.0f} |")
        late = sum(r["time"] for r in results)
        if late:
            print(f"{tool}: {late} of the refused were not done in {args.limit} s", file=sys.stderr)
    if "patcher" in args.tools:
        said = collections.Counter(o for s in series for o in s["patcher"]["first"]["outcomes"].values())
        print(f"\npatcher, of each patch when the whole is given: {dict(said)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patcher")
    parser.add_argument("--patches", required=True, help="bare git directory of ollama")
    parser.add_argument("--upstream", required=True, help="bare git directory of llama.cpp, or a fork with its commits")
    parser.add_argument("--latest", type=int, default=17, help="carry the whole series in that many of the last moves")
    parser.add_argument("--no-single", dest="single", action="store_false", help="only the whole series")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one command")
    parser.add_argument("--tools", default=",".join(TOOLS + WHOLE_ONLY))
    parser.add_argument("--moves", default="", help="only these, by number: 3,7,40-50")
    parser.add_argument("--out", help="all results as JSON")
    parser.add_argument("--keep", help="write the cases there, a folder each: base, root, s/series, right")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.patcher = os.path.abspath(args.patcher)
    args.tools = args.tools.split(",")
    for tool in missing_programs(args.tools):
        tell(f"{tool}: not installed, left out")
        args.tools.remove(tool)
    with Git(args.patches, None) as ollama, Upstream(args.upstream, None) as upstream:
        todo = [(n, m, len(patches_of(ollama, m[0] + "^"))) for n, m in enumerate(moves(ollama, upstream), 1)]
        todo = [t for t in todo if t[2] > 0 and patches_of(ollama, t[1][0])]
    whole = [n for n, _, count in todo if count >= FEWEST_WHOLE]
    args.whole = set(whole[len(whole) - min(args.latest, len(whole)):])
    if not args.single:
        todo = [t for t in todo if t[0] in args.whole]
    if args.moves:
        ranges = [[int(x) for x in (r + "-" + r).split("-")[:2]] for r in args.moves.split(",")]
        todo = [t for t in todo if any(a <= t[0] <= b for a, b in ranges)]
    done = []
    with tempfile.TemporaryDirectory(prefix="bench-carry-") as args.scratch:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for result in pool.map(lambda t: one_move(args, t[1], t[0]), todo):
                done.append(result)
                if args.out:
                    with open(args.out, "w", encoding="utf-8") as out:
                        json.dump(done, out, indent=1)
    if args.single:
        summary(args, done)
    whole_summary(args, done)


if __name__ == "__main__":
    main()
