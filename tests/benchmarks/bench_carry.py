#!/usr/bin/env python3
"""Carries other people's patches over the moves of the upstream that they patch, beside line tools, in one run.

    bench_carry.py PATCHER --patches OLLAMA_GIT --upstream LLAMA_CPP_GIT [--latest N] [--tools a,b] [--moves 3,7-9]
        [--out FILE] [--keep DIR] [--jobs N]

ollama keeps patches over llama.cpp and has moved its pin of llama.cpp many times. Each commit that moves it says what
became of each patch: (pin A, patches before) -> (pin B, patches after). Where a patch's added and removed lines are the
same before and after, the right answer is known: on B, with the patches before it applied as its maintainers did, the
tree must become what the maintainers' new patch makes of it. Needs two bare git directories and git, patch, wiggle.

  correct    exit status 0 and every file as the maintainers have it, byte for byte
  white space  exit status 0 and the same but for white space
  refused    any other exit status
  wrong      exit status 0 and something else

Patches that the maintainers had to change have no right answer here; counted is how many are carried without a word,
and how many of these use names that upstream no longer has anywhere.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile

from carry_corpus import (Git, Upstream, applied, cases_of, lost_anywhere, materialise, moves, patches_of, put, run,
                          touched, tree_of)

FEWEST_WHOLE = 9  # a series of fewer patches says little about whole ones
TOOLS = ["patcher", "git apply", "git apply -3", "patch", "wiggle"]


def state(root, paths):
    out = {}
    for path in paths:
        full = os.path.join(root, path)
        if os.path.isfile(full):
            with open(full, "rb") as file:
                out[path] = file.read()
    return out


def carry(patcher, base, root, series, out_dir):
    """(exit status, what it says, outcome of each patch); on success the result is written to root."""
    done = run([patcher, "carry", "--base", base, "--root", root, "--series", series, "--out-dir", out_dir, "--json"])
    says = done.stderr.decode(errors="replace").strip()
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return done.returncode or 1, says, []
    patches = report.get("patches", [])
    says = says or "; ".join(f["message"] for p in patches for f in p.get("findings", []))
    if done.returncode != 0 or all(p["outcome"] == "obsolete" for p in patches):
        return done.returncode, says, patches
    done = run([patcher, "apply", "--root", root, "--series", os.path.join(out_dir, "series")])
    return done.returncode, done.stderr.decode(errors="replace"), patches


def peer(git, tool, case, root, work):
    """Exit status of a line tool; its result is in root."""
    patch = put(os.path.join(work, "p.patch"), case["text"])
    if tool == "patch":
        return run(["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i", patch], cwd=root).returncode
    if tool == "wiggle":
        return wiggle(case["text"], root, work)
    index = os.path.join(work, "index")
    git.call("read-tree", case["target"], index=index)
    done = git.call(*tool.split()[1:], "--cached", patch, index=index)
    if done.returncode != 0:
        return done.returncode
    tree = git.call("write-tree", index=index).stdout.decode().strip()
    if not tree:  # conflicts, which some versions of git leave with exit status 0
        return 1
    shutil.rmtree(root)
    materialise(git, tree, case["paths"], root)
    return 0


def wiggle(text, root, work):
    for part in re.split(rb"(?m)^(?=diff --git )", text)[1:]:
        new = re.search(rb"(?m)^\+\+\+ (?:b/)?(\S+)", part)
        if not new:
            return 1
        path = os.path.join(root, new[1].decode())
        if not os.path.exists(path):
            put(path, b"")
        done = run(["wiggle", path, put(os.path.join(work, "part"), part[part.index(b"--- "):])])
        if done.returncode != 0:
            return 1
        put(path, done.stdout)
    return 0


def score(status, got, right):
    if status != 0:
        return "refused"
    if got == right:
        return "correct"
    packed = [{path: b"".join(data.split()) for path, data in files.items()} for files in (got, right)]
    return "white space" if packed[0] == packed[1] else "wrong"


def judge_case(git, patcher, tools, case):
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
                status, says, patches = carry(patcher, os.path.join(work, "base"), root, series, work + "/out")
                outcome = patches[0]["outcome"] if patches else ""
            else:
                status = peer(git, tool, case, root, work)
            row[tool] = dict(score=score(status, state(root, case["paths"]), case["right"]), outcome=outcome, says=says)
    return row


def keep(git, case, folder):
    """What a tool gets and what it should make of it, to look at."""
    for name, tree in (("base", "before"), ("root", "target"), ("right", "truth")):
        materialise(git, case[tree], case["paths"], os.path.join(folder, name))
    put(os.path.join(folder, "s", case["name"]), case["text"])
    put(os.path.join(folder, "s/series"), case["name"].encode() + b"\n")


def whole_series(git, patcher, tools, old, pin, scratch):
    """For each tool: how many patches of the series it carries with no human, each on its own result of the last."""
    out = {}
    paths = sorted({p for _, _, b, a in old for p in touched(git, b, a)})
    with tempfile.TemporaryDirectory(dir=scratch) as work:
        if "patcher" in tools:
            materialise(git, old[0][2], paths, work + "/base")
            materialise(git, pin, paths, work + "/root")
            for name, text, _, _ in old:
                put(f"{work}/s/{name}", text)
            series = put(work + "/s/series", "".join(n + "\n" for n, _, _, _ in old).encode())
            status, says, patches = carry(patcher, work + "/base", work + "/root", series, work + "/out")
            out["patcher"] = dict(whole=status == 0, says=says,
                                  outcomes={p["name"]: p["outcome"] for p in patches})
    for tool in (t for t in tools if t != "patcher"):
        with tempfile.TemporaryDirectory(dir=scratch) as work:
            root = os.path.join(work, "root")
            materialise(git, pin, paths, root)
            done = 0
            for name, text, _, _ in old:
                target = tree_of(git, pin, root, paths, work + "/whole") if tool.startswith("git") else None
                case = dict(text=text, target=target, paths=paths)
                kept = work + "/kept"
                shutil.copytree(root, kept)
                if peer(git, tool, case, root, work) == 0:
                    done += 1
                else:
                    shutil.rmtree(root)
                    shutil.copytree(kept, root)
                shutil.rmtree(kept)
            out[tool] = dict(whole=done == len(old), carried=done)
    return out


def one_move(args, move, number):
    commit, pin_before, pin_after = move
    scratch = tempfile.mkdtemp(prefix=f"move{number}-", dir=args.scratch)
    ollama, git = Git(args.patches, None), Git(args.upstream, os.path.join(scratch, "git"))
    old = applied(git, os.path.join(scratch, "i"), pin_before, patches_of(ollama, commit + "^"))
    new = applied(git, os.path.join(scratch, "i"), pin_after, patches_of(ollama, commit))
    rows = []
    for one, other, unchanged in cases_of(git, old, new):
        row = dict(move=number, commit=commit[:9], name=one["name"], unchanged=unchanged, gone=other is None)
        if other is not None:
            case = dict(one, target=other["before"], truth=other["after"], scratch=scratch)
            case["paths"] = sorted(set(touched(git, one["before"], one["after"])) |
                                   set(touched(git, other["before"], other["after"])))
            case["right"] = {p: d for p in case["paths"] if (d := git.blob(case["truth"], p)) is not None}
            if args.keep:
                keep(git, case, f"{args.keep}/{number:02}-{'same' if unchanged else 'changed'}-{one['name']}")
            row["tools"] = judge_case(git, args.patcher, [t for t in args.tools if unchanged or t == "patcher"], case)
            if not unchanged and row["tools"].get("patcher", {}).get("score", "refused") != "refused":
                row["lost"] = lost_anywhere(git, one, pin_before, pin_after)
        rows.append(row)
    series = {}
    if old and number in args.whole:
        series = whole_series(git, args.patcher, args.tools, old, pin_after, scratch)
    shutil.rmtree(scratch)
    return dict(number=number, commit=commit[:9], patches=len(old), rows=rows, series=series)


def summary(args, done):
    rows = [r for d in done for r in d["rows"]]
    same = [r for r in rows if r["unchanged"]]
    print(f"{len(done)} moves, {len(same)} patches carried unchanged\n")
    print("| tool | correct | but for white space | refused | wrong |\n|---|---:|---:|---:|---:|")
    for tool in args.tools:
        n = collections.Counter(r["tools"][tool]["score"] for r in same)
        print(f"| {tool} | {n['correct']} | {n['white space']} | {n['refused']} | {n['wrong']} |")
    if "patcher" not in args.tools:
        return
    changed = [r for r in rows if not r["unchanged"] and not r["gone"]]
    silent = [r for r in changed if r["tools"]["patcher"]["score"] != "refused"]
    alike = sum(r["tools"]["patcher"]["score"] == "correct" for r in silent)
    lost = [r for r in silent if r["lost"] and r["tools"]["patcher"]["outcome"] != "obsolete"]
    print(f"\n{len(changed)} patches that the maintainers changed: {len(changed) - len(silent)} refused, {len(silent)} "
          f"carried ({alike} of them to the same bytes), {len(lost)} of them with names that upstream has no more")
    whole = [d for d in done if d["series"]]
    for tool in args.tools:
        print(f"whole series with no human, of {len(whole)}: {tool} "
              f"{sum(d['series'][tool]['whole'] for d in whole)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patcher")
    parser.add_argument("--patches", required=True, help="bare git directory of ollama")
    parser.add_argument("--upstream", required=True, help="bare git directory of llama.cpp, or a fork with its commits")
    parser.add_argument("--latest", type=int, default=17, help="carry the whole series in that many of the last moves")
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--moves", default="", help="only these, by number: 3,7,40-50")
    parser.add_argument("--out", help="all results as JSON")
    parser.add_argument("--keep", help="write the cases there, a folder each: base, root, s/series, right")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    args.patcher = os.path.abspath(args.patcher)
    args.tools = args.tools.split(",")
    ollama, upstream = Git(args.patches, None), Upstream(args.upstream, None)
    todo = [(n, m, len(patches_of(ollama, m[0] + "^"))) for n, m in enumerate(moves(ollama, upstream), 1)]
    todo = [t for t in todo if t[2] > 0 and patches_of(ollama, t[1][0])]
    whole = [n for n, _, count in todo if count >= FEWEST_WHOLE]
    args.whole = set(whole[len(whole) - min(args.latest, len(whole)):])
    if args.moves:
        ranges = [[int(x) for x in (r + "-" + r).split("-")[:2]] for r in args.moves.split(",")]
        todo = [t for t in todo if any(a <= t[0] <= b for a, b in ranges)]
    done = []
    with tempfile.TemporaryDirectory(prefix="bench-carry-") as args.scratch:
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            for result in pool.map(lambda t: one_move(args, t[1], t[0]), todo):
                print(f"move {result['number']} {result['commit']}: {result['patches']} patches, "
                      f"{sum(r['unchanged'] for r in result['rows'])} unchanged", file=sys.stderr, flush=True)
                done.append(result)
                if args.out:
                    with open(args.out, "w", encoding="utf-8") as out:
                        json.dump(done, out, indent=1)
    summary(args, done)


if __name__ == "__main__":
    main()
