"""Random conversations for chat templates, in the fields of OpenAI's messages.

Their contents are what breaks renderings: empty ones, blanks at the ends, other scripts, quotes,
Jinja's own marks, texts that templates look for, and the text of special tokens.
"""

import random

TEXTS = [
    "", " ", "Hello", "  two blanks before and after  ", "\n\nlines\n\n\nmore lines\n", "a \"quoted\" 'text' \\ and \t tab",
    "Grüße, 你好, नमस्ते, שלום, 😀👩‍👩‍👧", "{{ messages }} {% if x %} {# c #}", "x < y & y > z", "```python\nprint(1)\n```",
    "<b>bold</b> [link](http://example.org/a_b?c=d&e)", "/no_think", "What is the weather in Paris?", "1", "null", "{\"a\": 1}",
]
THOUGHTS = ["Okay, let me see.", "", "\nFirst this.\nThen that.\n", "das wäre zu prüfen"]
NAMES = ["get_weather", "read_file", "suche", "f"]


def tool(name, rng):
    properties = {
        "path": {"type": "string", "description": "Der Pfad «é»"},
        "count": {"type": "integer", "minimum": 1},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    }
    kept = {k: v for k, v in properties.items() if rng.random() < 0.6}
    function = {"name": name, "description": rng.choice(["Does it.", "Zählt \"alles\" <auf>.", "多行\nText"])}
    function["parameters"] = {"type": "object", "properties": kept, "required": list(kept)[:1]}
    return {"type": "function", "function": function}


def arguments(rng):
    values = {"path": rng.choice(["a.py", "ä/ö.txt", "x<y>&\"z\""]), "count": rng.randrange(9), "flag": True, "none": None}
    values |= {"list": [1, "zwei", {"drei": 3.5}], "temperature": 0.5}
    return {k: v for k, v in values.items() if rng.random() < 0.5}


def with_marks(text, marks, rng):
    """The text with marks thrown in."""
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(marks) + text[at:]
    return text


def conversation(seed, marks=()):
    """{"messages", "tools", "add_generation_prompt"}; `marks` are texts for contents to hold."""
    rng = random.Random(seed)
    text = lambda: with_marks(rng.choice(TEXTS), marks, rng) if marks and rng.random() < 0.5 else rng.choice(TEXTS)
    messages = [{"role": "system", "content": text()}] if rng.random() < 0.5 else []
    tools = [tool(name, rng) for name in rng.sample(NAMES, rng.randrange(1, 4))] if rng.random() < 0.4 else None
    for turn in range(rng.randrange(1, 4)):
        messages.append({"role": "user", "content": text()})
        if tools and rng.random() < 0.6:
            calls = [
                {"id": f"call{turn}{i:04}", "type": "function", "function": {"name": rng.choice(NAMES), "arguments": arguments(rng)}}
                for i in range(rng.randrange(1, 3))
            ]
            messages.append({"role": "assistant", "content": rng.choice([None, text() or None]), "tool_calls": calls})
            messages += [{"role": "tool", "tool_call_id": c["id"], "name": c["function"]["name"], "content": text()} for c in calls]
        reply = {"role": "assistant", "content": text()}
        if rng.random() < 0.3:
            reply["reasoning_content"] = rng.choice(THOUGHTS)
        elif rng.random() < 0.2:
            reply["content"] = f"<think>\n{rng.choice(THOUGHTS)}\n</think>\n\n{reply['content']}"
        messages.append(reply)
    if rng.random() < 0.7:
        messages.append({"role": "user", "content": text()})
    return {"messages": messages, "tools": tools, "add_generation_prompt": rng.random() < 0.7}
