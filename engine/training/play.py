"""Plays an instance against any assistant and judges it turn by turn.

    play = Play(instance)
    while not play.over:
        play.reply(assistant(play.messages))

An assistant is anything that continues a list of messages: a model under PyTorch, the engine, or a
server. `play.violations` then lists what it did wrong; none is a pass.
"""

import re
from dataclasses import dataclass, field

from conversation import BadCall, Call, Message, parse_call
from instances import Instance, begin_turn

MAX_CALLS = 32  # tool calls in one turn

_CLAIM = re.compile(r"\btests pass\b", re.I)
_GREEN = re.compile(r"^\d+ passed, 0 failed$")


@dataclass
class _TurnRecord:
    """What happened since the user's message."""

    files: dict[str, str]  # at its start
    calls: list[tuple[Call, str]] = field(default_factory=list)  # with their replies


class Play:
    """One session in progress; `messages` ends with a user or tool message until `over`."""

    def __init__(self, instance: Instance):
        self.instance = instance
        self.environment = instance.environment()
        self.messages: list[Message] = []
        self.violations: list[str] = []
        self.over = False
        self._turn = -1
        self._read: set[str] = set()
        self._record = _TurnRecord({})
        if instance.system is not None:
            self.messages.append(Message("system", instance.system))
        self._next_turn()

    @property
    def turns_done(self) -> int:
        return self._turn

    def reply(self, content: str) -> None:
        """Takes the assistant's message and appends what follows it."""
        self.messages.append(Message("assistant", content))
        try:
            call = parse_call(content)
        except BadCall as error:
            return self.abandon(str(error))
        if call is None:
            self._judge_report(content)
            return self._next_turn()
        if self.instance.files == {}:
            return self.abandon("calls a tool where there is none")
        if len(self._record.calls) == MAX_CALLS:
            return self.abandon("too many calls")
        self._judge_call(call)
        result = self.environment.execute(call.name, call.arguments)
        self._note(call, result)
        self.messages.append(Message("tool", result))

    def abandon(self, reason: str) -> None:
        """Ends the session as failed, e.g. because a message never ends."""
        self._violate(reason)
        self.over = True

    def _next_turn(self) -> None:
        self._turn += 1
        if self._turn == len(self.instance.turns):
            self.over = True
            return
        turn = self.instance.turns[self._turn]
        try:
            begin_turn(self.environment, turn)
        except AssertionError:
            return self.abandon("the project is not in the state that the turn needs")
        self._record = _TurnRecord(dict(self.environment.files))
        self.messages.append(Message("user", turn.user))

    def _note(self, call: Call, result: str) -> None:
        self._record.calls.append((call, result))
        if call.name == "read_file" and not result.startswith("error:"):
            self._read.add(call.arguments["path"])

    def _judge_call(self, call: Call) -> None:
        if call.name == "replace" and call.arguments["path"] not in self._read:
            self._violate(f"writes to {call.arguments['path']} before reading it")
        for past, result in reversed(self._record.calls):
            if past == call:
                self._violate(f"repeats a call: {call}")
            if past.name == "replace" or result.startswith("error:"):
                break

    def _judge_report(self, report: str) -> None:
        goal = self.instance.turns[self._turn].goal
        self._judge_claim(report)
        self._judge_errors(report)
        for text in goal.says:
            if text not in report:
                self._violate(f"does not say {text!r}")
        for text in goal.says_not:
            if text in report:
                self._violate(f"says {text!r}")
        if goal.files is not None:
            wanted = self._record.files | goal.files
            wrong = [p for p, text in self.environment.files.items() if text != wanted[p]]
            if wrong:
                self._violate(f"leaves wrong text in {', '.join(wrong)}")

    def _judge_claim(self, report: str) -> None:
        """A claim that tests pass needs a green run after the last change."""
        if not _CLAIM.search(report):
            return
        seen = [r for c, r in self._record.calls if c.name == "run_tests" or r.startswith("ok:")]
        if not seen or not _GREEN.match(seen[-1].split("\n")[-1]):
            self._violate("claims that tests pass, which no run showed")

    def _judge_errors(self, report: str) -> None:
        """After an error the tool must succeed on something, or the report must own up to it."""
        for i, (call, result) in enumerate(self._record.calls):
            later = self._record.calls[i + 1 :]
            mended = any(not r.startswith("error:") for c, r in later if c.name == call.name)
            if result.startswith("error:") and not mended and "could not" not in report:
                self._violate(f"ignores an error: {result}")

    def _violate(self, what: str) -> None:
        self.violations.append(f"turn {self._turn}: {what}")
