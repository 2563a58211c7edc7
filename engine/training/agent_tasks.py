"""Agent sessions: fix, rename, recover and unfixable, after a history of other requests.

A session is made turn by turn: a request is drawn for the project as it then stands, the expert
carries it out, and the difference it made becomes the turn's goal.
"""

import random
import re

from conversation import Message, tool_lines
from expert import Expert, Unclear
from instances import Demonstration, Goal, Instance, Turn, begin_turn
from names import Names, other_literal
from projects import Project, changed_literal, constant_line, draw_project, reference
from simulator import TOOL_ARGUMENTS, Edit
from small_talk import talk

AGENT_TASKS = ("fix", "rename", "recover", "unfixable")
MAX_CHARACTERS = 9600  # of a session; the tokenizer needs under 0.42 tokens a character, so 4 k tokens

SYSTEM = (
    "You work on the project `{}`. Use the tools; read a file before you change it.\nTools:\n{}",
    "You are the assistant of the project `{}`. These are your tools:\n{}",
    "Project: `{}`. You repair and change code with these tools, one call at a time:\n{}",
    "You help with `{}`. Never claim what the tools did not show. Tools:\n{}",
    "`{}` is the project at hand. Answer briefly. You may call:\n{}",
)
FIX = (
    "The tests fail. Please fix that.",
    "Some tests of `{project}` are red. Make them green.",
    "Please repair the failing tests.",
    "Run the tests and fix what fails.",
    "Something broke since yesterday. Find it and fix it.",
    "A colleague changed some values and now the tests fail. Mend it.",
    "The tests should pass again. Can you see to it?",
)
FIX_MODULE = (
    "`{module}` fails its tests. Please fix it.",
    "The tests of `{module}` are red. What is wrong? Fix it.",
    "Repair `{module}`, its tests fail.",
)
RENAME_PATH = (
    "Rename `{name}` in `{path}` to `{new}`.",
    "In `{path}`, rename `{name}` to `{new}`, everywhere it is used.",
    "`{name}` in `{path}` needs a better name: `{new}`. Change all uses.",
)
RENAME_MODULE = (
    "Rename `{module}.{name}` to `{module}.{new}`.",
    "Please call `{module}.{name}` `{new}` from now on, in all files.",
    "I want `{module}.{name}` to be named `{new}` everywhere.",
)
SET = (
    "In `{path}`, set `{name}` to {value}.",
    "Set `{name}` in `{path}` to {value}. I have updated the tests.",
    "Change `{name}` to {value} in `{path}`, please.",
    "`{name}` in `{path}` must be {value} from now on; the tests know it.",
)
LOOK_UP = (
    "What is `{name}` in `{path}`?",
    "Which value does `{path}` give to `{name}`?",
    "Look up `{name}` in `{path}`.",
)
CHECK = ("Do the tests pass?", "Are the tests green?", "Run the tests and tell me the result.")
LIST = ("Which files are in `{}`?", "What does `{}` hold?", "List `{}`.")
RECALL = ("What did you change last?", "Remind me of your last change.", "What was your last change?")


class Session:
    """One session under construction. Each request method adds a turn."""

    def __init__(self, rng: random.Random, task: str, held_out: bool):
        self.rng = rng
        self.names = Names(rng, held_out)
        self.project: Project = draw_project(rng, self.names, rng.choice((3, 4, 4, 5, 6, 8)))
        tools = rng.sample(list(TOOL_ARGUMENTS), len(TOOL_ARGUMENTS))
        system = rng.choice(SYSTEM).format(self.project.name, tool_lines(tools))
        self.instance = Instance(
            task, system, [], dict(self.project.files), brief_tests=rng.random() < 0.25
        )
        self.environment = self.instance.environment()
        self.messages = [Message("system", system)]
        self.expert = Expert(self.environment, self.messages)

    # The four tasks.

    def fix(self) -> None:
        """One to three wrong values."""
        edits, asserted = self._faults(self.rng.choice((1, 1, 1, 2, 2, 3)))
        if self.rng.random() < 0.3:
            module = asserted[0]
            text = self.rng.choice(FIX_MODULE).format(module=module)
        else:
            text = self._fix_text()
        self._turn(Turn(text, edits), self.expert.fix)

    def rename(self) -> None:
        module, name = self._constant(used=True)
        new = self.names.symbol()
        path = self._path(module) if self.rng.random() < 0.6 else None
        form = self.rng.choice(RENAME_PATH if path else RENAME_MODULE)
        text = form.format(module=module, name=name, new=new, path=path)
        self._turn(Turn(text), lambda: self.expert.rename(path, module, name, new))
        self._renamed(module, name, new)

    def recover(self) -> None:
        """A request with a wrong path, or a file that somebody changes while the agent works."""
        kind = self.rng.choice(("path", "path", "moved rename", "moved look-up", "changed", "changed"))
        if kind == "path":
            self.set_value(wrong_path=True, changed=self.rng.random() < 0.2)
        elif kind == "moved look-up":
            self.look_up(wrong_path=True)
        elif kind == "changed":
            self.set_value(changed=True)
        else:
            module, name = self._constant(used=True)
            path, new = self._wrong_path(module), self.names.symbol()
            text = self.rng.choice(RENAME_PATH).format(name=name, new=new, path=path)
            self._turn(Turn(text), lambda: self.expert.rename(path, module, name, new))
            self._renamed(module, name, new)

    def unfixable(self) -> None:
        """A fault that nothing at hand can mend; sometimes after one that can be."""
        draw = self.rng.choice(
            (self._read_only, self._no_module, self._undefined, self._contradiction, self._no_name)
        )
        draw()

    # Lesser requests, which fill the history.

    def set_value(self, wrong_path: bool = False, changed: bool = False) -> None:
        module, name = self._constant(literal=True)
        line = constant_line(self.environment, module, name)
        new = changed_literal(self.rng, self.names, line)
        path = self._path(module)
        meanwhile = []
        if changed:
            between = changed_literal(self.rng, self.names, line)
            if between == new:
                raise Unclear("no change")
            meanwhile = [self._line_edit(path, line, between)]
        old_value, value = line.split(" = ", 1)[1], new.split(" = ", 1)[1]
        edits = self._test_edits(module, name, old_value, value)
        named = self._wrong_path(module) if wrong_path else path
        text = self.rng.choice(SET).format(path=named, name=name, value=value)
        turn = Turn(text, edits, edits_after_read=meanwhile)
        self._turn(turn, lambda: self.expert.set_value(named, name, value))

    def look_up(self, wrong_path: bool = False) -> None:
        module, name = self._constant()
        path = self._wrong_path(module) if wrong_path else self._path(module)
        text = self.rng.choice(LOOK_UP).format(name=name, path=path)
        self._turn(Turn(text), lambda: self.expert.look_up(path, name))

    def check(self) -> None:
        self._turn(Turn(self.rng.choice(CHECK)), self.expert.check)

    def list_files(self) -> None:
        folders = {p.rsplit("/", 1)[0] for p in self.environment.files if "/" in p}
        path = self.rng.choice(sorted(folders))
        text = self.rng.choice(LIST).format(path)
        self._turn(Turn(text), lambda: self.expert.list_files(path))

    def recall_change(self) -> None:
        self._turn(Turn(self.rng.choice(RECALL)), self.expert.recall_change)

    def small_talk(self) -> None:
        user, answer = talk(self.rng, self.project.name)
        self._turn(Turn(user), lambda: self.expert.small_talk(answer))

    # Faults that cannot be mended.

    def _read_only(self) -> None:
        edits, asserted = self._faults(1)
        path = edits[0].path
        self._turn(Turn(self._fix_text(), edits, read_only=[path]), self.expert.fix)

    def _no_module(self) -> None:
        module, name = self._constant(literal=True)
        missing = self.names.word()
        path, line = self._path(module), constant_line(self.environment, module, name)
        uses = self._line_edit(path, line, f"{name} = {missing}.{self.names.symbol()}")
        heading = self.environment.files[path].split("\n")[0]
        imports = Edit(path, heading + "\n", f"{heading}\nimport {missing}\n")
        self._turn(Turn(self._fix_text(), [uses, imports]), self.expert.fix)

    def _undefined(self) -> None:
        """A use of a constant whose definition somebody deleted."""
        module, name = self._constant(used=True)
        path, line = self._path(module), constant_line(self.environment, module, name)
        gone = Edit(path, f"\n{line}\n", "\n")
        if self.environment.files[path].count(gone.old) != 1:
            raise Unclear("line is not alone")
        self._turn(Turn(self._fix_text(), [gone]), self.expert.fix)

    def _contradiction(self) -> None:
        module, name = self._constant()
        own = self.project.asserted[(module, name)]
        others = sorted({t for t in self.project.asserted.values() if t > own})
        if not others:
            raise Unclear("no second test")
        test = self.rng.choice(others)
        value = self.environment.value(module, name)
        if self._dependants(*self._source(module, name)) != [(module, name)]:
            raise Unclear("others depend on it")
        wrong = other_literal(self.rng, self.names, value)
        first, second = (own, test) if self.rng.random() < 0.5 else (test, own)
        addition = f"assert {module}.{name} == {value if first == own else wrong}\n"
        edits = [Edit(test, "\n\n", f"\nimport {module}\n\n{addition}")]
        if first == own:
            edits.append(self._line_edit(own, *self._asserts(module, name, value, wrong)))
        self._turn(Turn(self._fix_text(), edits), self.expert.fix)

    def _no_name(self) -> None:
        """A request about a module or a constant that does not exist."""
        module, _ = self._constant()
        name, value = self.names.symbol(), other_literal(self.rng, self.names, "0")
        path = self._path(module)
        if self.rng.random() < 0.5:
            path = f"{path.rsplit('/', 1)[0]}/{self.names.word()}.py"
        text = self.rng.choice(SET).format(path=path, name=name, value=value)
        self._turn(Turn(text), lambda: self.expert.set_value(path, name, value))

    # Parts.

    def _turn(self, turn: Turn, act) -> None:
        """Lets the expert answer the turn and derives the goal from what it did."""
        begin_turn(self.environment, turn)
        self.instance.turns.append(turn)
        self.messages.append(Message("user", turn.user))
        before = dict(self.environment.files)
        planned = {e.path for e in turn.edits_after_read}
        act()
        after = self.environment.files
        turn.goal = Goal(
            says=key_phrases(self.messages[-1].content),
            files={p: t for p, t in after.items() if t != before[p] or p in planned},
        )

    def _constant(self, literal: bool = False, used: bool = False) -> tuple[str, str]:
        """A tested constant; `literal`: with a value of its own; `used`: another source uses it."""
        choices = []
        for module, name in self.project.constants(self.environment):
            is_literal = reference(constant_line(self.environment, module, name)) is None
            if (is_literal or not literal) and (not used or self._users(module, name)):
                choices.append((module, name))
        if not choices:
            raise Unclear("no such constant")
        return self.rng.choice(choices)

    def _users(self, module: str, name: str) -> list[str]:
        """The source files that use the constant."""
        tests = set(self.project.asserted.values())
        use = f"{module}.{name}"
        lines = {p: t.replace("\n", " ").split(" ") for p, t in self.environment.files.items()}
        return [p for p, words in lines.items() if p.endswith(".py") and p not in tests and use in words]

    def _faults(self, count: int) -> tuple[list[Edit], tuple[str, str]]:
        """Edits that spoil so many constants, and one constant that then fails its test."""
        edits: dict[tuple[str, str], Edit] = {}
        first = None
        for _ in range(count):
            constant = self._constant()
            first = first or constant
            module, name = self._source(*constant)
            line = constant_line(self.environment, module, name)
            new = changed_literal(self.rng, self.names, line)
            edits[(module, name)] = self._line_edit(self._path(module), line, new)
        return list(edits.values()), first

    def _test_edits(self, module: str, name: str, old: str, new: str) -> list[Edit]:
        """Edits that make all tests expect `new`, also of constants taken from this one."""
        return [
            self._line_edit(self.project.asserted[constant], *self._asserts(*constant, old, new))
            for constant in self._dependants(module, name)
        ]

    def _dependants(self, module: str, name: str) -> list[tuple[str, str]]:
        """The tested constants whose value is this one's, itself among them."""
        constants = self.project.constants(self.environment)
        return [c for c in constants if self._source(*c) == (module, name)]

    def _source(self, module: str, name: str) -> tuple[str, str]:
        """The constant that holds the literal behind this one."""
        source = reference(constant_line(self.environment, module, name))
        return self._source(*source) if source else (module, name)

    def _asserts(self, module: str, name: str, old: str, new: str) -> tuple[str, str]:
        return f"assert {module}.{name} == {old}", f"assert {module}.{name} == {new}"

    def _line_edit(self, path: str, old: str, new: str) -> Edit:
        """A whole line's change that cannot be mistaken for another place."""
        text = self.environment.files[path]
        if text.count(old) != 1 or f"{old}\n" not in text or text.count(new) != 0:
            raise Unclear("ambiguous line")
        return Edit(path, old, new)

    def _path(self, module: str) -> str:
        return self.environment.module_path(module)

    def _wrong_path(self, module: str) -> str:
        """Another folder, or a folder that does not exist."""
        right = self._path(module)
        folders = {p.rsplit("/", 1)[0] for p in self.environment.files if "/" in p}
        folder = self.rng.choice([*sorted(folders), self.names.word()])
        path = f"{folder}/{module}.py"
        return path if path != right else f"{module}.py"

    def _fix_text(self) -> str:
        return self.rng.choice(FIX).format(project=self.project.name)

    def _renamed(self, module: str, name: str, new: str) -> None:
        self.project.asserted[(module, new)] = self.project.asserted.pop((module, name))


def key_phrases(report: str) -> list[str]:
    """What a right report must contain: everything in ticks, test counts and the verdict."""
    return re.findall(r"`[^`]+`|\d+ passed, \d+ failed|could not|All \d+ tests pass", report)


def draw_agent_session(rng: random.Random, task: str, held_out: bool) -> Demonstration:
    """A session whose main request is of the kind `task`, with others around it."""
    while True:
        try:
            session = Session(rng, task, held_out)
            for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 5))):
                rng.choice(_history(session))()
            getattr(session, task)()
            if rng.random() < 0.4:
                rng.choice((session.recall_change, session.check, session.small_talk))()
            if sum(len(m.content) for m in session.messages) <= MAX_CHARACTERS:
                return Demonstration(session.instance, session.messages)
        except Unclear:
            continue


def _history(session: Session) -> list:
    return [
        session.fix,
        session.fix,
        session.rename,
        session.recover,
        session.set_value,
        session.set_value,
        session.look_up,
        session.check,
        session.list_files,
        session.recall_change,
        session.small_talk,
    ]
