#!/usr/bin/env python3
"""Times the patcher beside `git apply --check` and, where it is installed, GNU `patch --dry-run`, in one run; needs a
git binary, which nothing else here does.

    bench_patcher.py PATCHER [--runs N] [--history GIT_DIR]
    bench_patcher.py PATCHER --sizes [FACTOR]

1. the series of this repository over engine/, and its stored diffs given to git
2. a synthetic series of 300 patches over a tree of 2,000 files, and the same as diffs
3. drift over a synthetic history of 1,000 commits
4. with --history: drift over the last 1,000 commits of that (bare) repository, with seven patches on the seven C and
   C++ files of it that changed most

Prints the least and the median of N runs: process time (user and system), then wall time, in milliseconds.

With --sizes instead: one run each over growing inputs, made by this script: hunks in one patch, lines of a file,
patches over one file, patches over as many files; the same as diffs for `git apply --check`; and the other verbs on the
largest patch. Prints process time in seconds and peak memory in MiB. FACTOR makes all of it smaller or larger.
"""
import argparse
import collections
import os
import random
import resource
import shutil
import statistics
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def timed(command, stdin=None, want=0):
    """Process and wall time of one run, in ms."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    wall = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if want is not None and done.returncode != want:
        raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')[:2000]}")
    process = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return process * 1e3, wall * 1e3


def measure(name, command, runs, stdin=None, want=0):
    times = [timed(command, stdin, want) for _ in range(runs)]
    process, wall = zip(*times)
    print(f"{name:<58} {min(process):8.0f} {statistics.median(process):8.0f}"
          f" {min(wall):10.0f} {statistics.median(wall):8.0f}", flush=True)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def function(file, index, extra=""):
    return (f"// What step {index} of part {file} does.\n"
            f"int part_{file}_step_{index}(const State& state, int rows) {{\n"
            f"  int sum = {index};\n"
            f"  for (int row = 0; row < rows; ++row) {{\n"
            f"    if (state.row(row) > {file}) sum += state.row(row) * {index};\n"
            f"    sum ^= combine_{index}(sum, row);\n"
            f"  }}\n{extra}"
            f"  return finish_{file}(sum, rows);\n}}\n\n")


def source(file, functions=12):
    return f'#include "state.h"\n\nnamespace part_{file} {{\n\n' + "".join(
        function(file, i) for i in range(functions)) + "}  // namespace\n"


def patch(file, index, path):
    return (f"Subject: Check step {index} of part {file}\nWhy: To have something to place.\n\n"
            f"--- {path}\n+++ {path}\n@@ part_{file}_step_{index} @@\n"
            f"-    sum ^= combine_{index}(sum, row);\n"
            f"+    sum ^= combine_{index}(sum, row + 1);\n+    check(sum);\n")


def path_of(file):
    return f"src/part{file % 40}/file_{file}.cpp"


def concatenated(directory):
    names = sorted(n for n in os.listdir(directory) if n.endswith(".diff"))
    return b"".join(open(os.path.join(directory, n), "rb").read() for n in names)


def peers(name, tree, diffs, runs):
    """The same changes given to line-based tools. GNU patch's dry run judges each diff on the unchanged tree, so that
    a later one of the same file may fail: only its time is taken."""
    measure(f"{name}: git apply --check", ["git", "-C", tree, "apply", "--check", "-"], runs, diffs)
    if shutil.which("patch"):
        measure(f"{name}: patch --dry-run", ["patch", "-p1", "-d", tree, "--dry-run", "-s", "-f"], runs, diffs, want=None)


def series_of_this_repository(patcher, runs, scratch):
    tree = os.path.join(scratch, "engine")
    subprocess.run(["cp", "-r", os.path.join(ROOT, "engine"), tree], check=True)
    series = os.path.join(ROOT, "patches", "series")
    measure("this series, 7 patches: patcher check",
            [patcher, "check", "--root", tree, "--series", series], runs)
    peers("this series, 7 patches", tree, concatenated(os.path.join(ROOT, "patches", "diffs")), runs)


def synthetic_series(patcher, runs, scratch):
    tree = os.path.join(scratch, "tree")
    for file in range(2000):
        write(os.path.join(tree, path_of(file)), source(file))
    patches = os.path.join(scratch, "patches")
    names = []
    for i in range(300):
        file = (i * 7) % 250  # 50 files are patched twice
        names.append(f"{i:03}.patch")
        write(os.path.join(patches, names[-1]), patch(file, i % 12, path_of(file)))
    series = os.path.join(patches, "series")
    write(series, "\n".join(names) + "\n")
    diffs = os.path.join(scratch, "diffs")
    timed([patcher, "diff", "--root", tree, "--series", series, "--out-dir", diffs])
    measure("300 patches, 2,000 files: patcher check",
            [patcher, "check", "--root", tree, "--series", series], runs)
    peers("300 patches, 2,000 files", tree, concatenated(diffs), runs)


def fast_import(repository, commits, files):
    """A linear history: each commit edits three of the files, away from what the patches change."""
    rng = random.Random(1)
    lines = []

    def commit(number, changes):
        lines.append(f"commit refs/heads/main\ncommitter U <u@example.org> {1700000000 + number} +0000\n"
                     f"data 6\nstep {number % 10}\n".encode())
        for path, text in changes:
            data = text.encode()
            lines.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")

    commit(0, [(path_of(f), source(f, 40)) for f in range(files)])
    state = {f: {} for f in range(files)}
    for number in range(1, commits + 1):
        changes = []
        for file in rng.sample(range(files), 3):
            state[file][rng.randrange(12, 40)] = f"  note({number});\n"
            text = f'#include "state.h"\n\nnamespace part_{file} {{\n\n' + "".join(
                function(file, i, state[file].get(i, "")) for i in range(40)) + "}  // namespace\n"
            changes.append((path_of(file), text))
        commit(number, changes)
    subprocess.run(["git", "init", "-q", "--bare", repository], check=True)
    subprocess.run(["git", "-C", repository, "fast-import", "--quiet"], input=b"".join(lines), check=True)


def synthetic_history(patcher, runs, scratch):
    repository = os.path.join(scratch, "history.git")
    fast_import(repository, 1000, 60)
    patches = os.path.join(scratch, "few")
    names = [f"{i}.patch" for i in range(7)]
    for i, name in enumerate(names):
        write(os.path.join(patches, name), patch(i, i, path_of(i)))
    series = os.path.join(patches, "series")
    write(series, "\n".join(names) + "\n")
    measure("drift over 1,000 commits, 7 patches, 30 kB files",
            [patcher, "drift", "main~1000..main", "--root", repository, "--series", series], runs)


def real_history(patcher, repository, scratch, count=1000):
    def git(*arguments):
        done = subprocess.run(["git", "--git-dir", repository, *arguments], stdout=subprocess.PIPE, check=True)
        return done.stdout.decode(errors="replace")

    base = git("rev-parse", f"HEAD~{count}").strip()
    names = git("log", "--first-parent", "--name-only", "--format=", f"{base}..HEAD").split("\n")
    endings = (".c", ".cpp", ".cu", ".h", ".cuh")
    there = set(git("ls-tree", "-r", "--name-only", base).split("\n"))
    touched = collections.Counter(n for n in names if n.endswith(endings) and n in there)
    patches, sizes = [], []
    for path, _ in touched.most_common(200):
        text = git("show", f"{base}:{path}")
        lines = text.split("\n")
        seen = collections.Counter("".join(line.split()) for line in lines)
        calls = [l for l in lines if l.startswith("    ") and l.endswith(");") and len(l) > 40
                 and seen["".join(l.split())] == 1 and l.count("(") == l.count(")")]
        if not calls:
            continue
        call = calls[len(calls) // 2]
        patches.append(f"{len(patches)}.patch")
        sizes.append(len(text) // 1000)
        write(os.path.join(scratch, "real", patches[-1]),
              f"Subject: Change {path}\nWhy: To measure.\n\n--- {path}\n+++ {path}\n@@ file @@\n-{call}\n"
              f"+{call} measured();\n")
        if len(patches) == 7:
            break
    series = os.path.join(scratch, "real", "series")
    write(series, "\n".join(patches) + "\n")
    measure(f"drift, {count} real commits, 7 files of {min(sizes)}-{max(sizes)} kB",
            [patcher, "drift", f"{base}..HEAD", "--root", repository, "--series", series], 1, want=None)


def measured(command, stdin=None):
    """Process time in s and peak memory in MiB of one run, and its exit code."""
    with tempfile.TemporaryFile() as given:
        given.write(stdin or b"")
        given.seek(0)
        child = subprocess.Popen(command, stdin=given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, child.returncode


def sized_tree(scratch, lines, patches, hunks, files=1, ending="cpp", scoped=False):
    """A tree of `files` files of `lines` lines and a series whose patches share its steps evenly."""
    shutil.rmtree(scratch, ignore_errors=True)
    steps = lines // 10
    for file in range(files):
        write(os.path.join(scratch, "tree", f"f{file}.{ending}"), "".join(function(0, i) for i in range(steps)))
    names = []
    for p in range(patches):
        path = f"f{p % files}.{ending}"
        text = f"Subject: Change {p}\nWhy: To measure.\n\n--- {path}\n+++ {path}\n"
        for h in range(hunks):
            i = (p // files * hunks + h) * steps // (-(-patches // files) * hunks)
            text += (f"@@ {f'part_0_step_{i}' if scoped else 'file'} @@\n-    sum ^= combine_{i}(sum, row);\n"
                     f"+    sum ^= combine_{i}(sum, row + 1);\n+    check(sum);\n")
        names.append(f"{p:05}.patch")
        write(os.path.join(scratch, "patches", names[-1]), text)
    write(os.path.join(scratch, "patches", "series"), "\n".join(names) + "\n")
    return os.path.join(scratch, "tree"), os.path.join(scratch, "patches", "series")


def show(name, ours, git=None):
    row = f"| {name} | {ours[0]:.2f} | {ours[1]:,.0f} |"
    print(row + (f" {git[0]:.2f} | {git[1]:,.0f} |" if git else " | |"), flush=True)
    if ours[2] != 0 or (git and git[2] != 0):
        raise SystemExit(f"{name}: exit codes {ours[2]} and {git[2] if git else 0}")


def sizes(patcher, scratch, factor):
    def n(count):
        return max(1, int(count * factor))

    def row(name, *arguments, **options):
        tree, series = sized_tree(os.path.join(scratch, "sized"), *arguments, **options)
        ours = measured([patcher, "check", "--root", tree, "--series", series])
        diffs = os.path.join(scratch, "sized", "diffs")
        timed([patcher, "diff", "--root", tree, "--series", series, "--out-dir", diffs])
        show(name, ours, measured(["git", "-C", tree, "apply", "--check", "-"], concatenated(diffs)))

    print("| | patcher, s | MiB | git, s | MiB |\n|---|---:|---:|---:|---:|")
    for lines, hunks in ((10000, 100), (50000, 1000), (60000, 4000)):
        row(f"{n(lines):,} lines, {n(hunks):,} hunks", n(lines), 1, n(hunks))
    row("the same, each in its function", n(60000), 1, n(4000), scoped=True)
    for ending in ("cpp", "txt"):
        row(f"{n(1000000):,} lines (.{ending}), 10 hunks", n(1000000), 1, 10, ending=ending)
    for patches in (500, 1000, 2000):
        row(f"{n(patches):,} patches over one file of {n(20000):,} lines", n(20000), n(patches), 1)
    for patches in (1000, 2000, 4000):
        row(f"{n(patches):,} patches over as many files", 80, n(patches), 1, files=n(patches))
    tree, series = sized_tree(os.path.join(scratch, "sized"), n(60000), 1, n(4000))
    place = ["--root", tree, "--series", series]
    diffs = os.path.join(scratch, "diffs")
    hunks = f"{n(60000):,} lines, {n(4000):,} hunks: "
    show(hunks + "diff", measured([patcher, "diff", *place, "--out-dir", diffs]))
    diff = os.path.join(diffs, os.listdir(diffs)[0])
    show(hunks + "import", measured([patcher, "import", "--base", tree, "--out-dir", os.path.join(scratch, "made"), diff]))
    base = os.path.join(scratch, "base")
    shutil.copytree(tree, base)
    for name in os.listdir(tree):
        text = open(os.path.join(tree, name), encoding="utf-8").read()
        write(os.path.join(tree, name), text.replace("finish_0(sum, rows)", "finish_0(sum, rows, 1)"))
    show(hunks + "carry", measured([patcher, "carry", *place, "--base", base, "--out-dir", os.path.join(scratch, "carried")]))
    for verb in ("apply", "check", "revert"):
        show(hunks + ("check, applied" if verb == "check" else verb), measured([patcher, verb, *place]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patcher")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--history")
    parser.add_argument("--sizes", type=float, nargs="?", const=1.0, metavar="FACTOR")
    arguments = parser.parse_args()
    patcher = os.path.abspath(arguments.patcher)
    if arguments.sizes:
        with tempfile.TemporaryDirectory() as scratch:
            sizes(patcher, scratch, arguments.sizes)
        return
    print(f"{'':<58} {'process, ms':>17} {'wall, ms':>19}\n{'':<58} {'least':>8} {'median':>8} {'least':>10} {'median':>8}")
    with tempfile.TemporaryDirectory() as scratch:
        series_of_this_repository(patcher, arguments.runs, scratch)
        synthetic_series(patcher, max(1, arguments.runs // 3), scratch)
        synthetic_history(patcher, max(1, arguments.runs // 5), scratch)
        if arguments.history:
            real_history(patcher, arguments.history, scratch)


if __name__ == "__main__":
    main()
