"""Small tokenizers in the configuration of each family, trained by Hugging Face's library."""

import json

from texts import SENTENCES
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN = GPT4.replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"
    r" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
SIZE = 900


def _byte_level(regex: str | None = None) -> pre_tokenizers.PreTokenizer:
    if regex is None:
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(regex), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def _train(tokenizer: Tokenizer, specials: list, all_bytes: bool = True, size: int = SIZE) -> Tokenizer:
    alphabet = pre_tokenizers.ByteLevel.alphabet() if all_bytes else []
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=specials, initial_alphabet=alphabet, limit_alphabet=300, show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    return tokenizer


def _bos(tokenizer: Tokenizer, bos: str, eos: str | None = None) -> Tokenizer:
    names = [bos] + ([eos] if eos else [])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A" + (f" {eos}" if eos else ""),
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in names],
    )
    return tokenizer


def _bytes(model: models.BPE, pieces: pre_tokenizers.PreTokenizer, specials: list, **train: bool) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pieces
    tokenizer.decoder = decoders.ByteLevel()
    return _train(tokenizer, specials, **train)


def gpt2() -> Tokenizer:
    tokenizer = _bytes(models.BPE(), pre_tokenizers.ByteLevel(add_prefix_space=True), [])
    tokenizer.add_tokens([AddedToken("<|endoftext|>", normalized=True, special=True), AddedToken("   ", normalized=True)])
    return tokenizer


def llama3() -> Tokenizer:
    tokenizer = _bytes(models.BPE(ignore_merges=True), _byte_level(GPT4), [])
    tokenizer.add_special_tokens(["<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>"])
    return _bos(tokenizer, "<|begin_of_text|>")


def qwen() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = _byte_level(QWEN)
    tokenizer.decoder = decoders.ByteLevel()
    _train(tokenizer, [])
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_start|>", "<|im_end|>"])
    tokenizer.add_tokens(["<tool_call>", "</tool_call>", "<think>", "</think>"])
    return tokenizer


def smollm() -> Tokenizer:
    pieces = pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return _bytes(models.BPE(), pieces, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], all_bytes=False)


def deepseek() -> Tokenizer:
    pieces = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"),
            pre_tokenizers.Split(Regex("[一-龥\u3040-ゟ゠-ヿ]+"), "isolated"),
            pre_tokenizers.Split(Regex(DEEPSEEK), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    specials = ["<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"]
    tokenizer = _bytes(models.BPE(), pieces, specials)
    tokenizer.add_tokens([AddedToken("<｜User｜>", normalized=True), AddedToken("<think>", normalized=True)])
    return tokenizer


def glm4() -> Tokenizer:
    tokenizer = _bytes(models.BPE(ignore_merges=True), _byte_level(O200K), [])
    tokenizer.add_special_tokens(
        [AddedToken("[gMASK]", lstrip=True), AddedToken("<|user|>", rstrip=True), AddedToken("<sop>", lstrip=True, rstrip=True)]
    )
    tokenizer.post_processor = processors.Sequence(
        [processors.ByteLevel(trim_offsets=False), _bos(tokenizer, "[gMASK]", "<sop>").post_processor]
    )
    return tokenizer


def _sentencepiece() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def _sentencepiece_tokens(bos: str = "<s>", eos: str = "</s>") -> list:
    return ["<unk>", bos, eos] + [f"<0x{byte:02X}>" for byte in range(256)]


def _bytes_are_ordinary(tokenizer: Tokenizer, more: list[dict] | None = None) -> Tokenizer:
    """The trainer knows special tokens only; byte tokens are none, and `more` follow."""
    content = json.loads(tokenizer.to_str())
    content["added_tokens"] = [t for t in content["added_tokens"] if not t["content"].startswith("<0x")]
    known = len(content["model"]["vocab"])
    for token in more or []:
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        content["added_tokens"].append({"id": known, **flags, **token})
        known += 1
    return Tokenizer.from_str(json.dumps(content))


def llama2() -> Tokenizer:
    tokenizer = _sentencepiece()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    _train(tokenizer, [AddedToken(t, normalized=t == "</s>") for t in _sentencepiece_tokens()], all_bytes=False, size=1200)
    return _bytes_are_ordinary(_bos(tokenizer, "<s>"))


def mistral() -> Tokenizer:
    tokenizer = _sentencepiece()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace("▁", "first", split=False)
    _train(tokenizer, _sentencepiece_tokens(), all_bytes=False, size=1200)
    return _bytes_are_ordinary(_bos(tokenizer, "<s>", "</s>"), [{"content": "[INST]"}, {"content": "[/INST]"}])


def phi3() -> Tokenizer:
    tokenizer = _sentencepiece()
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    _train(tokenizer, _sentencepiece_tokens(), all_bytes=False, size=1200)
    more = [{"content": "<|end|>", "rstrip": True}, {"content": "<|user|>", "rstrip": True}, {"content": "<|x|>", "lstrip": True}]
    return _bytes_are_ordinary(tokenizer, more)


def gemma() -> Tokenizer:
    tokenizer = _sentencepiece()
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    _train(tokenizer, _sentencepiece_tokens("<bos>", "<eos>"), all_bytes=False, size=1200)
    more = [{"content": "<start_of_turn>"}] + [{"content": t, "special": False} for t in ("\n\n", "▁▁", "\t\t", "<table>")]
    return _bytes_are_ordinary(_bos(tokenizer, "<bos>"), more)


def metaspace() -> Tokenizer:
    """Steps that few use: forms, case, cuts of every behaviour, single words, unknown characters."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.Digits(False),
            pre_tokenizers.Split("e", "merged_with_next"),
            pre_tokenizers.Metaspace("▁", "always"),
        ]
    )
    tokenizer.decoder = decoders.Metaspace("▁", "always")
    _train(tokenizer, ["<unk>"], all_bytes=False, size=400)
    tokenizer.add_tokens([AddedToken("Word", single_word=True), AddedToken("straße", single_word=True, normalized=False)])
    return tokenizer


def words() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.normalizer = normalizers.NFD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Whitespace(),
            pre_tokenizers.Split(Regex(r"\w+|[^\w\s]"), "removed", invert=True),
            pre_tokenizers.Split(Regex(r"(?=a)|o*"), "merged_with_previous"),
            pre_tokenizers.Punctuation(),
        ]
    )
    tokenizer.decoder = decoders.Fuse()
    return _train(tokenizer, ["<unk>"], all_bytes=False, size=500)


KINDS = {f.__name__: f for f in (gpt2, llama3, qwen, smollm, deepseek, glm4, llama2, mistral, phi3, gemma, metaspace, words)}
