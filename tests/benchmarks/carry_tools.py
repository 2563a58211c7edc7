"""The patcher and the line tools that bench_carry.py compares: how each is run, and how its result is scored."""
import json
import os
import re
import shutil

from carry_corpus import TIMED_OUT, materialise, put, run


def state(root, paths):
    out = {}
    for path in paths:
        full = os.path.join(root, path)
        if os.path.isfile(full):
            with open(full, "rb") as file:
                out[path] = file.read()
    return out


def score(status, got, right):
    if status != 0:
        return "refused"
    if got == right:
        return "correct"
    packed = [{path: b"".join(data.split()) for path, data in files.items()} for files in (got, right)]
    return "white space" if packed[0] == packed[1] else "wrong"


def carry(patcher, base, root, series, out_dir, limit, whole=None):
    """(exit status, what it says, its report of each patch); on success the result is written to root.

    With `whole`, (git directory, tree), the target is that whole tree, of which root has the patches' files: whether a
    name is gone is a question to all of it.
    """
    target = ["--root", whole[0], "--rev", whole[1]] if whole else ["--root", root]
    done = run([patcher, "carry", "--base", base, *target, "--series", series, "--out-dir", out_dir, "--json"], limit)
    says = done.stderr.decode(errors="replace").strip()
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return done.returncode or 1, says, []
    patches = report.get("patches", [])
    findings = report.get("findings", []) + [f for p in patches for f in p.get("findings", [])]
    says = says or "; ".join(f["message"] for f in findings)
    if done.returncode != 0 and not patches:  # the series was not read: no patch has an outcome
        patches = [dict(name=f["patch"], outcome="needs a person") for f in findings if f["patch"]]
    if done.returncode != 0 or all(p["outcome"] == "obsolete" for p in patches):
        return done.returncode, says, patches
    done = run([patcher, "apply", "--root", root, "--series", os.path.join(out_dir, "series")], limit)
    return done.returncode, done.stderr.decode(errors="replace"), patches


def apply_in_index(git, tool, text, tree, work, limit):
    """(exit status, tree after) of `git apply` with the tool's options, on an index that holds the tree."""
    index = os.path.join(work, "index")
    done = git.call(*tool.split()[1:], "--cached", put(os.path.join(work, "p.patch"), text), index=index, limit=limit)
    if done.returncode != 0:
        return done.returncode, tree
    after = git.call("write-tree", index=index).stdout.decode().strip()
    return (0, after) if after else (1, tree)  # conflicts, which some versions of git leave with exit status 0


def peer(git, tool, case, root, work, limit):
    """Exit status of a line tool on one patch; its result is in root."""
    if not tool.startswith("git"):
        return apply_on_disk(tool, case["text"], root, work, limit)
    git.call("read-tree", case["target"], index=os.path.join(work, "index"))
    status, tree = apply_in_index(git, tool, case["text"], case["target"], work, limit)
    if status == 0:
        shutil.rmtree(root)
        materialise(git, tree, case["paths"], root)
    return status


def apply_on_disk(tool, text, root, work, limit):
    if tool == "wiggle":
        return wiggle(text, root, work, limit)
    patch = put(os.path.join(work, "p.patch"), text)
    return run(["patch", "-p1", "-s", "-f", "--no-backup-if-mismatch", "-i", patch], limit, cwd=root).returncode


def wiggle(text, root, work, limit):
    for part in re.split(rb"(?m)^(?=diff --git )", text)[1:]:
        new = re.search(rb"(?m)^\+\+\+ (?:b/)?(\S+)", part)
        if not new:
            return 1
        path = os.path.join(root, new[1].decode())
        if not os.path.exists(path):
            put(path, b"")
        done = run(["wiggle", path, put(os.path.join(work, "part"), part[part.index(b"--- "):])], limit)
        if done.returncode != 0:
            return done.returncode if done.returncode == TIMED_OUT else 1
        put(path, done.stdout)
    return 0
