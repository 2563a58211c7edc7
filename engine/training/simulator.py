"""The tool environment: list_dir, read_file, replace and run_tests over an in-memory project.

A project is a map from path to text and nothing else; everything the tools say follows from it.
Source files are a small subset of Python:

    import MODULE            a module is the .py file of that name, wherever it lies
    NAME = LITERAL           a constant, at the start of a line
    NAME = MODULE.NAME       a constant taken from another module
    assert MODULE.NAME == LITERAL    in files named test_*.py

Replies are plain text; a reply that begins with `error:` is an error.
"""

import re
from dataclasses import dataclass, field

TOOL_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "list_dir": ("path",),
    "read_file": ("path",),
    "replace": ("path", "old", "new"),
    "run_tests": (),
}

MAX_REFERENCE_DEPTH = 16

_IMPORT = re.compile(r"^import (\w+)$", re.M)
_CONSTANT = re.compile(r"^(\w+) = (.+)$", re.M)
_ASSERT = re.compile(r"^assert (\w+)\.(\w+) == (.+)$", re.M)
_REFERENCE = re.compile(r"\b([a-z]\w*)\.([a-z]\w*)\b")


@dataclass
class Edit:
    """A change made by somebody else: `old` becomes `new` in `path`."""

    path: str
    old: str
    new: str


@dataclass
class Environment:
    """A project under the four tools.

    `edits_after_read` maps a path to an edit that strikes right after the first successful read of
    that path: somebody else works on the project, too.
    """

    files: dict[str, str]
    read_only: set[str] = field(default_factory=set)
    brief_tests: bool = False  # failing tests are named without values
    edits_after_read: dict[str, Edit] = field(default_factory=dict)

    def execute(self, name: str, arguments: dict[str, str]) -> str:
        """Runs one call; REQUIRES: `name` and `arguments` agree with TOOL_ARGUMENTS."""
        return getattr(self, name)(**arguments)

    def apply(self, edit: Edit) -> None:
        """Makes somebody else's change; REQUIRES: `old` occurs once."""
        assert self.files[edit.path].count(edit.old) == 1, edit
        self.files[edit.path] = self.files[edit.path].replace(edit.old, edit.new)

    def list_dir(self, path: str) -> str:
        prefix = "" if path in (".", "") else path.rstrip("/") + "/"
        inside = [p[len(prefix) :] for p in self.files if p.startswith(prefix)]
        if not inside:
            return f"error: no such directory: {path}"
        entries = {p.split("/")[0] + ("/" if "/" in p else "") for p in inside}
        return "\n".join(sorted(entries))

    def read_file(self, path: str) -> str:
        if path not in self.files:
            return f"error: no such file: {path}"
        text = self.files[path]
        edit = self.edits_after_read.pop(path, None)
        if edit:
            self.apply(edit)
        return text

    def replace(self, path: str, old: str, new: str) -> str:
        if path not in self.files:
            return f"error: no such file: {path}"
        if path in self.read_only:
            return f"error: {path} is read-only"
        count = self.files[path].count(old) if old else 0
        if count == 0:
            return f"error: text not found in {path}"
        if count > 1:
            return f"error: text occurs {count} times in {path}"
        self.files[path] = self.files[path].replace(old, new)
        return f"ok: 1 replacement in {path}"

    def run_tests(self) -> str:
        errors, failures, passed = [], [], 0
        for path in sorted(self.files):
            errors += [f"ERROR {path}: {what}" for what in self._unresolved(path)]
            for module, name, expected in self._asserts(path):
                value = self.value(module, name)
                if value == expected:
                    passed += 1
                elif value is not None:
                    where = f": got {value} from `{self.module_path(module)}`, expected {expected}"
                    detail = "" if self.brief_tests else where
                    failures.append(f"FAIL {path} ({module}.{name}){detail}")
        failed = len(errors) + len(failures)
        return "\n".join([*errors, *failures, f"{passed} passed, {failed} failed"])

    def module_path(self, module: str) -> str | None:
        """Where the module's file lies, or None."""
        name = module + ".py"
        return next((p for p in sorted(self.files) if p.split("/")[-1] == name), None)

    def value(self, module: str, name: str, depth: int = 0) -> str | None:
        """The constant's literal, followed through other modules; None if it has none."""
        path = self.module_path(module)
        if path is None or depth > MAX_REFERENCE_DEPTH:
            return None
        expression = dict(_CONSTANT.findall(self.files[path])).get(name)
        reference = _REFERENCE.fullmatch(expression) if expression else None
        return self.value(*reference.groups(), depth + 1) if reference else expression

    def _asserts(self, path: str) -> list[tuple[str, str, str]]:
        is_test = path.split("/")[-1].startswith("test_") and path.endswith(".py")
        return _ASSERT.findall(self.files[path]) if is_test else []

    def _unresolved(self, path: str) -> list[str]:
        """What the file uses and the project lacks, each once, in the order of use."""
        if not path.endswith(".py"):
            return []
        imported = _IMPORT.findall(self.files[path])
        missing = [f"no module {m}" for m in imported if self.module_path(m) is None]
        code = [line for line in self.files[path].split("\n") if not line.startswith("#")]
        for module, name in _REFERENCE.findall("\n".join(code)):
            home = self.module_path(module) if module in imported else None
            if home and name not in dict(_CONSTANT.findall(self.files[home])):
                missing.append(f"{module}.{name} is not defined")
        return list(dict.fromkeys(missing))
