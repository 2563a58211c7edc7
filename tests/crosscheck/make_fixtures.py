"""Writes fixtures/NAME.json: what transformers computes for each tiny model of families.py.

    python -m venv ENV && ENV/bin/pip install --require-hashes --no-deps -r requirements.txt
    ENV/bin/python make_fixtures.py [NAME...]

A fixture holds the config.json that save_pretrained wrote, and the same as transformers 4 wrote it;
the tensors' names, shapes and draws (weights.py); fixed token ids; for each position some of the
float32 logits, spread over the vocabulary; and how far bf16's roundings move them.

The engine rounds to bf16 at the places that `Rounding` knows: what goes into a matrix product and
into the attention. Its other roundings are 2^-16 times finer. The forward is repeated with each of
these roundings replaced by an independent relative error, uniform within bf16's unit roundoff 2^-8.
The root mean square of what that does to the logits, for each block of positions, is `rounding_rms`:
a right forward deviates by about that much. Latent attention is expanded in transformers: there the
keys and values stand for the queries and outputs that the engine rounds in the latent's space.

Of a model with sparse attention it also holds what the last indexer chooses for some rows, with a mark
where the roundings decide (choice.py).
"""

import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import torch
import transformers
from safetensors import safe_open
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

from choice import Choices, marked
from drafter import Drafter, names_of
from families import DRAFTERS, FAMILIES, SIZES
from transformers4 import as_transformers4
from weights import Tensor, describe, draw, philox

FOLDER = Path(__file__).parent / "fixtures"
SEED = 1
TOKENS = 96
SAMPLED = 12  # logits kept of each position
BLOCK = 8  # positions that share a rounding_rms
REPETITIONS = 8
UNIT_ROUNDOFF = 2.0**-8
DIGITS = 7


class Rounding:
    """Random errors where the engine rounds to bf16; none while `on` is false."""

    def __init__(self) -> None:
        self.on, self.random = False, torch.Generator().manual_seed(1)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        if not self.on:
            return x
        return x * (1 + UNIT_ROUNDOFF * (2 * torch.rand(x.shape, generator=self.random) - 1))

    def watch(self, model: torch.nn.Module) -> None:
        for module in model.modules():
            router = type(module).__name__.lower().endswith("topkrouter")
            if isinstance(module, torch.nn.Linear) or router:
                module.register_forward_pre_hook(lambda _, inputs: (self(inputs[0]), *inputs[1:]))
            if type(module).__name__.endswith("Experts"):
                module.register_forward_pre_hook(lambda _, inputs: (self(inputs[0]), *inputs[1:]))
                # A relative error of the activation is one of its product with `up`.
                module.act_fn.register_forward_hook(lambda _, inputs, output: self(output))
            if type(module).__name__.endswith("Indexer"):
                for part in (module.wq_b, module.k_norm):
                    part.register_forward_hook(lambda _, inputs, output: self(output))

    def attention(self, module, query, key, value, attention_mask, scaling, softcap=None, **_):
        """transformers' eager attention, with the roundings. q [B, Q, T, D]; k and v [B, G, T, D]."""
        query, key, value = self(query), self(key), self(value)
        groups = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
        scores = query @ key.transpose(2, 3) * scaling
        if softcap is not None:
            scores = torch.tanh(scores / softcap) * softcap
        weights = torch.softmax(scores + attention_mask, -1)
        return (self(weights) @ value).transpose(1, 2).contiguous(), weights


def save_config(name: str, folder: Path) -> dict:
    """A folder as save_pretrained leaves it; a drafter is saved as one more layer."""
    model_type, options = FAMILIES[name]
    sizes = {**SIZES, "num_hidden_layers": SIZES["num_hidden_layers"] + (name in DRAFTERS)}
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(model_type, **{**sizes, **options}))
    model.bfloat16().save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    layers = SIZES["num_hidden_layers"]
    config |= {"num_hidden_layers": layers} | DRAFTERS.get(name, {})
    for key in ("layer_types", "mlp_layer_types", "indexer_types"):
        if key in config:
            config[key] = config[key][:layers]
    (folder / "config.json").write_text(json.dumps(config))
    return config


def draw_weights(folder: Path, more: dict[str, list[int]]) -> list[Tensor]:
    """Replaces the saved weights, keeping names and shapes, and adds norms and matrices."""
    file, tensors, drawn = folder / "model.safetensors", [], {}
    with safe_open(file, "pt") as saved:
        shapes = {n: (list(saved.get_tensor(n).shape), float(saved.get_tensor(n).float().mean())) for n in saved.keys()}
    shapes |= {name: (shape, 1.0) for name, shape in more.items()}
    for index, name in enumerate(sorted(shapes)):
        tensor = describe(name, *shapes[name])
        bits = draw(tensor, index, SEED).astype(np.int16)
        drawn[name] = torch.from_numpy(bits).view(torch.bfloat16)
        tensors.append(tensor)
    save_file(drawn, file, metadata={"format": "pt"})
    return tensors


def sampled_columns(row: int) -> list[int]:
    return [(row * 7 + i * SIZES["vocab_size"] // SAMPLED) % SIZES["vocab_size"] for i in range(SAMPLED)]


class Reference:
    """The folder in transformers, in float32: the decoder's logits and, if there is one, the drafter's."""

    def __init__(self, name: str, folder: Path):
        self.model, loading = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, attn_implementation="eager", output_loading_info=True
        )
        self.model.eval()
        self.choices = Choices(self.model)
        self.drafter, self.hidden = None, None
        if name in DRAFTERS:
            window = DRAFTERS[name]["mtp_sliding_window"]
            self.drafter = Drafter(self.model, folder / "model.safetensors", window).eval()
            loading["unexpected_keys"] = set()
        assert not any(loading.values()), loading
        self.model.model.norm.register_forward_pre_hook(lambda _, inputs: setattr(self, "hidden", inputs[0][0]))

    def parts(self, tokens: list[int]) -> dict[str, np.ndarray]:
        ids = torch.tensor(tokens)
        with torch.no_grad(), self.choices.watched():
            found = {"model": self.model(ids[None], use_cache=False).logits[0].double().numpy()}
            if self.drafter:
                # Whole blocks of rows: the last token has no row.
                whole = (len(tokens) - 1) // BLOCK * BLOCK
                found["drafter"] = self.drafter(self.model, ids, self.hidden)[:whole].double().numpy()
        return found


class Repeated:
    """The same model again and again, with other roundings each time."""

    def __init__(self, name: str, folder: Path, tokens: list[int], exact: dict[str, np.ndarray]):
        rounding = Rounding()
        reference = Reference(name, folder)
        for module in filter(None, (reference.model, reference.drafter)):
            rounding.watch(module)
        self.runs, self.scores = [], []
        code = sys.modules[type(reference.model).__module__]
        with mock.patch.object(code, "eager_attention_forward", rounding.attention):
            for part, logits in reference.parts(tokens).items():
                same = np.abs(logits - exact[part]).max()
                assert same < 1e-4, f"not the attention of transformers: logits differ by {same}"
            rounding.on = True
            for _ in range(REPETITIONS):
                self.runs.append(reference.parts(tokens))
                self.scores.append(reference.choices.scores)

    def rms(self, part: str, exact: np.ndarray) -> list[float]:
        squares = np.array([(run[part] - exact) ** 2 for run in self.runs])
        blocks = squares.reshape(REPETITIONS, -1, BLOCK, exact.shape[1])
        return np.sqrt(blocks.mean((0, 2, 3))).tolist()


def write_fixture(name: str) -> None:
    tokens = (philox(TOKENS, 0, SEED)[:, 0] % SIZES["vocab_size"]).tolist()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        config = save_config(name, folder)
        tensors = draw_weights(folder, names_of(config) if name in DRAFTERS else {})
        reference = Reference(name, folder)
        exact = reference.parts(tokens)
        repeated = Repeated(name, folder, tokens, exact)
    fixture = {
        "made_with": f"transformers {transformers.__version__}, torch {torch.__version__}",
        "config": config,
        "config_of_transformers_4": as_transformers4(config),
        "seed": SEED,
        "tensors": [[t.name, t.shape, t.centre, t.deviation] for t in tensors],
        "tokens": tokens,
        "block": BLOCK,
        "columns": [sampled_columns(row) for row in range(TOKENS)],
    }
    if reference.choices.scores is not None:
        fixture["choice"] = marked(reference.choices, repeated.scores)
    for part, logits in exact.items():
        rms = repeated.rms(part, logits)
        print(f"{name}, {part}: logits' deviation {logits.std():.3f}, rounding {np.mean(rms):.4f}", flush=True)
        kept = [[round(float(row[c]), DIGITS) for c in sampled_columns(r)] for r, row in enumerate(logits)]
        fixture[part] = {"rounding_rms": [round(r, DIGITS) for r in rms], "logits": kept}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fixture.items())
    (FOLDER / f"{name}.json").write_text("{\n" + lines + "\n}\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    for chosen in sys.argv[1:] or FAMILIES:
        write_fixture(chosen)
