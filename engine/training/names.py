"""Made-up names and values, split once and for all into trained and held-out ones.

A name belongs to the held-out split if its CRC-32 is 0 modulo HELD_OUT_ONE_IN. The split is thus a
property of the name itself: no list has to be kept, and no held-out name can enter training.
"""

import random
import zlib

HELD_OUT_ONE_IN = 8

ONSETS = "b c d f g h j k l m n p r s t v w z br cr dr fl gr kl pl pr sk st tr vr".split()
VOWELS = "a e i o u ai ou".split()
CODAS = ["", "", "", "l", "n", "r", "s", "x", "m", "nd", "rk", "st"]
SYMBOL_WORDS = (
    "limit size count rate delay width depth scale level margin budget quota weight offset step "
    "window retries timeout port batch cache queue speed range score total mode color theme label "
    "format region style stage policy"
).split()


def is_held_out(name: str) -> bool:
    """Whether `name` (a word, a symbol, a layout) is kept out of training."""
    return zlib.crc32(name.encode()) % HELD_OUT_ONE_IN == 0


class Names:
    """Draws names of one split. No name is drawn twice by one object."""

    def __init__(self, rng: random.Random, held_out: bool):
        self.rng = rng
        self.held_out = held_out
        self._drawn: set[str] = set()

    def word(self) -> str:
        """A pronounceable word such as `kelvo` or `tramin`."""
        return self._fresh(self._syllables)

    def symbol(self) -> str:
        """A constant's name such as `limit`, `kelvo_rate` or `size_tramin`."""
        return self._fresh(self._symbol)

    def _fresh(self, draw) -> str:
        while True:
            name = draw()
            if name not in self._drawn and is_held_out(name) == self.held_out:
                self._drawn.add(name)
                return name

    def _syllables(self) -> str:
        rng = self.rng
        parts = [rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.choice((2, 2, 3)))]
        return "".join(parts) + rng.choice(CODAS)

    def _symbol(self) -> str:
        word, made_up = self.rng.choice(SYMBOL_WORDS), self._syllables()
        forms = (
            f"{word}_{self.rng.choice(SYMBOL_WORDS)}",
            f"{word}_{made_up}",
            f"{made_up}_{word}",
            made_up,
        )
        return self.rng.choice(forms)


def number(rng: random.Random) -> str:
    """A whole number of one to four digits or a decimal fraction, as source text."""
    if rng.random() < 0.15:
        return f"0.{rng.randrange(1, 100):02d}"
    return str(rng.randrange(1, 10 ** rng.choice((1, 2, 2, 3, 4))))


def literal(rng: random.Random, names: Names) -> str:
    """A constant's value as source text: mostly numbers, sometimes a quoted word."""
    return f"'{names.word()}'" if rng.random() < 0.2 else number(rng)


def other_literal(rng: random.Random, names: Names, value: str) -> str:
    """A value of the same kind as `value`, but a different one."""
    while True:
        other = f"'{names.word()}'" if value.startswith("'") else number(rng)
        if other != value:
            return other
