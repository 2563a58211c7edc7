"""Made-up projects: source modules with constants, tests that hold, and files that only distract."""

import random
import re
from dataclasses import dataclass

from names import Names, is_held_out, literal, number, other_literal
from simulator import Environment

SOURCE_DIRS = ("src", "lib", "app", "core", "pkg", "service", "parts", "units", "model", "domain")
TEST_DIRS = ("tests", "test", "checks", "spec")
DOC_DIRS = ("docs", "doc", "notes")

PURPOSES = (
    "values of the {} stage",
    "settings for {}",
    "how {} is sized",
    "limits that {} keeps",
    "constants of {}",
)
REMARKS = (
    "# {name} = {value} was too slow",
    "# keep {name} small",
    "# {name} was {value} once",
    "# see the notes on {name}",
)
DOC_LINES = (
    "The `{}` part reads its constants at start.",
    "Ask before you change `{}`.",
    "`{}` was measured twice and is stable.",
    "Since version {n} the `{}` part is optional.",
    "In spring `{}` took {n} seconds.",
)


@dataclass(frozen=True)
class Layout:
    """Which folders a project has. Source folders may be nested, e.g. `src/core`."""

    sources: tuple[str, ...]
    tests: str
    docs: str

    def key(self) -> str:
        return "|".join((*self.sources, self.tests, self.docs))


@dataclass
class Project:
    """A project whose tests all pass. Constants are keyed by (module, name)."""

    name: str
    files: dict[str, str]
    paths: dict[str, str]  # module -> path
    asserted: dict[tuple[str, str], str]  # constant -> path of the test that checks it

    def constants(self, environment: Environment) -> list[tuple[str, str]]:
        """The asserted constants that still exist in `environment`."""
        return [c for c in self.asserted if environment.value(*c) is not None]


def draw_layout(rng: random.Random, names: Names) -> Layout:
    """A folder layout of the split that `names` draws from."""
    while True:
        pool = [*rng.sample(SOURCE_DIRS, 3), names.word()]
        sources = rng.sample(pool, rng.choice((1, 1, 2, 2, 3)))
        if len(sources) > 1 and rng.random() < 0.4:
            sources = [sources[0], *(f"{sources[0]}/{s}" for s in sources[1:])]
        layout = Layout(tuple(sorted(sources)), rng.choice(TEST_DIRS), rng.choice(DOC_DIRS))
        if is_held_out(layout.key()) == names.held_out:
            return layout


def draw_project(rng: random.Random, names: Names, modules: int) -> Project:
    """A project of so many source modules, its tests passing."""
    layout = draw_layout(rng, names)
    project = Project(names.word(), {}, {}, {})
    symbols: dict[str, list[str]] = {}
    for _ in range(modules):
        module = names.word()
        project.paths[module] = f"{rng.choice(layout.sources)}/{module}.py"
        project.files[project.paths[module]] = _source(rng, names, module, symbols)
    for module in rng.sample(sorted(symbols), max(2, modules - 1)):
        path = f"{layout.tests}/test_{module}.py"
        project.files[path] = _tests(rng, project, module, symbols[module], path)
    _add_documents(rng, names, project, layout)
    return project


def _source(
    rng: random.Random, names: Names, module: str, symbols: dict[str, list[str]]
) -> str:
    """One module's text; enters its constants into `symbols`. May use the modules in `symbols`."""
    used = rng.sample(sorted(symbols), min(len(symbols), rng.choice((0, 0, 1, 1, 2))))
    lines = [f"# {module}: {rng.choice(PURPOSES).format(names.word())}"]
    lines += [*(f"import {other}" for other in used), ""]
    own = [names.symbol() for _ in range(rng.randrange(2, 6))]
    alike = f"{own[0]}_max"
    if rng.random() < 0.5 and is_held_out(alike) == names.held_out:
        own.insert(rng.randrange(len(own) + 1), alike)
    constants = [f"{name} = {literal(rng, names)}" for name in own]
    for other in used:
        own.append(names.symbol())
        constants.append(f"{own[-1]} = {other}.{rng.choice(symbols[other])}")
    for name in rng.sample(own, rng.choice((0, 0, 1, 2)) if len(own) > 2 else 0):
        remark = rng.choice(REMARKS).format(name=name, value=number(rng))
        constants.insert(rng.randrange(len(constants) + 1), remark)
    symbols[module] = own
    return "\n".join([*lines, *constants, *_functions(rng, names, used, symbols)]) + "\n"


def _functions(
    rng: random.Random, names: Names, used: list[str], symbols: dict[str, list[str]]
) -> list[str]:
    """Lines of up to two functions; some use a constant of another module."""
    lines: list[str] = []
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        lines += ["", "", f"def {names.word()}(x):"]
        if used and rng.random() < 0.5:
            other = rng.choice(used)
            lines.append(f"    return x + {other}.{rng.choice(symbols[other])}")
        else:
            lines.append(f"    return x * {number(rng)}")
    return lines


def _tests(
    rng: random.Random, project: Project, module: str, symbols: list[str], path: str
) -> str:
    """Assertions that hold on some of the module's constants; enters them into the project."""
    environment = Environment(project.files)
    lines = [f"import {module}", ""]
    for name in rng.sample(symbols, rng.randrange(1, min(4, len(symbols)) + 1)):
        project.asserted[(module, name)] = path
        lines.append(f"assert {module}.{name} == {environment.value(module, name)}")
    return "\n".join(lines) + "\n"


def _add_documents(
    rng: random.Random, names: Names, project: Project, layout: Layout
) -> None:
    """A README and sometimes notes and settings: nothing that a test looks at."""
    subjects = [*project.paths, names.word()]

    def prose(count: int) -> str:
        lines = [rng.choice(DOC_LINES).format(rng.choice(subjects), n=number(rng)) for _ in range(count)]
        return "\n".join(lines) + "\n"

    project.files["README.md"] = f"# {project.name}\n\n" + prose(rng.randrange(1, 4))
    if rng.random() < 0.6:
        project.files[f"{layout.docs}/{names.word()}.md"] = prose(rng.randrange(2, 6))
    if rng.random() < 0.3:
        project.files["settings.toml"] = "".join(
            f"{names.symbol()} = {number(rng)}\n" for _ in range(rng.randrange(2, 5))
        )


def constant_line(environment: Environment, module: str, name: str) -> str:
    """The line `name = value` of a constant, wherever its module lies."""
    text = environment.files[environment.module_path(module)]
    return next(line for line in text.split("\n") if line.startswith(f"{name} = "))


def reference(line: str) -> tuple[str, str] | None:
    """(module, name) if the constant's line takes its value from another module."""
    match = re.fullmatch(r"\w+ = ([a-z]\w*)\.([a-z]\w*)", line)
    return match.groups() if match else None


def changed_literal(rng: random.Random, names: Names, line: str) -> str:
    """The constant's line with another value of the same kind."""
    name, value = line.split(" = ", 1)
    return f"{name} = {other_literal(rng, names, value)}"
