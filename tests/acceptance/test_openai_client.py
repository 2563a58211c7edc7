"""The official `openai` package drives the lane: chat, stream, tools, errors, cancellation.

The client itself checks the schema of all that it reads, strictly. install_client.sh installs it into an
environment under build/, which this test enters; where that is missing it is skipped, saying why.
"""

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from lane import ENDLESS, SKIP, Lane, cancelled_in, finish, parser, print_table, until

BUILD = Path(__file__).parents[2] / "build"
PYTHON = BUILD / "openai_client/bin/python"
LOG = BUILD / "openai_client.log"

if PYTHON.exists() and Path(sys.prefix) != PYTHON.parents[1]:
    os.execv(PYTHON, [str(PYTHON), "-B", *sys.argv])
try:
    import openai
except ImportError as error:
    said = LOG.read_text().strip().rpartition("\n")[2] if LOG.exists() else "tests/acceptance/install_client.sh was not run"
    print(f"SKIPPED: the Python package openai is not installed: {said or error}")
    raise SystemExit(SKIP) from None

KEY = "a key that only this test knows"
TOOL = {
    "type": "function",
    "function": {
        "name": "run_tests",
        "parameters": {"type": "object", "properties": {}},
    },
}
ASK = [{"role": "user", "content": "Hello, who are you?"}]
SYSTEM = {"role": "system", "content": "You work on the project `x`. Use the tools; read a file before you change it."}
WORK = [SYSTEM, {"role": "user", "content": "Do the tests pass?"}]
TOO_LONG = [{"role": "user", "content": "x " * 20000}]


class Checks:
    """One method a check; each raises AssertionError or what the client raises."""

    def __init__(self, lane: Lane, **settings: object):
        self.lane = lane
        self.settings = {"base_url": lane.url + "/v1", "api_key": KEY, "max_retries": 0} | settings
        # Strictly: a field that is missing or of another type is an error, not a guess.
        self.client = openai.OpenAI(**self.settings, _strict_response_validation=True)
        self.lenient = openai.OpenAI(**self.settings)
        self.model = self.client.models.list().data[0].id

    def create(self, **fields: object):
        return self.client.chat.completions.create(model=self.model, **({"messages": ASK, "temperature": 0} | fields))

    def chat(self) -> None:
        reply = self.create(max_tokens=8, logprobs=True, top_logprobs=2)
        assert reply.object == "chat.completion" and reply.id.startswith("chatcmpl-"), reply
        choice, usage = reply.choices[0], reply.usage
        assert (choice.index, choice.finish_reason, choice.message.role) == (0, "length", "assistant"), choice
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens == usage.prompt_tokens + 8, usage
        assert [len(token.top_logprobs) for token in choice.logprobs.content] == [2] * 8, choice.logprobs
        self.every_field_is_there(reply)

    def every_field_is_there(self, reply: openai.BaseModel) -> None:
        """What OpenAI's replies hold: fields whose absence the client forgives."""
        data = reply.model_dump(exclude_unset=True)
        assert {"id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint"} <= set(data), data
        assert {"role", "content", "refusal", "annotations"} <= set(data["choices"][0]["message"]), data
        assert {"index", "message", "logprobs", "finish_reason"} <= set(data["choices"][0]), data
        assert {"cached_tokens", "audio_tokens"} <= set(data["usage"]["prompt_tokens_details"]), data
        assert "reasoning_tokens" in data["usage"]["completion_tokens_details"], data
        assert "predicted_n" in reply.timings, reply.timings

    def models(self) -> None:
        assert self.client.models.retrieve(self.model) == self.client.models.list().data[0]
        self.refusal(openai.NotFoundError, lambda: self.client.models.retrieve("other"))

    def cached_tokens(self) -> None:
        messages = [{"role": "system", "content": "Facts. " * 60}, *ASK]
        first = self.create(messages=messages, max_tokens=4)
        again = self.create(messages=messages, max_tokens=4)
        assert again.usage.prompt_tokens_details.cached_tokens > 0, again.usage
        assert again.choices[0].message == first.choices[0].message, again

    def stream(self) -> None:
        whole = self.create(max_tokens=16)
        text, usages, finish_reasons = "", [], []
        chunks = list(self.create(max_tokens=16, stream=True, stream_options={"include_usage": True}))
        for chunk in chunks:
            assert chunk.object == "chat.completion.chunk" and chunk.id == chunks[0].id, chunk
            assert "usage" in chunk.model_fields_set, chunk
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
            finish_reasons += [choice.finish_reason for choice in chunk.choices if choice.finish_reason]
            usages += [chunk.usage] if chunk.usage else []
        assert chunks[0].choices[0].delta.role == "assistant", chunks[0]
        assert text == whole.choices[0].message.content, (text, whole)
        assert finish_reasons == ["length"] and chunks[-1].choices == [], chunks[-1]
        assert [usage.completion_tokens for usage in usages] == [16], usages

    def completion(self) -> None:
        fields = {"model": self.model, "prompt": "Once", "max_tokens": 4, "temperature": 0}
        reply = self.client.completions.create(**fields, logprobs=1)
        assert reply.object == "text_completion" and len(reply.choices[0].logprobs.tokens) == 4, reply
        # The client's own type knows no finish_reason of null, which OpenAI's chunks have until the last one.
        chunks = list(self.lenient.completions.create(**fields, stream=True))
        assert "".join(chunk.choices[0].text for chunk in chunks) == reply.choices[0].text, chunks

    def tools(self) -> None:
        reply = self.create(messages=WORK, tools=[TOOL])
        message = reply.choices[0].message
        assert reply.choices[0].finish_reason == "tool_calls", reply
        call = message.tool_calls[0]
        assert (call.type, call.function.name, call.function.arguments) == ("function", "run_tests", "{}"), call
        answer = {"role": "tool", "tool_call_id": call.id, "content": "3 passed, 0 failed"}
        assert "3 passed, 0 failed" in self.create(messages=[*WORK, message, answer], tools=[TOOL]).choices[0].message.content

    def tools_in_a_stream(self) -> None:
        """Put together by the client's own accumulator, which goes by the calls' indices."""
        with self.client.chat.completions.stream(model=self.model, messages=WORK, tools=[TOOL], temperature=0) as stream:
            stream.until_done()
            choice = stream.get_final_completion().choices[0]
        assert choice.finish_reason == "tool_calls", choice
        assert [(c.function.name, c.function.arguments) for c in choice.message.tool_calls] == [("run_tests", "{}")], choice

    def responses(self) -> None:
        """A call, its answer and what the model makes of it, of the endpoint that OpenAI's newer clients ask."""
        tools = [{"type": "function", "strict": True, **TOOL["function"]}]
        items, settings = [*WORK], {"model": self.model, "tools": tools, "temperature": 0, "max_output_tokens": 200}
        reply = self.client.responses.create(input=items, **settings)
        call = reply.output[-1]
        assert (reply.status, call.type, call.name, call.arguments) == ("completed", "function_call", "run_tests", "{}"), reply
        answer = {"type": "function_call_output", "call_id": call.call_id, "output": "3 passed, 0 failed"}
        whole = self.client.responses.create(input=[*items, *reply.output, answer], **settings)
        assert "3 passed, 0 failed" in whole.output_text and whole.usage.output_tokens_details is not None, whole
        with self.client.responses.stream(input=[*items, *reply.output, answer], **settings) as stream:
            events = list(stream)
            assert stream.get_final_response().output_text == whole.output_text, events
        assert [event.sequence_number for event in events] == list(range(len(events))), events
        error = self.refusal(openai.BadRequestError, lambda: self.client.responses.create(input="x", previous_response_id="resp_1"))
        assert error.param == "previous_response_id", error

    def errors(self) -> None:
        for fields, kind, param, code in (
            ({"temperature": -1}, openai.BadRequestError, "temperature", None),
            ({"messages": []}, openai.BadRequestError, "messages", None),
            ({"n": 0}, openai.BadRequestError, "n", None),
            ({"messages": TOO_LONG}, openai.BadRequestError, "messages", "context_length_exceeded"),
            ({"extra_body": {"model": "other"}}, openai.NotFoundError, "model", "model_not_found"),
        ):
            for stream in (False, True):
                error = self.refusal(kind, lambda: self.create(**fields, stream=stream))
                assert (error.param, error.code, error.type) == (param, code, "invalid_request_error"), error
        if self.lane.process is None:
            return  # a lane that runs already has its own key, or none
        stranger = self.client.with_options(api_key="wrong")
        error = self.refusal(openai.AuthenticationError, stranger.models.list)
        assert error.code == "invalid_api_key", error

    def refusal(self, kind: type[openai.APIStatusError], ask) -> openai.APIStatusError:
        try:
            ask()
        except kind as error:
            return error
        raise AssertionError(f"{kind.__name__} was not raised")

    def cancelled(self) -> int:
        return cancelled_in(self.lenient.get(self.lane.url + "/metrics", cast_to=str))

    def cancellation(self) -> None:
        """The client leaves a stream; the lane stops generating for it and serves the next request."""
        before = self.cancelled()
        with self.create(stream=True, **ENDLESS) as stream:
            next(iter(stream))
        assert self.create(max_tokens=2).choices[0].finish_reason == "length"
        until(lambda: self.cancelled() == before + 1)

    def asynchronously(self) -> None:
        """Eight requests of the asynchronous client at once, served in turn, each the answer to its own question."""

        async def ask_all(texts: list[str]) -> list[str]:
            async with openai.AsyncOpenAI(**self.settings, _strict_response_validation=True) as client:
                asked = (
                    client.chat.completions.create(
                        model=self.model, messages=[{"role": "user", "content": text}], temperature=0, max_tokens=8
                    )
                    for text in texts
                )
                return [reply.choices[0].message.content for reply in await asyncio.gather(*asked)]

        texts = [f"What is {i} more than {i}?" for i in range(8)]
        quiet = [self.create(messages=[{"role": "user", "content": text}], max_tokens=8) for text in texts]
        assert asyncio.run(ask_all(texts)) == [reply.choices[0].message.content for reply in quiet]


CHECKS = (
    Checks.chat,
    Checks.models,
    Checks.cached_tokens,
    Checks.stream,
    Checks.completion,
    Checks.tools,
    Checks.tools_in_a_stream,
    Checks.responses,
    Checks.errors,
    Checks.cancellation,
    Checks.asynchronously,
)


def main() -> None:
    options = parser(__doc__.split("\n")[0]).parse_args()
    failures, rows = [], []
    with tempfile.NamedTemporaryFile("w") as key_file:
        key_file.write(KEY)
        key_file.flush()
        with Lane.open(options, settings=("--api-key-file", key_file.name)) as lane:
            checks = Checks(lane)
            for check in CHECKS:
                try:
                    check(checks)
                    rows.append([check.__name__, "passed"])
                except (AssertionError, AttributeError, KeyError, TypeError, openai.OpenAIError) as error:
                    rows.append([check.__name__, "FAILED"])
                    failures.append(f"{check.__name__}: {error!r}")
            checks.client.close()
            checks.lenient.close()
    print(f"openai {openai.__version__}")
    print_table(["check", "verdict"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
