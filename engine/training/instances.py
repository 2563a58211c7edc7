"""What the generator makes: an instance (what the world and the user do) and its demonstration."""

import dataclasses
from dataclasses import dataclass, field

from conversation import Message
from simulator import Edit, Environment


@dataclass
class Goal:
    """What must hold after the assistant's last message of a turn.

    `says` and `says_not` are texts that message must contain or avoid; `files` are the files that
    must differ from the turn's start, with their right text; None means the turn has no project.
    """

    says: list[str] = field(default_factory=list)
    says_not: list[str] = field(default_factory=list)
    files: dict[str, str] | None = None


@dataclass
class Turn:
    """A user message; `edits` are made by somebody else just before it."""

    user: str
    edits: list[Edit] = field(default_factory=list)
    read_only: list[str] = field(default_factory=list)  # files that are read-only from here on
    edits_after_read: list[Edit] = field(default_factory=list)
    goal: Goal = field(default_factory=Goal)


@dataclass
class Instance:
    """A session without the assistant's side."""

    task: str
    system: str | None
    turns: list[Turn]
    files: dict[str, str] = field(default_factory=dict)
    brief_tests: bool = False

    def environment(self) -> Environment:
        return Environment(dict(self.files), brief_tests=self.brief_tests)

    def to_json(self) -> dict:
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(value: dict) -> "Instance":
        turns = [
            Turn(
                turn["user"],
                [Edit(**e) for e in turn["edits"]],
                turn["read_only"],
                [Edit(**e) for e in turn["edits_after_read"]],
                Goal(**turn["goal"]),
            )
            for turn in value["turns"]
        ]
        return Instance(value["task"], value["system"], turns, value["files"], value["brief_tests"])


@dataclass
class Demonstration:
    """An instance with the messages of a session that does everything right."""

    instance: Instance
    messages: list[Message]


def begin_turn(environment: Environment, turn: Turn) -> None:
    """Lets everybody else do what they do before the turn's user message."""
    for edit in turn.edits:
        environment.apply(edit)
    environment.read_only.update(turn.read_only)
    environment.edits_after_read = {e.path: e for e in turn.edits_after_read}
