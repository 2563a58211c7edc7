"""The cases of carry_history.py: what commits change, other versions of the files, and what is right there."""
import collections
import os
import random
import re
import tempfile

from carry_corpus import Git, put, run

SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cu", ".cuh")
AWAY = (5, 20, 50)
SIZES = range(1200, 420_000)
CHANGED = range(2, 81)
HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.M)


def lines_of(text):
    return text.splitlines(keepends=True) if b"\r" not in text else re.findall(rb"[^\n]*\n|[^\n]+", text)


def hunks_in(diff):
    """(start, count, start, count) of each hunk, from 0; an empty side starts before the line it has number of."""
    out = []
    for found in HUNK.finditer(diff):
        old, n_old, new, n_new = (int(x) if x is not None else 1 for x in found.groups())
        out.append((old - (n_old > 0), n_old, new - (n_new > 0), n_new))
    return out


class History(Git):
    """Every version of every C or C++ file along the first parents of HEAD."""

    def __init__(self, git_dir, scratch):
        super().__init__(git_dir, scratch)
        self.head = Git.call(self, "--git-dir", self.git_dir, "rev-parse", "HEAD").stdout.decode().strip()
        self.steps = {}

    def versions(self):
        """{path: [(commit, blob before, blob after), ...]}, oldest first."""
        log = self.text("log", "--first-parent", "-m", "--no-renames", "--raw", "--no-abbrev", "--reverse",
                        "--format=C %H", self.head)
        out, commit = collections.defaultdict(list), ""
        for line in log.split("\n"):
            if line.startswith("C "):
                commit = line[2:]
            elif line.startswith(":"):
                fields, path = line.split("\t")
                if path.endswith(SUFFIXES):
                    out[path].append((commit, *fields.split()[2:4]))
        return out

    def hunks(self, a, b, *options):
        return hunks_in(self.call("diff", "-U0", *options, a, b).stdout)

    def step(self, a, b):
        if (a, b) not in self.steps:
            self.steps[a, b] = self.hunks(a, b, "--histogram")
        return self.steps[a, b]


def follow(git, chain, wanted):
    """Where lines of the chain's first blob are in its last: {line: line}, without those that were changed."""
    at = {line: line for line in wanted}
    for a, b in zip(chain, chain[1:]):
        hunks, moved = git.step(a, b), {}
        for line, now in at.items():
            shift = 0
            for old, n_old, _, n_new in hunks:
                if now < old:
                    break
                if now < old + n_old:
                    shift = None
                    break
                shift += n_new - n_old
            if shift is not None:
                moved[line] = now + shift
        at = moved
    return at


def by_lines(git, chain, hunks, texts):
    """The chain's last version with the change of its first, given as hunks and (before, after, last); None where a
    hunk's place is not exact."""
    before, after, last = map(lines_of, texts)
    wanted = {x for old, n, _, _ in hunks for x in range(max(0, old - 1), min(len(before), old + n + 1))}
    at = follow(git, chain, wanted)
    out, done = [], 0
    for old, n_old, new, n_new in hunks:
        above = at.get(old - 1) if old else -1
        below = at.get(old + n_old) if old + n_old < len(before) else len(last)
        places = [at.get(x) for x in range(old, old + n_old)]
        start = places[0] if places else below
        if start is None or places != list(range(start, start + n_old)):
            return None
        if not (n_old and n_new) and (above is None or below is None or below != above + 1 + n_old):
            return None
        if start < done or last[start:start + n_old] != before[old:old + n_old]:
            return None
        out += last[done:start] + after[new:new + n_new]
        done = start + n_old
    return b"".join(out + last[done:])


def merge(work, ours, base, theirs):
    """What `git merge-file` makes of three texts; None with conflicts."""
    names = [put(os.path.join(work, n), t) for n, t in (("ours", ours), ("base", base), ("theirs", theirs))]
    done = run(["git", "merge-file", "-p", *names])
    return done.stdout if done.returncode == 0 else None


def later(git, versions, i, away, work):
    """(target, right) k changes after version i's, or None."""
    before, after = (git.blob(x) for x in versions[i][1:])
    last = git.blob(versions[i + away][2])
    merged = merge(work, last, after, before)
    if merged is not None and merge(work, merged, before, after) != last:
        merged = None
    chain = [v[2] for v in versions[i:i + away + 1]]
    lines = by_lines(git, chain, git.hunks(versions[i][2], versions[i][1]), (after, before, last))
    if merged is not None and lines is not None and merged != lines:
        return None
    target = merged if merged is not None else lines
    return (target, last) if target is not None else None


def earlier(git, versions, i, away, _):
    before, after = (git.blob(x) for x in versions[i][1:])
    first = git.blob(versions[i - away][1])
    chain = [v[1] for v in versions[i - away:i + 1]][::-1]
    right = by_lines(git, chain, git.hunks(*versions[i][1:]), (before, after, first))
    return (first, right) if right is not None else None


def nearness(diff, target):
    """far, near or copies, as carry_history.py has them."""
    target, worst = b"\n" + target + b"\n", "far"
    for part in re.split(rb"(?m)^@@[^\n]*\n", diff)[1:]:
        lines = b"\n" + b"".join(x[1:] for x in lines_of(part) if x[:1] in b" -")
        first = target.find(lines)
        if first < 0:
            return "near"
        if target.find(lines, first + 1) >= 0:
            worst = "copies"
    return worst


def draw(git, cases, seed, tell):
    """That many cases, evenly of each kind."""
    every = {path: v for path, v in git.versions().items() if len(v) > min(AWAY)}
    pool = sorted((path, i) for path, v in every.items() for i in range(len(v)))
    tell(f"{git.head[:12]}: {len(pool)} changes of {len(every)} files")
    kinds = [(make, away) for make in (later, earlier) for away in AWAY]
    out = []
    with tempfile.TemporaryDirectory() as work:
        for number, (make, away) in enumerate(kinds):
            order, commits, without, kind = pool[:], set(), 0, f"{make.__name__}, {away} changes"
            random.Random(f"{seed} {kind}").shuffle(order)
            quota = cases // len(kinds) + (number < cases % len(kinds))
            for path, i in order:
                if len(commits) == quota:
                    break
                case = one_draw(git, every[path], i, away, make, work)
                if case is None or every[path][i][0] in commits:
                    continue
                if case == "no answer":
                    without += 1
                    continue
                commits.add(every[path][i][0])
                out.append(dict(case, kind=kind, path=path, commit=every[path][i][0], number=len(out)))
            tell(f"{kind}: {len(commits)} cases, {without} draws without a right answer")
    for case in out:
        case["diff"] = git.call("diff", "--full-index", case["commit"] + "^", case["commit"], "--", case["path"]).stdout
        case["near"] = nearness(case["diff"], case["target"])
    return out


def one_draw(git, versions, i, away, make, work):
    """A case; "no answer"; or None where there is nothing that far away or the change is of another size."""
    span = range(i, i + away + 1) if make is later else range(i - away, i + 1)
    if span[0] < 0 or span[-1] >= len(versions) or any("0" * 40 in versions[x][1:] for x in span):
        return None
    commit, before, after = versions[i]
    if sum(n_old + n_new for _, n_old, _, n_new in git.hunks(before, after)) not in CHANGED:
        return None
    texts = [git.blob(x) for x in (before, after)]
    if any(x is None or len(x) not in SIZES or b"\0" in x for x in texts):
        return None
    made = make(git, versions, i, away, work)
    if made is None:
        return "no answer"
    if made[0] == texts[0] or made[0] == made[1]:  # no drift, or nothing to do
        return None
    return dict(before=texts[0], after=texts[1], target=made[0], right=made[1])
