"""Texts of many kinds for comparing tokenizers: scripts, code, blanks, emoji, marks, random planes."""

import random
import unicodedata
from collections.abc import Iterator

SENTENCES = """
The quick brown fox didn't jump; it's 3.14 times as lazy (or 22/7), isn't it?
Größe und Maß: Straße, Äpfel, Öl — „Zitat“ und ‚noch eins‘.
L'été dernier, où êtes-vous allés ? Ça coûte 12 € environ…
¿Dónde está el niño? ¡Mañana a las 10:30!
Zażółć gęślą jaźń. Příliš žluťoučký kůň úpěl ďábelské ódy.
Быстрая коричневая лиса прыгает через ленивую собаку — ёж, йод.
Γρήγορη καφέ αλεπού· τί ἐστιν ἡ ἀλήθεια; ΣΊΣΥΦΟΣ
İstanbul'da ılık bir gün, ğüşöç ĞÜŞÖÇ.
Tiếng Việt có nhiều dấu: ờ, ễ, ữ, ậ, Đặng.
सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता; क़लम, ज़मीन, पढ़ना।
மனிதப் பிறிவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்; கொ கோ கௌ.
সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে; ড় ঢ় য় কো।
ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులు.
മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും അന്തസ്സോടും.
בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ׃ שלום עולם
بِسْمِ اللَّهِ الرَّحْمَٰنِ الرَّحِيمِ ـ لا إله؛ أؤئآ ٣٫١٤ ۱۲۳
تمام انسان آزاد پیدا ہوئے ہیں۔ همهٔ افراد بشر آزاد به دنیا می‌آیند
มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน น้ำ กำ ๑๒๓
人人生而自由,在尊严和权利上一律平等。你好,世界!“引号”
すべての人間は、生まれながらにして自由である。ガギグ ﾊﾟｿｺﾝ 日本語テキスト
모든 인간은 태어날 때부터 자유로우며 존엄하다. 한국어
ሁሉም ሰው ነጻና እኩል ሆኖ ተወልዷል። ყველა ადამიანი იბადება თავისუფალი
Բոլոր մարդիկ ծնվում են ազատ։ ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᚠᛇᚻ᛫ᛒᛦᚦ
မင်္ဂလာပါ ကမ္ဘာ  ស្រីនេះ ជាមិត្ត  བོད་སྐད་ཡིག  ᠮᠣᠩᠭᠣᠯ᠎ᠠ
def f(x: int) -> str:\n    return f"{x!r}"  # comment\n\n\nclass A:\n\tpass\n
for (int i = 0; i < n; ++i) { a[i] ^= b[i] << 3; }\r\n// Ünïcode\r\n
{"key": [1, 2.5e-10, null, true], "nested": {"a\\\\n": "\\u00e9"}}
<div class="x">&nbsp;<b>bold</b></div><!-- comment -->
SELECT * FROM t WHERE a='b' AND c>=10 ORDER BY d DESC;
👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 ❤️ ☺︎ 1️⃣ 🧑🏻‍💻 ✅ 😀😃😄
∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β → ½ ¾ ² ³ ⁴ Ⅳ ① ㊀ ℌ Å Ω ﬁ ﬄ
𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟙𝟚𝟛 𐍈𐌰𐌹𐍂 𓀀𓁐 𒀀𒁀 𠀀𠀁𪚥 𞤀𞤣𞤤𞤢𞤥
user@example.org https://example.org/a?b=c&d=%20 ~/.config/x_y-z.tar.gz C:\\Users\\me
I'll we've they'RE you'D he'S can'T 'Tis o'clock rock'n'roll ſ 'ſ K
10 100 1000 12345 1234567 0x1F 1,000,000.00 ٤٥٦ ४५६ 一二三 １２３
""".strip("\n").split("\n")
SENTENCES = [s.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r") for s in SENTENCES]

BLANKS = [" ", "  ", "\t", "\n", "\r\n", "\u00a0", "\u2003", "\u3000", "\u2028", "\u0085", "\u200b",
          "\ufeff", "\u180e", "\u1680", "\v", "\f", "\x1c", "\u202f", "    ", "\n\n"]  # fmt: skip
JOINS = ["\u200d", "\u200c", "\ufe0f", "\u0301", "\u0323", "\u0308", "\u0327", "\u3099", "\u05bc",
         "\u064b", "\u0651", "\u0f71", "\u0f72", "\u1161", "\u11a8", "\u0345"]  # fmt: skip
WORDS = sorted({w for s in SENTENCES for w in s.split()})
LETTERS = sorted({c for s in SENTENCES for c in s})


def _random_character(rng: random.Random) -> str:
    """Any code point that Unicode 14 has assigned, but for surrogates; planes count alike."""
    while True:
        plane = rng.choice([0x0, 0x0, 0x0, 0x1, 0x1, 0x2, 0x3, 0xE, 0xF, 0x10])
        c = chr(rng.randrange(0x800 if rng.random() < 0.4 and not plane else 0x10000) + plane * 0x10000)
        if unicodedata.category(c) not in ("Cn", "Cs"):
            return c


def _run(rng: random.Random) -> str:
    return rng.choice(LETTERS + BLANKS) * rng.choice([2, 3, 4, 7, 8, 15, 16, 33, 100])


def _part(rng: random.Random, marks: list[str]) -> str:
    kind = rng.randrange(14)
    if kind < 4:
        return rng.choice(SENTENCES)
    if kind < 6:
        return rng.choice(["", " "]).join(rng.choices(WORDS, k=rng.randrange(1, 8)))
    if kind == 6:
        return "".join(rng.choices(BLANKS, k=rng.randrange(1, 6)))
    if kind == 7:
        return "".join(_random_character(rng) for _ in range(rng.randrange(1, 20)))
    if kind == 8:
        return "".join(rng.choice(LETTERS) + rng.choice(JOINS) * rng.randrange(3) for _ in range(6))
    if kind == 9:
        return _run(rng)
    if kind == 10 and marks:
        blanks = lambda: rng.choice(["", "", " ", "  ", "\n", "\u00a0", "x", "_"])  # noqa: E731
        mark = rng.choice(marks)
        return blanks() + rng.choice([mark, mark, mark[:-1], mark[1:], mark.upper(), mark + mark]) + blanks()
    if kind == 11:
        return str(rng.randrange(10 ** rng.randrange(1, 12)))
    if kind == 12:
        form = rng.choice(["NFC", "NFD", "NFKC", "NFKD"])
        return unicodedata.normalize(form, rng.choice(SENTENCES))
    return "".join(rng.choices(LETTERS, k=rng.randrange(1, 30)))


def make_texts(count: int, seed: int, marks: list[str]) -> Iterator[str]:
    """`marks`: added tokens, whose texts occur whole, cut and doubled. The same for the same arguments
    and the same Python."""
    rng = random.Random(seed)
    yield from ["", " ", "  ", "\n", "a", " a", "a ", "\u0301", "\u2581", "\u2581a", " \u2581 a"]
    for _ in range(count - 11):
        yield "".join(_part(rng, marks) for _ in range(rng.choice([1, 1, 2, 3, 5])))[:500]
