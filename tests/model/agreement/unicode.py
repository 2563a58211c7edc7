"""Prints the tables of engine/model/library_unicode.cpp: where the library's Unicode is older.

    python unicode.py

Needs `tokenizers` of requirements.txt and unicodedata2, whose version is the newest Unicode that is
looked at. Ranges span characters for which it makes no difference.
"""

import unicodedata2 as newest
from tokenizers import normalizers, pre_tokenizers

CHARACTERS = [chr(i) for i in range(0x110000) if not 0xD800 <= i < 0xE000]
NFC, NFD, NFKD = (f().normalize_str for f in (normalizers.NFC, normalizers.NFD, normalizers.NFKD))


def compositions() -> dict[str, str]:
    """By each character of a pair that composes: one of its pairs."""
    pairs = {}
    for c in CHARACTERS:
        parts = newest.normalize("NFD", c)
        if len(parts) == 2 and newest.normalize("NFC", parts) == c:
            for part in parts:
                if NFC(parts) == c or part not in pairs:
                    pairs[part] = parts
    return pairs


def normalizer_knows(c: str, pairs: dict[str, str]) -> bool | None:
    """None where there is nothing to know."""
    if newest.combining(c):
        return NFD("a\u0345" + c) != "a\u0345" + c or NFD("a" + c + "\u0334") != "a" + c + "\u0334"
    if newest.normalize("NFKD", c) != c:
        return NFKD(c) != c
    return NFC(pairs[c]) != pairs[c] if c in pairs else None


def punctuation_knows(c: str) -> bool | None:
    if len(pre_tokenizers.Punctuation("isolated").pre_tokenize_str("a" + c + "b")) == 3:
        return True
    return False if newest.category(c).startswith("P") else None


def print_ranges(name: str, knows) -> None:
    ranges, open_ = [], False
    for c in CHARACTERS:
        known = knows(c)
        if known is False and open_:
            ranges[-1][1] = ord(c)
        elif known is False:
            ranges.append([ord(c), ord(c)])
        open_ = known is False or (known is None and open_)
    print(name, ", ".join(f"{{0x{first:X}, 0x{last:X}}}" for first, last in ranges))


if __name__ == "__main__":
    print("Unicode", newest.unidata_version)
    pairs = compositions()
    print_ranges("normalizer", lambda c: normalizer_knows(c, pairs))
    print_ranges("punctuation", punctuation_knows)
