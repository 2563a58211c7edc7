"""The chat format: special tokens, the template, and the tokenizer trained on rendered sessions.

The template is the declarative one of chat_format.json (engine/model/chat_format.h): begin, then
prefix + content + suffix of each message. Rendering one more message only appends.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from conversation import TOOL_CALL, Message

ROLES = ("system", "user", "assistant", "tool")
PAD, BEGIN, END = "<|pad|>", "<|begin|>", "<|end|>"
SPECIAL_TOKENS = (PAD, BEGIN, END, *(f"<|{role}|>" for role in ROLES), TOOL_CALL)
VOCABULARY = 2048

# GPT-2's cuts, but each digit is a piece of its own, so that all numbers are spelt alike.
PIECES = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

TEMPLATE = {
    "begin": BEGIN,
    "roles": {
        role: {"prefix": f"<|{role}|>", "suffix": END}
        | ({"content_tokens": [TOOL_CALL]} if role == "assistant" else {})
        for role in ROLES
    },
    "generation_prompt": "<|assistant|>",
}


def render(messages: Sequence[Message]) -> str:
    """The conversation's text, as TEMPLATE says."""
    parts = [TEMPLATE["begin"]]
    for message in messages:
        role = TEMPLATE["roles"][message.role]
        parts += [role["prefix"], message.content, role["suffix"]]
    return "".join(parts)


def train_tokenizer(texts: Iterable[str]) -> Tokenizer:
    """Byte-level BPE of VOCABULARY tokens; the special ones come first."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[AddedToken(t, special=True, normalized=False) for t in SPECIAL_TOKENS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def save_chat_format(tokenizer: Tokenizer, folder: Path) -> None:
    """Writes tokenizer.json and chat_format.json."""
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "chat_format.json").write_text(json.dumps(TEMPLATE, indent=2) + "\n")
