"""The official `openai` package drives the lane: chat, stream, tools, errors, cancellation.

The client checks the schema of what it reads. Skipped, saying so, where the package is missing.
"""

from lane import SKIP, Lane, finish, parser, print_table

try:
    import openai
except ImportError:
    print("SKIPPED: the Python package openai is not installed")
    raise SystemExit(SKIP) from None

TOOL = {
    "type": "function",
    "function": {
        "name": "run_tests",
        "parameters": {"type": "object", "properties": {}},
    },
}
ASK = [{"role": "user", "content": "Hello, who are you?"}]
SYSTEM = {"role": "system", "content": "You work on the project `x`. Use the tools; read a file before you change it."}


class Checks:
    """One method a check; each raises AssertionError or what the client raises."""

    def __init__(self, client: openai.OpenAI):
        self.client = client
        self.model = client.models.list().data[0].id

    def create(self, **fields: object):
        return self.client.chat.completions.create(model=self.model, **({"messages": ASK, "temperature": 0} | fields))

    def chat(self) -> None:
        reply = self.create(max_tokens=8, logprobs=True, top_logprobs=2)
        reply.model_validate(reply.model_dump())
        assert reply.choices[0].message.role == "assistant"
        assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
        assert len(reply.choices[0].logprobs.content[0].top_logprobs) == 2

    def stream(self) -> None:
        whole = self.create(max_tokens=16).choices[0].message.content
        text, usage = "", None
        for chunk in self.create(max_tokens=16, stream=True, stream_options={"include_usage": True}):
            chunk.model_validate(chunk.model_dump())
            text += "".join(c.delta.content or "" for c in chunk.choices)
            usage = chunk.usage or usage
        assert text == whole, (text, whole)
        assert usage.completion_tokens > 0

    def completion(self) -> None:
        reply = self.client.completions.create(model=self.model, prompt="Once", max_tokens=4, temperature=0, logprobs=1)
        assert reply.object == "text_completion" and reply.choices[0].logprobs.tokens

    def tools(self) -> None:
        messages = [SYSTEM, {"role": "user", "content": "Do the tests pass?"}]
        message = self.create(messages=messages, tools=[TOOL]).choices[0].message
        call = message.tool_calls[0]
        assert (call.function.name, call.function.arguments) == ("run_tests", "{}"), call
        messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "3 passed, 0 failed"}]
        assert "3 passed, 0 failed" in self.create(messages=messages, tools=[TOOL]).choices[0].message.content

    def tools_in_a_stream(self) -> None:
        messages = [SYSTEM, {"role": "user", "content": "Do the tests pass?"}]
        calls = []
        for chunk in self.create(messages=messages, tools=[TOOL], stream=True):
            for choice in chunk.choices:
                calls += choice.delta.tool_calls or []
        assert [c.function.name for c in calls] == ["run_tests"]

    def errors(self) -> None:
        for fields, kind, param in (
            ({"temperature": -1}, openai.BadRequestError, "temperature"),
            ({"messages": []}, openai.BadRequestError, "messages"),
            ({"messages": [{"role": "user", "content": "x " * 20000}]}, openai.BadRequestError, "messages"),
            ({"extra_body": {"model": "other"}}, openai.NotFoundError, "model"),
        ):
            try:
                self.create(**fields)
            except kind as error:
                assert error.param == param, error
            else:
                raise AssertionError(f"{fields} were accepted")

    def cancellation(self) -> None:
        with self.create(max_tokens=2000, stream=True, extra_body={"stop": None}) as stream:
            next(iter(stream))
        assert self.create(max_tokens=2).choices[0].finish_reason == "length"


def main() -> None:
    options = parser(__doc__.split("\n")[0]).parse_args()
    failures, rows = [], []
    with Lane.open(options) as lane:
        client = openai.OpenAI(base_url=lane.url + "/v1", api_key="none", max_retries=0)
        checks = Checks(client)
        for name in ("chat", "stream", "completion", "tools", "tools_in_a_stream", "errors", "cancellation"):
            try:
                getattr(checks, name)()
                rows.append([name, "passed"])
            except (AssertionError, AttributeError, TypeError, openai.OpenAIError) as error:
                rows.append([name, "FAILED"])
                failures.append(f"{name}: {error!r}")
        client.close()
    print(f"openai {openai.__version__}")
    print_table(["check", "verdict"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
