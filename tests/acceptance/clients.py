"""Seven clients that people have drive the lane: agent sessions and structured output, each by its own means.

    tests/acceptance/install_client.sh clients
    python3 tests/acceptance/clients.py --engine PATCHED [--instances N] [--only NAME ...]

The sessions are the built-in model's held-out ones, judged turn by turn as in test_agentic.py, but the loop, the
messages, the tools' schemas and what is sent back of a reply are the client's. A structured output must be what the
client itself accepts for the type. Run by hand; the table stands in tests/benchmarks/lane.md.
"""

import asyncio
import enum
import importlib.metadata
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from lane import SKIP, TRAINING, Lane, finish, parser, print_table

PYTHON = Path(__file__).parents[2] / "build/clients/bin/python"
if Path(sys.prefix) != PYTHON.parents[1]:
    if not PYTHON.exists():
        print("SKIPPED: tests/acceptance/install_client.sh clients was not run")
        raise SystemExit(SKIP)
    os.execv(PYTHON, [str(PYTHON), "-B", *sys.argv])
# None of them may tell anybody else of the run, nor fetch anything.
for variable in ("LITELLM_LOCAL_MODEL_COST_MAP", "OPENAI_AGENTS_DISABLE_TRACING", "DISABLE_AIOHTTP_TRUST_ENV"):
    os.environ[variable] = "True"
os.environ |= {"LANGSMITH_TRACING": "false", "LLM_USER_PATH": tempfile.mkdtemp(prefix="clients-")}

sys.path.insert(0, str(TRAINING))
from agent_tasks import AGENT_TASKS  # noqa: E402
from conversation import Call  # noqa: E402
from generator import draw_session  # noqa: E402
from play import Play  # noqa: E402
from pydantic import BaseModel  # noqa: E402
from test_agentic import system_of, tools_of  # noqa: E402

KEY = "a key that the lane does not ask for"
TOKENS = 400
ASK = "Is the sky blue? Answer as the schema says."


class Kind(enum.Enum):
    FIX = "fix"
    RENAME = "rename"


class Report(BaseModel):
    """What the tests say."""

    green: bool
    kind: Kind


class Session:
    """What a client needs of a session: its system message, its tools, and somebody who carries out their calls."""

    def __init__(self, play: Play):
        self.play = play
        self.system = system_of(play.messages[0].content)
        self.tools = tools_of(play.messages[0].content)
        self.calls = 0

    def call(self, name: str, arguments: dict) -> str:
        self.calls += 1
        self.play.reply(Call(name, arguments).render())
        return self.play.messages[-1].content

    def functions(self) -> list[dict]:
        return [tool["function"] for tool in self.tools]


class Client:
    """One row of the table. `turn` says the user's text and carries out the calls that follow."""

    package, api = "", "chat"

    def __init__(self, lane: Lane):
        self.url, self.model = lane.url + "/v1", json.loads(lane.get("/v1/models"))["data"][0]["id"]

    def begin(self, session: Session) -> None:
        self.session, self.messages = session, [{"role": "system", "content": session.system}]

    def turn(self, text: str) -> str:
        raise NotImplementedError

    def structured(self) -> object:
        raise NotImplementedError


class Requests(Client):
    package = "requests"

    def __init__(self, lane: Lane):
        super().__init__(lane)
        import requests

        self.http = requests.Session()

    def ask(self, **fields: object) -> dict:
        body = {"model": self.model, "temperature": 0, "max_tokens": TOKENS} | fields
        reply = self.http.post(self.url + "/chat/completions", json=body)
        reply.raise_for_status()
        return reply.json()["choices"][0]["message"]

    def turn(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        while True:
            message = self.ask(messages=self.messages, tools=self.session.tools)
            self.messages.append(message)
            if not message.get("tool_calls"):
                return message["content"]
            for call in message["tool_calls"]:
                result = self.session.call(call["function"]["name"], json.loads(call["function"]["arguments"]))
                self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    def structured(self) -> object:
        schema = {"name": "report", "strict": True, "schema": Report.model_json_schema()}
        form = {"type": "json_schema", "json_schema": schema}
        message = self.ask(messages=[{"role": "user", "content": ASK}], response_format=form)
        return Report.model_validate_json(message["content"])


class OpenAI(Client):
    package = "openai"

    def __init__(self, lane: Lane):
        super().__init__(lane)
        import openai

        self.client = openai.OpenAI(base_url=self.url, api_key=KEY, max_retries=0)

    def turn(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        while True:
            with self.client.chat.completions.stream(
                model=self.model, messages=self.messages, tools=self.session.tools, temperature=0, max_tokens=TOKENS
            ) as stream:
                message = stream.get_final_completion().choices[0].message
            self.messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = self.session.call(call.function.name, json.loads(call.function.arguments))
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def structured(self) -> object:
        return (
            self.client.chat.completions.parse(
                model=self.model, messages=[{"role": "user", "content": ASK}], response_format=Report
            )
            .choices[0]
            .message.parsed
        )


class OpenAIResponses(OpenAI):
    api = "responses"

    def turn(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        tools = [{"type": "function", **function} for function in self.session.functions()]
        while True:
            with self.client.responses.stream(
                model=self.model, input=self.messages, tools=tools, temperature=0, max_output_tokens=TOKENS
            ) as stream:
                response = stream.get_final_response()
            self.messages += response.output
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return response.output_text
            for call in calls:
                result = self.session.call(call.name, json.loads(call.arguments))
                self.messages.append({"type": "function_call_output", "call_id": call.call_id, "output": result})

    def structured(self) -> object:
        return self.client.responses.parse(model=self.model, input=ASK, text_format=Report).output_parsed


class LiteLLM(Client):
    package = "litellm"

    def ask(self, **fields: object) -> object:
        import litellm

        litellm.telemetry = False
        return litellm.completion(
            model="openai/" + self.model, api_base=self.url, api_key=KEY, temperature=0, max_tokens=TOKENS, **fields
        ).choices[0].message

    def turn(self, text: str) -> str:
        self.messages.append({"role": "user", "content": text})
        while True:
            message = self.ask(messages=self.messages, tools=self.session.tools, tool_choice="auto")
            self.messages.append(message)
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                result = self.session.call(call.function.name, json.loads(call.function.arguments))
                self.messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def structured(self) -> object:
        message = self.ask(messages=[{"role": "user", "content": ASK}], response_format=Report)
        return Report.model_validate_json(message.content)


class LangChain(Client):
    package = "langchain-openai"

    def __init__(self, lane: Lane):
        super().__init__(lane)
        from langchain_openai import ChatOpenAI

        self.chat = ChatOpenAI(
            model=self.model,
            base_url=self.url,
            api_key=KEY,
            temperature=0,
            max_tokens=TOKENS,
            max_retries=0,
            use_responses_api=self.api == "responses",
        )

    def turn(self, text: str) -> str:
        from langchain_core.messages import ToolMessage

        self.messages.append({"role": "user", "content": text})
        chat = self.chat.bind_tools(self.session.tools)
        while True:
            whole = None
            for chunk in chat.stream(self.messages):
                whole = chunk if whole is None else whole + chunk
            self.messages.append(whole)
            if not whole.tool_calls:
                return whole.text
            for call in whole.tool_calls:
                result = self.session.call(call["name"], call["args"])
                self.messages.append(ToolMessage(result, tool_call_id=call["id"]))

    def structured(self) -> object:
        return self.chat.with_structured_output(Report).invoke(ASK)


class LangChainResponses(LangChain):
    api = "responses"


class PydanticAI(Client):
    package = "pydantic-ai-slim"

    def __init__(self, lane: Lane):
        super().__init__(lane)
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        kind = OpenAIChatModel if self.api == "chat" else OpenAIResponsesModel
        self.chat = kind(self.model, provider=OpenAIProvider(base_url=self.url, api_key=KEY))

    def begin(self, session: Session) -> None:
        from pydantic_ai import Agent, Tool

        def tool(function: dict) -> Tool:
            def run(**arguments: object) -> str:
                return session.call(function["name"], arguments)

            return Tool.from_schema(run, function["name"], None, function["parameters"])

        tools = [tool(function) for function in session.functions()]
        settings = {"temperature": 0, "max_tokens": TOKENS}
        self.agent = Agent(self.chat, tools=tools, system_prompt=session.system, model_settings=settings)
        self.history = []

    def turn(self, text: str) -> str:
        result = self.agent.run_sync(text, message_history=self.history)
        self.history = result.all_messages()
        return result.output

    def structured(self) -> object:
        from pydantic_ai import Agent, NativeOutput

        by_schema = Agent(self.chat, output_type=NativeOutput(Report)).run_sync(ASK).output
        assert isinstance(by_schema, Report), by_schema
        return Agent(self.chat, output_type=Report).run_sync(ASK).output  # by a demanded tool call


class PydanticAIResponses(PydanticAI):
    api = "responses"


class OpenAIAgents(Client):
    package, api = "openai-agents", "responses"

    def __init__(self, lane: Lane):
        super().__init__(lane)
        import agents
        import openai

        client = openai.AsyncOpenAI(base_url=self.url, api_key=KEY, max_retries=0)
        agents.set_tracing_disabled(True)
        kind = agents.OpenAIResponsesModel if self.api == "responses" else agents.OpenAIChatCompletionsModel
        self.chat = kind(model=self.model, openai_client=client)
        self.loop = asyncio.new_event_loop()  # one for all turns, as the client keeps its connections

    def agent(self, **fields: object) -> object:
        import agents

        settings = agents.ModelSettings(temperature=0, max_tokens=TOKENS)
        return agents.Agent(name="worker", model=self.chat, model_settings=settings, **fields)

    def begin(self, session: Session) -> None:
        import agents

        def tool(function: dict) -> agents.FunctionTool:
            async def run(_: object, arguments: str) -> str:
                return session.call(function["name"], json.loads(arguments))

            return agents.FunctionTool(function["name"], "", function["parameters"], run)

        self.worker = self.agent(instructions=session.system, tools=[tool(f) for f in session.functions()])
        self.messages = []

    def turn(self, text: str) -> str:
        import agents

        async def run() -> object:
            said = [*self.messages, {"role": "user", "content": text}]
            result = agents.Runner.run_streamed(self.worker, said, max_turns=40)
            async for _ in result.stream_events():
                pass
            return result

        result = self.loop.run_until_complete(run())
        self.messages = result.to_input_list()
        return result.final_output

    def structured(self) -> object:
        import agents

        return self.loop.run_until_complete(agents.Runner.run(self.agent(output_type=Report), ASK)).final_output


class OpenAIAgentsChat(OpenAIAgents):
    api = "chat"


class Llm(Client):
    package = "llm"

    def __init__(self, lane: Lane):
        super().__init__(lane)
        import llm

        entry = f"- model_id: lane\n  model_name: {self.model}\n  api_base: {self.url}\n"
        entry += "  supports_tools: true\n  supports_schema: true\n"
        (llm.user_dir() / "extra-openai-models.yaml").write_text(entry)
        self.chat = llm.get_model("lane")

    def begin(self, session: Session) -> None:
        import llm

        def tool(function: dict) -> llm.Tool:
            def run(**arguments: object) -> str:
                return session.call(function["name"], arguments)

            return llm.Tool(name=function["name"], input_schema=function["parameters"], implementation=run)

        self.conversation = self.chat.conversation(tools=[tool(function) for function in session.functions()])
        self.system = session.system

    def turn(self, text: str) -> str:
        chain = self.conversation.chain(
            text, system=self.system, options={"temperature": 0, "max_tokens": TOKENS}, chain_limit=40
        )
        responses = list(chain.responses())
        return responses[-1].text()

    def structured(self) -> object:
        return Report.model_validate_json(self.chat.prompt(ASK, schema=Report).text())


CLIENTS: tuple[type[Client], ...] = (
    Requests,
    OpenAI,
    OpenAIResponses,
    LiteLLM,
    LangChain,
    LangChainResponses,
    PydanticAI,
    PydanticAIResponses,
    OpenAIAgents,
    OpenAIAgentsChat,
    Llm,
)


def hold(client: Client, task: str, index: int) -> tuple[int, int, str]:
    """Turns and calls of a session, and what went wrong."""
    play = Play(draw_session(task, index, held_out=True).instance)
    session = Session(play)
    client.begin(session)
    while not play.over:
        said = client.turn(play.messages[-1].content)
        if not play.over:
            play.reply(said)
    return play.turns_done, session.calls, "; ".join(play.violations)


def judged(check: Callable[[], str]) -> str:
    try:
        return check()
    except Exception as error:  # whatever a client raises is its verdict
        return f"{type(error).__name__}: {str(error)[:300]}"


def row_of(client: Client, instances: int) -> tuple[list[object], list[str]]:
    turns, calls, passed, failures, counts = 0, 0, 0, [], []
    for task in AGENT_TASKS:
        for index in range(instances):

            def play() -> str:
                counts.append(hold(client, task, index))
                return counts[-1][2]

            wrong = judged(play)
            passed += not wrong
            failures += [f"{client.package} ({client.api}): {task} {index}: {wrong}"] if wrong else []
    turns, calls = sum(count[0] for count in counts), sum(count[1] for count in counts)

    def shape() -> str:
        report = client.structured()
        return "" if isinstance(report, Report) else f"not a Report: {report!r}"

    wrong = judged(shape)
    failures += [f"{client.package} ({client.api}): structured output: {wrong}"] if wrong else []
    version = importlib.metadata.version(client.package)
    sessions = f"{passed} of {len(AGENT_TASKS) * instances}"
    return [client.package, version, client.api, sessions, turns, calls, "FAILED" if wrong else "passed"], failures


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--instances", type=int, default=2, help="sessions of each task")
    options.add_argument("--only", nargs="+", help="packages")
    options = options.parse_args()
    rows, failures = [], []
    with Lane.open(options) as lane:
        for kind in CLIENTS:
            if options.only and kind.package not in options.only:
                continue
            row, wrong = row_of(kind(lane), options.instances)
            print(*row, flush=True)
            rows.append(row)
            failures += wrong
    print_table(["client", "version", "api", "sessions", "turns", "calls", "structured output"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
