"""The corpus of bench_carry.py: what became of ollama's patches each time that it moved its pin of llama.cpp."""
import collections
import functools
import os
import re
import signal
import subprocess

PIN_PATHS = ["Makefile.sync", "llama/vendoring", "LLAMA_CPP_VERSION", "llm/llama.cpp", "llm/llama.cpp/gguf",
             "llm/llama.cpp/ggml"]
PATCH_PATHS = ["llama/patches", "llama/compat", "llm/patches", "llm/llama.cpp/patches"]


TIMED_OUT = 124  # the exit status of a command that was ended at its limit, as timeout(1) has it


def run(command, limit=None, **options):
    """What subprocess.run returns; a command that takes longer than limit seconds is ended with its children."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
                          **options) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return subprocess.CompletedProcess(command, TIMED_OUT, b"", b"time")
        return subprocess.CompletedProcess(command, process.returncode, out, err)


class Git:
    """A bare repository; objects that are made here go to a scratch one beside it."""

    def __init__(self, git_dir, scratch):
        self.git_dir = os.path.abspath(git_dir)
        self.env = dict(os.environ, GIT_DIR=scratch or self.git_dir, GIT_CONFIG_NOSYSTEM="1", HOME="/nonexistent",
                        GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0="*",
                        LC_ALL="C")
        for who in ("AUTHOR", "COMMITTER"):
            self.env.update({f"GIT_{who}_NAME": "n", f"GIT_{who}_EMAIL": "e"})
        if scratch and not os.path.exists(scratch):
            run(["git", "init", "-q", "--bare", scratch])
            with open(os.path.join(scratch, "objects/info/alternates"), "w", encoding="utf-8") as out:
                out.write(os.path.join(self.git_dir, "objects") + "\n")
        # One process answers for all blobs: a process for each took most of the time.
        self.blobs = subprocess.Popen(["git", "cat-file", "--batch"], env=self.env, cwd=self.env["GIT_DIR"],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.blobs.stdin.close()
        self.blobs.stdout.close()
        self.blobs.wait()

    def call(self, *args, index=None, limit=None):
        env = dict(self.env, GIT_INDEX_FILE=index) if index else self.env
        return run(["git", *args], limit, env=env, cwd=self.env["GIT_DIR"])

    def text(self, *args):
        done = self.call(*args)
        return done.stdout.decode(errors="replace") if done.returncode == 0 else ""

    def blob(self, tree, path=None):
        """The bytes of a tree's file, or of a blob by its own name, or None. Not for several threads."""
        self.blobs.stdin.write((f"{tree}:{path}\n" if path else f"{tree}\n").encode())
        self.blobs.stdin.flush()
        head = self.blobs.stdout.readline()
        if head.endswith((b" missing\n", b" ambiguous\n")):
            return None
        _, kind, size = head.split()
        data = self.blobs.stdout.read(int(size) + 1)[:-1]
        return data if kind == b"blob" else None


class Upstream(Git):
    @functools.lru_cache(maxsize=None)
    def by_number(self, tag):
        """A release bN is the commit with N ancestors, itself included; tags may be absent."""
        if self.text("rev-parse", "-q", "--verify", f"refs/tags/{tag}"):
            return self.text("rev-parse", f"refs/tags/{tag}^{{commit}}").strip()
        head = int(self.text("rev-list", "--count", "HEAD"))
        commit = self.text("rev-parse", f"HEAD~{head - int(tag[1:])}").strip()
        return commit if self.text("rev-list", "--count", commit).strip() == tag[1:] else ""


def pin_of(ollama, upstream, commit):
    for path, pattern in (("Makefile.sync", r"^FETCH_HEAD=(\S+)"), ("llama/vendoring", r"LLAMACPP_BASE_COMMIT=(\S+)")):
        found = re.search(pattern, ollama.text("show", f"{commit}:{path}"), re.M)
        if found:
            return found[1]
    tag = ollama.text("show", f"{commit}:LLAMA_CPP_VERSION").strip()
    if tag:
        return upstream.by_number(tag)
    tree = ollama.text("ls-tree", commit, "llm/llama.cpp", "llm/llama.cpp/gguf")
    found = re.search(r"^160000 commit (\w+)\tllm/llama.cpp(/gguf)?$", tree, re.M)
    return found[1] if found else ""


def patches_of(ollama, commit):
    names = ollama.text("ls-tree", "-r", "--name-only", commit, *PATCH_PATHS).split()
    names = sorted(n for n in names if n.endswith((".patch", ".diff")))
    return [(os.path.basename(n), ollama.blob(commit, n)) for n in names]


def moves(ollama, upstream):
    """(commit, pin before, pin after) of each commit of the main branch that moved the pin, oldest first."""
    commits = ollama.text("log", "--first-parent", "--reverse", "--format=%H", "--", *PIN_PATHS).split()
    for commit in commits:
        before, after = (pin_of(ollama, upstream, c) for c in (commit + "^", commit))
        if before and after and before != after:
            yield commit, before, after


def applied(git, index, pin, patches):
    """What the maintainers made: (name, text, tree before, tree after) of each patch that applies, in order."""
    out = []
    git.call("read-tree", pin, index=index)
    tree = git.call("write-tree", index=index).stdout.decode().strip()
    for name, text in patches:
        done = git.call("apply", "--cached", put(index + ".patch", text), index=index)
        if done.returncode != 0:
            done = git.call("apply", "-3", "--cached", index + ".patch", index=index)
        after = git.call("write-tree", index=index).stdout.decode().strip()  # none with conflicts in the index
        if done.returncode != 0 or not after:
            git.call("read-tree", tree, index=index)
            continue
        if after != tree:
            out.append((name, text, tree, after))
        tree = after
    return out


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)
    return path


def change_of(git, before, after):
    """The added and removed lines of each file."""
    out = collections.defaultdict(list)
    name = None
    for line in git.text("diff", "--no-renames", "-U0", before, after).split("\n"):
        if line.startswith("diff --git "):
            name = line
        elif line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- ")):
            out[name].append(line)
    return {k: tuple(v) for k, v in out.items()}


def touched(git, before, after):
    return git.text("diff", "--no-renames", "--name-only", before, after).split("\n")[:-1]


def slug(name):
    return re.sub(r"^[0-9]+-|\.(patch|diff)$", "", name)


def cases_of(git, old, new):
    """Pairs of a patch before and after a move: unchanged ones by what they change, else by name."""
    free = [dict(name=n, text=t, before=b, after=a, change=change_of(git, b, a)) for n, t, b, a in new]
    pairs = []
    for name, text, before, after in old:
        one = dict(name=name, text=text, before=before, after=after, change=change_of(git, before, after))
        same = [f for f in free if f["change"] == one["change"]]
        same.sort(key=lambda f: slug(f["name"]) != slug(name))
        if same:
            free.remove(same[0])
            pairs.append((one, same[0], True))
        else:
            pairs.append((one, None, False))
    for i, (one, other, _) in enumerate(pairs):
        if other is None:
            named = [f for f in free if slug(f["name"]) == slug(one["name"])]
            if named:
                free.remove(named[0])
                pairs[i] = (one, named[0], False)
    return pairs


def materialise(git, tree, paths, root):
    for path in paths:
        data = git.blob(tree, path)
        if data is not None:
            put(os.path.join(root, path), data)
    os.makedirs(root, exist_ok=True)


def lost_anywhere(git, one, pin_before, pin_after):
    """Names in the added lines that upstream had before the move and has nowhere after it."""
    lines = [line[1:] for part in one["change"].values() for line in part if line[0] == "+"]
    names = {n for line in lines for n in re.findall(r"[A-Za-z_]\w{4,}", re.sub(r"//.*|\"[^\"]*\"", "", line))}

    def there(name, pin):
        return git.call("grep", "-q", "-w", "-F", name, pin, "--", "*.c", "*.cpp", "*.h", "*.cu", "*.cuh", "*.m",
                        "*.metal").returncode == 0
    return sorted(n for n in names if not there(n, pin_after) and there(n, pin_before))

