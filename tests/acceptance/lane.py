"""A live lane to test: one that runs already (--lane URL), or one started for the test (--engine PROGRAM)."""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

SKIP = 77  # exit code
# A reply of the built-in model that does not end by itself.
ENDLESS = {"max_tokens": 3000, "temperature": 20, "seed": 1}
REFERENCE = Path(__file__).parents[2] / "engine/model/reference"
TRAINING = Path(__file__).parents[2] / "engine/training"


def parser(description: str) -> argparse.ArgumentParser:
    """The options that all acceptance tests share."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--lane", help="URL of a lane that runs, e.g. http://127.0.0.1:8080")
    options.add_argument("--engine", help="engine program to start a lane with")
    options.add_argument("--model", type=Path, default=REFERENCE, help="model folder of that lane")
    options.add_argument("--prompt-rows", type=int, default=64, help="grid of that lane")
    options.add_argument("--threads", type=int, default=1, help="worker threads of that lane")
    options.add_argument("--context", type=int, default=4096, help="context of that lane")
    return options


class LaneError(Exception):
    """The server answered with an error; the text is its body."""

    def __init__(self, status: int, body: str):
        super().__init__(f"{status}: {body}")
        self.status = status


class Lane:
    """Requests to a lane; with a process of its own if one was started. Use it as a context."""

    def __init__(self, url: str, process: subprocess.Popen | None = None):
        self.url = url.rstrip("/")
        self.process = process

    @staticmethod
    def open(options: argparse.Namespace, cache: bool = True, settings: tuple[str, ...] = ()) -> "Lane":
        """The lane that the options name; a started one has the cache on or off, and `settings` of `serve`."""
        if options.lane:
            return Lane(options.lane)
        if not options.engine:
            sys.exit("give --lane URL or --engine PROGRAM")
        if not (options.model / "config.json").exists():
            print(f"SKIPPED: no model at {options.model}")
            sys.exit(SKIP)
        command = [options.engine, "serve", "--port", "0", "-m", str(options.model), "--backend", "cpu"]
        command += ["--prompt-rows", str(options.prompt_rows), "--context", str(options.context)]
        command += ["--threads", str(options.threads), *settings]
        environment = os.environ | {"TF_GLM53_PREFIX_CACHE": "1" if cache else "0", "TF_GLM53_FIXED_CHUNKS": "1"}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        line = process.stdout.readline()
        if " on http://" not in line:
            sys.exit(f"the lane did not start: {line}{process.stderr.read()}")
        lane = Lane(line.split(" on ")[1].strip(), process)
        threading.Thread(target=process.stderr.read, daemon=True).start()  # its log must not block it
        return lane

    def __enter__(self) -> "Lane":
        return self

    def __exit__(self, *unused: object) -> None:
        if self.process:
            self.process.terminate()
            code = self.process.wait()
            assert code == 0, f"the lane ended with {code}"

    def get(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path) as reply:
            return reply.read().decode()

    def post(self, path: str, body: dict) -> dict:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            raise LaneError(error.code, error.read().decode()) from error

    def chat(self, messages: list[dict], **fields: object) -> dict:
        """A greedy chat completion."""
        return self.post("/v1/chat/completions", {"messages": messages, "temperature": 0} | fields)

    def forget(self) -> None:
        """Replaces the cached conversation by another, so that the next request is a cold one."""
        self.post("/v1/completions", {"prompt": "#", "max_tokens": 1, "temperature": 0})


def until(holds: Callable[[], bool]) -> None:
    """Waits; AssertionError after two minutes."""
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end, "it did not come to pass in two minutes"
        time.sleep(0.05)


def cancelled_in(metrics: str) -> int:
    """How many requests were cancelled, by the text of /metrics."""
    return sum(int(float(line.split()[-1])) for line in metrics.split("\n") if 'outcome="cancelled"' in line)


def text_of(reply: dict) -> str:
    return reply["choices"][0]["message"]["content"] or ""


def cached_of(reply: dict) -> int:
    return reply["usage"]["prompt_tokens_details"]["cached_tokens"]


def print_table(head: list[str], rows: list[list[object]]) -> None:
    lines = [head, *[[f"{v:.3f}" if isinstance(v, float) else str(v) for v in row] for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    for line in lines:
        print("  ".join(value.rjust(width) for value, width in zip(line, widths)), flush=True)


def finish(failures: list[str]) -> None:
    """Prints the verdict and exits."""
    for failure in failures:
        print(f"FAILED: {failure}")
    print("passed" if not failures else f"{len(failures)} failures")
    sys.exit(1 if failures else 0)
