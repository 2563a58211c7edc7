"""Recall and small talk: facts in a system prompt and in earlier turns, the newest word decides."""

import random

import small_talk
from conversation import Message
from instances import Demonstration, Goal, Instance, Turn
from names import Names

SYSTEM = (
    "You answer questions about these facts. If none answers it, say so.\n{}",
    "Here is what is known at `{project}`:\n{}\nAnswer from it alone.",
    "Facts:\n{}",
    "You are the memory of `{project}`. Remember:\n{}",
)
STATEMENTS = (
    "The {attribute} of `{entity}` is {value}.",
    "`{entity}` has the {attribute} {value}.",
    "`{entity}`: {attribute} {value}",
)
QUESTIONS = (
    "What is the {attribute} of `{entity}`?",
    "Which {attribute} does `{entity}` have?",
    "Tell me the {attribute} of `{entity}`.",
    "{attribute} of `{entity}`?",
    "I need the {attribute} of `{entity}`.",
)
NEWS = (
    "From now on the {attribute} of `{entity}` is {value}.",
    "Note: the {attribute} of `{entity}` is now {value}.",
    "The {attribute} of `{entity}` has changed to {value}.",
    "Please remember that the {attribute} of `{entity}` is {value}.",
)
FILLER = (
    "`{}` was discussed at length.",
    "Nobody has asked about `{}` yet.",
    "The page on `{}` is out of date.",
)


def _port(rng: random.Random, names: Names) -> str:
    return str(rng.randrange(1000, 10000))


def _count(rng: random.Random, names: Names) -> str:
    return str(rng.randrange(1, 100))


def _version(rng: random.Random, names: Names) -> str:
    return ".".join(str(rng.randrange(10)) for _ in range(3))


def _word(rng: random.Random, names: Names) -> str:
    return f"`{names.word()}`"


def _colour(rng: random.Random, names: Names) -> str:
    return rng.choice(("red", "green", "blue", "black", "white", "grey", "brown", "yellow"))


ATTRIBUTES = {
    "port": _port,
    "budget": _port,
    "limit": _count,
    "age": _count,
    "size": _count,
    "version": _version,
    "owner": _word,
    "code name": _word,
    "region": _word,
    "colour": _colour,
}


class Memory:
    """A session about facts. `facts` holds the newest value; `old` what each fact was before."""

    def __init__(self, rng: random.Random, held_out: bool):
        self.rng = rng
        self.names = Names(rng, held_out)
        self.project = self.names.word()
        self.facts: dict[tuple[str, str], str] = {}
        self.old: dict[tuple[str, str], list[str]] = {}
        self.entities = [self.names.word() for _ in range(rng.choice((2, 3, 5, 8, 12, 20, 40)))]
        lines = self._lines(int(4 * 70 ** rng.random()))
        system = rng.choice(SYSTEM).format("\n".join(lines), project=self.project)
        self.turns: list[Turn] = []
        self.messages = [Message("system", system)]

    def ask(self) -> None:
        (entity, attribute), value = self.rng.choice(list(self.facts.items()))
        question = self._phrase(QUESTIONS, attribute=attribute, entity=entity)
        answer = f"The {attribute} of `{entity}` is {value}."
        stale = [f" {v}." for v in self.old.get((entity, attribute), [])]
        self._turn(question, answer, Goal([f"`{entity}`", f" {value}."], stale))

    def ask_unknown(self) -> None:
        """Asks about something that was never mentioned."""
        attribute, entity = self.rng.choice(list(ATTRIBUTES)), self.names.word()
        question = self._phrase(QUESTIONS, attribute=attribute, entity=entity)
        answer = f"I do not know the {attribute} of `{entity}`."
        self._turn(question, answer, Goal(["do not know"]))

    def tell(self) -> None:
        """A new fact, or a new value of an old one."""
        if self.rng.random() < 0.6:
            entity, attribute = self.rng.choice(list(self.facts))
        else:
            entity = self.rng.choice([*self.entities, self.names.word()])
            attribute = self.rng.choice(list(ATTRIBUTES))
        value = self._set(entity, attribute)
        news = self._phrase(NEWS, attribute=attribute, entity=entity, value=value)
        answer = f"Noted: the {attribute} of `{entity}` is {value}."
        self._turn(news, answer, Goal([f"`{entity}`", value]))

    def small_talk(self) -> None:
        remark = self.rng.choice(small_talk.TALK)
        self._turn(self.rng.choice(remark[0]), remark[1], Goal([remark[1]]))

    def _turn(self, user: str, answer: str, goal: Goal) -> None:
        self.turns.append(Turn(user, goal=goal))
        self.messages += [Message("user", user), Message("assistant", answer)]

    def _lines(self, count: int) -> list[str]:
        """So many lines of facts, each stated once, with some filler."""
        lines = []
        for _ in range(count):
            key = (self.rng.choice(self.entities), self.rng.choice(list(ATTRIBUTES)))
            if key in self.facts:
                continue
            value = self._set(*key)
            lines.append(self._phrase(STATEMENTS, entity=key[0], attribute=key[1], value=value))
            if self.rng.random() < 0.1:
                lines.append(self.rng.choice(FILLER).format(self.rng.choice(self.entities)))
        return lines

    def _set(self, entity: str, attribute: str) -> str:
        """Draws and keeps a value that the fact has never had."""
        key = (entity, attribute)
        past = [*self.old.get(key, []), self.facts.get(key)]
        value = None
        while value is None or value in past:
            value = ATTRIBUTES[attribute](self.rng, self.names)
        if key in self.facts:
            self.old.setdefault(key, []).append(self.facts[key])
        self.facts[key] = value
        return value

    def _phrase(self, forms: tuple[str, ...], **parts: str) -> str:
        return self.rng.choice(forms).format(**parts)


def draw_recall_session(rng: random.Random, held_out: bool) -> Demonstration:
    memory = Memory(rng, held_out)
    requests = [memory.ask] * 4 + [memory.tell] * 3
    requests += [memory.ask_unknown, memory.small_talk]
    for _ in range(rng.randrange(1, 9)):
        rng.choice(requests)()
    memory.ask()
    instance = Instance("recall", memory.messages[0].content, memory.turns)
    return Demonstration(instance, memory.messages)


def draw_chat_session(rng: random.Random, held_out: bool) -> Demonstration:
    """Small talk alone, sometimes without a system prompt."""
    project = Names(rng, held_out).word()
    system = rng.choice([None, *(s.format(project) for s in small_talk.SYSTEM)])
    messages = [Message("system", system)] if system else []
    turns = []
    for _ in range(rng.randrange(1, 6)):
        user, answer = small_talk.talk(rng, project)
        if project in answer and project not in (system or ""):
            continue
        turns.append(Turn(user, goal=Goal([answer])))
        messages += [Message("user", user), Message("assistant", answer)]
    return Demonstration(Instance("chat", system, turns), messages)
