"""A headless Chromium, driven over the pipe that it offers; the standard library is all that it needs."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = shutil.which("chromium")


class Browser:
    """One page. Use it as a context."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        to_browser, self.commands = os.pipe()
        self.replies, from_browser = os.pipe()
        command = [PROGRAM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        command += ["--remote-debugging-pipe", f"--user-data-dir={self.profile.name}", "about:blank"]

        def take_pipes() -> None:  # as the browser's 3 and 4
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            command, close_fds=False, preexec_fn=take_pipes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.rest, self.last_id, self.session = b"", 0, None
        self.events: list[dict] = []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.ask(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *unused: object) -> None:
        self.process.terminate()
        self.process.wait()
        os.close(self.commands)
        os.close(self.replies)
        self.profile.cleanup()

    def ask(self, method: str, **parameters: object) -> dict:
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            reply = self.next_message(60)
            assert reply is not None, f"the browser does not answer {method}"
            if reply.get("id") == self.last_id:
                assert "error" not in reply, reply
                return reply["result"]

    def next_message(self, seconds: float) -> dict | None:
        end = time.monotonic() + seconds
        while b"\0" not in self.rest:
            if not select.select([self.replies], [], [], max(0, end - time.monotonic()))[0]:
                return None
            data = os.read(self.replies, 1 << 20)
            assert data, "the browser has ended"
            self.rest += data
        text, _, self.rest = self.rest.partition(b"\0")
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def evaluate(self, script: str) -> object:
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def until(self, script: str, seconds: float = 60) -> object:
        """The script's value, once it is true."""
        end = time.monotonic() + seconds
        while not (value := self.evaluate(script)):
            assert time.monotonic() < end, f"it did not come to pass: {script}"
            time.sleep(0.05)
        return value

    def open(self, url: str, width: int, height: int, scheme: str) -> None:
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete'")

    def type(self, selector: str, text: str) -> None:
        self.evaluate(f"document.querySelector({selector!r}).focus()")
        self.ask("Input.insertText", text=text)

    def press_enter(self) -> None:
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")

    def screenshot(self, file: Path) -> None:
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        file.write_bytes(base64.b64decode(data))

    def asked_for(self) -> list[str]:
        """The addresses of all requests so far."""
        return [e["params"]["request"]["url"] for e in self.events if e["method"] == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """Errors that the page's script or the console had."""
        found = [str(e["params"]) for e in self.events if e["method"] == "Runtime.exceptionThrown"]
        logged = (e["params"]["entry"] for e in self.events if e["method"] == "Log.entryAdded")
        return found + [str(entry) for entry in logged if entry["level"] == "error"]
