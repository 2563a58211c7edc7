"""Renders a model's chat templates as Hugging Face's transformers does, in a process of its own.

A template comes out of a downloaded folder, so nothing here trusts it: Jinja's sandbox is the first
fence; the process that runs it has no files to open, a limit on its memory and one on the processor
time of each rendering, past which the system ends it.

Standard input and output carry one JSON object a line. The first sets up:

    {"templates": {NAME: SOURCE}, "variables": {...}, "marks": [TEXT...], "seconds": S, "bytes": B}

and each one after it is a conversation: {"messages", "tools", "documents", "variables",
"add_generation_prompt"}. Answers are {"error": TEXT}, {"ready": true}, or {"text": TEXT, "literal":
[BEGIN, END, ...]}: ranges of bytes that come from a message, not from the template, so that the text
of a mark (a special token) that touches one of them is text.

How that is known: the conversation is rendered twice. The second time each character that marks are
made of stands, wherever a message or a tool holds it, as a private code point of its own. If both
renderings say the same, what stands in for a character in the second one is content. A template that
looks for a mark in a message (Qwen3 cuts an assistant's text at "</think>") renders another text then;
see `tell_apart`. A rendering in which nothing can be told apart is never used.
"""

import json
import re
import resource
import signal
import sys
from datetime import datetime

try:
    import jinja2.debug  # imported late otherwise, when no file can be opened any more
    from jinja2 import nodes
    from jinja2.exceptions import TemplateError
    from jinja2.ext import Extension, loopcontrols
    from jinja2.sandbox import ImmutableSandboxedEnvironment
except ImportError:
    print(json.dumps({"error": "it is rendered by Jinja; install Debian's python3-jinja2"}))
    sys.exit(1)

PRIVATE_USE = range(0xE000, 0xF900)
SEARCHES = {"count", "endswith", "find", "index", "lstrip", "partition", "removeprefix", "removesuffix"}
SEARCHES |= {"replace", "rfind", "rpartition", "rsplit", "rstrip", "split", "startswith", "strip"}


class Generation(Extension):
    """{% generation %}...{% endgeneration %}, which only training asks for: its body is rendered."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


class Arguments(dict):
    """A call's arguments: a mapping for templates that walk through it or dump it, and JSON where one
    expects the string of OpenAI's messages."""

    def __str__(self):
        return json.dumps(self, ensure_ascii=False)

    def __add__(self, other):
        return str(self) + other

    def __radd__(self, other):
        return other + str(self)


class Clock:
    """One moment for all renderings of a conversation."""

    def __init__(self):
        self.now = datetime.now()

    def strftime(self, form):
        return self.now.strftime(form)


def raise_exception(message):
    raise TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def make_environment(clock):
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = to_json
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = clock.strftime
    return environment


def searched_words(tree):
    """The strings that a template compares with or looks for."""
    for node in tree.find_all(nodes.Compare):
        yield from (part.value for part in (node.expr, *(o.expr for o in node.ops)) if isinstance(part, nodes.Const))
    for node in tree.find_all((nodes.Call, nodes.Filter)):
        name = node.name if isinstance(node, nodes.Filter) else getattr(node.node, "attr", None)
        if name in SEARCHES:
            yield from (part.value for part in node.args if isinstance(part, nodes.Const))


class Disguise:
    """The private code points that stand for the characters of marks."""

    def __init__(self, marks, words):
        self.marks = sorted(marks, key=len, reverse=True)
        characters = {c for mark in marks for c in mark if not (c.isalnum() or c.isspace() or c in '_"\\')}
        characters |= {mark[0] for mark in marks if not characters.intersection(mark)}
        self.characters = "".join(sorted(characters))
        self.found = re.compile("[" + re.escape(self.characters) + "]") if characters else None
        self.mark = re.compile("|".join(map(re.escape, self.marks)))
        self.words = sorted((w for w in words if self.found and self.found.search(w)), key=len, reverse=True)

    def choose(self, said):
        """Takes code points that `said`, all that a rendering is made of, does not hold."""
        taken = set(said)
        size = len(self.characters)
        for start in range(PRIVATE_USE.start, PRIVATE_USE.stop - size, size + 1):
            points = range(start, start + size)
            if not any(chr(p) in taken or f"\\u{p:04x}" in said for p in points):
                break
        else:
            raise TemplateError("the messages hold every private code point of Unicode")
        self.table = str.maketrans(self.characters, "".join(map(chr, points)))
        self.back = {}
        for character, point in zip(self.characters, points):
            escaped = json.dumps(character)[1:-1]
            self.back |= {chr(point): character, f"\\u{point:04x}": escaped}
        self.stand_in = re.compile("|".join(map(re.escape, self.back)))

    def put_on(self, text, plain=()):
        """`plain` words stay as they are, but within a mark that is not such a word."""
        if not plain or not any(word in text for word in plain):
            return text.translate(self.table)
        parts = re.split("(" + "|".join(map(re.escape, dict.fromkeys([*self.marks, *plain]))) + ")", text)
        return "".join(part if part in plain else part.translate(self.table) for part in parts)

    def take_off(self, text):
        """The text without stand-ins, and the ranges of bytes where they stood."""
        parts, ranges, end, at = [], [], 0, 0
        for match in self.stand_in.finditer(text):
            between, real = text[end : match.start()], self.back[match[0]]
            begin = at + len(between.encode())
            at, end = begin + len(real.encode()), match.end()
            parts += [between, real]
            if ranges and ranges[-1] == begin:
                ranges[-1] = at
            else:
                ranges += [begin, at]
        return "".join([*parts, text[end:]]), ranges

    def carry_over(self, rendering, text):
        """The ranges of `text` that are marks of content, if it has the marks of `rendering`, in order."""
        shown, ranges = rendering
        theirs, ours = (list(self.mark.finditer(t)) for t in (shown, text))
        if [m[0] for m in theirs] != [m[0] for m in ours]:
            return None
        carried = []
        for their, our in zip(theirs, ours):
            begin, end = (len(shown[:i].encode()) for i in their.span())
            if any(b < end and begin < e for b, e in zip(ranges[::2], ranges[1::2])):
                carried += [len(text[:i].encode()) for i in our.span()]
        return carried


class Renderer:
    def __init__(self, templates, variables, marks, **_):
        self.clock = Clock()
        environment = make_environment(self.clock)
        self.templates = {name: environment.from_string(source) for name, source in templates.items()}
        self.sources = "".join(templates.values())
        self.variables = variables
        words = {w for s in templates.values() for w in searched_words(environment.parse(s)) if isinstance(w, str) and w}
        self.disguise = Disguise(marks, words)

    def render(self, conversation, put_on=lambda text, role: text):
        """As apply_chat_template: what a folder's special tokens are, a conversation may override."""
        def walk(value, role):
            if isinstance(value, str):
                return put_on(value, role)
            if isinstance(value, list):
                return [walk(v, role) for v in value]
            if isinstance(value, dict):
                return type(value)((put_on(k, role), walk(v, role)) for k, v in value.items())
            return value

        messages = [
            {k: v if k == "role" else walk(v, message.get("role")) for k, v in message.items()}
            for message in conversation["messages"]
        ]
        tools = walk(conversation.get("tools"), None)
        name = "tool_use" if tools is not None and "tool_use" in self.templates else "default"
        return self.templates[name].render(
            messages=messages,
            tools=tools,
            documents=walk(conversation.get("documents"), None),
            add_generation_prompt=conversation.get("add_generation_prompt", False),
            **{**self.variables, **conversation.get("variables", {})},
        )

    def disguised(self, conversation, own, others):
        """A rendering without its disguise, and its content's ranges; None if the template fails. The
        words of `own` are shown in the assistant's messages, those of `others` in all else."""
        def put_on(text, role):
            return self.disguise.put_on(text, own if role == "assistant" else others)

        try:
            return self.disguise.take_off(self.render(conversation, put_on))
        except Exception:
            return None

    def tell_apart(self, conversation, text, line):
        """The text with its content's ranges: of a disguise under which the template says the same. None
        of the words that it looks for is shown if that works, and no more than are needed. A message
        other than the assistant's never shows a whole mark."""
        disguise = self.disguise
        words = [word for word in disguise.words if json.dumps(word, ensure_ascii=False)[1:-1] in line]
        harmless = [word for word in words if word not in disguise.marks]
        renderings = []
        for own, others in (((), ()), (words, ()), (words, harmless))[: 3 if words else 1]:
            rendering = self.disguised(conversation, own, others)
            if rendering and rendering[0] == text:
                for word in own:
                    fewer = [w for w in own if w != word]
                    again = self.disguised(conversation, fewer, others)
                    if again and again[0] == text:
                        own, rendering = fewer, again
                return rendering
            renderings += [rendering] if rendering else []
        # The template turns characters into others, as HTML's escapes. Then the marks tell, if they are
        # the same; or else a rendering is taken that is safe, and no one else's.
        for rendering in renderings:
            ranges = disguise.carry_over(rendering, text)
            if ranges is not None:
                return text, ranges
        if not renderings:
            raise TemplateError("the template refuses the text of special tokens in a message")
        return renderings[0]

    def answer(self, line):
        conversation = read_conversation(line)
        self.clock.now = datetime.now()
        try:
            text = self.render(conversation)
        except Exception:
            # Some templates want a text beside calls, where OpenAI's messages have null.
            for message in conversation["messages"]:
                if message.get("tool_calls") and message.get("content", 0) is None:
                    message["content"] = ""
            text = self.render(conversation)
        text.encode()  # refuses half characters
        ranges = []
        if self.disguise.found and self.disguise.found.search(line):
            self.disguise.choose(line + self.sources)
            text, ranges = self.tell_apart(conversation, text, line)
        return {"text": text, "literal": ranges}


def read_conversation(line):
    conversation = json.loads(line)
    messages = conversation["messages"]
    # Templates read what the assistant thought by one name or the other.
    conversation["messages"] = messages = [
        {"thinking": m["reasoning_content"], **m} if m.get("reasoning_content") is not None else m for m in messages
    ]
    for message in messages:
        for call in message.get("tool_calls") or ():
            arguments = call["function"]["arguments"]
            call["function"]["arguments"] = Arguments(json.loads(arguments) if isinstance(arguments, str) else arguments)
    return conversation


def fence(seconds, size):
    """From here on: no file can be opened or written, and what takes too much ends the process."""
    # What Python and Jinja read late, the time zone's file included, is read now.
    make_environment(Clock()).from_string(r"{{ ('\x41' ~ 1) | tojson }}{{ strftime_now('%c') }}").render()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return lambda on: signal.setitimer(signal.ITIMER_PROF, seconds if on else 0)


def attempt(limit, action):
    limit(True)
    try:
        return action()
    except Exception as error:
        text = str(error) or type(error).__name__
        return {"error": text if isinstance(error, TemplateError) else f"{type(error).__name__}: {text}"}
    finally:
        limit(False)


def main():
    settings = json.loads(sys.stdin.readline())
    limit = fence(settings["seconds"], settings["bytes"])
    made = attempt(limit, lambda: Renderer(**settings))
    ready = isinstance(made, Renderer)
    print(json.dumps({"ready": True} if ready else made), flush=True)
    for line in sys.stdin if ready else ():
        print(json.dumps(attempt(limit, lambda: made.answer(line))), flush=True)


if __name__ == "__main__":
    main()
