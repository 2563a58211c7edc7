"""curl drives the lane: chat, stream, tools, errors, cancellation. Skipped, saying so, where curl is missing."""

import json
import shutil
import subprocess

from lane import ENDLESS, SKIP, Lane, cancelled_in, finish, parser, print_table, until

ASK = [{"role": "user", "content": "Hello, who are you?"}]
TOOL = {"type": "function", "function": {"name": "run_tests", "parameters": {"type": "object", "properties": {}}}}


class Checks:
    """One method a check; each raises AssertionError."""

    def __init__(self, url: str):
        self.url = url

    def curl(self, path: str, body: str | None = None, *options: str) -> tuple[int, str]:
        """The exit code of curl, then the body and, on a last line, the HTTP status."""
        command = ["curl", "-sS", "-N", "-w", "\n%{http_code}", *options, self.url + path]
        if body is not None:
            command += ["-H", "Content-Type: application/json", "--data-binary", "@-"]
        done = subprocess.run(command, input=body or "", capture_output=True, text=True, timeout=300)
        return done.returncode, done.stdout

    def post(self, fields: dict) -> tuple[dict, int]:
        code, text = self.curl("/v1/chat/completions", json.dumps({"messages": ASK, "temperature": 0} | fields))
        assert code == 0, text
        body, _, status = text.rpartition("\n")
        return json.loads(body), int(status)

    def chat(self) -> None:
        reply, status = self.post({"max_tokens": 8})
        assert status == 200 and reply["object"] == "chat.completion", reply
        assert reply["choices"][0]["message"]["content"], reply

    def stream(self) -> None:
        body = json.dumps({"messages": ASK, "max_tokens": 8, "temperature": 0, "stream": True})
        code, text = self.curl("/v1/chat/completions", body)
        events = [line.removeprefix("data: ") for line in text.split("\n") if line.startswith("data: ")]
        assert code == 0 and events[-1] == "[DONE]", text
        parts = [json.loads(event)["choices"][0]["delta"].get("content") or "" for event in events[:-1]]
        assert "".join(parts) == self.post({"max_tokens": 8})[0]["choices"][0]["message"]["content"], text

    def tools(self) -> None:
        ask = [{"role": "user", "content": "Repair `vaikai`, its tests fail."}]
        reply, status = self.post({"messages": ask, "tools": [TOOL], "tool_choice": "required", "max_tokens": 60})
        call = reply["choices"][0]["message"]["tool_calls"][0]
        assert status == 200 and isinstance(json.loads(call["function"]["arguments"]), dict), reply

    def errors(self) -> None:
        for fields, wanted in (({"temperature": "hot"}, 400), ({"messages": []}, 400), ({"max_tokens": 0}, 400)):
            reply, status = self.post(fields)
            assert status == wanted and reply["error"]["message"], reply
        code, text = self.curl("/v1/nothing")
        assert code == 0 and text.endswith("\n404"), text

    def cancelled(self) -> int:
        return cancelled_in(self.curl("/metrics")[1])

    def cancellation(self) -> None:
        """curl is stopped in the middle; the lane stops generating for it and serves the next request."""
        before = self.cancelled()
        body = json.dumps({"messages": ASK, "stream": True} | ENDLESS)
        command = ["curl", "-sS", "-N", "--data-binary", body, self.url + "/v1/chat/completions"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline().startswith("data: ")
            process.terminate()
        self.chat()
        until(lambda: self.cancelled() == before + 1)


def main() -> None:
    options = parser(__doc__.split("\n")[0]).parse_args()
    if not shutil.which("curl"):
        print("SKIPPED: curl is not installed")
        raise SystemExit(SKIP)
    rows, failures = [], []
    with Lane.open(options) as lane:
        checks = Checks(lane.url)
        for check in (checks.chat, checks.stream, checks.tools, checks.errors, checks.cancellation):
            try:
                check()
                rows.append([check.__name__, "yes"])
            except AssertionError as error:
                rows.append([check.__name__, "NO"])
                failures.append(f"{check.__name__}: {error}")
    print_table(["curl", "passed"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
