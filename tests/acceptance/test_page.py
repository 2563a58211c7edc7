"""The page at / in a real browser: what it shows of the lane, its chat box, light and dark, phone and desk.

Skipped where Debian's chromium is missing. --screenshots FOLDER keeps what it looks like.
"""

import json
import tempfile
from pathlib import Path

from browser import PROGRAM, Browser
from lane import ENDLESS, SKIP, Lane, finish, parser, print_table, text_of

KEY = "a key that only this test knows"
SIZES = {"phone": (390, 844), "desk": (1440, 900)}
SYSTEM = {"role": "system", "content": "You are a helpful assistant. " * 12}

# Of each text that is seen: its contrast with what is behind it, as WCAG 2 has it.
CONTRAST = """(() => {
  const parts = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => { const [r, g, b] = parts(c).slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92
    : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
    const p = parts(c); if (p.length < 4 || p[3] > 0) return c; } return "rgb(255, 255, 255)"; };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.disabled || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    const a = light(getComputedStyle(e).color), b = light(behind(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) bad.push(e.tagName + " " + e.textContent.slice(0, 30) + " " + contrast.toFixed(2));
  }
  return bad;
})()"""
TEXTS = "[...document.querySelectorAll('#talk > div')].map((e) => [e.className, e.textContent])"


class Checks:
    """One method a check; each raises AssertionError."""

    def __init__(self, lane: Lane, browser: Browser, folder: Path | None):
        self.lane, self.browser, self.folder = lane, browser, folder

    def open(self, size: str = "desk", scheme: str = "light") -> None:
        self.browser.open(self.lane.url + "/", *SIZES[size], scheme)
        self.browser.until("document.getElementById('state').textContent === 'idle'")

    def say(self, text: str) -> list[list[str]]:
        """What the chat box then holds."""
        before = self.browser.evaluate("document.querySelectorAll('#talk > .told, #talk > .wrong').length")
        self.browser.type("#say", text)
        self.browser.press_enter()
        self.browser.until(f"document.querySelectorAll('#talk > .told, #talk > .wrong').length > {before}")
        return self.browser.evaluate(TEXTS)

    def state(self) -> None:
        self.open()
        name = json.loads(self.lane.get("/v1/models"))["data"][0]["id"]
        assert self.browser.evaluate("document.querySelector('h1').textContent") == name
        facts = self.browser.evaluate("document.getElementById('facts').textContent")
        assert "64 rows" in facts and "prefix cacheon" in facts, facts

    def chat(self) -> None:
        self.open()
        expected = text_of(self.lane.chat([{"role": "user", "content": "Who are you?"}]))
        self.lane.forget()
        said = self.say("Who are you?")
        assert said[:2] == [["user", "Who are you?"], ["assistant", expected]], said
        said = self.say("What is a lane?")
        assert [kind for kind, _ in said] == ["user", "assistant", "told"] * 2, said
        self.browser.until("document.querySelectorAll('#conversations tr').length > 1")
        first = self.browser.evaluate("document.querySelector('#conversations tr').innerText")
        assert "in the buffer" in first and "2" in first.split(), first
        self.browser.evaluate("document.getElementById('anew').click()")
        assert self.browser.evaluate(TEXTS) == []

    def what_ended_the_reuse(self) -> None:
        for text in ("a", "b"):
            self.lane.chat([SYSTEM, {"role": "user", "content": text}], max_tokens=2)
        self.open()
        row = self.browser.until("document.querySelector('#requests tr')?.innerText")
        assert "differs, as its messages do" in row and "rounded off to the grid" in row, row

    def markup_is_text(self) -> None:
        self.open()
        evil = "<img src=x onerror=\"document.title='owned'\"><b>hello</b>"
        said = self.say(evil)
        assert said[0] == ["user", evil], said
        assert not self.browser.evaluate("document.querySelector('#talk img, #talk b')")
        assert self.browser.evaluate("document.title") != "owned"

    def stop(self) -> None:
        self.open()
        self.browser.evaluate(
            f"document.getElementById('heat').value = {ENDLESS['temperature']};"
            f"document.getElementById('most').value = {ENDLESS['max_tokens']}"
        )
        self.browser.type("#say", "Go on for ever")
        self.browser.press_enter()
        self.browser.until("document.querySelector('#talk .assistant')?.textContent.length > 20")
        self.browser.until("document.getElementById('state').textContent === 'generating'")
        self.browser.evaluate("document.getElementById('stop').click()")
        self.browser.until("document.querySelector('#talk .wrong')?.textContent === 'Stopped.'")
        self.browser.until("document.getElementById('state').textContent === 'idle'")
        assert "cancelled" in self.browser.until("document.querySelector('#requests tr').innerText")

    def light_and_dark_phone_and_desk(self) -> None:
        backs = set()
        for scheme in ("light", "dark"):
            for size in SIZES:
                self.open(size, scheme)
                self.say("What is the canonical end?")
                self.browser.until("document.querySelector('#requests tr') !== null")
                wide = self.browser.evaluate("document.documentElement.scrollWidth - innerWidth")
                assert wide <= 0, f"{size}: {wide} pixels are outside"
                faint = self.browser.evaluate(CONTRAST)
                assert not faint, f"{scheme}: {faint}"
                backs.add((scheme, self.browser.evaluate("getComputedStyle(document.body).backgroundColor")))
                side_by_side = self.browser.evaluate(
                    "document.getElementById('chat').getBoundingClientRect().left >"
                    "document.getElementById('facts').getBoundingClientRect().right"
                )
                assert side_by_side == (size == "desk"), size
                if self.folder:
                    self.browser.screenshot(self.folder / f"page_{size}_{scheme}.png")
        assert len({back for _, back in backs}) == 2, backs

    def nothing_from_outside(self) -> None:
        origin = self.lane.url + "/"
        asked = [url for url in self.browser.asked_for() if not url.startswith((origin, "data:", "about:"))]
        assert not asked, asked
        complaints = self.browser.complaints()
        assert not complaints, complaints


def key_is_asked_for(options: object) -> None:
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(KEY)
        file.flush()
        with Lane.open(options, settings=("--api-key-file", file.name)) as lane, Browser() as browser:
            browser.open(lane.url + "/", *SIZES["desk"], "light")
            browser.until("!document.getElementById('door').hidden")
            browser.type("#key", KEY)
            browser.press_enter()
            browser.until("document.getElementById('state').textContent === 'idle'")
            browser.until("document.getElementById('door').hidden")


CHECKS = (
    Checks.state,
    Checks.chat,
    Checks.what_ended_the_reuse,
    Checks.markup_is_text,
    Checks.stop,
    Checks.light_and_dark_phone_and_desk,
    Checks.nothing_from_outside,
)


def main() -> None:
    options = parser(__doc__.split("\n")[0])
    options.add_argument("--screenshots", type=Path, help="a folder for them")
    options = options.parse_args()
    if not PROGRAM:
        print("SKIPPED: chromium is not installed")
        raise SystemExit(SKIP)
    failures, rows = [], []

    def judge(name: str, check) -> None:
        try:
            check()
            rows.append([name, "passed"])
        except AssertionError as error:
            rows.append([name, "FAILED"])
            failures.append(f"{name}: {error}")

    with Lane.open(options) as lane, Browser() as browser:
        checks = Checks(lane, browser, options.screenshots)
        for check in CHECKS:
            judge(check.__name__, lambda: check(checks))
    if options.engine:
        judge("key_is_asked_for", lambda: key_is_asked_for(options))
    print_table(["check", "verdict"], rows)
    finish(failures)


if __name__ == "__main__":
    main()
