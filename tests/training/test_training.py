"""The model code, and a training run of a few steps. Skipped where PyTorch is missing."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from training_path import TRAINING

try:
    import numpy as np
    import safetensors  # noqa: F401
    import tokenizers  # noqa: F401
    import torch
except ImportError as error:
    raise unittest.SkipTest(f"the training packages are not installed: {error}") from None

from batches import pack, spoken_by_assistant
from chat_format import END, render, train_tokenizer
from generator import draw_training_session
from masks import make_masks
from model import Decoder, Shape
from muon import Muon
from torch.nn.attention.flex_attention import create_block_mask

SMALL = Shape(vocabulary=64, hidden=64, layers=2, query_heads=2, kv_heads=1, intermediate=96)
BF16_NOISE = 0.02  # relative L2, a few roundings of 2^-9 deep


def small_model() -> Decoder:
    """Weights so large that a wrong mask or key shows in every output."""
    torch.manual_seed(1)
    model = Decoder(SMALL)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(4 if weight.dim() == 2 else 1)
    return model


def distance(a: torch.Tensor, b: torch.Tensor) -> float:
    return ((a - b).norm() / b.norm()).item()


class ModelTest(unittest.TestCase):
    @torch.no_grad()
    def test_sessions_in_a_row_do_not_see_each_other(self):
        model = small_model()
        tokens = torch.randint(0, 64, (1, 48))
        sessions = torch.tensor([[1] * 20 + [2] * 28])
        positions = torch.cat((torch.arange(20), torch.arange(28)))[None]
        mask, _ = make_masks(sessions, 512, dense=True)
        packed = model.hidden(model.embed(tokens), model.rotary(positions), mask)
        mask, _ = make_masks(sessions[:, 20:], 512, dense=True)
        alone = model.hidden(model.embed(tokens[:, 20:]), model.rotary(positions[:, 20:]), mask)
        self.assertLess(distance(packed[:, 20:], alone), BF16_NOISE)

    @torch.no_grad()
    def test_second_draft_continues_the_first(self):
        """Row p of the second output equals the drafter run by hand: true rows up to p-1, then its own output."""
        model = small_model()
        length, row, window = 32, 20, 8
        tokens = torch.randint(0, 64, (1, length))
        rotary = model.rotary(torch.arange(length)[None])
        mask, draft_masks = make_masks(torch.ones_like(tokens), window, dense=True)
        hidden = model.hidden(model.embed(tokens), rotary, mask)
        first, second = model.draft(tokens, hidden, rotary, draft_masks)
        by_hand = hidden.clone()
        by_hand[:, row] = first[:, row - 1]
        joined = model.mtp.join(model.embed(tokens.roll(-1, 1)), by_hand)
        expected, _ = model.mtp(joined, rotary, draft_masks.first)
        self.assertLess(distance(second[:, row], expected[:, row]), BF16_NOISE)


class MuonTest(unittest.TestCase):
    def test_steps_are_nearly_orthogonal_whatever_the_gradient(self):
        for rows, columns in ((48, 32), (32, 48)):
            weights = [torch.nn.Parameter(torch.zeros(rows, columns)) for _ in range(2)]
            for weight, size in zip(weights, (1e-4, 1e3)):
                weight.grad = torch.randn(rows, columns) * size
            Muon(weights, lr=1.0).step()
            for weight in weights:
                values = torch.linalg.svdvals(weight.detach()) / max(1, rows / columns) ** 0.5
                self.assertGreater(values.min().item(), 0.3)  # the quintic's band is about 0.7 to 1.2
                self.assertLess(values.max().item(), 1.3)


class MaskTest(unittest.TestCase):
    def test_block_masks_cover_the_rule(self):
        """Against FlexAttention's own slow way, which evaluates the rule on every pair."""
        torch.manual_seed(2)
        sessions = torch.randint(1, 4, (3, 1024)).sort(1).values
        sessions[1, 700:] = 0
        sessions[2] = 1
        for window in (1, 128, 200, 512):
            mask, draft_masks = make_masks(sessions, window, dense=False)
            for fast, keys in ((mask, 1024), (draft_masks.first, 1024), (draft_masks.second, 2048)):
                slow = create_block_mask(fast.mask_mod, 3, None, 1024, keys, device="cpu")
                self.assertFalse((slow.to_dense() > fast.to_dense()).any(), "a block is left out")
                covered = self.whole(fast) & ~self.whole(slow)
                self.assertFalse(covered.any(), "a block counts as wholly visible and is not")

    @staticmethod
    def whole(mask):
        """[B, query blocks, key blocks] bool: blocks that are taken without asking the rule."""
        counts, indices = mask.full_kv_num_blocks[:, 0], mask.full_kv_indices[:, 0]
        listed = torch.arange(indices.shape[-1]) < counts[..., None]
        return torch.zeros(indices.shape, dtype=torch.bool).scatter(-1, indices.long(), listed)


class BatchTest(unittest.TestCase):
    def test_packing_keeps_every_token(self):
        texts = [render(draw_training_session(n).messages) for n in range(20)]
        tokenizer = train_tokenizer(texts)
        sequences = [e.ids for e in tokenizer.encode_batch(texts)]
        self.assertEqual([tokenizer.decode(s, skip_special_tokens=False) for s in sequences], texts)
        rows = pack([np.array(s, np.int32) for s in sequences], tokenizer, 8192)
        self.assertEqual(int((rows.sessions > 0).sum()), sum(len(s) for s in sequences))
        spoken = rows.tokens[rows.spoken]
        self.assertEqual(
            int((spoken == tokenizer.token_to_id(END)).sum()),
            sum(text.count("<|assistant|>") for text in texts),
        )

    def test_spoken_spans_end_with_the_end_token(self):
        spans = spoken_by_assistant(np.array([9, 1, 5, 2, 8, 2, 1, 2, 7]), assistant=1, end=2)
        self.assertEqual(spans.tolist(), [0, 0, 1, 1, 0, 0, 0, 1, 0])


class SmokeTest(unittest.TestCase):
    def test_a_few_steps_make_a_model_folder(self):
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, str(TRAINING / "make_model.py"), "--out", out, "--device", "cpu"]
            command += ["--steps", "3", "--batch-rows", "1", "--row-length", "1024"]
            command += ["--tokenizer-sessions", "100", "--agreement", "1"]
            subprocess.run(command, check=True, capture_output=True, timeout=600)
            report = json.loads((Path(out) / "report.json").read_text())
            size = (Path(out) / "model.safetensors").stat().st_size
            self.assertLessEqual(report["parameters"], 8_000_000)
            self.assertLessEqual(size, 16_000_000)
            self.assertLess(report["log"][-1]["main"], report["log"][0]["main"])
            self.assertEqual(set(report["agreement"]["right in every token"].values()), {0.0})
            reference = json.loads((Path(out) / "reference_logits.json").read_text())
            self.assertEqual(len(reference["tokens"]), len(reference["model"]["best_token_of_each_row"]))


if __name__ == "__main__":
    unittest.main()
