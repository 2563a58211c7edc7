"""The demonstrator: plays the assistant's side of an agent session.

It acts only on what the conversation shows, so that a model can learn to do the same. It works in
steps: run the tests, take the first failure, find the file, read it, change one line, run the tests
again. A step trusts nothing that was seen before it, since others work on the project, too. A fault
that cannot be mended is reported plainly.
"""

import re

from conversation import Call, Message
from projects import DOC_DIRS, TEST_DIRS, reference
from simulator import Environment

_FAIL = re.compile(r"FAIL (\S+) \((\w+)\.(\w+)\)(?:: got .+ from `(.+)`, expected (.+))?$")
_UNDEFINED = re.compile(r"ERROR (\S+): (\w+)\.(\w+) is not defined")
_NO_MODULE = re.compile(r"ERROR (\S+): no module (\w+)")


class GivesUp(Exception):
    """The fault cannot be mended; the text says why."""


class Unclear(Exception):
    """The made-up request has no single right course; the session is drawn anew."""


def quoted(items: list[str]) -> str:
    """`a`, `b` and `c`"""
    ticks = [f"`{item}`" for item in items]
    return ticks[0] if len(ticks) == 1 else ", ".join(ticks[:-1]) + " and " + ticks[-1]


class Expert:
    """The assistant of one session. Appends to `messages` what it says and what the tools reply."""

    def __init__(self, environment: Environment, messages: list[Message]):
        self.environment = environment
        self.messages = messages
        self.last_change = "I have not changed anything."
        self._begin()

    # Requests: one method for each kind of user message; the message itself is in `messages`.

    def fix(self) -> None:
        """Makes the failing tests pass."""
        self._attempt(lambda: self._repair(renamed=None))

    def set_value(self, path: str, name: str, value: str) -> None:
        """Gives the constant `name` in `path` (perhaps a wrong path) the value `value`."""

        def work() -> str:
            found = self._open(path)
            self._change(found, name, value)
            return self._repair(renamed=None) + self._moved(path, found)

        self._attempt(work)

    def rename(self, path: str | None, module: str, name: str, new: str) -> None:
        """Renames a constant and all its uses; `path`, perhaps wrong, is what the user gave."""

        def work() -> str:
            found = self._open(path) if path else self._read_module(module)
            line = self._definition(found, self._read(found), name)
            self._replace(found, line, f"{new} = " + line.split(" = ", 1)[1])
            self._touched = [found]
            tail = self._repair(renamed=(module, name, new))
            self.last_change = f"I renamed `{module}.{name}` to `{module}.{new}`."
            done = f"`{module}.{name}` is now `{module}.{new}` in {quoted(self._touched)}."
            return f"Done: {done}" + tail + self._moved(path, found)

        self._attempt(work)

    def look_up(self, path: str, name: str) -> None:
        """Says what `path` gives for `name`."""

        def work() -> str:
            found = self._open(path)
            line = self._definition(found, self._read(found), name)
            return f"`{found}` says `{line}`." + self._moved(path, found)

        self._attempt(work)

    def check(self) -> None:
        """Says whether the tests pass."""
        self._run_tests()
        self._say(("Yes: " if self._summary.endswith(" 0 failed") else "No: ") + self._summary + ".")

    def list_files(self, path: str) -> None:
        """Says what a folder holds."""
        self._say(f"`{path}` holds {quoted(self._list(path))}.")

    def recall_change(self) -> None:
        """Says what it changed last."""
        self._say(self.last_change)

    def small_talk(self, answer: str) -> None:
        self._say(answer)

    # The course of one request.

    def _begin(self) -> None:
        self._begin_step()
        self._changes: list[str] = []
        self._changed: set[tuple[str, str]] = set()
        self._touched: list[str] = []
        self._summary = ""

    def _begin_step(self) -> None:
        self._texts: dict[str, str] = {}  # files read in this step
        self._listings: dict[str, list[str]] = {}  # folders listed in this step and what they hold

    def _attempt(self, work) -> None:
        self._begin()
        try:
            self._say(work())
        except GivesUp as reason:
            still = f" The tests still fail: {self._summary}." if self._summary else ""
            self._say(f"I could not do this: {reason}.{still}")

    def _repair(self, renamed: tuple[str, str, str] | None) -> str:
        """Runs the tests and mends the first failure until none is left; returns the report."""
        for _ in range(10):
            first = self._run_tests()
            if self._summary.endswith(" 0 failed"):
                break
            if match := _FAIL.match(first):
                self._mend_value(*match.groups())
            elif match := _UNDEFINED.match(first):
                self._mend_use(*match.groups(), renamed)
            elif match := _NO_MODULE.match(first):
                self._miss_module(*match.groups())
        else:
            raise Unclear("too many failures")
        passed = f" All {self._summary.split()[0]} tests pass."
        if renamed:
            return passed
        return f"Done: I changed {' and '.join(self._changes)}." + passed

    def _mend_value(
        self, test: str, module: str, name: str, path: str | None, expected: str | None
    ) -> None:
        """Changes the constant that the test found wrong; a brief test names no path and no value."""
        if (module, name) in self._changed:
            raise GivesUp(f"the tests contradict each other about `{module}.{name}`")
        self._changed.add((module, name))
        if expected is None:
            found = re.search(rf"^assert {module}\.{name} == (.+)$", self._read(test), re.M)
            expected = found.group(1)
        path = path or self._read_module(module)
        line = self._definition(path, self._read(path), name)
        while source := reference(line):
            module, name = source
            path = self._read_module(module, f"It says `{line}`. ")
            line = self._definition(path, self._read(path), name)
        self._change(path, name, expected)

    def _mend_use(
        self, path: str, module: str, name: str, renamed: tuple[str, str, str] | None
    ) -> None:
        """Renames the first use in `path`; further uses fail the next run of the tests.

        The text replaced runs from the use to the end of its line, which tells it from others.
        """
        if renamed is None or renamed[:2] != (module, name):
            home = self._read_module(module)
            raise GivesUp(f"`{path}` uses `{module}.{name}`, but `{home}` does not define it")
        use = re.compile(rf"\b{module}\.{name}\b")
        lines = [t for t in self._read(path).split("\n") if not t.startswith("#")]
        old = next(t[match.start() :] for t in lines if (match := use.search(t)))
        self._replace(path, old, use.sub(f"{module}.{renamed[2]}", old))
        if path not in self._touched:
            self._touched.append(path)

    def _miss_module(self, path: str, module: str) -> None:
        try:
            self._locate(module)
        except GivesUp:
            raise GivesUp(f"`{path}` needs `{module}`, and there is no `{module}.py`") from None
        raise Unclear("the module is there")

    # Steps.

    def _open(self, path: str) -> str:
        """Reads the file that the user named, looking for it elsewhere if it is not there."""
        reply = self._call("read_file", path=path)
        if not reply.startswith("error:"):
            self._texts[path] = reply
            return path
        module = path.split("/")[-1].removesuffix(".py")
        return self._read_module(module, f"`{path}` does not exist. ")

    def _change(self, path: str, name: str, value: str) -> None:
        line = self._definition(path, self._read(path), name)
        new = f"{name} = {value}"
        if line == new:
            raise Unclear("nothing to change")
        if not self._replace(path, line, new, f"It says `{line}`."):
            line = self._definition(path, self._read(path), name)
            if not self._replace(path, line, new, f"It says `{line}`."):
                raise Unclear("changed twice meanwhile")
        old = line.split(" = ", 1)[1]
        self._changes.append(f"`{name}` in `{path}` from {old} to {value}")
        self.last_change = f"I changed {self._changes[-1]}."

    def _definition(self, path: str, text: str, name: str) -> str:
        line = next((t for t in text.split("\n") if t.startswith(f"{name} = ")), None)
        if line is None:
            raise GivesUp(f"`{path}` does not define `{name}`")
        return line

    def _locate(self, module: str, remark: str = "") -> str:
        """The folder that holds the module, listing one after the other."""
        while folder := self._unlisted("."):
            if f"{module}.py" in self._list(folder, remark + f"I need `{module}.py`."):
                return folder
            remark = ""
        raise GivesUp(f"there is no `{module}.py`")

    def _unlisted(self, folder: str) -> str | None:
        """The first folder not listed yet, depth first from `folder`; tests and notes are left out."""
        if folder not in self._listings:
            return folder
        for entry in self._listings[folder]:
            name = entry.rstrip("/")
            if name == entry or name in TEST_DIRS or name in DOC_DIRS:
                continue
            inner = self._unlisted(name if folder == "." else f"{folder}/{name}")
            if inner:
                return inner
        return None

    def _moved(self, named: str | None, found: str) -> str:
        return f" The file is `{found}`, not `{named}`." if named and named != found else ""

    def _list(self, path: str, remark: str = "") -> list[str]:
        self._listings[path] = self._call("list_dir", remark, path=path).split("\n")
        return self._listings[path]

    def _read(self, path: str, remark: str = "") -> str:
        if path not in self._texts:
            self._texts[path] = self._call("read_file", remark, path=path)
        return self._texts[path]

    def _read_module(self, module: str, remark: str = "") -> str:
        """Finds and reads the module, saying where it is; returns its path."""
        folder = self._locate(module, remark)
        path = f"{folder}/{module}.py"
        self._read(path, f"`{module}.py` is in `{folder}`.")
        return path

    def _replace(self, path: str, old: str, new: str, remark: str = "") -> bool:
        """False if the file changed meanwhile; it has then been read again."""
        reply = self._call("replace", remark, path=path, old=old, new=new)
        if reply.endswith("is read-only"):
            raise GivesUp(f"`{path}` is read-only")
        if reply.startswith("error: text not found"):
            del self._texts[path]
            self._read(path, f"`{path}` has changed meanwhile. I will read it again.")
            return False
        if reply.startswith("error:"):
            raise Unclear(reply)
        return True

    def _run_tests(self) -> str:
        """Begins a step; returns the first line of the reply and keeps the last one."""
        self._begin_step()
        lines = self._call("run_tests").split("\n")
        self._summary = lines[-1]
        return lines[0]

    def _call(self, name: str, remark: str = "", **arguments: str) -> str:
        self.messages.append(Message("assistant", remark + Call(name, arguments).render()))
        reply = self.environment.execute(name, arguments)
        self.messages.append(Message("tool", reply))
        return reply

    def _say(self, text: str) -> None:
        self.messages.append(Message("assistant", text))
