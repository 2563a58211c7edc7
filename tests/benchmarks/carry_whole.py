"""Whole series for bench_carry.py: each tool as a person would use it, and what it does when refused patches are
left out.

Two things are known of the end. The tool says of each patch that it carried it, or refuses it. And a file is known
whose patches are all among those that the maintainers carried unchanged, in the same order: where a tool carried all
of these, the file must be as it is at the end of the maintainers' new series. Other files hold what the maintainers
changed by hand; nothing is compared there.
"""
import collections
import itertools
import os
import shutil
import tempfile
import time

from carry_corpus import TIMED_OUT, materialise, put, run, touched
from carry_tools import apply_in_index, apply_on_disk, carry, score, state


def known_files(git, pairs, new):
    """{path: (its patches' names, its bytes at the end)}; the bytes are None where there is no such file."""
    last = new[-1][3]
    order = {n: i for i, (n, _, _, _) in enumerate(new)}
    ours, theirs = collections.defaultdict(list), collections.defaultdict(list)
    for name, _, before, after in new:
        for path in touched(git, before, after):
            theirs[path].append(order[name])
    for one, other, unchanged in pairs:
        for path in touched(git, one["before"], one["after"]):
            ours[path].append((one["name"], order[other["name"]] if unchanged else None))
    return {path: ([n for n, _ in patches], git.blob(last, path)) for path, patches in ours.items()
            if [i for _, i in patches] == theirs[path]}


def in_index(git, tool, job, work):
    index, tree = os.path.join(work, "index"), job["pin"]
    git.call("read-tree", tree, index=index)
    verdicts = {}
    for name, text in job["series"]:
        status, after = apply_in_index(git, tool, text, tree, work, job["limit"])
        verdicts[name] = status
        if status != 0:
            git.call("read-tree", tree, index=index)
        tree = after
    return verdicts, {p: d for p in job["paths"] if (d := git.blob(tree, p)) is not None}


def on_disk(git, tool, job, work):
    root = os.path.join(work, "root")
    materialise(git, job["pin"], job["paths"], root)
    verdicts, kept = {}, state(root, job["paths"])
    for name, text in job["series"]:
        verdicts[name] = apply_on_disk(tool, text, root, work, job["limit"])
        now = state(root, job["paths"])
        if verdicts[name] == 0:
            kept = now
            continue
        for path in job["paths"]:
            if path not in kept and path in now:
                os.remove(os.path.join(root, path))
            elif now.get(path) != kept.get(path):
                put(os.path.join(root, path), kept[path])
    return verdicts, kept


def with_quilt(git, tool, job, work):
    root = os.path.join(work, "root")
    materialise(git, job["pin"], job["paths"], root)
    for name, text in job["series"]:
        put(os.path.join(root, "patches", name), text)
    put(os.path.join(root, "patches/series"), "".join(n + "\n" for n, _ in job["series"]).encode())
    fuzz = ["--fuzz=0"] if tool.endswith("fuzz 0") else []
    env = dict(os.environ, QUILT_PATCHES="patches", LC_ALL="C")

    def quilt(*args):
        return run(["quilt", "--quiltrc", "/dev/null", *args], job["limit"], cwd=root, env=env)
    verdicts = {n: 0 for n, _ in job["series"]}
    while True:
        status = quilt("push", "-a", "-q", *fuzz).returncode
        left = quilt("next").stdout.decode().strip()
        if not left:
            return verdicts, state(root, job["paths"])
        name = os.path.basename(left)
        verdicts[name] = status or 1
        if quilt("delete", "-n").returncode != 0:
            raise RuntimeError("quilt delete")


def with_am(git, _, job, work):
    """On a commit of the whole pin: where a file is gone, git looks for one that it was renamed to. Only the patches'
    files are checked out: a mirror may lack others."""
    root = os.path.join(work, "root")
    env = {k: v for k, v in git.env.items() if k != "GIT_DIR"}

    def command(*args):
        return run(["git", *args], job["limit"], cwd=root, env=env)
    run(["git", "init", "-q", root], env=env)
    put(os.path.join(root, ".git/objects/info/alternates"), (git.env["GIT_DIR"] + "/objects\n").encode())
    put(os.path.join(root, ".git/info/sparse-checkout"), "".join(f"/{p}\n" for p in job["paths"]).encode())
    command("config", "core.sparseCheckout", "true")
    head = command("commit-tree", "-m", "pin", job["pin"] + "^{tree}").stdout.decode().strip()
    if command("reset", "-q", "--hard", head).returncode != 0:
        raise RuntimeError("no work tree")
    verdicts = {n: 0 for n, _ in job["series"]}
    names = [put(f"{work}/s/{n}", text) for n, text in job["series"]]
    status = command("am", "-q", "-3", *names).returncode
    while status != 0:
        try:
            with open(os.path.join(root, ".git/rebase-apply/next"), encoding="ascii") as at:
                name = job["series"][int(at.read()) - 1][0]
        except OSError:  # not even begun
            return {n: status for n in verdicts}, {}
        if verdicts[name] != 0:
            raise RuntimeError(f"git am cannot go on after {name}")
        verdicts[name] = status
        status = command("am", "-q", "--skip").returncode
    return verdicts, state(root, job["paths"])


def with_patcher(git, patcher, job, work):
    """The whole is refused if one is; what it says of each is kept, and it is run again without the refused ones."""
    materialise(git, job["base"], job["paths"], work + "/base")
    materialise(git, job["pin"], job["paths"], work + "/root")
    for name, text in job["series"]:
        put(f"{work}/s/{name}", text)
    names, first, verdicts = [n for n, _ in job["series"]], None, {}
    for attempt in itertools.count():
        if not names:
            break
        series = put(work + "/s/series", "".join(n + "\n" for n in names).encode())
        status, says, patches = carry(patcher, work + "/base", work + "/root", series, f"{work}/out{attempt}", job["limit"],
                                      (git.env["GIT_DIR"], job["pin"]))
        first = first or dict(says=says, outcomes={p["name"]: p["outcome"] for p in patches})
        if status == 0:
            break
        out = {p["name"] for p in patches if p["outcome"] == "needs a person"} or set(names)
        verdicts.update({n: status for n in out})
        names = [n for n in names if n not in out]
    verdicts = {n: verdicts.get(n, 0) for n, _ in job["series"]}
    return verdicts, state(work + "/root", job["paths"]), first


DRIVERS = {"git apply": in_index, "git apply -3": in_index, "git am -3": with_am, "patch": on_disk, "wiggle": on_disk,
           "quilt": with_quilt, "quilt fuzz 0": with_quilt}


def missing_programs(tools):
    return [t for t in tools if t in DRIVERS and not shutil.which(t.split()[0])]


def whole_series(git, patcher, tools, job, known, scratch, tell):
    """For each tool its verdict on each patch, and how many of the known files it leaves right and wrong."""
    out = {}
    for tool in tools:
        began, first = time.monotonic(), None
        with tempfile.TemporaryDirectory(dir=scratch) as work:
            if tool == "patcher":
                verdicts, files, first = with_patcher(git, patcher, job, work)
            else:
                verdicts, files = DRIVERS[tool](git, tool, job, work)
        took = time.monotonic() - began
        ends = collections.Counter()
        for path, (names, right) in known.items():
            if any(verdicts[n] != 0 for n in names):
                ends["refused"] += 1
                continue
            ends[score(0, {path: files.get(path, b"")}, {path: right or b""})] += 1
        statuses = list(verdicts.values())
        until = next((i for i, s in enumerate(statuses) if s != 0), len(statuses))
        out[tool] = dict(patches=len(statuses), whole=until == len(statuses), until=until,
                         carried=statuses.count(0), time=statuses.count(TIMED_OUT), files=ends, seconds=round(took, 1),
                         verdicts=verdicts, first=first)
        tell(f"{tool}: {statuses.count(0)} of {len(statuses)} carried, {until} before the first refusal, "
             f"known files {dict(ends)}, {took:.1f} s")
    return out
