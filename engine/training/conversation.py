"""Conversations: messages, tool calls inside assistant messages, and the system prompt's tool list."""

import json
from dataclasses import dataclass

from simulator import TOOL_ARGUMENTS

TOOL_CALL = "<|tool_call|>"


@dataclass(frozen=True)
class Message:
    """One message; an assistant's content may end in TOOL_CALL and a JSON call."""

    role: str  # system, user, assistant, tool
    content: str


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, str]

    def render(self) -> str:
        return TOOL_CALL + json.dumps({"name": self.name, "arguments": self.arguments})


class BadCall(ValueError):
    """The text after TOOL_CALL is not a call that the tools accept."""


def parse_call(content: str) -> Call | None:
    """The call in an assistant's content, None if there is none; raises BadCall."""
    text, marker, call = content.partition(TOOL_CALL)
    if not marker:
        return None
    try:
        value = json.loads(call)
    except json.JSONDecodeError as error:
        raise BadCall(f"not JSON: {call!r}") from error
    if not isinstance(value, dict) or set(value) != {"name", "arguments"}:
        raise BadCall(f"not a call: {call!r}")
    name, arguments = value["name"], value["arguments"]
    wanted = TOOL_ARGUMENTS.get(name) if isinstance(name, str) else None
    if wanted is None or not isinstance(arguments, dict) or set(arguments) != set(wanted):
        raise BadCall(f"unknown tool or wrong arguments: {call!r}")
    if not all(isinstance(v, str) for v in arguments.values()):
        raise BadCall(f"arguments must be strings: {call!r}")
    return Call(name, arguments)


def tool_lines(order: list[str]) -> str:
    """The tools as a system prompt lists them, one JSON object a line."""
    return "\n".join(
        json.dumps({"name": n, "arguments": {a: "string" for a in TOOL_ARGUMENTS[n]}}) for n in order
    )
