"""Four tool-use tasks over HTTP, every turn judged: fix, rename, recover, unfixable.

Held-out sessions of the built-in model's generator, played through tools, tool_calls and tool results. A turn
must call tools by their schema, read a file before it writes, repeat no call, ignore no error and claim no
green tests that no run showed; and each request after a session's first must reuse rows.
"""

import json
import re
import sys

from lane import Lane, LaneError, TRAINING, cached_of, finish, parser, print_table

sys.path.insert(0, str(TRAINING))
from agent_tasks import AGENT_TASKS, SYSTEM  # noqa: E402
from conversation import TOOL_CALL, Call, Message  # noqa: E402
from generator import draw_session  # noqa: E402
from play import Play  # noqa: E402
from simulator import TOOL_ARGUMENTS  # noqa: E402


def system_of(text: str) -> str:
    """The system message without its list of tools, which the lane adds itself."""
    project = re.search(r"`([^`]+)`", text).group(1)
    return SYSTEM[0].removesuffix("\nTools:\n{}").format(project)


def tools_of(text: str) -> list[dict]:
    """The tools in the order that the system message lists them."""
    names = [json.loads(line)["name"] for line in text.split("\n") if line.startswith("{")]
    return [{"type": "function", "function": {"name": name, "parameters": schema_of(name)}} for name in names]


def schema_of(name: str) -> dict:
    arguments = TOOL_ARGUMENTS[name]
    return {"type": "object", "properties": {a: {"type": "string"} for a in arguments}, "required": list(arguments)}


def as_openai(messages: list[Message]) -> list[dict]:
    """A session's messages with tool_calls and tool_call_id."""
    result = []
    for i, message in enumerate(messages):
        entry: dict = {"role": message.role, "content": message.content}
        if i == 0:
            entry["content"] = system_of(message.content)
        if message.role == "assistant" and TOOL_CALL in message.content:
            content, _, call = message.content.partition(TOOL_CALL)
            value = json.loads(call)
            function = {"name": value["name"], "arguments": json.dumps(value["arguments"])}
            entry["content"] = content or None
            entry["tool_calls"] = [{"id": f"call_{i}", "type": "function", "function": function}]
        if message.role == "tool":
            entry["tool_call_id"] = f"call_{i - 1}"
        result.append(entry)
    return result


def content_of(reply: dict) -> str:
    """The reply as the session's judge reads it."""
    message = reply["choices"][0]["message"]
    calls = message.get("tool_calls", [])
    finish_reason = "tool_calls" if calls else "stop"
    if reply["choices"][0]["finish_reason"] != finish_reason:
        raise LaneError(200, f"finish_reason {reply['choices'][0]['finish_reason']}")
    text = message["content"] or ""
    for call in calls:
        function = call["function"]
        text += Call(function["name"], json.loads(function["arguments"])).render()
    return text


def play(lane: Lane, task: str, index: int, expect_reuse: bool) -> tuple[list[object], list[str]]:
    """A row of the table, and what went wrong."""
    session = Play(draw_session(task, index, held_out=True).instance)
    tools, cached, failures = tools_of(session.messages[0].content), [], []
    tokens = 0
    while not session.over:
        try:
            reply = lane.chat(as_openai(session.messages), tools=tools, max_tokens=400)
            cached.append(cached_of(reply))
            tokens = reply["usage"]["prompt_tokens"]
            session.reply(content_of(reply))
        except (LaneError, json.JSONDecodeError) as error:
            session.abandon(str(error))
    failures += session.violations
    shrinks = any(b < a for a, b in zip(cached, cached[1:]))
    if expect_reuse and (shrinks or cached[-1] == 0):
        failures.append(f"the reuse does not grow turn by turn: {cached}")
    row = [task, index, len(cached), tokens, cached[-1], "yes" if not failures else "NO"]
    return row, [f"{task} {index}: {failure}" for failure in failures]


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--instances", type=int, default=1, help="sessions of each task")
    options.add_argument("--no-reuse", action="store_true", help="the lane is an engine without the cache")
    options = options.parse_args()
    rows, failures = [], []
    with Lane.open(options) as lane:
        for task in AGENT_TASKS:
            for index in range(options.instances):
                lane.forget()
                row, wrong = play(lane, task, index, not options.no_reuse)
                rows.append(row)
                failures += wrong
    print_table(["task", "session", "requests", "prompt", "cached", "passed"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
